import Basics
package import Conformance
import System

/// A program that answers requests, a line each, over its standard streams: how it is started, greeted and ended, its
/// introduction, and its failures.
///
/// It is run by the shell. In a start of its own it receives a greeting, `{"hello":{"protocol":2},"reset":{}}`, and
/// may introduce itself before its answer (``ProgramIntroduction``); without an introduction it speaks the first
/// protocol. An answer is any number of lines and then `settled` or `refused` (``ProgramAnswer``).
///
/// A late or malformed answer, or the end of the program, is a lab fault: the whole process group is killed, and
/// ``restart()`` starts the program again. A program that exits before it reads its request is no device at all, and
/// neither is a command that has never answered in any start.
package final class ProgramConversation {
  /// What a program is to us.
  package enum Role: String {
    /// A device under test.
    case device
    /// What speaks a lock's protocol over our Bluetooth.
    case driver
    /// A lock behind our Bluetooth.
    case peripheral
  }

  /// How an answer ended.
  struct End {
    /// Why what was asked for is not done; `nil` where it is.
    var refusal: String?
    /// When the program will next do something spontaneously, if it has said so.
    var next: ProgramAnswer.Next
  }

  /// A command that has not answered in this many starts is not started again, so that a hundred scenarios do not
  /// wait a hundred times for the same.
  static let maximumSilences = 3

  /// The most lines without a pause; a program that writes more is not going to stop.
  static let maximumLines = 10_000

  /// What the shell runs.
  package let command: String
  package let role: Role
  /// Where it is run; `nil` for where we are.
  let folder: String?
  /// The secrets that it alone receives, on a descriptor of its own.
  private let secrets: ProgramSecrets
  /// The most time from a request to the end of its answer.
  let answerTimeout: Interval
  /// Whether the end was asked for, so that nothing is waited for any more.
  private let isStopped: () -> Bool

  private(set) var vocabulary = Vocabulary(stimuli: [], statuses: [])
  private var child: ChildProcess?
  /// The lines read since the program last was silent.
  private var lineCount = 0
  /// Whether the program has written a line of the protocol since it was started.
  private var hasAnswered = false
  /// When the line was read that was taken last: what was written in one piece was shown at one moment.
  private(set) var pieceTime = Interval.zero
  /// The lines that say of each stimulus without arguments that it is given.
  private var requests: [[UInt8]] = []
  /// The lines that it wrote before.
  private var known = ProgramLineCache()
  /// The member that tells a program without a clock the time, and the time that it tells.
  private var told = (time: Instant.never, member: [UInt8]())
  /// Its introduction; `nil` without one.
  private(set) var introduction: ProgramIntroduction?
  private var isGreeted = false
  /// What was wrong when it was greeted, if it did not answer that.
  package private(set) var greetingFault: LabFault?
  /// How it ended, where that was not our doing.
  private var ending: Ending?
  /// Why a device that was greeted has not answered, where it may speak either protocol: a signal ended it, twice, it runs
  /// and answers nothing, or it ends whatever it is asked.
  private(set) var greetingTrouble: LabFault?
  /// How many secrets it has named.
  private var secretCount = 0
  /// The remarks on unusable output, without duplicates; and how many of them were taken.
  private var remarks: [String] = []
  private var takenRemarks = 0
  /// Whether it was running and had not answered when the greeting was given up.
  private var isSilent = false
  /// Why it is not known what it is, where it cannot be used so: its greeting is wrong, or was broken off.
  package private(set) var misunderstanding: LabFault?
  /// Keeps what it writes to its standard error, and what it logs.
  var output: ProgramOutput?
  /// Whether the command that drives it has an option for its answer timeout.
  var hasTimeoutOption = true
  /// Whether the command has ever come to the end of an answer.
  private var hasEverAnswered = false
  /// What was wrong with each start of a command that has never answered.
  private var silences: [LabFault] = []

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

  /// Whether it receives the passing of time, and writes only when it is asked.
  var isInVirtualTime: Bool { role != .device || introduction?.isInVirtualTime ?? false }

  /// The names of the secrets that it was given.
  var secretNames: [String] { secrets.names }

  /// Whether it runs.
  var isRunning: Bool { child != nil }

  /// Whether a whole line was read that was not taken yet.
  var hasLine: Bool { child?.hasLine ?? false }

  /// Starts it, greets it with a first reset, and lets it end, once: what it can serve is known from then on.
  ///
  /// No test is in that start, so that each test finds a program that was told the same.
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
        // One that something else has ended would be taken for a program of the first protocol.
        try restart()
        refusal = try greet(with: request).refusal
      }
    } catch {
      // What else is wrong with its answer shows again in the first test.
      greetingFault = error
      if role == .device, introduction == nil, wasKilled || isSilent || !answersReset(after: error) {
        greetingTrouble = error
      }
      if error.symptom == .stopped {
        misunderstanding = LabFault(.stopped, "the end was asked for while the program was greeted")
      }
    }
    // The first protocol has no Bluetooth.
    if role != .device, introduction == nil, greetingFault == nil {
      misunderstanding = LabFault(
        .noDevice,
        "the \(role) does not say what it is when it is greeted: "
          + (refusal.map { "it refuses: \($0)" } ?? "its first line is to be {\"hello\":{…}}"))
    }
    shutDown()
  }

  /// Whether a program that ended over its greeting by itself, twice, answers a plain reset in another start: then it speaks the
  /// first protocol. One that does not answer that either does not start at all.
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

  /// Sends a greeting and waits for the answer, with twice the usual timeout, since it includes the start.
  ///
  /// A program of the first protocol that ignores unknown members answers a plain reset, and a slow one answers the
  /// greeting before it; the first answer distinguishes them.
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
  /// A line of a request.
  static func bytes(of request: JSON) -> [UInt8] { Array(request.line.utf8) + [UInt8(ascii: "\n")] }

  /// The line that begins a test. A driver and a peripheral receive the settings that they declared: the others
  /// concern the other end, or the management of the lock.
  func request(ofReset settings: [Argument], seed: UInt64) -> [UInt8] {
    var settings = settings
    if role != .device, let known = introduction?.settings { settings.removeAll { !known.contains($0.name) } }
    return Self.bytes(
      of: .known([
        "reset": .mapping(settings.map(member)), "seed": introduction.map { _ in .integer(seed) },
      ]))
  }

  /// The line that gives a stimulus.
  func request(of stimulus: Stimulus) -> [UInt8] {
    if stimulus.arguments.isEmpty { return requests[stimulus.number] }
    return request(
      of: vocabulary.stimuli[stimulus.number],
      stimulus.arguments.map { argument in
        // A program knows it by its name, however it was given.
        let name = argument.name == Argument.only ? vocabulary.soleArguments[stimulus.number] : nil
        return Argument(name ?? argument.name, argument.value)
      })
  }

  /// The line that gives a stimulus by its name.
  func request(of stimulus: String, _ arguments: [Argument]) -> [UInt8] {
    Self.bytes(
      of: .known([
        "stimulus": .text(stimulus), "arguments": arguments.isEmpty ? nil : .mapping(arguments.map(member)),
      ]))
  }

  /// The line that injects a fault. The value of an on-off fault is true or false, even if `0` ends it.
  func request(of fault: Fault) -> [UInt8] {
    let offered = introduction?.faults.first { $0.fault == fault.name }?.values ?? []
    let isFlag = !offered.isEmpty && offered.allSatisfy { if case .flag = $0 { true } else { false } }
    return Self.bytes(
      of: ["fault": .text(fault.name), "value": json(isFlag ? fault.value.asFlag : fault.value)])
  }

  /// A request, with the time where the program has no clock.
  func timed(_ request: [UInt8], at now: Instant) -> [UInt8] {
    guard isInVirtualTime else { return request }
    if told.time != now { told = (now, Array(",\"at\":\(now.secondsText)}\n".utf8)) }
    return request.dropLast(2) + told.member
  }

  private func member(_ argument: Argument) -> JSON.Member {
    JSON.Member(argument.name, json(argument.value))
  }

  private func json(_ value: Value) -> JSON { JSON(value) { .decimal($0.seconds) } }
}

