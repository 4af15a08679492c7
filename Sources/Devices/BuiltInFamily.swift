import Bench
import Bluetooth
import Conformance
import Harness
import LockFiles

/// A built-in family of locks: its locks on a bench, its emulated locks, and its decoder for captures.
protocol BuiltInFamily: BenchFamily, Sendable {
  /// The type that reads its lock files.
  var lock: any FamilyLock.Type { get }

  /// The locks that can be emulated, in the order of lists.
  var emulators: [EmulatedDevice] { get }

  /// Returns the lock with this advertising data; `nil` if it does not belong to the family.
  func lock(advertising data: AdvertisingData, _ response: AdvertisingData) -> HeardLock?

  /// Returns whether the advertiser may be a lock of the family whose identity is only in the scan response.
  func identifiesLater(_ data: AdvertisingData) -> Bool

  /// Returns a reader that decodes captures as far as possible without a key.
  func reader() -> any FamilyReader

  /// Returns a reader that uses the key in a lock file; `nil` if the file has no key.
  func reader(of file: LockFile) -> (any FamilyReader)?

  /// One paragraph for the help of `packets`: what a key decrypts in a capture.
  var captureHelp: String { get }
}

extension BuiltInFamily {
  func includes(_ lock: any FamilyLock) -> Bool { type(of: lock) == self.lock }
}

/// The built-in families, the default one first. A new family is added here.
let builtInFamilies: [any BuiltInFamily] = [SesameLocks()]

/// The uses of an emulated lock in addition to that as a device in memory.
protocol LockEmulation: Sendable {
  /// The family, which defines how to manage the lock.
  var family: LockFamily { get }

  /// Returns the lock that is used like a real one, if its options request that; otherwise `nil`.
  func realLock(_ options: [DeviceSpec.Setting]) throws(DeviceProblem) -> (any RealLockEmulation)?

  /// Returns the lock for `emulate`, which runs it on its own controller.
  ///
  /// - Parameter settings: Its options and start conditions.
  func emulationFactory(_ settings: [DeviceSpec.Setting]) throws(DeviceProblem) -> any EmulationLockFactory
}

/// An emulated lock that is used like a real one, in virtual time.
protocol RealLockEmulation {
  /// Returns what is known about it before it is used.
  func description(under settings: InterlockSettings) -> DeviceDescription

  /// Creates the lock in its initial state on an emulated radio, with an interlock.
  func lock(under settings: InterlockSettings, seed: UInt64) throws(LabFault) -> any ManagedLock
}
