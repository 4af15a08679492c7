import Basics
package import Conformance
import System

/// A program that answers requests over its standard streams, one line each: starts, greets and ends it, and stores
/// its introduction and its failures.
///
/// The shell runs the program. In a separate start, it receives a greeting, `{"hello":{"protocol":2},"reset":{}}`, and
/// may introduce itself before its answer (``ProgramIntroduction``). Without an introduction, it speaks protocol 1. An
/// answer is any number of lines, and then `settled` or `refused` (``ProgramAnswer``).
///
/// A late or malformed answer, or the end of the program, is a lab fault: the whole process group is killed, and
/// ``restart()`` starts the program again. If a program exits before it reads its request, or a command has never
/// answered in any start, there is no device.
package final class ProgramConversation {
  /// The role of a program.
  package enum Role: String {
    /// A device under test.
    case device
    /// The program speaks a lock's protocol over Lockstep's Bluetooth host.
    case driver
    /// The program is a lock behind Lockstep's Bluetooth host.
    case peripheral
  }

  /// The end of an answer.
  struct End {
    /// Why the request was refused; `nil` if it was performed.
    var refusal: String?
    /// When the program will next act spontaneously, if it has stated that.
    var next: ProgramAnswer.Next
  }

  /// The maximum number of starts without an answer. After these, the command is not started again, so that many
  /// scenarios do not all wait for the same failure.
  static let maximumFailedStarts = 3

  /// The maximum number of lines without a pause; a program that writes more will not stop.
  static let maximumLines = 10_000

  /// The command that the shell runs.
  package let command: String
  package let role: Role
  /// The folder in which the program runs; `nil` for the current one.
  let folder: String?
  /// The secrets that only this program receives, on a separate descriptor.
  private let secrets: ProgramSecrets
  /// The maximum time from a request to the end of its answer.
  let answerTimeout: Interval
  /// Whether a stop was requested, which ends all waits.
  private let isStopped: () -> Bool

  private(set) var vocabulary = Vocabulary(stimuli: [], statuses: [])
  private var child: ChildProcess?
  /// The number of lines since the last pause of the program.
  private var lineCount = 0
  /// Whether the program has written a line of the protocol since it was started.
  private var hasAnswered = false
  /// The time at which the last line was read: lines that arrive together were shown at the same moment.
  private(set) var pieceTime = Interval.zero
  /// The request lines for each stimulus without arguments.
  private var requests: [[UInt8]] = []
  /// The lines that the program has written before.
  private var known = ProgramLineCache()
  /// The last time sent to a program without a clock, and the member that contains it.
  private var sentTime = (time: Instant.never, member: [UInt8]())
  /// The introduction; `nil` without one.
  private(set) var introduction: ProgramIntroduction?
  private var isGreeted = false
  /// Why the greeting was not answered, if it was not.
  package private(set) var greetingFault: LabFault?
  /// How the program ended, if it ended by itself.
  private var ending: Ending?
  /// Why a greeted device did not answer in either protocol: a signal ended it twice, it runs without an answer, or it
  /// exits at every request.
  private(set) var greetingTrouble: LabFault?
  /// The number of secrets that the program has named.
  private var secretCount = 0
  /// The remarks on unusable output, without duplicates, and the number of those already taken.
  private var remarks: [String] = []
  private var takenRemarks = 0
  /// Whether the program was running without an answer when the greeting timed out.
  private var isSilent = false
  /// Why the role of the program is unknown, so that it cannot be used: its greeting is invalid or was interrupted.
  package private(set) var misunderstanding: LabFault?
  /// Stores the program's standard error and log messages.
  var output: ProgramOutput?
  /// Whether the command that uses the program has an option for its answer timeout.
  var hasTimeoutOption = true
  /// Whether the command has ever completed an answer.
  private var hasEverAnswered = false
  /// The failure of each start of a command that has never answered.
  private var startFailures: [LabFault] = []

  init(
    command: String, as role: Role = .device, in folder: String? = nil,
    secrets: ProgramSecrets = ProgramSecrets(),
    answerTimeout: Interval = .seconds(5), isStopped: @escaping () -> Bool = { false }
  ) {
    self.command = command
    self.role = role
    self.folder = folder
    self.secrets = secrets
    self.answerTimeout = answerTimeout
    self.isStopped = isStopped
  }

  /// Whether it receives the time, and writes only when it is asked.
  var isInVirtualTime: Bool { role != .device || introduction?.isInVirtualTime ?? false }

  /// The names of the secrets that the program received.
  var secretNames: [String] { secrets.names }

  /// Whether the program is running.
  var isRunning: Bool { child != nil }

  /// Whether a complete line was read but not yet taken.
  var hasLine: Bool { child?.hasLine ?? false }

  /// Starts the program, greets it with a first reset, and lets it end; after that, its abilities are known.
  ///
  /// No test uses this start, so that each test has a program with the same history.
  func greet() {
    guard !isGreeted else { return }
    isGreeted = true
    var hello = [JSON.Member("protocol", .integer(ProgramIntroduction.spokenProtocol))]
    if role != .device { hello.append(JSON.Member("role", .text(role.rawValue))) }
    let request = Self.bytes(of: ["hello": .mapping(hello), "reset": [:]])
    var refusal: String?
    do throws(LabFault) {
      do throws(LabFault) {
        if child == nil { try restart() }
        refusal = try greet(with: request).refusal
      } catch  where ending != nil && introduction == nil {
        // If another process killed it, it would look like a program of protocol 1.
        try restart()
        refusal = try greet(with: request).refusal
      }
    } catch {
      // Other errors in its answer appear again in the first test.
      greetingFault = error
      if role == .device, introduction == nil, wasKilled || isSilent || !answersReset(after: error) {
        greetingTrouble = error
      }
      if error.symptom == .stopped {
        misunderstanding = LabFault(.stopped, "a stop was requested while the program was greeted")
      }
    }
    // Protocol 1 has no Bluetooth.
    if role != .device, introduction == nil, greetingFault == nil {
      misunderstanding = LabFault(
        .noDevice,
        "the \(role) does not say what it is when it is greeted: "
          + (refusal.map { "it refuses: \($0)" } ?? "its first line is to be {\"hello\":{…}}"))
    }
    shutDown()
  }

  /// Returns whether a program that exited twice at its greeting answers a plain reset in another start. If so, it
  /// speaks protocol 1; if not, it does not start at all.
  private func answersReset(after fault: LabFault) -> Bool {
    guard ending != nil, fault.symptom != .stopped else { return true }
    do throws(LabFault) {
      try restart()
      _ = try ask(Self.bytes(of: ["reset": [:]])) { _, _ in }
      return true
    } catch {
      return false
    }
  }

  /// Sends a greeting and waits for the answer, with twice the usual timeout, since this includes the start.
  ///
  /// A program of protocol 1 that ignores unknown members answers a plain reset, and a slow one answers the greeting
  /// before it; the first answer distinguishes them.
  private func greet(with request: [UInt8]) throws(LabFault) -> End {
    guard let child else { throw missing }
    isSilent = false
    child.send(request)
    if let end = try answer(until: MonotonicClock.now + answerTimeout, { _, _ in }) { return end }
    if introduction == nil, role == .device { child.send(Self.bytes(of: ["reset": [:]])) }
    if let end = try answer(until: MonotonicClock.now + answerTimeout, { _, _ in }) { return end }
    isSilent = true
    throw unanswered(request, for: answerTimeout + answerTimeout)
  }

  func adopt(_ vocabulary: Vocabulary) {
    self.vocabulary = vocabulary
    requests = vocabulary.stimuli.map { Self.bytes(of: ["stimulus": .text($0)]) }
    known = ProgramLineCache()
    for name in introduction?.stimuli ?? [] where vocabulary.stimulus(name) == nil {
      remark(
        "the \(role.title) offers the stimulus \(name), which the machine does not have: it is never given")
    }
  }
}

