public import Sesame
import Bluetooth
public import Conformance
public import Basics

/// A client and its lock as a device under test: what the client shows is compared with the model.
///
/// Stimuli are what a user of the client can ask for, and what the surroundings of the lock can do where the
/// link reaches that far. Statuses are the client's. Beside them it shows the battery, the history and
/// whatever else is read, and every rule of the protocol that the lock breaks.
public struct ClientDevice<Link: LockLink>: DeviceUnderTest {
  /// What a stimulus of the model's vocabulary means here.
  private enum Meaning {
    case request(ClientRequest)
    case surroundings(String)
    case unknown(String)
  }

  /// The link to the lock.
  public private(set) var link: Link
  private var client: SesameClient
  private let settings: ClientSettings
  private let quirks: [SesameViolation]
  private let makeSecrets: @Sendable () -> any SecretSource & Sendable
  private let circumstances: [String]
  private var meanings: [Meaning] = []
  private var statuses: [Int] = []
  /// The numbers of the reports that the model has.
  private var reported: [Report: Int] = [:]
  /// Whether a frame may be tampered with of which the link will not tell.
  private var mayBeTampered = false
  private var queue: [Observation] = []
  private var taken = 0
  private var recorder: LinkRecorder?
  /// What has been remarked upon in this test: once is enough.
  private var remarked: [ProtocolViolation] = []

  /// Joins a client to a link.
  ///
  /// - Parameters:
  ///   - quirks: what this one lock is known to do though its protocol forbids it: a remark, and no divergence.
  ///   - circumstances: what of the model's circumstances always holds on this link.
  ///   - secrets: makes the client's source of keys and tokens, anew for each test.
  public init(
    _ link: Link, settings: ClientSettings = ClientSettings(), quirks: [SesameViolation] = [],
    circumstances: [String] = [],
    secrets: @escaping @Sendable () -> any SecretSource & Sendable
  ) {
    self.link = link
    self.settings = settings
    self.quirks = quirks
    self.circumstances = circumstances
    makeSecrets = secrets
    client = SesameClient(key: nil, settings: settings, secrets: secrets())
  }

  public var now: Instant { link.now }

  /// What the lock has told of its positions in the session that is open; `nil` where they are not set.
  public var positions: LockPositions? { client.knownPositions }

  public var abilities: Abilities {
    let faults = link.faults + Self.pretenceNames
    var abilities = Abilities(
      stimuli: Self.requestNames + link.stimuli, faults: faults, settings: link.settings,
      circumstances: circumstances, reports: Self.reports, slack: Self.slack(under: circumstances),
      isInVirtualTime: true, arguments: SesameDisturbances.arguments,
      disturbances: SesameDisturbances.offered(with: faults))
    abilities.particulars = Self.particulars
    return abilities
  }

  public mutating func adopt(_ vocabulary: Vocabulary) {
    let surroundings = link.stimuli
    meanings = vocabulary.stimuli.map { name in
      if let request = Self.request(named: name, settings) { return .request(request) }
      return surroundings.contains(name) ? .surroundings(name) : .unknown(name)
    }
    // A model that has no number for a status is told so: -1 is an observation it does not know.
    statuses = ClientStatus.allCases.map { vocabulary.status($0.rawValue) ?? -1 }
    reported = [:]
    for report in Report.allCases { reported[report] = vocabulary.stimulus(report.rawValue) }
  }

  public mutating func reset(to start: StartCondition) throws(LabFault) {
    let key = try link.prepare(start)
    client = SesameClient(
      key: key, settings: settings, secrets: makeSecrets(), after: client, isKeySure: link.isKeySure,
      livesOn: link.livesOn)
    queue.removeAll(keepingCapacity: true)
    taken = 0
    mayBeTampered = false
    remarked.removeAll()
    if let recorder {
      if recorder.isNotedByClient { recorder.startOver() }
      recorder.note(key)
    }
  }

  /// Notes what goes over the link from now on, from the beginning of each test; `nil` ends it.
  public mutating func record(to recorder: LinkRecorder?) {
    self.recorder = recorder
    let hasPackets = link.record(to: recorder?.packets)
    recorder?.isNotedByClient = !hasPackets
  }

  public mutating func restart() throws(LabFault) { try link.restart() }

  public mutating func takeRemarks() -> [String] { link.takeRemarks() }

  public var answerDue: Instant? { client.answerDue }

  public func explanation(ofSilence isSilent: Bool) -> Explanation? {
    client.explanation(ofSilence: isSilent).map { Explanation($0.name, $0.detail, isOfDevice: $0.isByLock) }
  }

