import Basics
public import Bench
import Conformance
import Harness
public import Links
import LockFiles
import Transports

/// How the locks of one family are joined to a bench: it knows them by their file and by this alone.
protocol BenchFamily {
  /// Whether a lock is one of these.
  func includes(_ lock: any FamilyLock) -> Bool

  /// What of a lock has to be known to look after it.
  ///
  /// - Parameter fixture: that of the lock, where it is emulated by another program.
  /// - Throws: that a program, which would say it, does not.
  func family(of file: LockFile, fixture: (any Fixture)?) throws(LabFault) -> LockFamily

  /// The emulated lock that is the reference for one of these, as a device specification; `nil` without one.
  func reference(of file: LockFile) -> String?

  /// What generated tests may give with the stimulus that configures a lock.
  func positions(of file: LockFile) -> [[Argument]]

  /// What is known of a lock before it is used.
  ///
  /// - Parameter controlled: its emulator; `nil` for a real lock.
  func description(
    of file: LockFile, controlled: ControlledLock?, under settings: InterlockSettings
  ) throws(DeviceProblem) -> DeviceDescription

  /// Throws where a lock cannot be used, whatever the controller.
  func check(_ file: LockFile, fixture: (any Fixture)?) throws(LabFault)

  /// The client of a lock, over a transport.
  ///
  /// - Parameters:
  ///   - recovery: how the controller is brought back.
  ///   - controlled: its emulator; `nil` for a real lock.
  ///   - isStopped: whether the end was asked for, so that nothing is waited for any more.
  func device(
    of file: LockFile, over transport: Transport, _ recovery: Recovery?, controlled: ControlledLock?,
    isStopped: @escaping () -> Bool
  ) throws(LabFault) -> any OwnedLock
}

/// A lock that another program emulates, which is asked over its control socket.
struct ControlledLock {
  /// The fixture of the lock; `nil` where the emulator cannot be asked.
  var fixture: ControlledFixture?
  /// The conditions that always hold, of those that the emulator says.
  var conditions: ([String]) -> [String]
}

/// How much later than it happened something may be observed that came over real air.
let realAirSlack = Interval.milliseconds(300)

extension Recovery: ControllerRecovery {}