// MARK: - Requests

extension ProgramConversation {
  /// Returns the line of a request.
  static func bytes(of request: JSON) -> [UInt8] { Array(request.line.utf8) + [UInt8(ascii: "\n")] }

  /// Returns the line that starts a test. A driver or a peripheral receives only the settings that it declared: the
  /// others concern the other end, or the management of the lock.
  func request(ofReset settings: [Argument], seed: UInt64) -> [UInt8] {
    var settings = settings
    if role != .device, let known = introduction?.settings { settings.removeAll { !known.contains($0.name) } }
    return Self.bytes(
      of: .omittingNil([
        "reset": .mapping(settings.map(member)), "seed": introduction.map { _ in .integer(seed) },
      ]))
  }

  /// Returns the line that performs a stimulus.
  func request(of stimulus: Stimulus) -> [UInt8] {
    if stimulus.arguments.isEmpty { return requests[stimulus.number] }
    return request(
      of: vocabulary.stimuli[stimulus.number],
      stimulus.arguments.map { argument in
        // The program expects the argument's name, even if the scenario omitted it.
        let name = argument.name == Argument.only ? vocabulary.soleArguments[stimulus.number] : nil
        return Argument(name ?? argument.name, argument.value)
      })
  }

  /// Returns the line that performs a stimulus by its name.
  func request(of stimulus: String, _ arguments: [Argument]) -> [UInt8] {
    Self.bytes(
      of: .omittingNil([
        "stimulus": .text(stimulus), "arguments": arguments.isEmpty ? nil : .mapping(arguments.map(member)),
      ]))
  }

