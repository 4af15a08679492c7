import Basics
import Bluetooth
import Links
import Conformance
import Sesame
import SesameDevice

/// Who stands around the lock that a driver drives: who brings it into a condition, turns its bolt, takes its link away.
///
/// Beside a real lock stands nobody: it starts in the condition it is in.
protocol DriverEnvironment: AnyObject {
  var stimuli: [String] { get }
  var arguments: [ProgramIntroduction.OfferedArguments] { get }
  var disturbances: [Disturbance] { get }
  /// The settings of a start condition that can be made true; `nil` where it has to be tried.
  var settings: [String]? { get }
  /// The conditions that always hold.
  var conditions: [String] { get }
  /// The events of the machine that it reports, and whether it shows effects.
  var reports: [String] { get }
  /// The values that it reports.
  var readings: [String] { get }
  var showsEffects: Bool { get }
  /// What is wrong with whoever stands there.
  var fault: LabFault? { get }

  /// Takes over the numbers under which the model knows names.
  func adopt(_ vocabulary: Vocabulary)
  func prepare(_ start: StartCondition) throws(LabFault)
  /// - Returns: why it is refused, if it is.
  func perform(_ stimulus: String, _ arguments: [Argument]) throws(LabFault) -> String?
  func bring(about fault: Fault) throws(LabFault)
  /// Takes in what the driver wants to hear of advertisements from now on.
  func note(_ hearing: ProgramOperation.Hearing)
  /// What was shown there since it was last asked, up to now. Time stops at the first moment at which there is something.
  func takeObservations() -> [Observation]
  func takeDiagnostics() -> [String]
  func restart() throws(LabFault)
  func shutDown()
}

extension DriverEnvironment {
  var reports: [String] { [] }
  var readings: [String] { [] }
  var showsEffects: Bool { false }
  func adopt(_ vocabulary: Vocabulary) {}
  func note(_ hearing: ProgramOperation.Hearing) {}
  func takeObservations() -> [Observation] { [] }
  func takeDiagnostics() -> [String] { [] }
}

/// No fixture.
final class NoFixture: DriverEnvironment {
  let conditions: [String]

  init(conditions: [String]) { self.conditions = conditions }

  var stimuli: [String] { [] }
  var arguments: [ProgramIntroduction.OfferedArguments] { [] }
  var disturbances: [Disturbance] { [] }
  var settings: [String]? { [] }
  var fault: LabFault? { nil }

  func prepare(_ start: StartCondition) {}
  func perform(_ stimulus: String, _ arguments: [Argument]) throws(LabFault) -> String? {
    throw LabFault(.notPossible, "nobody stands beside a real lock who could do '\(stimulus)'")
  }
  func bring(about fault: Fault) throws(LabFault) {
    throw LabFault(.notPossible, "nobody stands beside a real lock who could bring about '\(fault.name)'")
  }
  func restart() {}
  func shutDown() {}
}

/// What of a driver's device is the way to its lock, and not the driver's.
struct DriverSettings {
  var target: DriverTarget
  var host: HostSettings
  /// After which silence the controller is asked for a sign of life; `nil` where it cannot fail in silence.
  var silenceLimit: Interval?
  /// How much later than it happened something may be observed, beside what the link holds up.
  var slack = Interval.zero
  /// Whether time passes only as it is let pass.
  var isInVirtualTime = true
  /// Whether the end was asked for, so that nothing is waited for any more; never in virtual time.
  var isStopped: (() -> Bool)?
}

