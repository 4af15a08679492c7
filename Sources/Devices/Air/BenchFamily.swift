import Basics
public import Bench
import Conformance
import Harness
public import Links
import LockFiles
import Transports

/// Connects the locks of one family to a bench, which knows such a lock only by its file and by this protocol.
protocol BenchFamily {
  /// Returns whether a lock belongs to this family.
  func includes(_ lock: any FamilyLock) -> Bool

  /// Returns the family of a lock, which defines how to manage it.
  ///
  /// - Parameter fixture: The fixture of the lock, if another program emulates it.
  /// - Throws: If a program that must provide the family does not.
  func family(of file: LockFile, fixture: (any Fixture)?) throws(LabFault) -> LockFamily

  /// Returns the emulated reference device of a lock as a device specification; `nil` if there is none.
  func reference(of file: LockFile) -> String?

  /// Returns the argument lists that generated tests may use with the stimulus that configures a lock.
  func positions(of file: LockFile) -> [[Argument]]

  /// Returns what is known about a lock before it is used.
  ///
  /// - Parameter controlled: Its emulator; `nil` for a real lock.
  func description(
    of file: LockFile, controlled: ControlledLock?, under settings: InterlockSettings
  ) throws(DeviceProblem) -> DeviceDescription

  /// Throws if a lock cannot be used with any controller.
  func check(_ file: LockFile, fixture: (any Fixture)?) throws(LabFault)

  /// Returns the client of a lock, over a transport.
  ///
  /// - Parameters:
  ///   - recovery: How to recover the controller.
  ///   - controlled: The emulator of the lock; `nil` for a real lock.
  ///   - isStopped: Whether a stop was requested, which ends all waits.
  func device(
    of file: LockFile, over transport: Transport, _ recovery: Recovery?, controlled: ControlledLock?,
    isStopped: @escaping () -> Bool
  ) throws(LabFault) -> any OwnedLock
}

/// A lock that another program emulates, and its control socket.
struct ControlledLock {
  /// The fixture of the lock; `nil` if the emulator does not answer.
  var fixture: ControlledFixture?
  /// Returns the conditions that always hold, given those that the emulator reports.
  var conditions: ([String]) -> [String]
}

/// The maximum delay between an event and its observation over real air.
let realAirSlack = Interval.milliseconds(300)

extension Recovery: ControllerRecovery {}