  /// Returns the line that injects a fault. The value of an on-off fault is true or false, even if `0` ends it.
  func request(of fault: Fault) -> [UInt8] {
    let offered = introduction?.faults.first { $0.fault == fault.name }?.values ?? []
    let isFlag = !offered.isEmpty && offered.allSatisfy { if case .flag = $0 { true } else { false } }
    return Self.bytes(
      of: ["fault": .text(fault.name), "value": json(isFlag ? fault.value.asFlag : fault.value)])
  }

  /// Returns a request with the time, if the program has no clock.
  func timed(_ request: [UInt8], at now: Instant) -> [UInt8] {
    guard isInVirtualTime else { return request }
    if sentTime.time != now { sentTime = (now, Array(",\"at\":\(now.secondsText)}\n".utf8)) }
    return request.dropLast(2) + sentTime.member
  }

  private func member(_ argument: Argument) -> JSON.Member {
    JSON.Member(argument.name, json(argument.value))
  }

  private func json(_ value: Value) -> JSON { JSON(value) { .decimal($0.seconds) } }
}

// MARK: - Starting, requesting, ending

extension ProgramConversation {
  /// The maximum delay until a stop request takes effect.
  private static let pollInterval = Interval.milliseconds(50)

  func restart() throws(LabFault) {
    if startFailures.count >= Self.maximumFailedStarts { throw startFailures[0] }
    child?.stop(grace: .zero)
    child = nil
    (hasAnswered, ending) = (false, nil)
    do {
      // This tells its binding from the start to keep printed text apart from answers.
      child = try ChildProcess(
        command: command, in: folder, with: ["LOCKSTEP_DRIVES=1"], handing: secrets.document)
      child?.onErrorOutput = { [weak self] in self?.output?.take($0) }
    } catch {
      // There is no device.
      throw LabFault(.noDevice, error.description)
    }
  }

  /// Lets the program end: its input is closed, and after half a second its process group is killed.
  func shutDown() {
    child?.stop(grace: .milliseconds(500))
    child = nil
  }

