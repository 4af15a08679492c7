import Basics
public import Bench
import Links
import LockFiles
import Programs
import System
public import Conformance
public import Harness
import Transports

/// The locks on the air: one transport to a controller, opened once and used for all cases.
public final class LockBench {
  /// A lock in use, or the reason why it cannot be used.
  private enum Use {
    case real(any ManagedLock)
    case emulated(any DeviceUnderTest, ControlledFixture)
    case failed(LabFault)
  }

  private let settings: LabSettings
  private let messages = StatusLine(.standardError())
  private var capture: String?
  private var transport: Transport?
  private var recovery: Recovery?
  private var uses: [(path: String, use: Use)] = []
  /// The total movements of each lock when it was first opened: reopening it does not renew its budget.
  private var starts: [String: Int] = [:]
  private var control: ControlledFixture?
  private let programs: ProgramPool
  /// The families of locks on a bench: the built-in ones, and that of drivers.
  private let families: [any BenchFamily]
  /// Whether a stop request interrupts waits. It does not while a lock is being parked.
  private var stopsOnRequest = true
  /// The leases that exclude other users.
  private var leases: BenchLeases

  /// Whether a watcher process parks the lock if this process dies.
  private let isWatched: Bool
  private var watcher: Watcher?
  /// The path of the watcher's log.
  private var watchLog: String?
  /// The pending park when the lock's lease was acquired; see ``Lab/PendingPark``.
  private var pendingPark: PendingPark?
  /// The rest time between motor movements and its origin, if it is not the default.
  private var restTime: String?
  /// Whether a real lock was leased, and the message on shared movement counts was printed.
  private var hasLeasedLock = false
  /// Whether parking was attempted for all locks.
  private var hasParked = false

  init(_ settings: LabSettings, isWatched: Bool = true, programs: ProgramPool = ProgramPool()) {
    self.settings = settings
    self.programs = programs
    families = builtInFamilies + [DriverLocks(programs: programs)]
    self.isWatched = isWatched
    capture = settings.capture
    leases = BenchLeases(wait: settings.wait)
  }

  /// Sets the default folder for captures.
  public func capture(in folder: String) {
    watchLog = folder + "/watcher.log"
    if !settings.transports.isEmpty, capture == nil { capture = folder + "/capture.btsnoop" }
  }

  /// Parks real locks.
  func park() -> ParkReport {
    var all = ParkReport()
    stopsOnRequest = false
    defer { stopsOnRequest = true }
    for (name, use) in uses {
      guard case .real(let lock) = use else { continue }
      all.add(lock.park(), of: name)
      guard let left = all.locks.last, left.name == name, left.park != .parked else { continue }
      // If a lock is not parked, the report contains a command that parks it, which runs this scenario.
      let scenario = try? family(of: DeviceSpec(.lock, name)).parkScenario
      if let scenario { all.parkScenarios.append(.init(lock: name, text: scenario)) }
    }
    hasParked = true
    return all
  }

  func shutDown() {
    closeAll()
    programs.shutDown()
    if hasParked { watcher?.dismiss() } else { watcher?.handOver() }
    watcher = nil
    FinalMessage.set(nil)
    control = nil
    leases = BenchLeases(wait: settings.wait)
  }

  /// The device for `--device`, if it is a lock of an inventory.
  public var device: DeviceSpec? { settings.device }
  public var lock: BenchLock? { settings.lock }
}

// MARK: - Exclusive use

extension LockBench {
  /// Leases the resources that the cases of a run need before the first case starts, so that all records contain the
  /// lease. A failure is reported by the cases.
  public func reserve(_ devices: [DeviceSpec]) {
    for spec in devices {
      if let lock = settings.lock, lock.isEmulated, spec.kind != .lock {
        leases.take(lock: lock.emulatedIdentity, name: lock.lock.name)
      } else if spec.kind == .lock, let file = try? LockFile(reading: path(of: spec.name)) {
        take(file, name: spec.name)
      }
    }
  }