// MARK: - Starting, asking, ending

extension ProgramConversation {
  /// How soon it is heard that the end is asked for.
  private static let hearing = Interval.milliseconds(50)

  func restart() throws(LabFault) {
    if silences.count >= Self.maximumSilences { throw silences[0] }
    child?.stop(grace: .zero)
    child = nil
    (hasAnswered, ending) = (false, nil)
    do {
      // Its binding then keeps what it prints away from its answers from the beginning.
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

  /// Reads output that belongs to no test. With a clock there may be much; a violation, or spontaneous output without
  /// a clock, is reported.
  func passOver(until limit: Interval = .zero) throws(LabFault) {
    while hasAnswered, case .line(let line)? = child?.nextLine(until: limit) {
      let isShown: Bool
      switch try entry(of: line).said.answer {
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

  /// Waits for something unasked, up to a moment of the monotonic clock; `nil` where there is nothing.
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
  /// - Parameter take: receives each observation, in order.
  func ask(
    _ request: [UInt8],
    _ take: (_ entry: ProgramLineCache.Entry, _ line: [UInt8]) throws(LabFault) -> Void
  ) throws(LabFault) -> End {
    guard let child else { throw missing }
    // A program without a clock says nothing unasked: what is there would be taken for the answer.
    if isInVirtualTime, child.hasLine, case .line(let line) = child.nextLine(until: .zero) {
      throw fail(.badAnswer, "its answer was complete, and the \(role) wrote \(quoted(line))")
    }
    child.send(request)
    // The first answer of a start includes the start, as that to the greeting does.
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
        switch entry.said.answer {
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

  /// Kills a program that has not come to the end of an answer in time.
  private func unanswered(_ request: [UInt8], for time: Interval) -> LabFault {
    let asked = String(decoding: request.dropLast(), as: UTF8.self)
    return fail(.noAnswer, "no end of the answer within \(time) to \(asked)")
  }

  /// Waits for a line, in short intervals, so that a stop request takes effect soon.
  private func nextLine(
    of child: ChildProcess, until limit: Interval
  ) throws(LabFault) -> ChildProcess.Wake {
    while true {
      let piece = min(limit, MonotonicClock.now + Self.hearing)
      let isRead = child.hasLine
      let wake = child.nextLine(until: piece)
      if !isRead { pieceTime = MonotonicClock.now }
      guard wake == .timedOut, piece < limit else { return wake }
      if isStopped() {
        // What it still answers would be taken for the answer to something else.
        self.child?.stop(grace: .zero)
        self.child = nil
        throw LabFault(.stopped, "the end was asked for")
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
      try check(entry.said, line)
      note(entry.said.answer)
      return entry
    }
    let said: ProgramLine
    do {
      said = try ProgramLine(parsing: line, of: role)
    } catch {
      if hasGreeting(line) {
        misunderstanding = LabFault(
          .noDevice, "the \(role.title)'s greeting cannot be used: \(error.reason)")
      }
      throw fail(.badAnswer, "the \(role) wrote \(quoted(line)): \(error.reason)")
    }
    if case .operation(.secret(let secret)) = said.answer { try keep(secret) }
    try check(said, line)
    note(said.answer)
    let entry = (said: said, observation: vocabulary.observation(of: said.answer))
    known.learn(line, entry)
    return entry
  }

  /// Checks output against the introduction: nothing is dropped silently.
  private func check(_ said: ProgramLine, _ line: [UInt8]) throws(LabFault) {
    func wrong(_ why: String) -> LabFault {
      fail(.badAnswer, "the \(role) wrote \(quoted(line)): \(why)")
    }
    if !isInVirtualTime {
      let moment: String? =
        switch said.answer {
        case .settled(next: .at), .refused(_, next: .at): "next"
        default: said.time == nil ? nil : "at"
        }
      if let moment {
        throw wrong("`\(moment)` is for a program whose greeting says \"time\":\"virtual\"")
      }
    }
    switch said.answer {
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

  /// Notes what is of no use; once, however often it happens.
  func remark(_ words: String) {
    if !remarks.contains(words), remarks.count < Self.maximumRemarks { remarks.append(words) }
  }

  /// Takes the remarks since the last call.
  func takeRemarks() -> [String] {
    defer { takenRemarks = remarks.count }
    return Array(remarks[takenRemarks...])
  }

  /// No more different ones are kept.
  private static let maximumRemarks = 20

  /// Keeps a secret out of what is written from now on, what stands behind it in the same answer included.
  private func keep(_ secret: ProgramSecret) throws(LabFault) {
    secretCount += 1
    guard secretCount <= Self.maximumSecrets else {
      throw fail(.badAnswer, "the \(role) has named more than \(Self.maximumSecrets) secrets")
    }
    ProgramSecrets.keep(secret.value)
  }

  /// The most secrets that one program may name: each is looked for in all that is written.
  private static let maximumSecrets = 500

  /// Whether a line was to say what the program is.
  private func hasGreeting(_ line: [UInt8]) -> Bool { (try? JSON(parsing: line))?["hello"] != nil }

  private func note(_ answer: ProgramAnswer) {
    hasAnswered = true
    switch answer {
    case .status, .effect, .reading, .event, .violation, .operation: break
    case .hello(let said): introduction = said
    case .log(let text): output?.take(Array("\(text)\n".utf8)[...])
    case .refused: hasEverAnswered = true
    case .settled: (hasEverAnswered, lineCount) = (true, 0)
    }
  }

  private func tooLong(_ start: [UInt8]) -> LabFault {
    fail(.badAnswer, "a line of more than \(LineBuffer.usualLimit) bytes, which begins \(quoted(start))")
  }

  /// Whether a signal ended it, as far as its shell says so too.
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
    // One that ends before it has read what it was asked was not started, whatever an earlier start did: it does not reach
    // what it leads to any more. One that has read it may have died of that.
    if hasEverAnswered, !hasAnswered, hasUnread {
      return fail(.noDevice, "the program ended before it was asked anything: \(how), of \(command)")
    }
    // The shell's way to say that there is no such program.
    let isMissing = !hasAnswered && (ending == .exit(126) || ending == .exit(127))
    return fail(isMissing ? .noDevice : .ended, "\(how), of \(command)")
  }

  /// That there is no program to ask.
  var missing: LabFault {
    role == .device
      ? LabFault(.ended, "the program does not run")
      : LabFault(
        .programFailed, "the \(role) does not run", from: .program(ProgramTrouble(role.title, .ended)))
  }

  /// Kills the program and says what was wrong with it; of what is no device itself that says nothing of one.
  func fail(_ symptom: LabFault.Symptom, _ detail: String) -> LabFault {
    child?.stop(grace: .zero)
    let words = child?.lastWords ?? ""
    child = nil
    let told = words.isEmpty ? detail : "\(detail)\nits standard error ended with:\n\(words)"
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
        ? LabFault(symptom, told)
        : LabFault(.programFailed, "the \(role), \(symptom.rawValue): \(told)", from: origin(kind))
    }
    let hint =
      symptom == .noAnswer && hasTimeoutOption
      ? "; --answer-timeout gives more time to one that starts slowly" : ""
    // If a program exits before its first answer, its exit is all that is known.
    let isOver = symptom == .noDevice || symptom == .ended
    let fault = LabFault(
      .noDevice,
      isOver
        ? "the \(role.title) did not start: \(told)"
        : "the \(role.title) has not answered once\(hint), \(symptom.rawValue): \(told)",
      from: origin(isOver ? .notStarted : .silent))
    silences.append(fault)
    return fault
  }

  /// The first two hundred bytes of what was written.
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