  /// Skips output that belongs to no test. A program with a clock may write much; a violation, or spontaneous output
  /// without a clock, is reported.
  func skipOutput(until limit: Interval = .zero) throws(LabFault) {
    while hasAnswered, case .line(let line)? = child?.nextLine(until: limit) {
      let isShown: Bool
      switch try entry(of: line).parsed.answer {
      case .violation: isShown = true
      case .log: isShown = false
      default: isShown = isInVirtualTime
      }
      if isShown {
        remark("the \(role.title) wrote \(quoted(line)) after the end of a test: it belongs to none")
      }
    }
    lineCount = 0
  }

  /// Waits for spontaneous output, up to a time of the monotonic clock; `nil` if there is none.
  func hear(until limit: Interval) throws(LabFault) -> (entry: ProgramLineCache.Entry, line: [UInt8])? {
    guard let child else { throw missing }
    switch try nextLine(of: child, until: limit) {
    case .timedOut:
      lineCount = 0
      return nil
    case .line(let line): return (try entry(of: line), line)
    case .tooLong(let start): throw tooLong(start)
    case .ended: throw ended()
    }
  }

  /// Sends a request and reads the answer, up to its last line.
  ///
  /// - Parameter take: Receives each observation, in order.
  func ask(
    _ request: [UInt8],
    _ take: (_ entry: ProgramLineCache.Entry, _ line: [UInt8]) throws(LabFault) -> Void
  ) throws(LabFault) -> End {
    guard let child else { throw missing }
    // A program without a clock writes nothing spontaneously; a waiting line would be read as the answer.
    if isInVirtualTime, child.hasLine, case .line(let line) = child.nextLine(until: .zero) {
      throw fail(.badAnswer, "its answer was complete, and the \(role) wrote \(quoted(line))")
    }
    child.send(request)
    // The first answer after a start includes the start, as the answer to the greeting does.
    let time = hasAnswered ? answerTimeout : answerTimeout + answerTimeout
    guard let end = try answer(until: MonotonicClock.now + time, take) else {
      throw unanswered(request, for: time)
    }
    return end
  }

  /// Reads an answer, up to its last line; `nil` if that has not arrived by a deadline of the monotonic clock.
  private func answer(
    until limit: Interval,
    _ take: (_ entry: ProgramLineCache.Entry, _ line: [UInt8]) throws(LabFault) -> Void
  ) throws(LabFault) -> End? {
    while true {
      guard let child else { throw missing }
      switch try nextLine(of: child, until: limit) {
      case .line(let bytes):
        let entry = try entry(of: bytes)
        switch entry.parsed.answer {
        case .settled(let next): return End(next: next)
        case .refused(let reason, let next): return End(refusal: reason, next: next)
        case .hello, .log: break
        case .status, .effect, .reading, .event, .violation, .operation: try take(entry, bytes)
        }
      case .tooLong(let start): throw tooLong(start)
      case .timedOut: return nil
      case .ended: throw ended()
      }
    }
  }

  /// Kills a program that has not completed an answer in time.
  private func unanswered(_ request: [UInt8], for time: Interval) -> LabFault {
    let asked = String(decoding: request.dropLast(), as: UTF8.self)
    return fail(.noAnswer, "no end of the answer within \(time) to \(asked)")
  }

  /// Waits for a line, in short intervals, so that a stop request takes effect soon.
  private func nextLine(
    of child: ChildProcess, until limit: Interval
  ) throws(LabFault) -> ChildProcess.Wake {
    while true {
      let piece = min(limit, MonotonicClock.now + Self.pollInterval)
      let isRead = child.hasLine
      let wake = child.nextLine(until: piece)
      if !isRead { pieceTime = MonotonicClock.now }
      guard wake == .timedOut, piece < limit else { return wake }
      if isStopped() {
        // A later answer would be read as the answer to another request.
        self.child?.stop(grace: .zero)
        self.child = nil
        throw LabFault(.stopped, "a stop was requested")
      }
    }
  }

