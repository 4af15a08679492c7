import Basics
public import Conformance
import Documents
import Emulator
public import Harness

/// An emulated device that users can name.
public struct EmulatedDevice: Sendable {
  /// The name.
  public let name: String
  /// The family: a scenario for one device can run on another of its family.
  public let family: String
  /// The machines that can be its model, the default one first.
  public let machines: [String]
  /// The names of its options.
  public let options: [String]
  /// The values that it reports.
  let readings: [String]
  /// The firmware that it reports.
  var firmware: String?
  /// The defects that the option `defect` can select.
  public let defects: [String]
  /// Creates the device with options and a seed.
  public let make:
    @Sendable (_ options: [DeviceSpec.Setting], _ seed: UInt64) throws(DeviceProblem) -> any DeviceUnderTest
  /// Whether it is the default device of its first machine.
  var isUsual = false
  /// Its further uses as a lock of a built-in family; `nil` for other devices.
  var lock: (any LockEmulation)?

  /// All emulated devices, in the order of lists.
  public static let all: [EmulatedDevice] =
    locks + [
      reference, socket, app(LauncherApp.self, "launcher"), app(FlowApp.self, "flow"),
      app(DoorApp.self, "door"),
    ]

  /// Returns the device with a name.
  public static func named(_ name: String) -> EmulatedDevice? { all.first { $0.name == name } }

  /// Returns the default device of a machine.
  static func usual(of machine: String) -> EmulatedDevice? {
    let able = all.filter { $0.machines.first == machine }
    return able.first(where: \.isUsual) ?? able.first
  }

  /// The locks of the built-in families, with their real protocol.
  private static var locks: [EmulatedDevice] { builtInFamilies.flatMap(\.emulators) }

  /// The names of the locks.
  public static let lockNames: [String] = locks.map(\.name)

  /// The lock of the open benchmark, which implements the documented tables step by step.
  private static var reference: EmulatedDevice {
    EmulatedDevice(
      name: "reference", family: "reference", machines: ["sesame-table"], options: ["defect", "loss"],
      readings: [], defects: ReferenceLock.Bug.allCases.map(\.rawValue)
    ) { options, seed throws(DeviceProblem) in
      ReferenceLock(
        bug: try choice("defect", of: options, in: ReferenceLock.Bug.self), loss: try loss(of: options),
        seed: seed)
    }
  }

  /// Returns the probability of a loss in the options, from 0 to 1.
  private static func loss(of options: [DeviceSpec.Setting]) throws(DeviceProblem) -> Double {
    guard let option = options.last(where: { $0.name == "loss" }) else { return 0 }
    guard let chance = Double(option.value), (0...1).contains(chance) else {
      throw DeviceProblem(
        .value(of: "loss"), "`\(option.value)` is not a value of `loss`",
        hint: "expected a number from 0 to 1")
    }
    return chance
  }

  /// Returns an application whose model is the machine with its name.
  private static func app<App: EmulatedApp & SendableMetatype>(
    _ type: App.Type, _ name: String
  ) -> EmulatedDevice {
    EmulatedDevice(
      name: name, family: name, machines: [name], options: ["defect"], readings: [],
      defects: App.Defect.allCases.map(\.rawValue)
    ) { options, _ throws(DeviceProblem) in
      AppDevice<App>(defect: try choice("defect", of: options, in: App.Defect.self))
    }
  }

  /// The socket, over an emulated peripheral manager or over the air.
  private static var socket: EmulatedDevice {
    EmulatedDevice(
      name: "socket", family: "socket", machines: ["socket"], options: ["defect", "link"], readings: [],
      defects: SocketApp.Defect.allCases.map(\.rawValue)
    ) { options, _ throws(DeviceProblem) in
      let defect = try choice("defect", of: options, in: SocketApp.Defect.self)
      switch try choice("link", of: options, in: LinkKind.self) ?? .direct {
      case .direct: return SocketDevice(defect: defect)
      case .radio: return AirSocketDevice(defect: defect)
      }
    }
  }

  /// Returns the choice that the options contain under a name, if any.
  static func choice<Choice: RawRepresentable & CaseIterable>(
    _ name: String, of options: [DeviceSpec.Setting], in type: Choice.Type
  ) throws(DeviceProblem) -> Choice? where Choice.RawValue == String {
    guard let option = options.last(where: { $0.name == name }) else { return nil }
    guard let choice = Choice(rawValue: option.value) else {
      throw .unknown(.value(of: name), name, option.value, of: Choice.allCases.map(\.rawValue))
    }
    return choice
  }
}