  /// The token of the lock's lease; `nil` without one.
  public var token: UInt64? { leases.token }

  /// The properties of the run's manifest that identify the lock, its state and its leases.
  public var properties: [(name: String, value: String)] {
    var all: [(name: String, value: String)] = []
    if let lock = settings.lock {
      all = [("bench", lock.bench.inventory.name), ("lock", lock.lock.name)]
    }
    if hasLeasedLock, let state = StateFolder.place { all.append(("state", "\(state)")) }
    if let pendingPark { all.append(("lock.owed", "\(pendingPark)")) }
    if let restTime { all.append(("lock.gap", restTime)) }
    return all + leases.properties
  }

  private func take(_ file: LockFile, name: String) {
    leases.take(lock: file.identity, name: name)
    leases.take(oneOf: settings.transports)
    let limits = rules(for: file).limits
    if let own = limits.ownGap {
      let whose = settings.interlock.limits.ownGap == nil ? "the lock's file" : "the bench's file"
      restTime = "\(own) between movements: \(whose) says that its motor bears that"
    }
    guard leases.fault == nil, pendingPark == nil, isWatched, settings.control == nil else { return }
    if !hasLeasedLock { _ = Calendar.noted(messages) }
    if !hasLeasedLock, let words = StateFolder.warning { messages.say("lockstep: \(words)") }
    hasLeasedLock = true
    // If the state cannot be read, opening the lock fails, too.
    pendingPark = try? CycleCounter.known(of: file.identity)?.ledger.pendingPark
    if let pendingPark { messages.say("lockstep: the lock \(name) is \(pendingPark): that is done first") }
  }

  /// Returns the file of a lock, which may have another name in an inventory.
  private func path(of name: String) -> String {
    guard let lock = settings.lock?.lock, lock.name == name, case .file(let path) = lock.source else {
      return name
    }
    return path
  }
}

// MARK: - Health

extension LockBench {
  /// The number of transports to the lock.
  public var transportCount: Int { settings.transports.count }

  /// Whether this process holds leases of the lock and of a transport to it.
  var isReserved: Bool { leases.fault == nil && leases.lock != nil }

  /// Whether no further attempt is possible, since a lease was refused or lost.
  var isExhausted: Bool { leases.fault != nil }

  /// Records the result of a lock's check, and changes to another dongle if this one is out of use.
  ///
  /// - Returns: Diagnostics, one per line.
  func note(_ finding: HealthFinding) throws(LabFault) -> [String] {
    guard let (name, lease) = leases.lock else { return [] }
    let dongle = leases.transport.flatMap { choice in
      leases.dongle.map { (identity: $0.identity, name: choice.dongle ?? "\(choice.spec)") }
    }
    var words = ["health of \(name)" + (dongle.map { " over \($0.name)" } ?? "") + ": \(finding)"]
    words += try LockHealth.note(finding, (lease.identity, name), dongle)
    if let refusal = LockHealth.refusal(of: lease.identity, called: "the lock \(name)") {
      leases.refuse(refusal)
      closeAll()
    } else if let dongle, LockHealth.refusal(of: dongle.identity, called: dongle.name) != nil {
      closeAll()
      leases.changeDongle(settings.transports)
      if let next = leases.transport { words.append("\(next.name) is tried in its place") }
    } else if case .transport = finding {
      // The open transport is unusable.
      closeAll()
    }
    return words
  }

  /// Closes the locks and the transport; the next use opens them again.
  private func closeAll() {
    uses = []
    transport?.close()
    transport = nil
    recovery = nil
  }
}

// MARK: - Description of a lock before it is used

extension LockBench {
  func describe(_ path: String) throws(DeviceProblem) -> DeviceDescription {
    var description = try description(of: path)
    description.firmware = settings.lock?.lock.firmware ?? description.firmware
    return description
  }

