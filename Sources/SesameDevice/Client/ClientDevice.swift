public import Sesame
import Bluetooth
public import Links
public import Conformance
public import Basics

/// A client and its lock as a device under test: the client's observations are compared with the model.
///
/// Stimuli are the requests of the client's user, and the actions of the lock's environment as far as the link
/// supports them. Statuses are the client's. It also reports the battery, the history and other readings, and every
/// protocol rule that the lock violates.
public struct ClientDevice<Link: LockLink>: StandaloneDevice, RecordedDevice {
  /// The meaning of a stimulus in the model's vocabulary.
  private enum Meaning {
    case request(ClientRequest)
    case attack(Forgery)
    case environment(String)
    case unknown(String)
  }

  /// The link to the lock, with the adversary on it.
  private var air: AdversaryLink<Link>
  private var client: SesameClient
  private let settings: ClientSettings
  private let quirks: [SesameViolation]
  private let makeSecrets: @Sendable () -> any SecretSource & Sendable
  private let conditions: [String]
  private var meanings: [Meaning] = []
  private var statuses: [Int] = []
  /// The model's numbers of the reports.
  private var reported: [Report: Int] = [:]
  private var queue: [Observation] = []
  private var taken = 0
  private var recorder: LinkRecorder?
  /// The session whose login the client replays instead of sending its own: 0 for the last one.
  private var replayedSession: Int?
  /// The known quirks already recorded in this test: each is recorded once.
  private var noted: [ProtocolViolation] = []
  /// The injected packets whose effects may still be observed.
  private var injections = PendingInjections()

  /// Connects a client to a link.
  ///
  /// - Parameters:
  ///   - quirks: this lock's known violations of its protocol: a diagnostic, not a divergence.
  ///   - conditions: the conditions of the model that always hold on this link.
  ///   - secrets: creates the client's source of keys and tokens, once per test.
  public init(
    _ link: Link, settings: ClientSettings = ClientSettings(), quirks: [SesameViolation] = [],
    conditions: [String] = [],
    secrets: @escaping @Sendable () -> any SecretSource & Sendable
  ) {
    air = AdversaryLink(link, settings)
    self.settings = settings
    self.quirks = quirks
    self.conditions = conditions
    makeSecrets = secrets
    client = SesameClient(key: nil, settings: settings, secrets: secrets())
  }

  /// The link to the lock.
  public var link: Link { air.wrapped }

  public var now: Instant { air.now }

  /// The positions that the lock has reported in the open session; `nil` if they are not set.
  public var positions: LockPositions? { client.knownPositions }

  public var abilities: Abilities {
    var abilities = Self.abilities(of: air.generation, around: air.abilities, conditions: conditions)
    abilities.isInVirtualTime = true
    return abilities
  }

  /// Returns the abilities of a client on a link with these abilities.
  ///
  /// - Parameters:
  ///   - generation: the lock's generation, if known.
  ///   - link: the abilities of the link, in addition to the client's own.
  ///   - conditions: the conditions of the model that always hold.
  ///   - slack: the maximum delay of an observation, in addition to that of the link.
  public static func abilities(
    of generation: Generation?, around link: Abilities, conditions: [String], slack: Interval = .zero
  ) -> Abilities {
    let faults = link.faults + misbehaviourNames
    var abilities = Abilities(
      stimuli: requestNames(of: generation) + (link.stimuli ?? []), faults: faults, settings: link.settings,
      conditions: conditions, reports: reports, slack: slack + self.slack(under: conditions),
      arguments: SesameDisturbances.arguments, disturbances: SesameDisturbances.offered(with: faults))
    abilities.particulars = particulars(link.particulars)
    return abilities
  }

  public mutating func adopt(_ vocabulary: Vocabulary) {
    let environment = air.abilities.stimuli ?? []
    meanings = vocabulary.stimuli.map { name in
      Self.meaning(of: name, settings) ?? (environment.contains(name) ? .environment(name) : .unknown(name))
    }
    // For a status without a number in the model, -1 makes the observation one that the model does not know.
    statuses = ClientStatus.allCases.map { vocabulary.status($0.rawValue) ?? -1 }
    reported = [:]
    for report in Report.allCases { reported[report] = vocabulary.stimulus(report.rawValue) }
  }