  private func entry(of line: [UInt8]) throws(LabFault) -> ProgramLineCache.Entry {
    lineCount += 1
    guard lineCount <= Self.maximumLines else {
      throw fail(
        .badAnswer, "more than \(Self.maximumLines) lines without a pause, the last of them \(quoted(line))")
    }
    if let entry = known.entry(of: line) {
      try check(entry.parsed, line)
      note(entry.parsed.answer)
      return entry
    }
    let parsed: ProgramLine
    do {
      parsed = try ProgramLine(parsing: line, of: role)
    } catch {
      if hasGreeting(line) {
        misunderstanding = LabFault(
          .noDevice, "the \(role.title)'s greeting cannot be used: \(error.reason)")
      }
      throw fail(.badAnswer, "the \(role) wrote \(quoted(line)): \(error.reason)")
    }
    if case .operation(.secret(let secret)) = parsed.answer { try keep(secret) }
    try check(parsed, line)
    note(parsed.answer)
    let entry = (parsed: parsed, observation: vocabulary.observation(of: parsed.answer))
    known.learn(line, entry)
    return entry
  }

  /// Checks output against the introduction: nothing is dropped silently.
  private func check(_ parsed: ProgramLine, _ line: [UInt8]) throws(LabFault) {
    func wrong(_ why: String) -> LabFault {
      fail(.badAnswer, "the \(role) wrote \(quoted(line)): \(why)")
    }
    if !isInVirtualTime {
      let moment: String? =
        switch parsed.answer {
        case .settled(next: .at), .refused(_, next: .at): "next"
        default: parsed.time == nil ? nil : "at"
        }
      if let moment {
        throw wrong("`\(moment)` is for a program whose greeting says \"time\":\"virtual\"")
      }
    }
    switch parsed.answer {
    case .hello(let other):
      if let introduction, other != introduction {
        throw wrong("it said something else of itself when it was greeted, and cannot change that")
      }
    case .effect:
      if introduction?.showsEffects == false {
        throw wrong("its greeting does not say that it shows effects: \"effects\":true")
      }
    case .event(let name, _):
      if let introduction, vocabulary.stimulus(name) != nil, !introduction.reports.contains(name) {
        throw wrong("its greeting does not say that it reports this event: \"reports\":[\"\(name)\"]")
      }
    case .reading(let reading):
      guard let named = introduction?.readings, !named.contains(reading.name) else { return }
      remark(
        "the \(role.title) reports the reading \(reading.name), which its greeting does not name: no scenario "
          + "can expect it")
    case .status, .violation, .log, .operation, .settled, .refused: break
    }
  }

  /// Adds a remark on unusable output, without duplicates.
  func remark(_ words: String) {
    if !remarks.contains(words), remarks.count < Self.maximumRemarks { remarks.append(words) }
  }

  /// Takes the remarks since the last call.
  func takeRemarks() -> [String] {
    defer { takenRemarks = remarks.count }
    return Array(remarks[takenRemarks...])
  }

  /// The maximum number of different remarks.
  private static let maximumRemarks = 20

  /// Hides a secret in all further output, including the rest of the same answer.
  private func keep(_ secret: ProgramSecret) throws(LabFault) {
    secretCount += 1
    guard secretCount <= Self.maximumSecrets else {
      throw fail(.badAnswer, "the \(role) has named more than \(Self.maximumSecrets) secrets")
    }
    ProgramSecrets.keep(secret.value)
  }

  /// The maximum number of secrets that one program may name: all output is searched for each of them.
  private static let maximumSecrets = 500

  /// Returns whether a line is meant as an introduction.
  private func hasGreeting(_ line: [UInt8]) -> Bool { (try? JSON(parsing: line))?["hello"] != nil }

