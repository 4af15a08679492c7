import LockFiles
import Devices
public import Journal
import Transports
public import Bench
import Conformance
import Documents
public import System
import Harness
public import Basics

/// A plan joined with its bench: the cases of a night on its locks.
public struct NightlyLab: Sendable {
  public let plan: NightPlan
  private let bench: BenchFile
  /// The places of a lab with the locks; `nil` if the bench owns its locks.
  private(set) var places: NightlyPlaces?
  /// The cases in the form of the night and in that of a run, in the same order.
  public private(set) var cases: [NightCase] = []
  private(set) var tests: [Case] = []
  /// The locks and the dongles in their present state.
  public private(set) var locks: [NightLock] = []
  private(set) var dongles: [NightDongle] = []
  /// The identities of locks and dongles, whatever their names in the bench.
  private var identities: [NightDevice: String] = [:]
  /// The scenarios that park the locks of drivers, by the names of the locks.
  private(set) var parks: [String: String] = [:]
  /// Fuzzing without a matching lock, one sentence each.
  private(set) var unmet: [String] = []
  /// The expired quarantines.
  private(set) var lapsed: [Quarantine] = []

  /// Reads the plan of a file, and the bench that it names.
  ///
  /// - Parameter bench: the bench that replaces the plan's own.
  public init(_ path: String, bench: String?) throws(UsageError) {
    plan = try checked {
      try ScenarioFiles.read(path) { bytes throws(DocumentError) in try NightPlan(bytes, name: path) }
    }
    guard let place = bench ?? plan.bench ?? BenchFile.usual else {
      throw UsageError(
        "\(path) names no bench, and there is no bench.yaml: name one with --bench FILE")
    }
    self.bench = try BenchFile(reading: place)
  }

  /// The inventory of the bench.
  var inventory: Inventory { bench.inventory }

  /// The path of the inventory.
  var benchPath: String { bench.path }

  /// Finds the places of the lab, if a lab is named: the night uses only locks at these places.
  public mutating func findPlaces(_ request: Reservation.Request?, _ messages: StatusLine) throws(NoPlace) {
    guard let request else { return }
    places = try NightlyPlaces(request, bench, messages)
  }

  /// Joins suites and locks.
  ///
  /// - Parameters:
  ///   - seed: the seed of scenarios without one.
  ///   - today: the day for the expiry of quarantines.
  public mutating func prepare(seed: UInt64, today: Day, _ messages: StatusLine) throws(UsageError) {
    for (name, identity) in try transports() {
      identities[.dongle(name)] = identity
      dongles.append(NightDongle(name: name, outOfUse: reasonOutOfUse(of: .dongle(name))))
    }
    let stock = inventory.locks.filter { places?.places.keys.contains($0.name) ?? true }
    for lock in stock { locks.append(try nightLock(lock)) }
    lapsed = inventory.quarantine.filter { $0.status(on: today) == .lapsed }
    var known = Set<String>()
    for suite in plan.suites {
      let wanted = stock.filter { lock in suite.tags.allSatisfy(lock.tags.contains) }
      if wanted.isEmpty {
        let words = Self.unmet(suite.tags)
        messages.say("lockstep: suite \(suite.name): \(words)".inOneLine)
        try plan(suite, for: words, seed: seed, messages)
      }
      for lock in wanted {
        for test in try tests(of: suite, on: lock, seed: seed, messages) {
          let identity = identity(of: test, on: lock)
          // A case of two suites runs once.
          guard known.insert(identity).inserted else { continue }
          tests.append(test)
          cases.append(nightCase(test, identity, suite, lock, today))
        }
      }
    }
    guard let fuzz = plan.fuzz, !stock.contains(where: { lock in fuzz.tags.allSatisfy(lock.tags.contains) })
    else { return }
    unmet = ["nothing is fuzzed: \(Self.unmet(fuzz.tags))"]
    messages.say("lockstep: \(unmet[0])".inOneLine)
  }

