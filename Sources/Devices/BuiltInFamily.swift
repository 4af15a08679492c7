import Bench
import Bluetooth
import Conformance
import Harness
import LockFiles

/// A family of locks that is built in: its locks on a bench, those that can be emulated, and how captures of them are read.
protocol BuiltInFamily: BenchFamily, Sendable {
  /// What a file says of one of its locks.
  var lock: any FamilyLock.Type { get }

  /// The locks that can be emulated, in the order in which they are listed.
  var emulators: [EmulatedDevice] { get }

  /// The lock that advertises this; `nil` where that is none of the family.
  func lock(advertising data: AdvertisingData, _ response: AdvertisingData) -> HeardLock?

  /// Whether what advertises this may be one of the family that tells its identity in the scan response alone.
  func identifiesLater(_ data: AdvertisingData) -> Bool

  /// Reads captures as far as that is possible without a key.
  func reader() -> any FamilyReader

  /// Reads captures with the key in a lock file; `nil` where there is none in it.
  func reader(of file: LockFile) -> (any FamilyReader)?

  /// What a key opens in a capture, for the help of `packets`: a paragraph.
  var captureHelp: String { get }
}

extension BuiltInFamily {
  func includes(_ lock: any FamilyLock) -> Bool { type(of: lock) == self.lock }
}

/// The families that are built in, the usual one first. Another family stands here too.
let builtInFamilies: [any BuiltInFamily] = [SesameLocks()]

/// What an emulated lock can be beside a device in memory.
protocol LockEmulation: Sendable {
  /// What of it has to be known to look after it.
  var family: LockFamily { get }

  /// The lock that is driven as a real one, where its options ask for that; `nil` otherwise.
  func realLock(_ options: [DeviceSpec.Setting]) throws(DeviceProblem) -> (any RealLockEmulation)?

  /// The lock for a controller of its own, as `emulate` names it.
  ///
  /// - Parameter settings: its options, and the conditions it starts in.
  func playable(_ settings: [DeviceSpec.Setting]) throws(DeviceProblem) -> any PlayableLock
}

/// An emulated lock that is driven as a real one, in virtual time.
protocol RealLockEmulation {
  /// What is known of it before it is used.
  func description(under settings: InterlockSettings) -> DeviceDescription

  /// Puts it on an emulated radio, in the condition in which it is found, and an interlock before it.
  func lock(under settings: InterlockSettings, seed: UInt64) throws(LabFault) -> any ManagedLock
}
