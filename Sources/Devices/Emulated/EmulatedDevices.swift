import Documents
import SesameDevice
import Automata
public import Conformance
import Emulator
public import Harness
import Models
import Sesame
import Basics

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

  /// All of them, in the order in which they are listed.
  public static let all: [EmulatedDevice] =
    locks + [
      reference, socket, app(LauncherApp.self, "launcher"), app(FlowApp.self, "flow"),
      app(DoorApp.self, "door"),
    ]

  /// The device of a name.
  public static func named(_ name: String) -> EmulatedDevice? { all.first { $0.name == name } }

  /// What a client of a lock reports. The machine is not made for that: every command lists the devices when it starts.
  static let lockReadings = MachineDefinition.sesameReadings.map(\.name)

  /// The names of the locks.
  public static var lockNames: [String] { EmulatedLockSpecification.names.map(\.name) }

  /// The locks with their real protocol, each behind a client and a link, direct or over the air.
  private static var locks: [EmulatedDevice] {
    let defects = LockDefect.allCases.map(\.name)
    return EmulatedLockSpecification.names.map { name, model in
      EmulatedDevice(
        name: name, family: model.generation == .os2 ? "sesame-os2" : "sesame-os3", machines: ["sesame"],
        options: EmulatedLockSpecification.settingNames,
        readings: lockReadings, firmware: model.generation.map { FirmwareVersion.emulated($0).text },
        defects: defects
      ) { options, seed throws(DeviceProblem) in try lock(name, options, seed: seed) }
    }
  }

  /// What kind of lock a name and options mean.
  static func specification(
    _ name: String, _ options: [DeviceSpec.Setting]
  ) throws(DeviceProblem) -> EmulatedLockSpecification {
    do {
      return try EmulatedLockSpecification(parsing: name, settings: options.map { ($0.name, $0.value) })
    } catch {
      throw DeviceProblem(error)
    }
  }

  private static func lock(
    _ name: String, _ options: [DeviceSpec.Setting], seed: UInt64
  ) throws(DeviceProblem) -> any DeviceUnderTest {
    let specification = try specification(name, options)
    let conditions = specification.channel.isFair ? [] : ["loss"]
    let secrets = { @Sendable in SeededGenerator(seed: seed, for: "client") }
    switch specification.link {
    case .direct:
      return ClientDevice(
        DirectLink(specification, seed: seed), conditions: conditions, secrets: secrets)
    case .radio:
      return ClientDevice(
        RadioWorld(specification, seed: seed).link(), conditions: conditions, secrets: secrets)
    }
  }

  /// What kind of lock this is with some options, where they ask for one that is driven as a real one; `nil` otherwise.
  func realLock(_ options: [DeviceSpec.Setting]) throws(DeviceProblem) -> EmulatedLockSpecification? {
    guard Self.lockNames.contains(name) else { return nil }
    let specification = try Self.specification(name, options)
    return specification.role == .real ? specification : nil
  }

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

extension DeviceProblem {
  /// What is wrong with the settings of an emulated lock.
  init(_ error: LockOptionError) {
    switch error {
    case .unknownDevice(let name, let nearest):
      self.init(
        .name, code: .unknownDevice, "unknown device `\(name)`",
        hint: nearest.map { .name($0, insteadOf: name) })
    case .unknownName(let name, let nearest):
      self.init(
        .setting(name), code: .unknownSetting, "unknown setting `\(name)`",
        hint: nearest.map { .name($0, insteadOf: name) })
    case .unknownValue(let value, let name, let values, let nearest):
      self.init(
        .value(of: name), "`\(value)` is not a value of `\(name)`",
        hint: nearest.map { .name($0, insteadOf: value) } ?? "expected \(values)")
    case .otherGeneration(let name, let generation):
      self.init(
        .setting(name), "`\(name)` is a setting of \(generation) locks, and has no effect on this one")
    case .missing(let other, let name):
      self.init(.setting(name), "`\(name)` has no effect without `\(other)`")
    }
  }
}
