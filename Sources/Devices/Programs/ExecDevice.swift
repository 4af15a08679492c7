import Bench
import System
public import Conformance
public import Basics

/// Any program as a device under test, over its standard streams.
///
/// It is run by the shell and speaks one JSON object a line:
///
///     we write                                              it answers
///     {"reset":{"registered":true,"configured":true}}       {"status":"noSignal"}  {"settled":true}
///     {"stimulus":"connect"}                                {"status":"connecting"}  {"settled":true}
///     {"stimulus":"setAutolock","arguments":{"delay":10}}   {"refused":"not logged in"}
///
/// An answer is any number of statuses and then `settled` or `refused`. A status that has not changed may be left
/// out. Between answers, while time passes, it may write statuses unasked. Durations are numbers of seconds.
///
/// In a start of its own it is greeted, `{"hello":{"protocol":2},"reset":{}}`, and may say before its answer what it is
/// (``ExecIntroduction``); a program that says nothing speaks the first protocol. One that was greeted shows more than
/// statuses (``ExecAnswer``), brings about the faults that it offers, and may have no clock of its own: then it is told
/// how time passes, up to the first moment at which it shows something, and may say when that will be.
///
///     {"stimulus":"lock","at":12.5}                         {"status":"locking"}  {"settled":true,"next":13.7}
///     {"advance":5,"at":12.5}                               {"status":"locked","at":13.7}  {"settled":true,"next":null}
///
/// An answer that does not come in time, that is not of this form, or a program that ended is a lab fault: the
/// whole process group is killed, and ``restart()`` or the next ``reset(to:)`` starts the program afresh. A start that ends
/// before it read what it was asked is no device at all, and neither is a command that has never answered in all its
/// starts, however often it happens.
///
/// Unless it has none of its own, time is that of the monotonic clock. What was shown during an answer is observed after
/// it with its own time, so for that while ``now`` is earlier than the answer's end.
public final class ExecDevice: StandaloneDevice {
  /// A command that has not answered in so many starts is not started again: who has a hundred scenarios does not wait
  /// a hundred times for the same.
  static let maximumSilences = 3

  /// The most lines without a pause; a program that writes more is not going to stop.
  public static let maximumLines = 10_000

  /// What the shell runs.
  public let command: String
  /// The most time from a request to the end of its answer.
  public let answerTimeout: Interval
  /// Whether the end was asked for, so that nothing is waited for any more.
  private let isStopped: () -> Bool

  public private(set) var now = Instant.zero

  private var vocabulary = Vocabulary(stimuli: [], statuses: [])
  private var child: ChildProcess?
  /// The monotonic clock's time of our time zero.
  private var epoch = Interval.zero
  /// What was shown and has not been observed yet.
  private var shown = FIFO<(time: Instant, observation: Observation)>()
  /// The lines read since the program last was silent.
  private var lineCount = 0
  /// Whether the program has written a line of the protocol since it was started.
  private var hasAnswered = false
  /// When the line was read that was taken last: what was written in one piece was shown at one moment.
  private var pieceTime = Instant.zero
  /// Up to when all that the program wrote was read: to the end of its last answer.
  private var heard = Instant.zero
  /// The lines that say of each stimulus without arguments that it is given.
  private var requests: [[UInt8]] = []
  /// The lines that it wrote before.
  private var known = ExecLineCache()
  /// The member that tells a program without a clock the time, and the time that it tells.
  private var told = (time: Instant.never, member: [UInt8]())
  /// What it said that it is; `nil` for one that said nothing.
  private(set) var introduction: ExecIntroduction?
  private var isGreeted = false
  /// Why it is not known what it is, where it cannot be used so: its greeting is wrong, or was broken off.
  private(set) var misunderstanding: LabFault?
  /// When a program without a clock will do something by itself, as far as it said so.
  private var next = ExecAnswer.Next.unsaid
  /// Up to when time was let pass with the request that is under way, for a program without a clock.
  private var advanceLimit: Instant?
  /// What such a program draws its chances from, from the next test on.
  public var seed: UInt64 = 0
  /// Keeps what it writes to its standard error, and what it logs.
  var output: ProgramOutput?
  /// Whether the command has ever come to the end of an answer.
  private var hasEverAnswered = false
  /// What was wrong with each start of a command that has never answered.
  private var silences: [LabFault] = []

  /// Makes a device of a command; it is started by the first reset.
  public init(
    command: String, answerTimeout: Interval = .seconds(5), isStopped: @escaping () -> Bool = { false }
  ) {
    self.isStopped = isStopped
    self.command = command
    self.answerTimeout = answerTimeout
  }

