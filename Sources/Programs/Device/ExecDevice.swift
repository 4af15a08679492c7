import System
package import Conformance
package import Basics

/// Any program as a device under test, over its standard streams.
///
/// It is run by the shell and speaks one JSON object a line:
///
///     we write                                              it answers
///     {"reset":{"registered":true,"configured":true}}       {"status":"noSignal"}  {"settled":true}
///     {"stimulus":"connect"}                                {"status":"connecting"}  {"settled":true}
///     {"stimulus":"setAutolock","arguments":{"delay":10}}   {"refused":"not logged in"}
///
/// An answer is any number of statuses and then `settled` or `refused`. An unchanged status may be left out. Between
/// answers, while time passes, the program may write statuses spontaneously. Durations are numbers of seconds.
///
/// In a start of its own it receives a greeting, `{"hello":{"protocol":2},"reset":{}}`, and may introduce itself
/// before its answer (``ProgramIntroduction``); without an introduction it speaks the first protocol. With one it may
/// show more than statuses (``ProgramAnswer``), injects the faults that it offers, and may have no clock of its own:
/// it then receives the passing of time, up to the first moment at which it shows something, and may reply when that
/// will be.
///
///     {"stimulus":"lock","at":12.5}                         {"status":"locking"}  {"settled":true,"next":13.7}
///     {"advance":5,"at":12.5}                               {"status":"locked","at":13.7}  {"settled":true,"next":null}
///
/// Unless it has no clock, its time is that of the monotonic clock. Observations during an answer are returned after
/// it with their own times, so that ``now`` is then earlier than the answer's end.
package final class ExecDevice: StandaloneDevice {
  /// The most lines without a pause; a program that writes more is not going to stop.
  package static let maximumLines = ProgramConversation.maximumLines

  private let program: ProgramConversation

  package private(set) var now = Instant.zero

  /// The monotonic clock's time of our time zero.
  private var epoch = Interval.zero
  /// What was shown and has not been observed yet.
  private var shown = FIFO<(time: Instant, observation: Observation)>()
  /// Up to when all that the program wrote was read: to the end of its last answer.
  private var heard = Instant.zero
  /// When a program without a clock will next do something spontaneously, if it has said so.
  private var next = ProgramAnswer.Next.unsaid
  /// Up to when time was let pass with the request that is under way, for a program without a clock.
  private var advanceLimit: Instant?
  /// What such a program draws its chances from, from the next test on.
  package var seed: UInt64 = 0

  /// Makes a device of a command; it is started by the first reset.
  package init(
    command: String, answerTimeout: Interval = .seconds(5), isStopped: @escaping () -> Bool = { false }
  ) {
    program = ProgramConversation(command: command, answerTimeout: answerTimeout, isStopped: isStopped)
  }

  /// What the shell runs.
  package var command: String { program.command }
  /// The values that it reports.
  package var readings: [String] { introduction?.readings ?? [] }
  /// The stimuli that set something in motion that wears; `nil` where it does not say.
  package var moving: [String]? { introduction?.moving }
  /// Its introduction; `nil` without one.
  var introduction: ProgramIntroduction? { program.introduction }
  /// Why it is not known what it is, where it cannot be used so: its greeting is wrong, or was broken off.
  package var misunderstanding: LabFault? { program.misunderstanding }
  /// Keeps what it writes to its standard error, and what it logs.
  var output: ProgramOutput? {
    get { program.output }
    set { program.output = newValue }
  }

  /// The abilities from its introduction; unknown ones must be tried, and it refuses what it lacks.
  package var abilities: Abilities {
    var abilities = (introduction ?? ProgramIntroduction()).abilities
    abilities.areUnknown = program.greetingTrouble != nil
    return abilities
  }

  private var isInVirtualTime: Bool { program.isInVirtualTime }

  /// Starts it, greets it with a first reset, and lets it end, once: what it can serve is known from then on.
  package func greet() { program.greet() }

  package func adopt(_ vocabulary: Vocabulary) { program.adopt(vocabulary) }
}

extension ExecDevice {
  package func reset(to start: StartCondition) throws(LabFault) {
    if let fault = misunderstanding ?? program.greetingTrouble { throw fault }
    if !program.isRunning { try restart() }
    // What was shown after the last test was looked at belongs to no test.
    try program.passOver()
    shown.removeAll()
    epoch = MonotonicClock.now
    (now, next) = (.zero, .unsaid)
    if let refusal = try ask(program.request(ofReset: start.settings, seed: seed)) {
      throw LabFault(.notPossible, "the device cannot start so: \(refusal)")
    }
    // What it shows in answer to the reset is how the test begins.
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

  /// Lets the time of an answer count, where it is the clock's.
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
      let isSilent = isInVirtualTime ? try letPass(until: limit) : try listen(until: limit)
      if isSilent { return nil }
    }
  }

  /// Waits for something unasked, up to a limit.
  ///
  /// - Returns: whether there was nothing.
  private func listen(until limit: Instant) throws(LabFault) -> Bool {
    // What was there by now was read with the answer: it is not asked for again before time passes.
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
    } else if case .log = entry.said.answer {
      return false
    } else {
      throw program.fail(.badAnswer, "nothing was asked, and the device wrote \(program.quoted(line))")
    }
    return false
  }

  /// Lets time pass for a program that has no clock, up to the first moment at which it shows something, or to a limit.
  ///
  /// - Returns: whether it has shown nothing.
  private func letPass(until limit: Instant) throws(LabFault) -> Bool {
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

  /// An unbounded wait is sent to a program in pieces.
  private static let longestAdvance = Interval.seconds(365 * 24 * 3600)

  package func restart() throws(LabFault) { try program.restart() }

  package func takeDiagnostics() -> [String] { program.takeRemarks() }

  /// Takes the diagnostics at the end of all tests, including output since the last one.
  func takeLastWords() -> [String] {
    if program.isRunning {
      do throws(LabFault) {
        try program.passOver(until: MonotonicClock.now + .milliseconds(20))
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
  /// Our time, at one of the monotonic clock's.
  private func time(at clock: Interval) -> Instant { max(.zero, .zero + (clock - epoch)) }

  /// Sends a request and reads the answer, up to its last line.
  ///
  /// - Returns: why it was refused, if it was.
  private func ask(_ request: [UInt8]) throws(LabFault) -> String? {
    let end = try program.ask(request) { entry, line throws(LabFault) in
      guard let observation = entry.observation else { return }
      let moment = isInVirtualTime ? try moment(of: entry.said.time, line) : time(at: program.pieceTime)
      shown.append((moment, observation))
    }
    next = end.next
    return end.refusal
  }

  /// When something was shown, by a program that has no clock: at once, or at one moment of the time that it was let pass.
  private func moment(of time: Instant?, _ line: [UInt8]) throws(LabFault) -> Instant {
    func wrong(_ why: String) -> LabFault {
      program.fail(.badAnswer, "the device wrote \(program.quoted(line)): \(why)")
    }
    guard let advanceLimit else {
      guard let time, time != now else { return now }
      throw wrong("it is \(now), and nothing else is asked")
    }
    guard let time else { throw wrong("time passes, so that it must say `at` when") }
    // What was added up in floating point is a little off.
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