  private func description(of path: String) throws(DeviceProblem) -> DeviceDescription {
    let file: LockFile
    do {
      file = try LockFile(reading: self.path(of: path))
    } catch {
      throw DeviceProblem(.name, error.description)
    }
    return try family(of: file).description(of: file, controlled: controlled, under: settings.interlock)
  }

  /// Returns the family of a lock.
  ///
  /// - Throws: If its file cannot be read, or its driver does not report the family.
  public func family(of spec: DeviceSpec) throws(LabFault) -> LockFamily {
    switch spec.kind {
    case .emulator: return EmulatedDevice.named(spec.name)?.lock?.family ?? .usual
    case .driver: return try programs.program(spec.name, as: .driver).family(machine: "")
    case .exec:
      throw LabFault(.notPossible, "a program does not describe how to manage a real lock")
    case .lock: break
    }
    let file = try read(path(of: spec.name))
    return try family(of: file).family(of: file, fixture: controlled?.fixture)
  }

  /// Returns the family that connects the lock of a file to the bench.
  private func family(of file: LockFile) -> any BenchFamily {
    guard let family = families.first(where: { $0.includes(file.lock) }) else {
      preconditionFailure("a lock file is of one of the families")
    }
    return family
  }

  /// The emulator of the locks, if another program emulates them.
  private var controlled: ControlledLock? {
    guard settings.control != nil else { return nil }
    return ControlledLock(fixture: try? fixture()) { [self] in conditions($0) }
  }

  private func fixture() throws(LabFault) -> ControlledFixture {
    if let control { return control }
    let made = try ControlledFixture(path: settings.control ?? "")
    control = made
    return made
  }

  /// Returns the conditions of the model: on real air frames get lost, whatever the peer is.
  private func conditions(_ said: [String]) -> [String] {
    let isRealAir = (leases.transport ?? settings.transports.first)?.spec.isController == true
    return isRealAir && !said.contains("loss") ? said + RealAir.conditions : said
  }
}

extension LockBench {
  /// Returns the reference device of a real lock: the emulated lock of the same model, as a device specification;
  /// `nil` for the lock of a driver.
  public func twin(of path: String) -> String? {
    guard let file = try? LockFile(reading: self.path(of: path)) else { return nil }
    return family(of: file).reference(of: file)
  }
}

// MARK: - Using a lock

extension LockBench {
  /// Verifies that this process still holds the lease of an emulated lock.
  func check() throws(LabFault) {
    guard let lock = settings.lock, lock.isEmulated else { return }
    leases.take(lock: lock.emulatedIdentity, name: lock.lock.name)
    try leases.confirm()
  }

  func device(_ spec: DeviceSpec) throws(LabFault) -> any DeviceUnderTest {
    let use: Use
    if let known = uses.first(where: { $0.path == spec.name })?.use {
      use = known
    } else {
      use = open(spec.name)
      uses.append((spec.name, use))
    }
    if case .failed(let fault) = use { throw fault }
    try leases.confirm()
    switch use {
    case .failed(let fault): throw fault
    case .real(let lock): return lock
    case .emulated(let device, let fixture):
      fixture.options = spec.settings.map { Argument($0.name, .text($0.value)) }
      return device
    }
  }

  private func open(_ spec: String) -> Use {
    do throws(LabFault) {
      let file = try read(path(of: spec))
      take(file, name: spec)
      try leases.confirm()
      let family = family(of: file)
      if settings.control != nil {
        let fixture = try fixture()
        let controlled = controlled
        try family.check(file, fixture: fixture)
        let device = try family.device(
          of: file, over: try openTransport(), recovery, controlled: controlled, isStopped: isStopped)
        return .emulated(device, fixture)
      }
      try family.check(file, fixture: nil)
      return .real(try real(file, family, named: spec))
    } catch {
      return .failed(error)
    }
  }