/// A lock of any protocol behind our Bluetooth, as a device under test: a program of the user's, the driver, turns stimuli
/// into operations of GATT, and what comes of those into statuses and readings.
///
///     stimulus ──▶ driver ──▶ scan, connect, write … ──▶ our host ──▶ controller ──▶ the lock
///     statuses ◀── driver ◀── heard, link, notified … ◀── our host ◀── controller ◀── the lock
///
/// The driver does no I/O but its lines and has no clock: time comes with each message, and it says when it wants to be
/// called again. So it runs in virtual time on an emulated radio as well as on a dongle.
///
/// A driver that dies, lies about the form of its lines, or does not answer is trouble of the lab. What it asks for and
/// cannot be done is told to it; what it makes of that is its own.
final class DriverDevice<Transport: HCITransport>: StandaloneDevice {
  let program: ProgramConversation
  private var link: DriverLink<Transport>
  private let environment: any DriverEnvironment
  private let settings: DriverSettings
  private let recovery: (any ControllerRecovery<Transport>)?
  private var shown = FIFO<Observation>()
  /// When the driver wants to be called by itself.
  private var due = Instant.never
  private var diagnostics: [String] = []
  /// Of each stimulus, whether whoever stands around the lock gives it.
  private var isAround: [Bool] = []
  private var recorder: LinkRecorder?
  /// The last message that no client sends.
  private var injection: InjectedAction?
  /// How long after it was sent a lock may react to it.
  private static var injectionWindow: Interval { .seconds(6) }
  /// What the driver draws its chances from, from the next test on.
  var seed: UInt64 = 0
  /// More events than any driver needs between two things that it shows.
  var maximumEvents = 100_000

  init(
    _ program: ProgramConversation, on transport: Transport, _ environment: any DriverEnvironment,
    _ settings: DriverSettings, recovery: (any ControllerRecovery<Transport>)? = nil
  ) {
    self.program = program
    self.environment = environment
    self.settings = settings
    self.recovery = recovery
    link = DriverLink(
      transport, host: settings.host, target: settings.target, silenceLimit: settings.silenceLimit)
    diagnostics = recovery?.takeDiagnostics() ?? []
  }

  var now: Instant { link.now }

  var abilities: Abilities {
    Self.abilities(of: program.introduction ?? ProgramIntroduction(), environment, settings)
  }

  /// What a driver can serve at one end of a way at whose other end somebody can do so much.
  static func abilities(
    of driver: ProgramIntroduction, _ environment: any DriverEnvironment, _ settings: DriverSettings
  ) -> Abilities {
    let own = [Disturbance(.att, Self.att, MalformedBluetooth.allCases.map { .text($0.rawValue) })]
    // Tests are generated with what takes a link away where the driver says that its machine knows of that: one that hears
    // nothing of it would call it a fault of the lock.
    let all = own + driver.faults + environment.disturbances
    let disturbances = all.filter { $0.level != .link || driver.linkFaults.contains($0.fault) }
    let isLossy = environment.conditions.contains("loss")
    var abilities = Abilities(
      stimuli: driver.stimuli.map { $0 + environment.stimuli }, faults: all.map(\.fault),
      settings: environment.settings.flatMap { around in driver.settings.map { around + $0 } },
      conditions: driver.conditions + environment.conditions, reports: driver.reports + environment.reports,
      showsEffects: driver.showsEffects || environment.showsEffects,
      slack: settings.slack + (isLossy ? ConnectionParameters().longestDelay * 2 : .zero),
      isInVirtualTime: settings.isInVirtualTime,
      arguments: (driver.arguments + environment.arguments).map { ($0.stimulus, $0.values) },
      disturbances: disturbances)
    let checked = driver.faults + environment.disturbances
    abilities.particulars.fault = { fault throws(LabFault) in try checked.check(fault) }
    abilities.isPlayed = settings.isInVirtualTime
    abilities.keepsRunning = settings.isInVirtualTime
    return abilities
  }

  /// The fault that is ours for every lock.
  static var att: String { "att" }

  /// What both a driver and who stands around its lock have under one name: one of the two would never be given it. `nil`
  /// where there is nothing.
  static func clash(of driver: ProgramIntroduction, _ environment: any DriverEnvironment) -> String? {
    if let name = driver.stimuli?.first(where: environment.stimuli.contains) {
      return "both the driver and its lock's side have the stimulus `\(name)`, and only one can be given it"
    }
    let others = [Self.att] + ProgramRadio.linkFaults.map(\.fault) + environment.disturbances.map(\.fault)
    if let name = driver.faults.map(\.fault).first(where: others.contains) {
      return "the driver's fault `\(name)` has the name of one of its lock's side: give it another name"
    }
    return nil
  }

  func adopt(_ vocabulary: Vocabulary) {
    program.adopt(vocabulary)
    environment.adopt(vocabulary)
    let around = environment.stimuli
    isAround = vocabulary.stimuli.map(around.contains)
  }
}