  /// Why no lock matches.
  private static func unmet(_ tags: [String]) -> String {
    tags.isEmpty ? "there is no lock" : "no lock has the tags \(tags.joined(separator: ", "))"
  }

  /// Plans the scenarios of a suite without a matching lock: they are reported, and not run.
  private mutating func plan(
    _ suite: NightPlan.Suite, for reason: String, seed: UInt64, _ messages: StatusLine
  ) throws(UsageError) {
    let set = try scenarios(of: suite, in: World(lab: LabSettings()), messages)
    var selection = Plan.Selection()
    (selection.rounds, selection.seed) = (suite.rounds, seed)
    for test in Plan.Cases(undriven: set, selection) {
      var fingerprint = Fingerprint(suite.name)
      for part in [test.id, "no lock"] { fingerprint.mix("\n" + part) }
      tests.append(test)
      cases.append(
        NightCase(
          identity: fingerprint.description, suite: suite.name, file: test.file, round: Self.round(of: test),
          lock: nil, unmet: reason))
    }
  }

  private static func round(of test: Case) -> Int {
    test.id.split(separator: "#").dropFirst().last.flatMap { Int($0) } ?? 1
  }

  private func scenarios(
    of suite: NightPlan.Suite, in world: World, _ messages: StatusLine
  ) throws(UsageError) -> ScenarioSet {
    guard let set = world.scenarios(suite.scenarios, messages) else {
      throw UsageError("suite \(suite.name): its scenarios cannot be read")
    }
    return set
  }

  /// The dongles or places that lead to locks, by name, with their identities if known.
  private func transports() throws(UsageError) -> [(name: String, identity: String?)] {
    if let places {
      return places.places.values.sorted { $0.name < $1.name }.map { place in
        (place.name, place.transport.flatMap { try? TransportChoice(naming: $0, on: bench) }?.spec.identity)
      }
    }
    return try inventory.dongles.map { dongle throws(UsageError) in
      (dongle.name, try bench.choice(dongle).spec.identity)
    }
  }

  private func nightCase(
    _ test: Case, _ identity: String, _ suite: NightPlan.Suite, _ lock: Inventory.Lock, _ today: Day
  ) -> NightCase {
    let entry = inventory.quarantine(of: test.file, on: lock.name)
    let quarantine = entry.flatMap { $0.status(on: today) == .active ? $0 : nil }
    return NightCase(
      identity: identity, suite: suite.name, file: test.file, round: Self.round(of: test), lock: lock.name,
      timeout: suite.timeout, retries: suite.retries, actuations: suite.actuations,
      skipReason: test.skipReason, quarantine: quarantine.map { "\($0)" })
  }

  /// The cases of a suite on a lock.
  private func tests(
    of suite: NightPlan.Suite, on lock: Inventory.Lock, seed: UInt64, _ messages: StatusLine
  ) throws(UsageError) -> [Case] {
    let named = BenchLock(bench: bench, lock: lock)
    var settings = LabSettings(of: named, isNamed: true)
    if !named.isEmulated {
      // The transport at a place is known once the place is reserved.
      if places == nil { settings.transports = try bench.transports(to: lock) }
      settings.control = try lock.control.map { text throws(UsageError) in
        try socketPath(text, of: "--control")
      }
    }
    let world = World(lab: settings)
    let set = try scenarios(of: suite, in: world, messages)
    var selection = Plan.Selection()
    selection.rounds = suite.rounds
    selection.seed = seed
    do {
      selection.device = try world.deviceSpec("lock:" + lock.name)
      return Array(try Plan(set, selection, provider: world.devices).cases)
    } catch {
      throw UsageError("\(lock.name): --device: \(error)")
    }
  }

  /// A hash of the digest, which covers scenario, arguments, model and firmware, and of the lock.
  private func identity(of test: Case, on lock: Inventory.Lock) -> String {
    var fingerprint = Fingerprint(test.digest)
    for part in [lock.name, lock.sourceText, lock.firmware ?? "", test.id] { fingerprint.mix("\n" + part) }
    return fingerprint.description
  }