  public mutating func reset(to start: StartCondition) throws(LabFault) {
    let key = try air.prepare(start)
    client = SesameClient(
      key: key, settings: settings, secrets: makeSecrets(), after: client, isKeySure: air.isKeySure,
      keepsState: air.abilities.keepsState)
    replayedSession = nil
    queue.removeAll(keepingCapacity: true)
    taken = 0
    noted.removeAll()
    injections = PendingInjections()
    if let recorder {
      if recorder.isNotedByClient { recorder.startOver() }
      recorder.note(key)
    }
  }

  /// Records the link from now on, with a new recording for each test; `nil` stops it.
  public mutating func record(to notes: LinkNotes?) {
    recorder = notes?.notes(of: LinkRecorder.self)
    let hasPackets = air.record(to: recorder?.packets)
    recorder?.isNotedByClient = !hasPackets
  }

  public mutating func restart() throws(LabFault) { try air.restart() }

  public mutating func takeDiagnostics() -> [String] { air.takeDiagnostics() }

  public var answerDue: Instant? { client.answerDue }

  public func explanation(ofSilence isSilent: Bool) -> Explanation? {
    client.explanation(ofSilence: isSilent).map { Explanation($0.name, $0.detail, isOfDevice: $0.isByLock) }
  }

  public var injected: [InjectedAction] { injections.actions(at: now) }

  /// Tries the stimulus on a copy of the client.
  public func reaches(_ stimulus: Stimulus) -> Bool {
    switch meanings[stimulus.number] {
    case .request(let request):
      var copy = client
      guard let request = try? request.with(stimulus.arguments) else { return false }
      return copy.perform(request, at: now).contains { action in
        if case .refuse = action { false } else { true }
      }
    case .attack(let forgery):
      var adversary = air.adversary
      adversary.view = client.view
      return stimulus.arguments.isEmpty && adversary.reaches(forgery)
    case .environment, .unknown: return true
    }
  }

  public mutating func perform(_ stimulus: Stimulus) throws(LabFault) {
    switch meanings[stimulus.number] {
    case .request(let request):
      try carryOut(client.perform(request.with(stimulus.arguments), at: now))
    case .attack(let forgery):
      try stimulus.arguments.check(names: [])
      guard client.view.hasShownProof else {
        return queue.append(.refused("not possible in \(client.status.rawValue)"))
      }
      try bring(about: .forge(forgery))
    case .environment(let name):
      try air.perform(name, stimulus.arguments)
    case .unknown(let name):
      throw LabFault(.notPossible, "the stimulus '\(name)' means nothing to a Sesame lock")
    }
  }

  public mutating func bring(about fault: Fault) throws(LabFault) {
    switch fault.name {
    case "wrong-key": client.misbehaviour.falseProof = try Self.falseProof(fault)
    case "replay-login":
      replayedSession = try Self.replayedSession(fault)
      client.misbehaviour.replaysLogin = replayedSession != nil
    default:
      guard let interference = try Interference(fault) else {
        try air.bring(about: fault)
        return injections.note(fault, isObserving: client.hasLink, at: now)
      }
      try bring(about: interference)
    }
  }

  private mutating func bring(about interference: Interference) throws(LabFault) {
    if case .request(let request) = interference { return try carryOut(client.ask(request, at: now)) }
    air.adversary.view = client.view
    try air.bring(about: interference)
    try takeActions()
  }

  public mutating func observe(until limit: Instant) throws(LabFault) -> Observation? {
    while true {
      if taken < queue.count {
        taken += 1
        return queue[taken - 1]
      }
      queue.removeAll(keepingCapacity: true)
      taken = 0
      let deadline = client.deadline
      if let event = try air.next(until: min(limit, deadline ?? .never)) {
        if let recorder, recorder.isNotedByClient { recorder.note(event, at: now) }
        try take(event)
      } else if let deadline, deadline <= limit {
        try carryOut(client.advance(to: now))
      } else {
        return nil
      }
    }
  }
}

// MARK: - Observations of the client's end of the link

extension ClientDevice {
  /// The names of the model events that the device reports.
  public static var reports: [String] { Report.allCases.map(\.rawValue) }

