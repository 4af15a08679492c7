import Basics
import Bluetooth
import Conformance
import Documents
public import Emulator
import Harness
public import Journal

/// A lock as it is named for `emulate`: what it is, and how it starts.
public struct EmulatedLockChoice {
  let lock: any PlayableLock

  /// Reads `sesame5?defect=deaf-unlock&registered=no`.
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
      self.lock = try lock.playable(spec.settings)
    } catch {
      throw UsageError(error.description)
    }
  }
}

/// A lock of ours as it was named for `emulate`, before it is made.
protocol PlayableLock {
  /// The lock, with a seed.
  ///
  /// - Parameter keyFile: where its key is kept, if that is wanted.
  func played(seed: UInt64, keyFile: String?) throws(DeviceProblem) -> any PlayedLock
}

/// A lock that is emulated on the air, by our emulator or by a program.
///
/// It receives the controller's packets and the time, and returns the packets for the controller, in order.
protocol PlayedLock: AnyObject {
  /// The announcement to print once it is on the air.
  var announcement: EmulationAnnouncement { get }
  /// When ``advance(to:)`` has something to do at the latest.
  var deadline: Instant? { get }
  /// Why it cannot continue; `nil` if it can.
  var trouble: String? { get }

  /// Puts it on the air in its usual condition.
  func begin(at now: Instant, isControlled: Bool) throws(EmulationFault) -> [HCIPacket]
  func receive(_ packet: HCIPacket, at now: Instant) -> [HCIPacket]
  func advance(to now: Instant) -> [HCIPacket]
  func takeNotices() -> [LockNotice]
  /// Stores what has changed, for the user.
  func keep(_ report: any EmulationAudience) throws(EmulationFault)

  // What can be asked of it over a control socket. The key is that of its owner, as its family writes it.
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
  /// Where it advertises.
  public var address: String
  /// The product, the UUID and whether it has an owner, of a lock of ours.
  public var model: String?
  public var uuid: String?
  public var isRegistered: Bool?
  /// How others reach it, the control socket and the file with its key.
  public var places: [String] = []
  public var control: String?
  public var keyFile: String?
}

/// Receives the events of an emulated lock.
public protocol EmulationAudience: AnyObject {
  /// The lock is on the air.
  func announce(_ announcement: EmulationAnnouncement)
  /// Something happened to it.
  func tell(_ notice: LockNotice)
  /// Something happened on its transport.
  func say(_ diagnostic: String)
}

/// Why an emulated lock is not on the air any more.
public struct EmulationFault: Error {
  public var text: String
  public init(_ text: String) { self.text = text }
}

/// Does what an emulated lock is on the air by; what fails there is why it is not.
///
/// - Parameter advice: what follows on the failure in words.
public func emulated<Result, Failure: CustomStringConvertible>(
  _ advice: String = "", _ body: () throws(Failure) -> Result
) throws(EmulationFault) -> Result {
  do { return try body() } catch { throw EmulationFault(error.description + advice) }
}