  /// Tries it on a copy of the client.
  public func reaches(_ stimulus: Stimulus) -> Bool {
    guard case .request(let request) = meanings[stimulus.number] else { return true }
    var copy = client
    guard let request = try? request.with(stimulus.arguments) else { return false }
    return copy.perform(request, at: link.now).contains { action in
      if case .refuse = action { false } else { true }
    }
  }

  public mutating func perform(_ stimulus: Stimulus) throws(LabFault) {
    switch meanings[stimulus.number] {
    case .request(let request):
      try carryOut(client.perform(request.with(stimulus.arguments), at: link.now))
    case .surroundings(let name):
      try link.perform(name, stimulus.arguments)
    case .unknown(let name):
      throw LabFault(.notPossible, "the stimulus '\(name)' means nothing to a Sesame lock")
    }
  }

  public mutating func bring(about fault: Fault) throws(LabFault) {
    if let interference = try Interference(fault) {
      return try carryOut(client.bring(about: interference, at: link.now))
    }
    guard Self.pretenceNames.contains(fault.name) else {
      if !link.reportsTampering, Self.tamperings.contains(fault.name), !fault.value.isNothing {
        mayBeTampered = true
        report(.tampered)
      }
      return try link.bring(about: fault)
    }
    let pretence = try ClientPretence(fault)
    client.pretences.removeAll { $0.faultName == fault.name }
    if let pretence { client.pretences.append(pretence) }
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
      if let event = try link.next(until: min(limit, deadline ?? .never)) {
        if let recorder, recorder.isNotedByClient { recorder.note(event, at: link.now) }
        take(event)
        try carryOut(client.receive(event, at: link.now))
      } else if let deadline, deadline <= limit {
        try carryOut(client.advance(to: link.now))
      } else {
        return nil
      }
    }
  }
}

// MARK: - What the client's own end of the link sees

extension ClientDevice {
  /// The events of the model that it reports, by name.
  public static var reports: [String] { Report.allCases.map(\.rawValue) }

  /// How much later than it happened something may be observed where packets get lost: what is asked and what is
  /// answered are each held up for as long as a link can live without a packet.
  public static func slack(under circumstances: [String]) -> Interval {
    circumstances.contains("loss") ? ConnectionParameters().longestDelay * 2 : .zero
  }

  /// The faults of a link that tamper with its frames.
  private static var tamperings: [String] {
    ["drop", "corrupt", "duplicate", "delay", "lose-link", "inject", "write"]
  }

  /// Reports what an event of the link is evidence of.
  private mutating func take(_ event: LinkEvent) {
    switch event {
    case .tampered: report(.tampered)
    case .provoked: report(.provoked)
    case .connected: if mayBeTampered { report(.tampered) }
    case .disconnected(let reason, let unacknowledged) where client.hasLink:
      let end = ClientLeaving.end(reason, unacknowledged: unacknowledged)
      report(end.isByLock ? .linkClosed : .linkLost, end.words)
    case .disconnected, .advertisement, .ready, .frame: break
    }
  }

  private mutating func report(_ report: Report, _ detail: String = "") {
    if let number = reported[report] { queue.append(.event(SeenEvent(number, detail))) }
  }
}

extension ClientDevice {
  private mutating func carryOut(_ actions: [ClientAction]) throws(LabFault) {
    if let recorder { recorder.note(session: client.cipher) }
    for action in actions {
      recorder?.note(action, at: link.now)
      switch action {
      case .listen: try link.listen()
      case .stopListening: try link.stopListening()
      case .connect: try link.connect()
      case .disconnect: try link.disconnect()
      case .send(let frame): try link.send(frame)
      case .tamper: report(.tampered)
      case .provoke: report(.provoked)
      case .findPositions: report(.positionsFound)
      case .show(let status): queue.append(observation(of: status))
      case .report(let reading):
        let reading = Reading(reading)
        queue.append(.reading(reading))
        if case .text(let text) = reading.value, client.tellsKey(text) {
          note(
            ProtocolViolation(.keyExposed, of: "owner's key", "the secret key in a reading, \(reading.name)"))
        }
      case .refuse(let reason): queue.append(.refused(reason))
      case .complain(let violation): note(violation)
      case .keep(let key): try link.keep(key)
      case .drop(let key): try link.drop(key)
      }
    }
  }