extension DriverDevice {
  func reset(to start: StartCondition) throws(LabFault) {
    if let misunderstanding = program.misunderstanding { throw misunderstanding }
    if !program.isRunning { try program.restart() }
    try program.passOver()
    try lab { () throws(LabFault) in
      try link.prepare { () throws(LabFault) in try environment.prepare(start) }
    }
    shown.removeAll()
    due = .never
    injection = nil
    if let refusal = try ask(program.request(ofReset: start.settings, seed: seed)) {
      throw LabFault(.notPossible, "the driver cannot start so: \(refusal)")
    }
  }

  func perform(_ stimulus: Stimulus) throws(LabFault) {
    if isAround[stimulus.number] {
      let name = program.vocabulary.stimuli[stimulus.number]
      if let refusal = try environment.perform(name, stimulus.arguments) { shown.append(.refused(refusal)) }
      return
    }
    if let refusal = try ask(program.request(of: stimulus)) { shown.append(.refused(refusal)) }
  }

  func bring(about fault: Fault) throws(LabFault) {
    if fault.name == Self.att {
      if fault.value.isNothing { return }
      guard let malformed = MalformedBluetooth(rawValue: fault.value.description) else {
        throw LabFault(.notPossible, "there is no malformed packet '\(fault.value)'")
      }
      try lab { () throws(LabFault) in try link.send(malformed) }
      return note(injected: "the malformed packet \(malformed.rawValue)")
    }
    if environment.disturbances.contains(where: { $0.fault == fault.name }) {
      return try environment.bring(about: fault)
    }
    guard let offered = program.introduction?.faults.first(where: { $0.fault == fault.name }) else {
      throw LabFault(.notPossible, "the driver offers no fault '\(fault.name)'")
    }
    if let refusal = try ask(program.request(of: fault)) {
      throw LabFault(.notPossible, "the driver refuses the fault '\(fault.name)': \(refusal)")
    }
    if offered.level == .messages, !fault.value.isNothing {
      note(injected: "the driver's fault \(fault.name) (\(fault.value))")
    }
  }

  /// Notes a message that no client sends. What a lock shows that obeys it, only the driver knows.
  private func note(injected sent: String) {
    injection = InjectedAction(.other, sent, reaction: "ignores or refuses", at: now)
  }

  var injected: [InjectedAction] {
    injection.map { now <= $0.time + Self.injectionWindow ? [$0] : [] } ?? []
  }

  /// A lock that is silent while others are heard is silent by itself; the driver says no more than it shows.
  func explanation(ofSilence isSilent: Bool) -> Explanation? {
    isSilent ? .unheard(others: link.others) : nil
  }

  func observe(until limit: Instant) throws(LabFault) -> Observation? {
    guard let isStopped = settings.isStopped else { return try look(until: limit) }
    // What is waited for on the clock is waited for in pieces: a signal between looking and waiting would else be heard
    // when all of it is over.
    while true {
      if isStopped() { throw LabFault(.stopped, "the end was asked for") }
      let observation = try look(until: min(limit, now + Self.hearing))
      if observation != nil || now >= limit { return observation }
    }
  }

  /// How soon it is heard that the end is asked for.
  private static var hearing: Interval { .milliseconds(50) }

  private func look(until limit: Instant) throws(LabFault) -> Observation? {
    var (events, moment) = (0, now)
    while true {
      takeEnvironment()
      if let first = shown.popFirst() { return first }
      guard program.isRunning else { throw program.missing }
      let event = try lab { () throws(LabFault) in try link.next(until: min(limit, due)) }
      // What the lock's side showed came before the driver hears what that led to.
      takeEnvironment()
      if now > moment { (events, moment) = (0, now) }
      if let event {
        events += 1
        try tell(event)
      } else if !shown.isEmpty {
        continue
      } else if due <= limit {
        events += 1
        try advance()
      } else {
        return nil
      }
      // A driver that asks for something at once again and again lets no time pass.
      if events > maximumEvents {
        throw program.fail(
          .badAnswer, "the driver was told of \(events) events and has shown nothing, at \(now)")
      }
    }
  }

  private func takeEnvironment() {
    for observation in environment.takeObservations() { shown.append(observation) }
  }

