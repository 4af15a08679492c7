import Basics
import Bench
import Conformance
import SesameDevice
import Transports

/// What a driver says of its locks when it is greeted, before it has any air.
struct DriverIntroduction {
  /// The family of its locks, compared with the machine of the lock file.
  var family: LockFamily
  /// What it can be asked to do, without what an interlock takes away.
  var abilities: Abilities
  /// The values that it reports beside statuses.
  var readings: [String] = []
}

/// The place at which locks of drivers are joined to the bench: all else knows them by their file and their family alone.
enum DriverLocks {
  /// Starts a driver and greets it.
  static func introduction(of lock: DriverLock) throws(LabFault) -> DriverIntroduction {
    throw LabFault(.notPossible, "locks of drivers are known by their files, and cannot be used yet")
  }

  /// The device that speaks to the lock of a file over a transport.
  ///
  /// - Parameters:
  ///   - lock: the lock, and what its driver is given.
  ///   - file: the file that names it, with the address where one is known.
  ///   - transport: the way to the controller.
  ///   - recovery: how the controller is brought back.
  ///   - isStopped: whether the end was asked for, so that nothing is waited for any more.
  static func device(
    of lock: DriverLock, in file: LockFile, over transport: Transport, _ recovery: Recovery?,
    isStopped: @escaping () -> Bool
  ) throws(LabFault) -> any OwnedLock {
    _ = try introduction(of: lock)
    throw LabFault(.notPossible, "there is no way from a driver to its lock")
  }
}