  private mutating func nightLock(_ lock: Inventory.Lock) throws(UsageError) -> NightLock {
    let isFuzzed = plan.fuzz.map { $0.tags.allSatisfy(lock.tags.contains) } ?? false
    guard case .file(let path) = lock.source else {
      identities[.lock(lock.name)] = BenchLock(bench: bench, lock: lock).emulatedIdentity
      return NightLock(
        name: lock.name, dongles: nil, isFuzzed: isFuzzed, outOfUse: reasonOutOfUse(of: .lock(lock.name)))
    }
    let dongles: [String]
    if let places {
      dongles = [places.places[lock.name]?.name].compactMap(\.self)
    } else {
      dongles = try bench.transports(to: lock).compactMap(\.dongle)
    }
    let file = try checked("\(lock.name): ") { try LockFile(reading: path) }
    identities[.lock(lock.name)] = file.identity
    if file.family == nil { parks[lock.name] = try park(path, lock.name) }
    return NightLock(
      name: lock.name, dongles: dongles, isReal: lock.control == nil, perShift: lock.limits.perShift,
      cycleCounter: LockCycleCounter.known(of: path)?.total ?? 0, isFuzzed: isFuzzed,
      outOfUse: reasonOutOfUse(of: .lock(lock.name)))
  }

  /// The scenario that parks the lock of a driver.
  private func park(_ path: String, _ name: String) throws(UsageError) -> String {
    let world = World(lab: LabSettings())
    defer { world.devices.shutDown() }
    do throws(LabFault) {
      return try world.devices.bench.family(of: DeviceSpec(.lock, path)).parkScenario
    } catch {
      throw UsageError("\(name): \(error.detail)")
    }
  }

  /// The present state of a lock or a dongle.
  func use(of device: NightDevice) -> DeviceState.Use {
    identities[device].map { DeviceState.Use(of: $0) } ?? .available
  }

  /// Puts a device out of use until `lockstep devices restore`, so that later runs know it.
  func putOut(_ device: NightDevice, _ why: String) throws(LabFault) {
    guard let identity = identities[device] else { return }
    try HealthStore.putOut(identity, called: device.name, why, at: WallClock.time)
  }

  /// The options that name the bench in a command.
  var benchWords: [String] { bench.words }

  /// Whether the motor of a lock must not move now, after a jam or because of its battery.
  func isBlocked(_ name: String) -> Bool {
    guard let lock = inventory.lock(name), case .file(let path) = lock.source else { return false }
    return LockCycleCounter.known(of: path)?.ledger.isBlocked(
      under: lock.limits, at: BenchClock.now.uptime) ?? false
  }

  /// The command that restores a device.
  func restoring(_ name: String) -> String { bench.restoring(name) }

  /// Why a lock or a dongle needs a person before it is used, according to its health checks; `nil` if it
  /// does not.
  func reasonOutOfUse(of device: NightDevice) -> String? {
    guard let identity = identities[device] else { return nil }
    do throws(LabFault) { return try HealthStore.health(of: identity).outOfUse?.reason } catch {
      return error.detail
    }
  }
}

extension Inventory.Lock {
  /// The description of its source.
  fileprivate var sourceText: String {
    switch source {
    case .device(let text): text
    case .file(let path): "lock:" + path
    }
  }
}

/// Reads the cycle counter of a lock, even while another process uses it.
enum LockCycleCounter {
  /// The number of movements, and the load on the motor; `nil` if it is unknown.
  static func known(of lockFile: String) -> (total: Int, ledger: ActuationBudget)? {
    guard let lock = (try? LockFile(reading: lockFile))?.identity else { return nil }
    do throws(LabFault) { return try CycleCounter.known(of: lock) ?? (0, ActuationBudget()) } catch {
      return nil
    }
  }
}
