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
/// An answer that does not come in time, that is not of this form, or a program that ended is a lab fault: the
/// whole process group is killed, and ``restart()`` or the next ``reset(to:)`` starts the program afresh. A start that ends
/// before it read what it was asked is no device at all, and neither is a command that has never answered in all its
/// starts, however often it happens.
///
/// Time is that of the monotonic clock. What was shown during an answer is observed after it with its own time,
/// so for that while ``now`` is earlier than the answer's end.
public final class ExecDevice: DeviceUnderTest {
  /// A command that has not answered in so many starts is not started again: who has a hundred scenarios does not wait
  /// a hundred times for the same.
  static let mostSilences = 3

  /// The most lines without a pause; a program that writes more is not going to stop.
  public static let mostLines = 10_000

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
  /// Up to when all that the program wrote was read: to the end of its last answer.
  private var heard = Instant.zero
  /// The lines that say of each stimulus without arguments that it is given.
  private var requests: [[UInt8]] = []
  /// The lines that are expected, as most programs write them, and what they say: they need not be taken apart.
  private var usual: [[UInt8]: (answer: ExecAnswer, observation: Observation?)] = [:]
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

  /// Stimuli and settings have to be asked for: the program refuses those that it does not have.
  public var abilities: Abilities {
    Abilities(stimuli: nil, settings: nil, slack: .milliseconds(100))
  }

  public func adopt(_ vocabulary: Vocabulary) {
    self.vocabulary = vocabulary
    requests = vocabulary.stimuli.map { Self.bytes(of: ["stimulus": .text($0)]) }
    usual = [:]
    addUsual(["settled": true], .settled, nil)
    for (number, status) in vocabulary.statuses.enumerated() {
      addUsual(["status": .text(status)], .status(status), .status(number))
    }
  }

  /// Notes an answer with and without a space after the colon, as the writers of most languages have it.
  private func addUsual(_ json: JSON, _ answer: ExecAnswer, _ observation: Observation?) {
    let line = json.line
    for line in [line, line.split(separator: ":", maxSplits: 1).joined(separator: ": ")] {
      usual[Array(line.utf8)] = (answer, observation)
    }
  }

  private func observation(of answer: ExecAnswer) -> Observation? {
    guard case .status(let name) = answer else { return nil }
    return vocabulary.observation(ofStatus: name)
  }

  private static func bytes(of request: JSON) -> [UInt8] { Array(request.line.utf8) + [UInt8(ascii: "\n")] }
}

extension ExecDevice {
  public func reset(to start: StartCondition) throws(LabFault) {
    if child == nil { try restart() }
    let request: JSON = ["reset": .mapping(start.settings.map(member))]
    // What was shown after the last test was looked at belongs to no test.
    while hasAnswered, case .line(let line)? = child?.nextLine(until: .zero) { _ = try answer(line) }
    shown.removeAll()
    lineCount = 0
    epoch = MonotonicClock.now
    let refusal = try ask(Self.bytes(of: request))
    if let refusal { throw LabFault(.notPossible, "the device cannot start so: \(refusal)") }
    // What it shows in answer to the reset is how the test begins.
    epoch = MonotonicClock.now
    (now, heard) = (.zero, .zero)
    for index in shown.indices { shown[index].time = .zero }
  }

  public func perform(_ stimulus: Stimulus) throws(LabFault) {
    let refusal = try ask(request(of: stimulus))
    now = max(now, time)
    heard = now
    if let refusal { shown.append((now, .refused(refusal))) }
  }

  private func request(of stimulus: Stimulus) -> [UInt8] {
    if stimulus.arguments.isEmpty { return requests[stimulus.number] }
    return Self.bytes(of: [
      "stimulus": .text(vocabulary.stimuli[stimulus.number]),
      "arguments": .mapping(stimulus.arguments.map(member)),
    ])
  }

  public func bring(about fault: Fault) throws(LabFault) {
    throw LabFault(.notPossible, "a program cannot be asked for the fault '\(fault.name)'")
  }

  public func observe(until limit: Instant) throws(LabFault) -> Observation? {
    while true {
      if let first = shown.first, first.time <= limit {
        shown.removeFirst()
        now = first.time
        return first.observation
      }
      guard let child else { throw LabFault(.ended, "the program does not run") }
      // What was there by now was read with the answer: it is not asked for again before time passes.
      if limit <= heard, !child.hasLine {
        now = max(now, limit)
        return nil
      }
      switch try nextLine(of: child, until: epoch + (limit - .zero)) {
      case .timedOut:
        now = max(now, limit)
        lineCount = 0
        return nil
      case .line(let line):
        let (said, observation) = try answer(line)
        guard case .status = said, let observation else {
          throw fail(.badAnswer, "nothing was asked, and the device wrote \(quoted(line))")
        }
        shown.append((min(time, limit), observation))
      case .tooLong(let start): throw tooLong(start)
      case .ended: throw ended()
      }
    }
  }

  public func restart() throws(LabFault) {
    if silences.count >= Self.mostSilences { throw silences[0] }
    child?.stop(grace: .zero)
    child = nil
    hasAnswered = false
    do {
      child = try ChildProcess(command: command)
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
      let wake = child.nextLine(until: piece)
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
    child.send(request)
    let limit = MonotonicClock.now + answerTimeout
    while true {
      switch try nextLine(of: child, until: limit) {
      case .line(let bytes):
        let (said, observation) = try answer(bytes)
        switch said {
        case .status: if let observation { shown.append((time, observation)) }
        case .settled: return nil
        case .refused(let reason): return reason
        }
      case .tooLong(let start): throw tooLong(start)
      case .timedOut:
        let asked = String(decoding: request.dropLast(), as: UTF8.self)
        throw fail(.noAnswer, "no end of the answer within \(answerTimeout) to \(asked)")
      case .ended: throw ended()
      }
    }
  }

  private func answer(
    _ line: [UInt8]
  ) throws(LabFault) -> (answer: ExecAnswer, observation: Observation?) {
    lineCount += 1
    guard lineCount <= Self.mostLines else {
      throw fail(
        .badAnswer, "more than \(Self.mostLines) lines without a pause, the last of them \(quoted(line))")
    }
    if let known = usual[line] {
      note(known.answer)
      return known
    }
    do {
      let answer = try ExecAnswer(line: line)
      note(answer)
      return (answer, observation(of: answer))
    } catch {
      throw fail(.badAnswer, "the device wrote \(quoted(line)): \(error.reason)")
    }
  }

  private func note(_ answer: ExecAnswer) {
    hasAnswered = true
    switch answer {
    case .status: break
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
    JSON.Member(argument.name, JSON(argument.value) { .decimal($0.seconds) })
  }
}

/// One line of a program.
enum ExecAnswer: Equatable {
  case status(String)
  case settled
  case refused(String)

  /// Why a line is none.
  struct Malformed: Error, Equatable {
    var reason: String
  }

  init(line: [UInt8]) throws(Malformed) {
    let value: JSON
    do {
      value = try JSON(parsing: line)
    } catch {
      throw Malformed(reason: error.description)
    }
    switch value {
    case .mapping(let members) where members.count == 1:
      switch (members[0].name, members[0].value) {
      case ("status", .text(let name)): self = .status(name)
      case ("settled", .flag(true)): self = .settled
      case ("refused", .text(let reason)): self = .refused(reason)
      default: throw Malformed(reason: Self.expectation)
      }
    default: throw Malformed(reason: Self.expectation)
    }
  }

  private static let expectation =
    #"expected {"status":"…"}, {"settled":true} or {"refused":"…"}, one a line"#
}
