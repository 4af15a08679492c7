package import Basics
package import Bluetooth
package import Conformance
package import Links

/// The client of a lock with any protocol: a user's program, the driver, translates stimuli to GATT operations, and
/// their results to statuses and readings.
///
///     stimulus ──▶ driver ──▶ scan, connect, write … ──▶ the host ──▶ controller ──▶ the lock
///     statuses ◀── driver ◀── heard, link, notified … ◀── the host ◀── controller ◀── the lock
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
  /// The time at which the driver must be called next.
  private var nextCall = Instant.never
  /// For each stimulus, whether the fixture performs it.
  private var isPerformedByFixture: [Bool] = []
  private var recorder: LinkNotes?
  /// The last message that no normal client sends.
  private var injection: InjectedAction?
  /// The time within which a lock may react to such a message.
  private static var injectionWindow: Interval { .seconds(6) }
  /// The seed of the driver's random choices, from the next test on.
  var seed: UInt64 = 0
  /// The maximum number of events within one second without an observation, which is more than any driver needs.
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
    let fixtureStimuli = fixture.abilities.stimuli ?? []
    isPerformedByFixture = vocabulary.stimuli.map(fixtureStimuli.contains)
  }
}

extension DriverClient {
  package func reset(to start: StartCondition) throws(LabFault) {
    if let misunderstanding = program.misunderstanding { throw misunderstanding }
    if !program.isRunning { try program.restart() }
    try program.skipOutput()
    try link.prepare { () throws(LabFault) in try fixture.prepare(start) }
    shown.removeAll()
    nextCall = .never
    injection = nil
    if let refusal = try ask(program.request(ofReset: start.settings, seed: seed)) {
      throw LabFault(.notPossible, "the driver refuses this start: \(refusal)")
    }
  }

  package func perform(_ stimulus: Stimulus) throws(LabFault) {
    if isPerformedByFixture[stimulus.number] {
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

  /// Records a message that no normal client sends. Only the driver knows whether the lock obeys it.
  private func note(injected sent: String) {
    injection = InjectedAction(.other, sent, reaction: "ignores or refuses", at: now)
  }

  package var injected: [InjectedAction] {
    injection.map { now <= $0.time + Self.injectionWindow ? [$0] : [] } ?? []
  }

  /// If other devices are heard, the silence of the lock is its own; the driver has no further explanation.
  package func explanation(ofSilence isSilent: Bool) -> Explanation? {
    isSilent ? .unheard(others: link.others, isLossy: false) : nil
  }

  package func observe(until limit: Instant) throws(LabFault) -> Observation? {
    var (events, moment) = (0, now)
    while true {
      takeShown()
      if let first = shown.popFirst() { return first }
      guard program.isRunning else { throw program.missing }
      let event = try link.next(until: min(limit, nextCall))
      if let fault = fixture.fault { throw fault }
      // Observations of the lock's side precede the driver's reaction to them.
      takeShown()
      if now - moment >= .seconds(1) { (events, moment) = (0, now) }
      if let event {
        events += 1
        try tell(event)
      } else if !shown.isEmpty {
        continue
      } else if nextCall <= limit {
        events += 1
        try advance()
      } else {
        return nil
      }
      // A driver that immediately requests an operation again and again lets no time pass.
      if events > maximumEvents {
        throw program.fail(
          .badAnswer, "the driver received \(events) events and has shown nothing, at \(now)")
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
  /// Reports an event to the driver.
  private func tell(_ event: ProgramEvent) throws(LabFault) {
    var value: [UInt8]?
    if case .notified(_, let bytes) = event { value = bytes }
    if case .read(_, let bytes) = event { value = bytes }
    if let refusal = try ask(event.line, about: value) {
      throw program.fail(.badAnswer, "the driver refuses to hear what happened: \(refusal)")
    }
  }

  /// Calls the driver at the time that it requested.
  private func advance() throws(LabFault) {
    if let refusal = try ask(ProgramConversation.bytes(of: ["advance": 0])) {
      throw program.fail(.badAnswer, "the driver refuses to let time pass: \(refusal)")
    }
  }

  /// Sends a request, collects the observations, and performs the requested operations once the response is complete.
  ///
  /// - Parameter value: The value of the packet that the request reports, if any.
  /// - Returns: The reason for a refusal, if the driver refuses.
  private func ask(_ request: [UInt8], about value: [UInt8]? = nil) throws(LabFault) -> String? {
    let now = now
    var operations: [ProgramOperation] = []
    let end = try program.ask(program.timed(request, at: now)) { entry, line throws(LabFault) in
      if let time = entry.parsed.time, time != now {
        throw program.fail(
          .badAnswer,
          "the driver wrote \(program.quoted(line)): it is \(now), and time passes on the air alone")
      }
      if let observation = entry.observation { shown.append(observation) }
      if case .operation(let operation) = entry.parsed.answer { operations.append(operation) }
    }
    switch end.next {
    case .unsaid: break
    case .at(let moment): nextCall = max(moment, now)
    }
    for operation in operations { try carryOut(operation, about: value) }
    return end.refusal
  }

  private func carryOut(_ operation: ProgramOperation, about value: [UInt8]?) throws(LabFault) {
    switch operation {
    case .meaning(let text):
      guard let value else {
        return program.remark(
          "the driver says `meaning` although it received no packet, such as '\(text.prefix(60))': nothing shows it"
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
  /// Unknown: only the driver knows it.
  package var configuration: [Argument]? { nil }
  /// Always: the secrets that open the lock are in its file.
  package var isRegistered: Bool { true }
  package func recallKey() -> Bool { false }
  package func dropRecalledKey() {}
}