  /// What it said that it can serve; what it did not say has to be asked for, and it refuses what it does not have.
  public var abilities: Abilities { (introduction ?? ExecIntroduction()).abilities }

  private var isInVirtualTime: Bool { introduction?.isInVirtualTime ?? false }

  /// Starts it, greets it with a first reset, and lets it end, once: what it can serve is known from then on.
  ///
  /// No test is in that start, so that each test finds a program that was told the same.
  public func greet() {
    guard !isGreeted else { return }
    isGreeted = true
    do throws(LabFault) {
      if child == nil { try restart() }
      _ = try ask(
        Self.bytes(of: ["hello": ["protocol": .integer(ExecIntroduction.spokenProtocol)], "reset": [:]]))
    } catch {
      if error.symptom == .stopped {
        misunderstanding = LabFault(.stopped, "the end was asked for while the program was greeted")
      }
      // What else is wrong with its answer shows again in the first test.
    }
    shutDown()
  }

  public func adopt(_ vocabulary: Vocabulary) {
    self.vocabulary = vocabulary
    requests = vocabulary.stimuli.map { Self.bytes(of: ["stimulus": .text($0)]) }
    known = ExecLineCache()
  }

  private func observation(of answer: ExecAnswer) -> Observation? {
    switch answer {
    case .status(let name): vocabulary.observation(ofStatus: name)
    case .effect(let name): vocabulary.observation(ofEffect: name)
    case .reading(let reading): .reading(reading)
    case .event(let name, let detail):
      vocabulary.stimulus(name).map { .event(SeenEvent($0, detail)) } ?? .unknown(name)
    case .violation(let violation): .violation(violation)
    case .hello, .log, .settled, .refused: nil
    }
  }

  private static func bytes(of request: JSON) -> [UInt8] { Array(request.line.utf8) + [UInt8(ascii: "\n")] }
}

extension ExecDevice {
  public func reset(to start: StartCondition) throws(LabFault) {
    if let misunderstanding { throw misunderstanding }
    if child == nil { try restart() }
    let settings = JSON.mapping(start.settings.map(member))
    // What was shown after the last test was looked at belongs to no test.
    while hasAnswered, case .line(let line)? = child?.nextLine(until: .zero) { _ = try answer(line) }
    shown.removeAll()
    lineCount = 0
    epoch = MonotonicClock.now
    (now, next) = (.zero, .unsaid)
    let refusal = try ask(
      Self.bytes(of: .known(["reset": settings, "seed": introduction.map { _ in .integer(seed) }])))
    if let refusal { throw LabFault(.notPossible, "the device cannot start so: \(refusal)") }
    // What it shows in answer to the reset is how the test begins.
    epoch = MonotonicClock.now
    (now, heard, pieceTime) = (.zero, .zero, .zero)
    for index in shown.indices { shown[index].time = .zero }
  }

  public func perform(_ stimulus: Stimulus) throws(LabFault) {
    let refusal = try ask(request(of: stimulus))
    hearAnswer()
    if let refusal { shown.append((now, .refused(refusal))) }
  }

  private func request(of stimulus: Stimulus) -> [UInt8] {
    if stimulus.arguments.isEmpty { return timed(requests[stimulus.number]) }
    return timed(
      Self.bytes(of: [
        "stimulus": .text(vocabulary.stimuli[stimulus.number]),
        "arguments": .mapping(
          stimulus.arguments.map { argument in
            // A program knows it by its name, however it was given.
            let name = argument.name == Argument.only ? vocabulary.soleArguments[stimulus.number] : nil
            return member(Argument(name ?? argument.name, argument.value))
          }),
      ]))
  }

  /// A request, with the time where the program has no clock.
  private func timed(_ request: [UInt8]) -> [UInt8] {
    guard isInVirtualTime else { return request }
    if told.time != now { told = (now, Array(",\"at\":\(now.secondsText)}\n".utf8)) }
    return request.dropLast(2) + told.member
  }

  public func bring(about fault: Fault) throws(LabFault) {
    guard introduction?.faults.contains(where: { $0.fault == fault.name }) == true else {
      throw LabFault(.notPossible, "the program offers no fault '\(fault.name)'")
    }
    let refusal = try ask(
      timed(Self.bytes(of: ["fault": .text(fault.name), "value": json(fault.value)])))
    hearAnswer()
    if let refusal {
      throw LabFault(.notPossible, "the device refuses the fault '\(fault.name)': \(refusal)")
    }
  }