  private func note(_ answer: ProgramAnswer) {
    hasAnswered = true
    switch answer {
    case .status, .effect, .reading, .event, .violation, .operation: break
    case .hello(let hello): introduction = hello
    case .log(let text): output?.take(Array("\(text)\n".utf8)[...])
    case .refused: hasEverAnswered = true
    case .settled: (hasEverAnswered, lineCount) = (true, 0)
    }
  }

  private func tooLong(_ start: [UInt8]) -> LabFault {
    fail(.badAnswer, "a line of more than \(LineBuffer.usualLimit) bytes, which begins \(quoted(start))")
  }

  /// Whether a signal ended it, including a signal that its shell reports.
  private var wasKilled: Bool {
    switch ending {
    case .signal: true
    case .exit(let status): status > 128
    case nil: false
    }
  }

  private func ended() -> LabFault {
    guard let child else { return missing }
    let hasUnread = child.hasUnread
    let ending = child.stop(grace: .milliseconds(200))
    self.ending = ending
    let how = ending?.description ?? "it closed its output and went on"
    // A program that exits before it reads its request did not start, whatever an earlier start did: it no longer
    // reaches its target. A program that has read the request may have failed because of it.
    if hasEverAnswered, !hasAnswered, hasUnread {
      return fail(.noDevice, "the program ended before it was asked anything: \(how), of \(command)")
    }
    // These statuses of the shell mean that the program does not exist or is not executable.
    let isMissing = !hasAnswered && (ending == .exit(126) || ending == .exit(127))
    return fail(isMissing ? .noDevice : .ended, "\(how), of \(command)")
  }

  /// The fault if the program is not running.
  var missing: LabFault {
    role == .device
      ? LabFault(.ended, "the program does not run")
      : LabFault(
        .programFailed, "the \(role) does not run", from: .program(ProgramTrouble(role.title, .ended)))
  }

  /// Kills the program and returns its fault. A fault of a driver or a peripheral is not a failure of the device.
  func fail(_ symptom: LabFault.Symptom, _ detail: String) -> LabFault {
    child?.stop(grace: .zero)
    let words = child?.lastWords ?? ""
    child = nil
    let explanation = words.isEmpty ? detail : "\(detail)\nits standard error ended with:\n\(words)"
    let last = words.split(separator: "\n").last.map(String.init) ?? ending?.description
    func origin(_ kind: ProgramTrouble.Kind) -> LabFault.Origin {
      .program(ProgramTrouble(role.title, kind, lastWords: last))
    }
    if hasEverAnswered {
      let kind: ProgramTrouble.Kind =
        switch symptom {
        case .noAnswer: .stopped
        case .badAnswer: .malformed
        default: .ended
        }
      return role == .device
        ? LabFault(symptom, explanation)
        : LabFault(.programFailed, "the \(role), \(symptom.rawValue): \(explanation)", from: origin(kind))
    }
    let hint =
      symptom == .noAnswer && hasTimeoutOption
      ? "; --answer-timeout gives more time to one that starts slowly" : ""
    // If a program exits before its first answer, its exit is all that is known.
    let isOver = symptom == .noDevice || symptom == .ended
    let fault = LabFault(
      .noDevice,
      isOver
        ? "the \(role.title) did not start: \(explanation)"
        : "the \(role.title) has not answered once\(hint), \(symptom.rawValue): \(explanation)",
      from: origin(isOver ? .notStarted : .silent))
    startFailures.append(fault)
    return fault
  }

  /// Returns the first 200 bytes of a line.
  func quoted(_ line: [UInt8]) -> String {
    let text = printable(line.prefix(200)).split(separator: "\n").joined(separator: " ")
    return line.count > 200 ? "'\(text)'… (\(line.count) bytes)" : "'\(text)'"
  }
}

extension ProgramConversation.Role: CustomStringConvertible {
  package var description: String { rawValue }

  /// The name of a program whose role is not stated.
  fileprivate var title: String { self == .device ? "program" : rawValue }
}