  /// Shows that a rule was broken; what locks of this kind are known to do is remarked upon once in a test.
  private mutating func note(_ violation: ProtocolViolation) {
    let quirk = KnownQuirk.reason(for: violation, of: client.model?.generation, own: quirks)
    if quirk != nil {
      guard !remarked.contains(where: { $0.rule == violation.rule && $0.subject == violation.subject }) else {
        return
      }
      remarked.append(violation)
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

  /// The faults that are the client's own, whatever lock it talks to.
  public static var pretenceNames: [String] { ClientPretence.faultNames + Interference.names }

  /// The stimuli that are the client's own, whatever lock it talks to.
  public static var requestNames: [String] {
    [
      "closeTo", "connect", "register", "configure", "lock", "unlock", "toggle", "disconnect", "reset",
      "setAutolock", "readAutolock", "readHistory", "readVersion", "readStatus", "setTime", "forgeLock",
      "forgeUnlock", "replayCommand",
    ]
  }

  /// What goes with the stimuli, the faults and the starts of such a device.
  public static var particulars: Particulars {
    var particulars = Particulars()
    particulars.stimulus = { name, arguments throws(LabFault) in
      guard let request = request(named: name, ClientSettings()) else {
        return try arguments.check(names: [])
      }
      _ = try request.with(arguments)
    }
    particulars.fault = { fault throws(LabFault) in
      if try Interference(fault) != nil { return }
      if ClientPretence.faultNames.contains(fault.name) {
        _ = try ClientPretence(fault)
      } else {
        try Link.check(fault)
      }
    }
    particulars.setting = { setting throws(LabFault) in try StartSettings.check(setting) }
    return particulars
  }

  private static func request(named name: String, _ settings: ClientSettings) -> ClientRequest? {
    switch name {
    case "closeTo": .closeTo
    case "connect": .connect
    case "register": .register()
    case "configure": .configure(lock: settings.positions.lock, unlock: settings.positions.unlock)
    case "lock": .lock(settings.tag)
    case "unlock": .unlock(settings.tag)
    case "toggle": .toggle(settings.tag)
    case "disconnect": .disconnect
    case "reset": .reset
    case "setAutolock": .setAutolock(seconds: 0)
    case "readAutolock": .readAutolock
    case "readHistory": .readHistory
    case "readVersion": .readVersion
    case "readStatus": .readStatus
    case "setTime": .setTime
    case "forgeLock": .forgeLock
    case "forgeUnlock": .forgeUnlock
    case "replayCommand": .replayCommand
    default: nil
    }
  }
}

extension ClientPretence {
  /// The names of the faults.
  static let faultNames = ["wrong-key", "replay-login"]

  fileprivate var faultName: String {
    switch self {
    case .falseProof: "wrong-key"
    case .replayedLogin: "replay-login"
    }
  }

  /// Reads one of these faults; `nil` for one that is called off.
  fileprivate init?(_ fault: Fault) throws(LabFault) {
    if fault.value.isNothing { return nil }
    switch (fault.name, fault.value.description) {
    case ("wrong-key", "yes"): self = .falseProof(.wrongSecret)
    case ("wrong-key", let text):
      guard let proof = FalseProof(rawValue: text) else {
        throw fault.problem(expectingOneOf: ["yes"] + FalseProof.allCases.map(\.rawValue))
      }
      self = .falseProof(proof)
    case (_, "yes"): self = .replayedLogin(session: nil)
    case (_, let text):
      guard let replay = Replay(text), replay.part == .everything else {
        throw fault.problem(expecting: "yes, or a session such as 'session -2'")
      }
      self = .replayedLogin(session: replay.session)
    }
  }
}

extension Reading {
  /// What a client learns, by the names that scenarios have for it.
  init(_ reading: ClientReading) {
    switch reading {
    case .battery(let volts): self.init("battery", .number(volts))
    case .autolock(let seconds): self.init("autolock", .integer(seconds))
    case .version(let text): self.init("version", .text(text))
    case .history(let record): self.init("history", .text(record ?? "empty"))
    case .stalled: self.init("motor", .text("stalled"))
    case .login(let result): self.init("login", .text(result.description))
    case .registration(let result): self.init("registration", .text(result.description))
    case .refused(let text): self.init("refused", .text(text))
    case .passedOver(let text): self.init("passed over", .text(text))
    }
  }
}

/// What a device reports that its own end saw, by the names that the model has for it.
private enum Report: String, CaseIterable {
  /// The air lost the link, or it never came about.
  case linkLost
  /// The lock ended it.
  case linkClosed
  /// The tester tampers with it.
  case tampered
  /// The tester sends what no client would.
  case provoked
  /// The lock says at its registration that its positions are set.
  case positionsFound
}
