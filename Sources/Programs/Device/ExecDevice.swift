import System
package import Conformance
package import Basics

/// Any program as a device under test, over its standard streams.
///
/// The shell runs it, and it speaks one JSON object per line:
///
///     Lockstep writes                                       the program answers
///     {"reset":{"registered":true,"configured":true}}       {"status":"noSignal"}  {"settled":true}
///     {"stimulus":"connect"}                                {"status":"connecting"}  {"settled":true}
///     {"stimulus":"setAutolock","arguments":{"delay":10}}   {"refused":"not logged in"}
///
/// An answer is any number of statuses, and then `settled` or `refused`. An unchanged status may be left out. Between
/// answers, while time passes, the program may write statuses spontaneously. Durations are numbers of seconds.
///
/// In a separate start, it receives a greeting, `{"hello":{"protocol":2},"reset":{}}`, and may introduce itself before
/// its answer (``ProgramIntroduction``). Without an introduction, it speaks protocol 1. With one, it may show more
/// than statuses (``ProgramAnswer``), injects the faults that it offers, and may have no clock of its own. A program
/// without a clock receives the passing of time, up to the first moment at which it shows something, and may reply
/// when that will be.
///
///     {"stimulus":"lock","at":12.5}                         {"status":"locking"}  {"settled":true,"next":13.7}
///     {"advance":5,"at":12.5}                               {"status":"locked","at":13.7} {"settled":true,"next":null}
///
/// The time of a program with a clock is that of the monotonic clock. Observations during an answer are returned
/// after it with their own times, so that ``now`` is then earlier than the end of the answer.
package final class ExecDevice: StandaloneDevice {
  /// The maximum number of lines without a pause; a program that writes more will not stop.
  package static let maximumLines = ProgramConversation.maximumLines

  private let program: ProgramConversation

  package private(set) var now = Instant.zero

  /// The time of the monotonic clock at this device's time zero.
  private var epoch = Interval.zero
  /// The observations that were not yet returned.
  private var shown = FIFO<(time: Instant, observation: Observation)>()
  /// The end of the last answer: all output of the program was read up to this time.
  private var heard = Instant.zero
  /// When a program without a clock will next act spontaneously, if it has stated that.
  private var next = ProgramAnswer.Next.unsaid
  /// The end of the current request to let time pass, for a program without a clock.
  private var advanceLimit: Instant?
  /// The seed of such a program's random choices, from the next test on.
  package var seed: UInt64 = 0

  /// Creates a device from a command; the first reset starts the program.
  package init(
    command: String, answerTimeout: Interval = .seconds(5), isStopped: @escaping () -> Bool = { false }
  ) {
    program = ProgramConversation(command: command, answerTimeout: answerTimeout, isStopped: isStopped)
  }

  /// The command that the shell runs.
  package var command: String { program.command }
  /// The values that it reports.
  package var readings: [String] { introduction?.readings ?? [] }
  /// The stimuli that move a part subject to wear; `nil` if it does not name them.
  package var moving: [String]? { introduction?.moving }
  /// The introduction; `nil` without one.
  var introduction: ProgramIntroduction? { program.introduction }
  /// Why the role of the program is unknown, so that it cannot be used: its greeting is invalid or was interrupted.
  package var misunderstanding: LabFault? { program.misunderstanding }
  /// Stores the program's standard error and log messages.
  var output: ProgramOutput? {
    get { program.output }
    set { program.output = newValue }
  }

  /// The abilities from the introduction; a program without one refuses the requests that it does not support.
  package var abilities: Abilities {
    var abilities = (introduction ?? ProgramIntroduction()).abilities
    abilities.areUnknown = program.greetingTrouble != nil
    return abilities
  }

  private var isInVirtualTime: Bool { program.isInVirtualTime }

  /// Starts the program, greets it with a first reset, and lets it end; after that, its abilities are known.
  package func greet() { program.greet() }

  package func adopt(_ vocabulary: Vocabulary) { program.adopt(vocabulary) }
}

extension ExecDevice {
  package func reset(to start: StartCondition) throws(LabFault) {
    if let fault = misunderstanding ?? program.greetingTrouble { throw fault }
    if !program.isRunning { try restart() }
    // Output after the end of the last test belongs to no test.
    try program.skipOutput()
    shown.removeAll()
    epoch = MonotonicClock.now
    (now, next) = (.zero, .unsaid)
    if let refusal = try ask(program.request(ofReset: start.settings, seed: seed)) {
      throw LabFault(.notPossible, "the device refuses this start: \(refusal)")
    }
    // The observations in the answer to the reset are the start of the test.
    epoch = MonotonicClock.now
    (now, heard) = (.zero, .zero)
    for index in shown.indices { shown[index].time = .zero }
  }

  package func perform(_ stimulus: Stimulus) throws(LabFault) {
    let refusal = try ask(program.timed(program.request(of: stimulus), at: now))
    hearAnswer()
    if let refusal { shown.append((now, .refused(refusal))) }
  }

