import Basics
import Bluetooth
import Conformance
import Documents
public import Emulator
import Harness
public import Journal

/// A lock for `emulate`, with its options and start conditions.
public struct EmulatedLockChoice {
  let lock: any EmulationLockFactory

  /// Parses a text such as `sesame5?defect=deaf-unlock&registered=no`.
  public init(_ text: String) throws(UsageError) {
    do throws(DeviceProblem) {
      let spec = try DeviceSpec(text: text)
      guard spec.kind == .emulator else {
        throw DeviceProblem(.name, "'\(text)' is no emulated lock")
      }
      guard let lock = EmulatedDevice.named(spec.name)?.lock else {
        throw DeviceProblem(
          .name, code: .unknownDevice, "unknown device `\(spec.name)`",
          hint: nearestName(to: spec.name, in: EmulatedDevice.lockNames).map {
            .name($0, insteadOf: spec.name)
          })
      }
      self.lock = try lock.emulationFactory(spec.settings)
    } catch {
      throw UsageError(error.description)
    }
  }
}

/// A built-in lock for `emulate`, before it is created.
protocol EmulationLockFactory {
  /// Creates the lock with a seed.
  ///
  /// - Parameter keyFile: The path of the key file, if the key is to be saved.
  func makeLock(seed: UInt64, keyFile: String?) throws(DeviceProblem) -> any EmulationLock
}

/// A lock that is emulated on the air, by the built-in emulator or by a program.
///
/// It receives the controller's packets and the time, and returns the packets for the controller, in order.
protocol EmulationLock: AnyObject {
  /// The announcement to print once the lock is on the air.
  var announcement: EmulationAnnouncement { get }
  /// The latest time at which ``advance(to:)`` has work to do.
  var deadline: Instant? { get }
  /// Why the lock cannot continue; `nil` if it can.
  var trouble: String? { get }

  /// Puts the lock on the air in its default condition.
  func begin(at now: Instant, isControlled: Bool) throws(EmulationFault) -> [HCIPacket]
  func receive(_ packet: HCIPacket, at now: Instant) -> [HCIPacket]
  func advance(to now: Instant) -> [HCIPacket]
  func takeNotices() -> [LockNotice]
  /// Saves changed data, such as the key, for the user.
  func keep(_ report: any EmulationAudience) throws(EmulationFault)

  // The requests of a control socket. The key is that of the owner, in the format of the family.
  func abilities(on air: any EmulatedAir) -> ControlAbilities
  func prepare(
    _ start: StartCondition, _ options: [Argument], at now: Instant
  ) throws(LabFault) -> (key: JSON?, packets: [HCIPacket])
  func perform(
    _ stimulus: String, _ arguments: [Argument], at now: Instant
  ) throws(LabFault) -> (packets: [HCIPacket], refusal: String?)
  func bring(about fault: Fault, at now: Instant) throws(LabFault) -> [HCIPacket]
}

/// The announcement of a lock that is on the air.
public struct EmulationAnnouncement {
  /// The name of the emulator, or the command of the program.
  public var name: String
  /// The Bluetooth address.
  public var address: String
  /// For a built-in lock: the product, the UUID, and whether it has an owner.
  public var model: String?
  public var uuid: String?
  public var isRegistered: Bool?
  /// The addresses at which others reach the lock, the control socket, and the file with its key.
  public var endpoints: [String] = []
  public var control: String?
  public var keyFile: String?
}

/// Receives the events of an emulated lock.
public protocol EmulationAudience: AnyObject {
  /// The lock is on the air.
  func announce(_ announcement: EmulationAnnouncement)
  /// The lock reported an event.
  func tell(_ notice: LockNotice)
  /// The transport reported a diagnostic.
  func say(_ diagnostic: String)
}

/// Why an emulated lock is no longer on the air.
public struct EmulationFault: Error {
  public var text: String
  public init(_ text: String) { self.text = text }
}

/// Calls the body, and converts an error to the fault that ends the emulation.
///
/// - Parameter advice: The text after the description of the error.
public func emulated<Result, Failure: CustomStringConvertible>(
  _ advice: String = "", _ body: () throws(Failure) -> Result
) throws(EmulationFault) -> Result {
  do { return try body() } catch { throw EmulationFault(error.description + advice) }
}