  /// Returns the maximum delay of an observation when packets get lost: a request and its answer can each be
  /// delayed as long as a link survives without a packet.
  public static func slack(under conditions: [String]) -> Interval {
    conditions.contains("loss") ? ConnectionParameters().longestDelay * 2 : .zero
  }

  /// Reports what an event of the link proves, and passes the event to the client.
  private mutating func take(_ event: LinkEvent) throws(LabFault) {
    switch event {
    case .tampered: report(.tampered)
    case .provoked: report(.provoked)
    case .disconnected(let reason, let unacknowledged) where client.hasLink:
      let end = ClientDepartureReason.end(reason, unacknowledged: unacknowledged)
      report(end.isByLock ? .linkClosed : .linkLost, end.words)
    case .disconnected, .advertisement, .connected, .ready, .frame, .spoofed, .reflected: break
    }
    if let number = replayedSession { client.misbehaviour.overheard = air.adversary.login(ofSession: number) }
    try carryOut(client.receive(event, at: now))
  }

  private mutating func report(_ report: Report, _ detail: String = "") {
    if let number = reported[report] { queue.append(.event(SeenEvent(number, detail))) }
  }
}

extension ClientDevice {
  private mutating func carryOut(_ actions: [ClientAction]) throws(LabFault) {
    if let recorder { recorder.note(session: client.view.cipher) }
    for action in actions {
      recorder?.note(action, at: now)
      switch action {
      case .listen: try air.listen()
      case .stopListening: try air.stopListening()
      case .connect: try air.connect()
      case .disconnect: try air.disconnect()
      case .send(let frame):
        if air.adversary.needsView(for: frame) { air.adversary.view = client.view }
        try air.send(frame)
        try takeActions()
      case .inject(let injection): note(injection)
      case .findPositions: report(.positionsFound)
      case .show(let status):
        injections.take(status, at: now)
        queue.append(observation(of: status))
      case .report(let reading):
        let reading = Reading(reading)
        queue.append(.reading(reading))
        if case .text(let text) = reading.value, client.revealsKey(text) {
          note(
            ProtocolViolation(.keyExposed, of: "owner's key", "the secret key in a reading, \(reading.name)"))
        }
      case .refuse(let reason): queue.append(.refused(reason))
      case .reportViolation(let violation): note(violation)
      case .keep(let key): try air.keep(key)
      case .drop(let key): try air.drop(key)
      }
    }
  }

  /// Records the adversary's actions, and passes the reported events to the client.
  private mutating func takeActions() throws(LabFault) {
    for action in air.takeActions() {
      switch action {
      case .send(let frame): recorder?.note(sent: frame, at: now)
      case .report(let event): try take(event)
      case .inject(let injection): note(injection)
      }
    }
  }

  /// Records that the next packet is one that no client sends.
  private mutating func note(_ injection: Injection) {
    injections.note(injection, at: now)
    if injection.isProvocation { report(.provoked) }
  }

  /// Reports a violated rule; a known quirk is reported once per test.
  private mutating func note(_ violation: ProtocolViolation) {
    let quirk = KnownQuirk.reason(for: violation, of: client.model?.generation, own: quirks)
    if quirk != nil {
      guard !noted.contains(where: { $0.rule == violation.rule && $0.subject == violation.subject }) else {
        return
      }
      noted.append(violation)
    }
    queue.append(
      .violation(
        Violation(
          violation.rule.rawValue, of: violation.subject, violation.detail,
          packet: violation.packet.map {
            Violation.Packet($0, from: violation.sender == .lock ? .device : .tester)
          },
          quirk: quirk)))
  }

  private func observation(of status: ClientStatus) -> Observation {
    let number = statuses[status.number]
    return number < 0 ? .unknown(status.rawValue) : .status(number)
  }

  /// The client's own faults, which work with any lock.
  public static var misbehaviourNames: [String] { ["wrong-key", "replay-login"] + Interference.names }

  /// Returns the client's own stimuli: those of a generation, or all if it is unknown.
  public static func requestNames(of generation: Generation?) -> [String] {
    let names = LockFamily.sesame.stimuli.map(\.name)
    guard let generation else { return names }
    return names.filter { name in
      guard case .request(let request)? = meaning(of: name, ClientSettings()) else { return true }
      return request.exists(in: generation)
    }
  }