  private func real(
    _ file: LockFile, _ family: any BenchFamily, named name: String
  ) throws(LabFault) -> any ManagedLock {
    let rules = rules(for: file).of(try family.family(of: file, fixture: nil))
    let (counter, start) = try counter(of: file, named: name)
    let device = try family.device(
      of: file, over: try openTransport(), recovery, controlled: nil, isStopped: isStopped)
    func managed<Device: OwnedLock>(_ device: Device) -> any ManagedLock {
      RealLock(device, rules, counter, since: start, positions: family.positions(of: file))
    }
    return managed(device)
  }

  /// Returns the rules for a lock: its own file sets the rest time of its motor if the bench does not.
  private func rules(for file: LockFile) -> InterlockSettings {
    var rules = settings.interlock
    rules.limits.ownGap = rules.limits.ownGap ?? file.gap
    return rules
  }

  /// Opens the movement counter of a lock. This comes first: if it fails, the lock is not touched.
  private func counter(
    of file: LockFile, named name: String
  ) throws(LabFault) -> (counter: CycleCounter, start: Int) {
    let counter = try CycleCounter(of: file.identity)
    let start = starts[file.identity] ?? counter.total
    starts[file.identity] = start
    try watch(file, name: name)
    return (counter, start)
  }

  /// Starts a watcher process before the first movement, or sends its order to a running one.
  private func watch(_ file: LockFile, name: String) throws(LabFault) {
    hasParked = false
    guard isWatched, let choice = leases.transport else { return }
    let watcher: Watcher
    if let known = self.watcher {
      watcher = known
    } else {
      watcher = try Watcher([Watcher.command, file.path])
    }
    let order = LockWatchOrder(
      lock: name, bench: settings.lock?.bench.path,
      transport: choice.dongle.map { "dongle:" + $0 } ?? "\(choice.spec)", park: settings.interlock.park,
      log: watchLog)
    watcher.send(order.line)
    settings.reservation?.register(lock: file.identity)
    self.watcher = watcher
    FinalMessage.set(
      "lockstep: ended at once; a background process parks the lock"
        + (watchLog.map { ", and says so in \($0)" } ?? ""))
  }

  /// Returns whether a stop request ends all waits.
  private var isStopped: () -> Bool {
    { [weak self] in self?.stopsOnRequest == true && Interruption.isHeard }
  }

  private func read(_ path: String) throws(LabFault) -> LockFile {
    do {
      return try LockFile(reading: path)
    } catch {
      throw LabFault(.noDevice, error.description)
    }
  }

  /// Takes a dongle of the bench out of use until a person restores it.
  private static func takeOutOfUse(_ choice: TransportChoice, _ identity: String?, _ reason: String) {
    guard let name = choice.dongle, let identity else { return }
    // If this cannot be stored, the next run detects the failure itself.
    try? HealthStore.putOut(identity, called: name, reason, at: WallClock.time)
  }

  private func openTransport() throws(LabFault) -> Transport {
    if let transport { return transport }
    guard let choice = leases.transport else { throw LabFault(.noDevice, "no transport is named") }
    var options = TransportSettings()
    options.tap = capture
    let identity = leases.dongle?.identity
    let recovery = Recovery(of: choice.spec, power: choice.power) { Self.takeOutOfUse(choice, identity, $0) }
    self.recovery = recovery
    do {
      let opened = try recovery.open(options)
      transport = opened
      return opened
    } catch {
      throw LabFault(error.symptom, "\(error.detail); 'lockstep doctor' checks this computer")
    }
  }

  /// Performs the pending park of a run that was killed.
  ///
  /// - Returns: Diagnostics, one per line.
  func parkPending(of spec: DeviceSpec) throws(LabFault) -> [String] {
    _ = try device(spec)
    guard case .real(var lock)? = uses.first(where: { $0.path == spec.name })?.use else { return [] }
    defer { hasParked = true }
    try lock.parkPending()
    return lock.takeDiagnostics()
  }

  /// Returns the identity of a lock; `nil` if its file cannot be read.
  func identity(of spec: DeviceSpec) -> String? { (try? LockFile(reading: path(of: spec.name)))?.identity }
}