  /// Lets the time of an answer count, where it is the clock's.
  private func hearAnswer() {
    guard !isInVirtualTime else { return }
    now = max(now, time)
    heard = now
  }

  public func observe(until limit: Instant) throws(LabFault) -> Observation? {
    while true {
      if let first = shown.first, first.time <= limit {
        shown.removeFirst()
        now = first.time
        return first.observation
      }
      guard let child else { throw LabFault(.ended, "the program does not run") }
      let isSilent = isInVirtualTime ? try letPass(until: limit) : try listen(to: child, until: limit)
      if isSilent { return nil }
    }
  }

  /// Waits for something unasked, up to a limit.
  ///
  /// - Returns: whether there was nothing.
  private func listen(to child: ChildProcess, until limit: Instant) throws(LabFault) -> Bool {
    // What was there by now was read with the answer: it is not asked for again before time passes.
    if limit <= heard, !child.hasLine {
      now = max(now, limit)
      return true
    }
    switch try nextLine(of: child, until: epoch + (limit - .zero)) {
    case .timedOut:
      now = max(now, limit)
      lineCount = 0
      return true
    case .line(let line):
      let entry = try answer(line)
      if let observation = entry.observation {
        shown.append((min(pieceTime, limit), observation))
      } else if case .log = entry.said.answer {
        return false
      } else {
        throw fail(.badAnswer, "nothing was asked, and the device wrote \(quoted(line))")
      }
      return false
    case .tooLong(let start): throw tooLong(start)
    case .ended: throw ended()
    }
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
    let refusal = try ask(timed(Self.bytes(of: ["advance": .number(seconds.secondsText)])))
    if let refusal { throw fail(.badAnswer, "the device refuses to let time pass: \(refusal)") }
    guard shown.isEmpty else { return false }
    now = limit
    return true
  }

  /// Of what lasts for ever a program is told in pieces.
  private static let longestAdvance = Interval.seconds(365 * 24 * 3600)

  public func restart() throws(LabFault) {
    if silences.count >= Self.maximumSilences { throw silences[0] }
    child?.stop(grace: .zero)
    child = nil
    hasAnswered = false
    do {
      child = try ChildProcess(command: command)
      child?.onErrorOutput = { [weak self] in self?.output?.take($0) }
    } catch {
      throw LabFault(error)
    }
  }

  /// Lets the program end: its input is closed, and after half a second its process group is killed.
  public func shutDown() {
    child?.stop(grace: .milliseconds(500))
    child = nil
  }
}

extension ExecDevice {
  /// Our time, by the clock.
  private var time: Instant { .zero + (MonotonicClock.now - epoch) }

  /// How soon it is heard that the end is asked for.
  private static let hearing = Interval.milliseconds(50)

  /// Waits for a line, in pieces, so that who asks for the end does not wait for all of it.
  private func nextLine(
    of child: ChildProcess, until limit: Interval
  ) throws(LabFault) -> ChildProcess.Wake {
    while true {
      let piece = min(limit, MonotonicClock.now + Self.hearing)
      let isRead = child.hasLine
      let wake = child.nextLine(until: piece)
      if !isRead { pieceTime = time }
      guard wake == .timedOut, piece < limit else { return wake }
      if isStopped() {
        // What it still answers would be taken for the answer to something else.
        self.child?.stop(grace: .zero)
        self.child = nil
        throw LabFault(.stopped, "the end was asked for")
      }
    }
  }

  /// Sends a request and takes in the answer, up to its last line.
  ///
  /// - Returns: why it was refused, if it was.
  private func ask(_ request: [UInt8]) throws(LabFault) -> String? {
    guard let child else { throw LabFault(.ended, "the program does not run") }
    // A program without a clock says nothing unasked: what is there would be taken for the answer.
    if isInVirtualTime, child.hasLine, case .line(let line) = child.nextLine(until: .zero) {
      throw fail(.badAnswer, "its answer was complete, and the device wrote \(quoted(line))")
    }
    child.send(request)
    let limit = MonotonicClock.now + answerTimeout
    while true {
      switch try nextLine(of: child, until: limit) {
      case .line(let bytes):
        let entry = try answer(bytes)
        switch entry.said.answer {
        case .settled(let next):
          self.next = next
          return nil
        case .refused(let reason, let next):
          self.next = next
          return reason
        case .hello, .log: break
        case .status, .effect, .reading, .event, .violation:
          guard let observation = entry.observation else { break }
          shown.append((isInVirtualTime ? try moment(of: entry.said.time, bytes) : pieceTime, observation))
        }
      case .tooLong(let start): throw tooLong(start)
      case .timedOut:
        let asked = String(decoding: request.dropLast(), as: UTF8.self)
        throw fail(.noAnswer, "no end of the answer within \(answerTimeout) to \(asked)")
      case .ended: throw ended()
      }
    }
  }

