import Automata
import Basics
import Bench
import Conformance
import Documents
import Emulator
import Harness
import Links
import Models
import Sesame
import SesameDevice

extension SesameLocks {
  /// The emulated locks with their real protocol, each behind a client and a link, direct or over the air.
  var emulators: [EmulatedDevice] {
    let defects = LockDefect.allCases.map(\.name)
    return EmulatedLockSpecification.names.map { name, model in
      let lock = SesameEmulator(name: name)
      var device = EmulatedDevice(
        name: name, family: Self.name(of: model), machines: [LockFamily.sesame.machine],
        options: EmulatedLockSpecification.settingNames, readings: Self.readings,
        firmware: model.generation.map { FirmwareVersion.emulated($0).text }, defects: defects
      ) { options, seed throws(DeviceProblem) in try lock.device(options, seed: seed) }
      device.isUsual = model == .sesame5
      device.lock = lock
      return device
    }
  }

  /// Returns the family of a product: locks of one generation can replace each other in scenarios.
  static func name(of model: ProductModel) -> String {
    model.generation == .os2 ? "sesame-os2" : "sesame-os3"
  }

  /// The readings of a lock's client. The names come without building the machine, since every command lists the
  /// devices when it starts.
  static let readings = MachineDefinition.sesameReadings.map(\.name)
}

/// One of the Sesame locks that can be emulated.
struct SesameEmulator: LockEmulation {
  let name: String

  var family: LockFamily { .sesame }

  /// Returns the specification of the lock with the given options.
  func specification(
    _ options: [DeviceSpec.Setting]
  ) throws(DeviceProblem) -> EmulatedLockSpecification {
    do {
      return try EmulatedLockSpecification(parsing: name, settings: options.map { ($0.name, $0.value) })
    } catch {
      throw DeviceProblem(error)
    }
  }

  func device(
    _ options: [DeviceSpec.Setting], seed: UInt64
  ) throws(DeviceProblem) -> any DeviceUnderTest {
    let specification = try specification(options)
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

  func realLock(_ options: [DeviceSpec.Setting]) throws(DeviceProblem) -> (any RealLockEmulation)? {
    let specification = try specification(options)
    return specification.role == .real ? RealSesameEmulation(specification: specification) : nil
  }

  func emulationFactory(_ settings: [DeviceSpec.Setting]) throws(DeviceProblem) -> any EmulationLockFactory {
    try EmulatedSesameFactory(self, settings)
  }
}

/// An emulated Sesame that is used like a real one.
private struct RealSesameEmulation: RealLockEmulation {
  private typealias World = RadioWorld<LockPeripheral>

  let specification: EmulatedLockSpecification

  func description(under settings: InterlockSettings) -> DeviceDescription {
    let isRegistered = specification.found != .unregistered
    return .sesame(
      specification.model, slack: .zero, isRegistered: isRegistered,
      isConfigured: isRegistered && specification.found != .unconfigured, under: settings)
  }

  func lock(under settings: InterlockSettings, seed: UInt64) throws(LabFault) -> any ManagedLock {
    let world = World(specification, seed: seed)
    try world.prepare(specification.found.condition)
    let birth = specification.options.epoch
    var air = SesameAirSettings(
      conditions: RealAir.conditions, slack: .zero, host: World.clientHost,
      epoch: { birth &+ UInt32(truncatingIfNeeded: world.now.nanoseconds / 1_000_000_000) },
      secrets: { test in { SeededGenerator(seed: seed, for: "client of test \(test)") } })
    (air.numbersRecordsFromOne, air.generation) = (true, specification.model.generation)
    let fixture = NoFixture(conditions: RealAir.conditions, settings: LockFamily.sesame.startSettings)
    let client = SesameAirClient(
      world, fixture, StoredKey(KeyInMemory(world.key)), target: .deviceID(world.deviceID), air)
    let device = AirDevice(client, fixture)
    let cycleCounter = CycleCounter {
      BenchTime(
        wall: WallTime(nanoseconds: Int64(birth) * 1_000_000_000) + (world.now - .zero), boot: "emulated",
        uptime: world.now)
    }
    return RealLock(
      device, settings, cycleCounter,
      positions: SesameDisturbances.safePositions(of: specification.model))
  }
}

extension DeviceDescription {
  /// Returns what is known about a real Sesame before it is used.
  ///
  /// - Parameters:
  ///   - isRegistered: Whether its key is known.
  ///   - isConfigured: Whether its positions are set; `nil` if unknown.
  static func sesame(
    _ model: ProductModel, slack: Interval, isRegistered: Bool, isConfigured: Bool?,
    under settings: InterlockSettings
  ) -> DeviceDescription {
    let settings = settings.of(.sesame)
    return realLock(
      SesameLocks.name(of: model), machine: settings.family.machine,
      SesameAirClient<RadioWorld<LockPeripheral>>.abilities(
        of: model.generation, around: NoFixture(conditions: RealAir.conditions).abilities,
        conditions: RealAir.conditions, slack: slack),
      readings: SesameLocks.readings, isRegistered: isRegistered, isConfigured: isConfigured,
      under: settings)
  }
}

extension DeviceProblem {
  /// Creates the problem for an error in the settings of an emulated lock.
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
