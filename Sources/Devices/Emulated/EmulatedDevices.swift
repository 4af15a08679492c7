public import Conformance
import Documents
import Emulator
public import Harness

/// An emulated device that users can name.
public struct EmulatedDevice: Sendable {
  /// The name.
  public let name: String
  /// What it stands for: a scenario for one device can be driven on another of its family.
  public let family: String
  /// The machines that it can be compared with, the usual one first.
  public let machines: [String]
  /// The names of its options.
  public let options: [String]
  /// What values it reports.
  let readings: [String]
  /// The firmware that it says it has.
  var firmware: String?
  /// The bugs that it can be given with the option `defect`.
  public let defects: [String]
  /// Makes it with some options and a seed.
  public let make:
    @Sendable (_ options: [DeviceSpec.Setting], _ seed: UInt64) throws(DeviceProblem) -> any DeviceUnderTest
  /// Whether it stands for its first machine where no device is named.
  var isUsual = false
  /// What it has as a lock of a family that is built in; `nil` for another device.
  var lock: (any LockEmulation)?

  /// All of them, in the order in which they are listed.
  public static let all: [EmulatedDevice] =
    locks + [
      reference, socket, app(LauncherApp.self, "launcher"), app(FlowApp.self, "flow"),
      app(DoorApp.self, "door"),
    ]

  /// The device of a name.
  public static func named(_ name: String) -> EmulatedDevice? { all.first { $0.name == name } }

  /// The usual device of a machine.
  static func usual(of machine: String) -> EmulatedDevice? {
    let able = all.filter { $0.machines.first == machine }
    return able.first(where: \.isUsual) ?? able.first
  }

  /// The locks of the families that are built in, with their real protocol.
  private static var locks: [EmulatedDevice] { builtInFamilies.flatMap(\.emulators) }

  /// The names of the locks.
  public static let lockNames: [String] = locks.map(\.name)

  /// The lock of the open benchmark, which follows the documentation's tables step by step.
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

  /// The chance of a loss that options give, from 0 to 1.
  private static func loss(of options: [DeviceSpec.Setting]) throws(DeviceProblem) -> Double {
    guard let option = options.last(where: { $0.name == "loss" }) else { return 0 }
    guard let chance = Double(option.value), (0...1).contains(chance) else {
      throw DeviceProblem(
        .value(of: "loss"), "`\(option.value)` is not a value of `loss`",
        hint: "expected a number from 0 to 1")
    }
    return chance
  }

  /// An application that is compared with the machine of its name.
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

  /// What options name by one of a few words, if they name it.
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