  /// When something was shown, by a program that has no clock: at once, or at one moment of the time that it was let pass.
  private func moment(of time: Instant?, _ line: [UInt8]) throws(LabFault) -> Instant {
    func wrong(_ why: String) -> LabFault { fail(.badAnswer, "the device wrote \(quoted(line)): \(why)") }
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

  private func answer(_ line: [UInt8]) throws(LabFault) -> ExecLineCache.Entry {
    lineCount += 1
    guard lineCount <= Self.maximumLines else {
      throw fail(
        .badAnswer, "more than \(Self.maximumLines) lines without a pause, the last of them \(quoted(line))")
    }
    if let entry = known.entry(of: line) {
      note(entry.said.answer)
      return entry
    }
    do {
      let said = try ExecLine(parsing: line)
      note(said.answer)
      let entry = (said: said, observation: observation(of: said.answer))
      known.learn(line, entry)
      return entry
    } catch {
      if hasGreeting(line) {
        misunderstanding = LabFault(.noDevice, "the program's greeting cannot be used: \(error.reason)")
      }
      throw fail(.badAnswer, "the device wrote \(quoted(line)): \(error.reason)")
    }
  }

  /// Whether a line was to say what the program is.
  private func hasGreeting(_ line: [UInt8]) -> Bool { (try? JSON(parsing: line))?["hello"] != nil }

  private func note(_ answer: ExecAnswer) {
    hasAnswered = true
    switch answer {
    case .status, .effect, .reading, .event, .violation: break
    case .hello(let said): introduction = said
    case .log(let text): output?.take(Array("\(text)\n".utf8)[...])
    case .refused: hasEverAnswered = true
    case .settled: (hasEverAnswered, lineCount) = (true, 0)
    }
  }

  private func tooLong(_ start: [UInt8]) -> LabFault {
    fail(.badAnswer, "a line of more than \(LineBuffer.usualLimit) bytes, which begins \(quoted(start))")
  }

  private func ended() -> LabFault {
    guard let child else { return LabFault(.ended, "the program does not run") }
    let hasUnread = child.hasUnread
    let ending = child.stop(grace: .milliseconds(200))
    let how = ending?.description ?? "it closed its output and went on"
    // One that ends before it has read what it was asked was not started, whatever an earlier start did: it does not reach
    // what it leads to any more. One that has read it may have died of that.
    if hasEverAnswered, !hasAnswered, hasUnread {
      return fail(.noDevice, "the program ended before it was asked anything: \(how), of \(command)")
    }
    // The shell's way to say that there is no such program.
    let isMissing = !hasAnswered && (ending == .exit(126) || ending == .exit(127))
    return fail(isMissing ? .noDevice : .ended, "\(how), of \(command)")
  }

  /// Kills the program and says what was wrong with it.
  private func fail(_ symptom: LabFault.Symptom, _ detail: String) -> LabFault {
    child?.stop(grace: .zero)
    let words = child?.lastWords ?? ""
    child = nil
    let told = words.isEmpty ? detail : "\(detail)\nits standard error ended with:\n\(words)"
    if hasEverAnswered { return LabFault(symptom, told) }
    let hint = symptom == .noAnswer ? "; --answer-timeout gives more time to one that starts slowly" : ""
    let fault = LabFault(
      .noDevice,
      symptom == .noDevice ? told : "the program has not answered once\(hint), \(symptom.rawValue): \(told)")
    silences.append(fault)
    return fault
  }

  /// The first two hundred bytes of what was written.
  private func quoted(_ line: [UInt8]) -> String {
    let text = printable(line.prefix(200)).split(separator: "\n").joined(separator: " ")
    return line.count > 200 ? "'\(text)'… (\(line.count) bytes)" : "'\(text)'"
  }

  private func member(_ argument: Argument) -> JSON.Member {
    JSON.Member(argument.name, json(argument.value))
  }

  private func json(_ value: Value) -> JSON { JSON(value) { .decimal($0.seconds) } }
}
