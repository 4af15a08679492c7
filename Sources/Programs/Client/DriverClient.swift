package import Basics
package import Bluetooth
package import Conformance
package import Links

/// The client of a lock with any protocol: a user's program, the driver, translates stimuli to GATT operations, and
/// their results to statuses and readings.
///
///     stimulus ──▶ driver ──▶ scan, connect, write … ──▶ our host ──▶ controller ──▶ the lock
///     statuses ◀── driver ◀── heard, link, notified … ◀── our host ◀── controller ◀── the lock
///
/// The driver does no I/O other than its lines and has no clock: each message contains the time, and the driver
/// replies when it must be called again. It can therefore run in virtual time on an emulated radio as well as on a
/// dongle.
///
/// A driver that dies, sends malformed lines, or does not answer is a lab fault. An operation that fails is reported
/// to the driver, which decides what it means.
package final class DriverClient<Transport: HCITransport>: StandaloneDevice, AirClient {
  let program: ProgramConversation
  private var link: DriverLink<Transport>
  private let fixture: any Fixture
  private let settings: DriverSettings
  private var shown = FIFO<Observation>()
  /// When the driver wants to be called by itself.
  private var due = Instant.never
  /// Of each stimulus, whether the fixture gives it.
  private var isOfFixture: [Bool] = []
  private var recorder: LinkNotes?
  /// The last message that no client sends.
  private var injection: InjectedAction?
  /// How long after it was sent a lock may react to it.
  private static var injectionWindow: Interval { .seconds(6) }
  /// What the driver draws its chances from, from the next test on.
  var seed: UInt64 = 0
  /// More events than any driver needs between two things that it shows.
  var maximumEvents = 100_000

  init(
    _ program: ProgramConversation, on transport: Transport, _ fixture: any Fixture,
    _ settings: DriverSettings
  ) {
    self.program = program
    self.fixture = fixture
    self.settings = settings
    link = DriverLink(
      transport, host: settings.host, target: settings.target, silenceLimit: settings.silenceLimit)
  }

  package var now: Instant { link.now }

  package var abilities: Abilities {
    (program.introduction ?? ProgramIntroduction()).abilities(around: fixture.abilities, settings)
  }

  package func adopt(_ vocabulary: Vocabulary) {
    program.adopt(vocabulary)
    fixture.adopt(vocabulary)
    let around = fixture.abilities.stimuli ?? []
    isOfFixture = vocabulary.stimuli.map(around.contains)
  }
}

extension DriverClient {
  package func reset(to start: StartCondition) throws(LabFault) {
    if let misunderstanding = program.misunderstanding { throw misunderstanding }
    if !program.isRunning { try program.restart() }
    try program.passOver()
    try link.prepare { () throws(LabFault) in try fixture.prepare(start) }
    shown.removeAll()
    due = .never
    injection = nil
    if let refusal = try ask(program.request(ofReset: start.settings, seed: seed)) {
      throw LabFault(.notPossible, "the driver cannot start so: \(refusal)")
    }
  }

  package func perform(_ stimulus: Stimulus) throws(LabFault) {
    if isOfFixture[stimulus.number] {
      let name = program.vocabulary.stimuli[stimulus.number]
      if let refusal = try fixture.perform(name, stimulus.arguments) { shown.append(.refused(refusal)) }
      return
    }
    if let refusal = try ask(program.request(of: stimulus)) { shown.append(.refused(refusal)) }
  }

  package func bring(about fault: Fault) throws(LabFault) {
    if fault.name == ProgramIntroduction.att {
      if fault.value.isNothing { return }
      guard let malformed = MalformedBluetooth(rawValue: fault.value.description) else {
        throw LabFault(.notPossible, "there is no malformed packet '\(fault.value)'")
      }
      try link.send(malformed)
      return note(injected: "the malformed packet \(malformed.rawValue)")
    }
    if fixture.abilities.disturbances.contains(where: { $0.fault == fault.name }) {
      return try fixture.bring(about: fault)
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

  package var injected: [InjectedAction] {
    injection.map { now <= $0.time + Self.injectionWindow ? [$0] : [] } ?? []
  }

  /// A lock that is silent while others are heard is silent by itself; the driver says no more than it shows.
  package func explanation(ofSilence isSilent: Bool) -> Explanation? {
    isSilent ? .unheard(others: link.others) : nil
  }

  package func observe(until limit: Instant) throws(LabFault) -> Observation? {
    var (events, moment) = (0, now)
    while true {
      takeShown()
      if let first = shown.popFirst() { return first }
      guard program.isRunning else { throw program.missing }
      let event = try link.next(until: min(limit, due))
      if let fault = fixture.fault { throw fault }
      // Observations of the lock's side precede the driver's reaction to them.
      takeShown()
      if now - moment >= .seconds(1) { (events, moment) = (0, now) }
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

  private func takeShown() {
    for observation in fixture.takeObservations() { shown.append(observation) }
  }

  package func recover(
    _ body: (inout Central<Transport>) throws(LabFault) -> [String]
  ) throws(LabFault) -> [String] {
    try program.restart()
    try fixture.restart()
    return try link.recover(body)
  }

  package func restart() throws(LabFault) {
    _ = try recover { central throws(LabFault) in
      try central.resetController(until: central.transport.now + .seconds(10))
      return []
    }
  }

  package func takeDiagnostics() -> [String] {
    link.takeDiagnostics() + program.takeRemarks() + fixture.takeDiagnostics()
  }
}

extension DriverClient: RecordedDevice {
  package func record(to recorder: LinkNotes?) {
    self.recorder = recorder
    link.central.recorder = recorder?.packets
  }
}

extension DriverClient {
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

  /// Sends a request, collects the observations, and performs the requested operations once the response is complete.
  ///
  /// - Parameter value: the value of the packet that the driver receives.
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
      if case .scan(let hearing) = operation { fixture.require(everyAdvertisement: hearing == .everything) }
      if case .central(.write(_, let value, _), let text?) = operation {
        recorder?.packets.note(meaning: text, of: value, isReceived: false)
      }
      try link.carryOut(operation)
    }
  }
}

extension DriverClient: OwnedLock {
  /// Unknown: it is the driver's affair.
  package var configuration: [Argument]? { nil }
  /// It is: what opens the lock is in its file.
  package var isRegistered: Bool { true }
  package func recallKey() -> Bool { false }
  package func dropRecalledKey() {}
}