  /// Returns the particulars of the stimuli, faults and start conditions, on a link with these particulars.
  private static func particulars(_ link: Particulars) -> Particulars {
    var particulars = Particulars()
    particulars.stimulus = { name, arguments throws(LabFault) in
      guard case .request(let request)? = meaning(of: name, ClientSettings()) else {
        return try arguments.check(names: [])
      }
      _ = try request.with(arguments)
    }
    particulars.fault = { fault throws(LabFault) in
      switch fault.name {
      case "wrong-key": _ = try falseProof(fault)
      case "replay-login": _ = try replayedSession(fault)
      default: if try Interference(fault) == nil { try link.fault(fault) }
      }
    }
    particulars.setting = { setting throws(LabFault) in try StartSettings.check(setting) }
    return particulars
  }

  private static func meaning(of name: String, _ settings: ClientSettings) -> Meaning? {
    switch name {
    case "closeTo": .request(.closeTo)
    case "connect": .request(.connect)
    case "register": .request(.register())
    case "configure": .request(.configure(lock: settings.positions.lock, unlock: settings.positions.unlock))
    case "lock": .request(.lock(settings.tag))
    case "unlock": .request(.unlock(settings.tag))
    case "toggle": .request(.toggle(settings.tag))
    case "disconnect": .request(.disconnect)
    case "reset": .request(.reset)
    case "setAutolock": .request(.setAutolock(seconds: 0))
    case "readAutolock": .request(.readAutolock)
    case "readHistory": .request(.readHistory)
    case "readVersion": .request(.readVersion)
    case "readStatus": .request(.readStatus)
    case "setTime": .request(.setTime)
    case "forgeLock": .attack(.request(.lock, .inClear))
    case "forgeUnlock": .attack(.request(.unlock, .inClear))
    case "replayCommand": .attack(.lastCommand)
    default: nil
    }
  }

  /// Parses the fault `wrong-key`; returns `nil` if its value ends the fault.
  private static func falseProof(_ fault: Fault) throws(LabFault) -> FalseProof? {
    if fault.value.isNothing { return nil }
    let text = fault.value.description
    guard let proof = text == "yes" ? .wrongSecret : FalseProof(rawValue: text) else {
      throw fault.problem(expectingOneOf: ["yes"] + FalseProof.allCases.map(\.rawValue))
    }
    return proof
  }

  /// Parses the session of the fault `replay-login`, 0 for the last one; returns `nil` if its value ends the fault.
  private static func replayedSession(_ fault: Fault) throws(LabFault) -> Int? {
    if fault.value.isNothing { return nil }
    let text = fault.value.description
    if text == "yes" { return 0 }
    guard let replay = Replay(text), replay.part == .everything else {
      throw fault.problem(expecting: "yes, or a session such as 'session -2'")
    }
    return replay.session
  }
}

extension Reading {
  /// Converts a client's reading, with the name that scenarios use.
  init(_ reading: ClientReading) {
    switch reading {
    case .battery(let volts): self.init("battery", .number(volts))
    case .autolock(let seconds): self.init("autolock", .integer(seconds))
    case .version(let text): self.init("version", .text(text))
    case .history(let record): self.init("history", .text(record ?? "empty"))
    case .record(let record):
      self.init(
        "record",
        .record([
          ("number", .integer(record.number)), ("event", .text(record.event)), ("tag", .text(record.tag)),
          ("time", .instant(record.time - .zero)),
        ]))
    case .time(let time): self.init("time", .instant(time - .zero))
    case .stalled: self.init("motor", .text("stalled"))
    case .login(let result): self.init("login", .text(result.description))
    case .registration(let result): self.init("registration", .text(result.description))
    case .refused(let text): self.init("refused", .text(text))
    case .ignored(let text): self.init("passed over", .text(text))
    }
  }
}

/// The events that a device observes at its own end, by their names in the model.
private enum Report: String, CaseIterable {
  /// The link was lost, or was never established.
  case linkLost
  /// The lock closed the link.
  case linkClosed
  /// The tester changed a frame or the link.
  case tampered
  /// The tester sent what no client would send.
  case provoked
  /// The lock reports at its registration that its positions are already set.
  case positionsFound
}

extension LinkRecorder: FamilyNotes {}