  package func bring(about fault: Fault) throws(LabFault) {
    guard introduction?.faults.contains(where: { $0.fault == fault.name }) == true else {
      throw LabFault(.notPossible, "the program offers no fault '\(fault.name)'")
    }
    let refusal = try ask(program.timed(program.request(of: fault), at: now))
    hearAnswer()
    if let refusal {
      throw LabFault(.notPossible, "the device refuses the fault '\(fault.name)': \(refusal)")
    }
  }

  /// Adds the time of an answer, if the device uses the real clock.
  private func hearAnswer() {
    guard !isInVirtualTime else { return }
    now = max(now, time(at: MonotonicClock.now))
    heard = now
  }

  package func observe(until limit: Instant) throws(LabFault) -> Observation? {
    while true {
      if let first = shown.first, first.time <= limit {
        shown.removeFirst()
        now = first.time
        return first.observation
      }
      guard program.isRunning else { throw LabFault(.ended, "the program does not run") }
      let isSilent = isInVirtualTime ? try advance(until: limit) : try listen(until: limit)
      if isSilent { return nil }
    }
  }

  /// Waits for spontaneous output, up to a limit.
  ///
  /// - Returns: Whether there was none.
  private func listen(until limit: Instant) throws(LabFault) -> Bool {
    // Earlier output was read with the answer; the program is not read again until time passes.
    if limit <= heard, !program.hasLine {
      now = max(now, limit)
      return true
    }
    guard let (entry, line) = try program.hear(until: epoch + (limit - .zero)) else {
      now = max(now, limit)
      return true
    }
    if let observation = entry.observation {
      shown.append((min(time(at: program.pieceTime), limit), observation))
    } else if case .log = entry.parsed.answer {
      return false
    } else {
      throw program.fail(.badAnswer, "nothing was asked, and the device wrote \(program.quoted(line))")
    }
    return false
  }

  /// Lets time pass for a program without a clock, up to its first observation or to a limit.
  ///
  /// - Returns: Whether it has shown nothing.
  private func advance(until limit: Instant) throws(LabFault) -> Bool {
    guard limit > now else { return true }
    if case .at(let moment) = next, moment > limit || moment == .never {
      if limit != .never { now = limit }
      return true
    }
    let limit = min(limit, now + Self.longestAdvance)
    advanceLimit = limit
    defer { advanceLimit = nil }
    let seconds = Instant.zero + (limit - now)
    let request = ProgramConversation.bytes(of: ["advance": .number(seconds.secondsText)])
    if let refusal = try ask(program.timed(request, at: now)) {
      throw program.fail(.badAnswer, "the device refuses to let time pass: \(refusal)")
    }
    guard shown.isEmpty else { return false }
    now = limit
    return true
  }

  /// The longest time that one request lets pass; an unbounded wait is divided.
  private static let longestAdvance = Interval.seconds(365 * 24 * 3600)

  package func restart() throws(LabFault) { try program.restart() }

  package func takeDiagnostics() -> [String] { program.takeRemarks() }

  /// Takes the diagnostics at the end of all tests, including output since the last one.
  func takeFinalDiagnostics() -> [String] {
    if program.isRunning {
      do throws(LabFault) {
        try program.skipOutput(until: MonotonicClock.now + .milliseconds(20))
      } catch {
        program.remark("after the last test: \(error.detail)")
      }
    }
    return takeDiagnostics()
  }

  /// Lets the program end: its input is closed, and after half a second its process group is killed.
  package func shutDown() { program.shutDown() }
}

extension ExecDevice {
  /// Returns the time of this device at a time of the monotonic clock.
  private func time(at clock: Interval) -> Instant { max(.zero, .zero + (clock - epoch)) }

  /// Sends a request and reads the answer, up to its last line.
  ///
  /// - Returns: The reason for a refusal, if the program refuses.
  private func ask(_ request: [UInt8]) throws(LabFault) -> String? {
    let end = try program.ask(request) { entry, line throws(LabFault) in
      guard let observation = entry.observation else { return }
      let moment = isInVirtualTime ? try moment(of: entry.parsed.time, line) : time(at: program.pieceTime)
      shown.append((moment, observation))
    }
    next = end.next
    return end.refusal
  }

  /// Returns the time of an observation by a program without a clock: now, or one moment in the time that passes.
  private func moment(of time: Instant?, _ line: [UInt8]) throws(LabFault) -> Instant {
    func wrong(_ why: String) -> LabFault {
      program.fail(.badAnswer, "the device wrote \(program.quoted(line)): \(why)")
    }
    guard let advanceLimit else {
      guard let time, time != now else { return now }
      throw wrong("it is \(now), and nothing else is asked")
    }
    guard let time else { throw wrong("time passes, so that it must say `at` when") }
    // Sums in floating point are slightly inexact.
    let isLate = time > advanceLimit && time - advanceLimit > .microseconds(1)
    guard !isLate, time >= now else {
      throw wrong("time passes from \(now) to \(advanceLimit), and no further")
    }
    if let first = shown.first?.time, first != min(time, advanceLimit) {
      throw wrong("it has shown something at \(first), and time stops there")
    }
    return min(time, advanceLimit)
  }
}