  func restart() throws(LabFault) {
    try program.restart()
    try environment.restart()
    guard let recovery else {
      return try link.recover { central throws(LabFault) in
        try central.resetController(until: central.transport.now + .seconds(10))
      }
    }
    if let fault = recovery.fault { throw fault }
    diagnostics += link.takeDiagnostics()
    diagnostics += link.recover(recovery.climb)
    if let fault = recovery.fault { throw fault }
  }

  func takeDiagnostics() -> [String] {
    defer { diagnostics = [] }
    return diagnostics + link.takeDiagnostics() + program.takeRemarks() + environment.takeDiagnostics()
  }

  /// Lets the driver, and whoever stands around its lock, end.
  func shutDown() {
    program.shutDown()
    environment.shutDown()
  }
}

extension DriverDevice: RecordedDevice {
  func record(to recorder: LinkRecorder?) {
    self.recorder = recorder
    recorder?.isNotedByClient = false
    link.central.recorder = recorder?.packets
  }
}

extension DriverDevice {
  /// Tells the driver what happened.
  private func tell(_ event: ProgramEvent) throws(LabFault) {
    var value: [UInt8]?
    if case .notified(_, let bytes) = event { value = bytes }
    if case .read(_, let bytes) = event { value = bytes }
    if let refusal = try ask(event.line, about: value) {
      throw program.fail(.badAnswer, "the driver refuses to hear what happened: \(refusal)")
    }
  }

  /// Lets the driver do what it wanted to do at this time.
  private func advance() throws(LabFault) {
    if let refusal = try ask(ProgramConversation.bytes(of: ["advance": 0])) {
      throw program.fail(.badAnswer, "the driver refuses to let time pass: \(refusal)")
    }
  }

  /// Sends a request, takes in what is shown, and does what is asked for once the answer is complete.
  ///
  /// - Parameter value: what the packet holds that the driver is told of.
  /// - Returns: why it was refused, if it was.
  private func ask(_ request: [UInt8], about value: [UInt8]? = nil) throws(LabFault) -> String? {
    let now = now
    var operations: [ProgramOperation] = []
    let end = try program.ask(program.timed(request, at: now)) { entry, line throws(LabFault) in
      if let time = entry.said.time, time != now {
        throw program.fail(
          .badAnswer,
          "the driver wrote \(program.quoted(line)): it is \(now), and time passes on the air alone")
      }
      if let observation = entry.observation { shown.append(observation) }
      if case .operation(let operation) = entry.said.answer { operations.append(operation) }
    }
    switch end.next {
    case .unsaid: break
    case .at(let moment): due = max(moment, now)
    }
    for operation in operations { try carryOut(operation, about: value) }
    return end.refusal
  }

  private func carryOut(_ operation: ProgramOperation, about value: [UInt8]?) throws(LabFault) {
    switch operation {
    case .meaning(let text):
      guard let value else {
        return program.remark(
          "the driver says `meaning` where it was told of no packet, such as '\(text.prefix(60))': nothing shows it"
        )
      }
      recorder?.packets.note(meaning: text, of: value, isReceived: true)
    case .secret: break
    default:
      if case .scan(let hearing) = operation { environment.note(hearing) }
      if case .central(.write(_, let value, _), let text?) = operation {
        recorder?.packets.note(meaning: text, of: value, isReceived: false)
      }
      try lab { () throws(LabFault) in try link.carryOut(operation) }
    }
  }

  /// A controller that does not answer says nothing about the lock behind it, however often it happens; and where whoever
  /// plays the lock has failed, that is what there is to say.
  private func lab<Result>(_ body: () throws(LabFault) -> Result) throws(LabFault) -> Result {
    if let fault = recovery?.fault { throw fault }
    do throws(LabFault) {
      let result = try body()
      if let fault = environment.fault { throw fault }
      return result
    } catch {
      if let fault = environment.fault { throw fault }
      switch error.symptom {
      case .noAnswer, .badAnswer, .ended: throw LabFault(.transportLost, error.detail)
      case .noDevice, .transportLost, .programFailed, .notPossible, .linkLost, .notReproduced, .noVerdict,
        .safetyLimit,
        .stopped:
        throw error
      }
    }
  }
}
