import Documents
import Harness
import Lab
import Simulation
import Transports

/// A plan and the bench that it is for, read and joined: what a night drives on what.
struct NightlyLab {
  let plan: NightPlan
  let inventory: Inventory
  /// The cases as the night knows them, and as a run would drive them; one beside the other.
  private(set) var cases: [NightCase] = []
  private(set) var tests: [Case] = []
  /// The locks and the dongles, as they are now.
  private(set) var locks: [NightLock] = []
  private(set) var dongles: [NightDongle] = []
  /// The quarantine that has lapsed, and what it is about.
  private(set) var lapsed: [Quarantine] = []

  /// Reads the plan of a file, and the bench that it names.
  ///
  /// - Parameter bench: what somebody named in its place.
  init(_ path: String, bench: String?) throws(UsageError) {
    plan = try readDocument(path) { bytes throws(DocumentError) in try NightPlan(bytes, name: path) }
    let place = bench ?? plan.bench ?? "bench.yaml"
    inventory = try readDocument(place) { bytes throws(DocumentError) in try Inventory(bytes, name: place) }
  }

  /// Joins suites and locks.
  ///
  /// - Parameters:
  ///   - seed: the seed of scenarios that have none of their own.
  ///   - today: on which day quarantine lapses or holds.
  mutating func prepare(seed: UInt64, today: Day, _ console: Console) throws(UsageError) {
    dongles = inventory.dongles.map { NightDongle(name: $0.name) }
    for lock in inventory.locks { locks.append(try nightLock(lock)) }
    lapsed = inventory.quarantine.filter { $0.status(on: today) == .lapsed }
    var known = Set<String>()
    for suite in plan.suites {
      let wanted = inventory.locks.filter { lock in suite.tags.allSatisfy(lock.tags.contains) }
      if wanted.isEmpty {
        console.say(
          "lockstep: suite \(suite.name): no lock has the tags \(suite.tags.joined(separator: ", "))")
      }
      for lock in wanted {
        for test in try tests(of: suite, on: lock, seed: seed, console) {
          let identity = identity(of: test, on: lock)
          // What two suites ask for is driven once.
          guard known.insert(identity).inserted else { continue }
          tests.append(test)
          cases.append(nightCase(test, identity, suite, lock, today))
        }
      }
    }
  }

  private func nightCase(
    _ test: Case, _ identity: String, _ suite: NightPlan.Suite, _ lock: Inventory.Lock, _ today: Day
  ) -> NightCase {
    let quarantine = inventory.quarantine.first {
      $0.covers(scenario: test.file, on: lock.name) && $0.status(on: today) == .active
    }
    let round = test.id.split(separator: "#").dropFirst().last.flatMap { Int($0) } ?? 1
    return NightCase(
      identity: identity, suite: suite.name, file: test.file, round: round, lock: lock.name,
      timeout: suite.timeout, retries: suite.retries, actuations: suite.actuations,
      skipReason: test.skipReason, quarantine: quarantine.map { "in quarantine \($0)" })
  }

  /// The scenarios of a suite as they are driven on a lock.
  private func tests(
    of suite: NightPlan.Suite, on lock: Inventory.Lock, seed: UInt64, _ console: Console
  ) throws(UsageError) -> [Case] {
    var arguments = RunArguments()
    arguments.paths = suite.scenarios
    arguments.device = lock.device
    arguments.rounds = Count(suite.rounds)
    arguments.drawnSeed = seed
    arguments.lab.allowed = lock.allow
    arguments.lab.control = lock.control
    // Which of them is used shows only in the night.
    if case .file = lock.source { arguments.lab.carrier = inventory.dongles(of: lock).first?.carrier }
    let world = World(lab: try arguments.labSettings())
    guard let set = arguments.scenarios(world, console) else {
      throw UsageError("suite \(suite.name): its scenarios cannot be read")
    }
    do {
      return try arguments.plan(set, world).cases.map { test in
        var test = test
        test.firmware = lock.firmware ?? test.firmware
        return test
      }
    } catch {
      throw UsageError("\(lock.name): \(error.message)")
    }
  }

  /// Scenario, arguments, model and firmware, which the digest has, and the lock.
  private func identity(of test: Case, on lock: Inventory.Lock) -> String {
    var fingerprint = Fingerprint(test.digest)
    for part in [lock.name, lock.device, test.id] { fingerprint.mix("\n" + part) }
    return fingerprint.description
  }

  private func nightLock(_ lock: Inventory.Lock) throws(UsageError) -> NightLock {
    let isFuzzed = plan.fuzz.map { $0.tags.allSatisfy(lock.tags.contains) } ?? false
    guard case .file(let path) = lock.source else {
      return NightLock(name: lock.name, dongles: nil, isFuzzed: isFuzzed)
    }
    guard !inventory.dongles(of: lock).isEmpty else {
      throw UsageError("\(lock.name): no dongle of the bench reaches it")
    }
    do {
      _ = try LockFile(reading: path)
    } catch {
      throw UsageError("\(lock.name): \(error)")
    }
    return NightLock(
      name: lock.name, dongles: inventory.dongles(of: lock).map(\.name), isReal: lock.control == nil,
      perNight: lock.limits.perNight, odometer: LockOdometer.total(of: path) ?? 0, isFuzzed: isFuzzed)
  }
}

extension Inventory {
  /// The dongles that reach a lock.
  func dongles(of lock: Lock) -> [Dongle] {
    dongles.filter { dongle in lock.dongles.map { $0.contains(dongle.name) } ?? true }
  }
}

extension Inventory.Lock {
  /// The lock as `--device` takes it.
  var device: String {
    switch source {
    case .device(let text): text
    case .file(let path): "lock:" + path
    }
  }
}

/// Reads a document from its file.
func readDocument<Value>(
  _ path: String, _ read: ([UInt8]) throws(DocumentError) -> Value
) throws(UsageError) -> Value {
  do {
    return try read(try ScenarioFiles.read(path))
  } catch {
    throw UsageError(error.description)
  }
}

/// What the odometer of a lock says, whoever counts with it now.
enum LockOdometer {
  /// How often the motor has moved; `nil` where nobody can tell.
  static func total(of lockFile: String) -> Int? {
    guard let file = try? LockFile(reading: lockFile), let path = try? LockBench.odometerPath(of: file) else {
      return nil
    }
    guard Host.isFile(path) else { return 0 }
    guard let bytes = try? WholeFile.bytes(of: path) else { return nil }
    let lines = bytes.count { $0 == UInt8(ascii: "\n") }
    return lines + (bytes.isEmpty || bytes.last == UInt8(ascii: "\n") ? 0 : 1)
  }
}
