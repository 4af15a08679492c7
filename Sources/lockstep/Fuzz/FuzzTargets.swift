import Documents
import CommandLine
import Devices
import Journal
import Automata
import Harness

extension FuzzArguments {
  /// Returns the target to fuzz.
  func target(
    _ machine: MachineLibrary.Entry, in world: World, seed: UInt64
  ) throws(UsageError) -> FuzzTarget {
    try checked(run.device == nil ? "" : "--device: ") {
      if let device = try world.deviceSpec(run.device) {
        return try FuzzTarget(machine, device, seed: seed, provider: world.devices)
      }
      guard let usual = world.devices.usualDevice(of: machine.machine.name) else {
        throw DeviceProblem(
          .name, "the machine `\(machine.label)` has no default device", hint: "give one with --device")
      }
      return try FuzzTarget(machine, usual, seed: seed, provider: world.devices)
    }
  }

  /// Returns the reference device to explore in place of the target: the one named, or the default of a real lock.
  func twinTarget(
    _ machine: MachineLibrary.Entry, _ target: FuzzTarget, in world: World, seed: UInt64
  ) throws(UsageError) -> FuzzTarget? {
    let named = twin ?? (target.device.kind == .lock ? world.devices.bench.twin(of: target.device.name) : nil)
    guard let named, named != "none" else { return nil }
    return try checked("--twin: ") {
      let twin = try FuzzTarget(machine, DeviceSpec(text: named), seed: seed, provider: world.devices)
      guard let standIn = twin.standing(in: target) else {
        throw DeviceProblem(.name, "\(named) starts nowhere where \(target.device) does")
      }
      return standIn
    }
  }
}
