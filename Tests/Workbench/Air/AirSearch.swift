import Devices
import Bench
import Journal
import Conformance
import Documents
import Emulator
import Harness
import Basics

/// A campaign on an emulated lock, as the figures of the air count it: it ends with a finding that is confirmed.
struct AirSearch {
  /// The lock, without a defect.
  var device: String
  /// What is looked for; nothing where the lock is healthy.
  var defect: LockDefect?
  var seed: UInt64
  /// The most time that may pass on the lock.
  var lockTime: Interval?
  /// The most events.
  var events: Int?
  /// Whether a finding is made shorter.
  var isShrunk = true
  /// What tests are drawn without.
  var without: Explorer.Strategy?

  /// What came of it.
  struct Result {
    /// Whether a finding was confirmed.
    var isFound = false
    /// Findings that were not dismissed: on a healthy lock each is a false alarm.
    var findings = 0
    /// The events, the time on the lock and the movements, up to the finding where there is one.
    var events = 0
    var lockTime = Interval.zero
    var movements = 0
    /// The length of the shortest test, and its movements.
    var length = 0
    var shrunkMovements = 0
    /// What was wrong.
    var message = ""
  }

  /// A lock that is driven as a real one may be reset and registered again, and its motor has no budget but that of the
  /// search.
  static var lab: LabSettings {
    var lab = LabSettings()
    lab.interlock.allowed = lab.interlock.family.guarded
    lab.interlock.budget = nil
    lab.interlock.waitsForJams()
    return lab
  }

  /// Runs it; `nil` when there is no such lock.
  func perform() -> Result? {
    let world = World(lab: Self.lab)
    defer { world.devices.shutDown() }
    guard let machine = try? world.machines.machine("sesame"), var spec = try? DeviceSpec(text: device) else {
      return nil
    }
    if let defect { spec.settings.append(.init("defect", defect.name)) }
    guard let target = try? FuzzTarget(machine, spec, seed: seed, provider: world.devices),
      let lock = try? world.devices.device(target.device, seed: seed)
    else { return nil }
    return perform(target, lock, world.devices)
  }

  private func perform<Device: DeviceUnderTest>(
    _ target: FuzzTarget, _ lock: Device, _ devices: Devices
  ) -> Result {
    var settings = FuzzSettings()
    settings.seed = seed
    settings.keepsGoing = true
    settings.without = without
    settings.steps = events
    if !isShrunk { settings.shrinkEvents = 0 }
    var isOver = false
    var found: Finding?
    var edge = Campaign<Device>.Edge()
    edge.isStopped = { isOver }
    edge.progress = { [lockTime] status in
      if let lockTime, status.lockTime >= lockTime { isOver = true }
    }
    edge.another = { () throws(LabFault) in
      try devices.another(target.device, seed: target.seed) as? Device
    }
    edge.found = { [defect] finding in
      guard defect != nil, finding.confirmation.verdict == .confirmed else { return }
      found = finding
      isOver = true
    }
    var campaign = Campaign(target, lock, settings, edge: edge)
    _ = campaign.perform()
    var result = Result()
    let status = campaign.status
    result.findings = campaign.findings.count { $0.confirmation.verdict != .notReproduced }
    (result.events, result.lockTime, result.movements) = (status.events, status.lockTime, status.actuations)
    guard let found else { return result }
    result.isFound = true
    result.events = found.foundAt
    (result.lockTime, result.movements) = found.foundAfter
    result.length = found.test.choices.count
    result.shrunkMovements = campaign.runner.alphabet.movements(of: found.test)
    result.message = found.divergence.summary
    return result
  }
}

extension AirSearch: Recorded {
  static let blank = AirSearch(device: "", seed: 0)
  static let noun = "a search"
  static let fields: [Field<Self>] = [
    .needed("device", \.device, .text), .needed("seed", \.seed, .seed), .needed("shrunk", \.isShrunk, .flag),
    .extra("defect", \.defectName, .text), .extra("lockTime", \.lockTime, .seconds),
    .extra("events", \.events, .count), .extra("without", \.without, .words()),
  ]

  /// What is looked for, by its name.
  private var defectName: String? {
    get { defect?.name }
    set { defect = LockDefect.allCases.first { $0.name == newValue } }
  }
}

extension AirSearch.Result: Recorded {
  static let blank = Self()
  static let noun = "what came of a search"
  static let fields: [Field<Self>] = [
    .needed("found", \.isFound, .flag), .needed("findings", \.findings, .count),
    .needed("events", \.events, .count), .needed("lockTime", \.lockTime, .seconds),
    .needed("movements", \.movements, .count), .needed("length", \.length, .count),
    .needed("shrunkMovements", \.shrunkMovements, .count), .needed("message", \.message, .text),
  ]
}
