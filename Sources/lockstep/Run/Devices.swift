import Conformance
import Harness
import Simulation
import Transports

/// The devices that there are: emulated ones by name, and any program.
final class Devices: DeviceProvider {
  private let answerTimeout: Interval
  /// Programs go on from case to case; each command has one.
  private var programs: [String: ExecDevice] = [:]

  init(answerTimeout: Interval = .seconds(5)) {
    self.answerTimeout = answerTimeout
  }

  let emulators: [String] = []

  func describe(_ spec: DeviceSpec) throws(DeviceProblem) -> DeviceDescription {
    switch spec.kind {
    case .exec:
      return DeviceDescription(
        family: nil, machines: nil, abilities: ExecDevice(command: spec.name).abilities)
    case .emulator, .lock:
      throw .unknown(.name, "device", spec.name, of: emulators)
    }
  }

  func usualDevice(of machine: String) -> DeviceSpec? { nil }

  func device(_ spec: DeviceSpec, seed: UInt64) throws(LabFault) -> any DeviceUnderTest {
    if let program = programs[spec.name] { return program }
    let program = ExecDevice(command: spec.name, answerTimeout: answerTimeout)
    programs[spec.name] = program
    return program
  }
}
