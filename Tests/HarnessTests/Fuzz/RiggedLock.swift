import Conformance
import Emulator
import Harness
import Models
import Basics

/// The reference lock with something wrong around it: trouble of the lab, or a bug that comes and goes.
struct RiggedLock: StandaloneDevice {
  /// What all copies share: a campaign keeps its own lock.
  final class Rig {
    var resets = 0
    var restarts = 0
    /// How often each stimulus was given.
    var given: [Int: Int] = [:]
    /// The trouble at a stimulus, if there is any: asked with how many were given in all.
    var trouble: (Int) -> LabFault? = { _ in nil }
    /// Whether the lock has its bug in the test that begins, by the number of the reset.
    var isSick: (Int) -> Bool = { _ in true }
    /// Whether the lock is the same from test to test, and the stimulus after which it has its bug for good.
    var keepsState = false
    /// Whether its time is the clock's.
    var livesByTheClock = false
    var spoiler: Int?
    /// Whether it is a program that goes on running: what spoils it is over once it is started afresh.
    var keepsRunning = false
    fileprivate var isSpoilt = false
    /// The starts that the lock was asked for, and whether it refuses one.
    var starts: [StartCondition] = []
    var refuses: (StartCondition) -> Bool = { _ in false }
    fileprivate var count = 0
  }

  let rig = Rig()
  private var sick: ReferenceLock
  private var healthy = ReferenceLock()
  private var isSick = false

  init(_ bug: ReferenceLock.Bug) { sick = ReferenceLock(bug: bug) }

  var abilities: Abilities {
    var abilities = healthy.abilities
    abilities.keepsState = rig.keepsState
    abilities.keepsRunning = rig.keepsRunning
    abilities.isInVirtualTime = !rig.livesByTheClock
    return abilities
  }
  var now: Instant { isSick ? sick.now : healthy.now }

  mutating func adopt(_ vocabulary: Vocabulary) {
    sick.adopt(vocabulary)
    healthy.adopt(vocabulary)
  }

  mutating func reset(to start: StartCondition) throws(LabFault) {
    rig.starts.append(start)
    if rig.refuses(start) { throw LabFault(.notPossible, "it is what it is") }
    rig.resets += 1
    isSick = rig.isSpoilt || rig.isSick(rig.resets)
    try sick.reset(to: start)
    try healthy.reset(to: start)
  }

  mutating func perform(_ stimulus: Stimulus) throws(LabFault) {
    rig.count += 1
    rig.given[stimulus.number, default: 0] += 1
    if let fault = rig.trouble(rig.count) { throw fault }
    if stimulus.number == rig.spoiler { (rig.isSpoilt, isSick) = (true, true) }
    try sick.perform(stimulus)
    try healthy.perform(stimulus)
  }

  mutating func bring(about fault: Fault) throws(LabFault) { try healthy.bring(about: fault) }

  mutating func observe(until limit: Instant) throws(LabFault) -> Observation? {
    let (first, second) = (try sick.observe(until: limit), try healthy.observe(until: limit))
    return isSick ? first : second
  }

  mutating func restart() throws(LabFault) {
    rig.restarts += 1
    if rig.keepsRunning { rig.isSpoilt = false }
  }
}

/// A provider that has one device, whatever is asked for.
final class RiggedProvider: DeviceProvider {
  let lock: RiggedLock
  let emulators = ["rigged"]

  init(_ lock: RiggedLock) { self.lock = lock }

  func describe(_ spec: DeviceSpec) throws(DeviceProblem) -> DeviceDescription {
    DeviceDescription(family: nil, machines: ["sesame-table"], abilities: lock.abilities)
  }

  func usualDevice(of machine: String) -> DeviceSpec? { DeviceSpec(.emulator, "rigged") }

  func device(_ spec: DeviceSpec, seed: UInt64) throws(LabFault) -> any DeviceUnderTest { lock }
}

extension RiggedLock {
  /// What a campaign on it is aimed at.
  func target() throws -> FuzzTarget {
    let machines = MachineLibrary([.sesameTable]) { path throws(MachineLibrary.Missing) in
      throw MachineLibrary.Missing("there is no such file")
    }
    return try FuzzTarget(
      try machines.machine("sesame-table"), DeviceSpec(.emulator, "rigged"), seed: 1,
      provider: RiggedProvider(self))
  }
}
