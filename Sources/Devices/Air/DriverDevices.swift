import Basics
import Conformance
import Documents
import Harness
import LockFiles
import Programs

extension DeviceProblem {
  fileprivate init(_ problem: DriverPair.Problem) {
    switch problem {
    case .unusable(let why): self.init(.name, why)
    case .lacksSecret(let name, let role):
      self.init(
        .setting("secrets"), "the \(role) needs the secret `\(name)`",
        hint: "`secrets=FILE` names a lock file with `driver` and `secrets`")
    }
  }
}

/// The devices of `driver:`: a driver, and a lock that a program emulates on an emulated radio.
extension ProgramPool {
  func describe(_ spec: DeviceSpec) throws(DeviceProblem) -> DeviceDescription {
    var description: DeviceDescription
    if spec.settings.contains(where: { $0.name == "peripheral" }) {
      let pair = try pair(spec)
      if let conflict = pair.nameConflict { throw DeviceProblem(.name, conflict) }
      description = DeviceDescription(
        family: nil, machines: nil, abilities: pair.abilities, readings: pair.readings)
      description.moving = pair.moving(usually: DeviceDescription.usuallyMoving)
    } else {
      description = DeviceDescription(
        family: nil, machines: nil, abilities: Abilities(stimuli: nil, settings: nil))
    }
    description.options = DeviceSpec.driverOptions
    return description
  }

  func device(_ spec: DeviceSpec, seed: UInt64) throws(LabFault) -> any DeviceUnderTest {
    let pair: DriverPair
    do {
      pair = try self.pair(spec)
    } catch {
      throw LabFault(.noDevice, error.description)
    }
    return try pair.device(seed: seed)
  }

  /// The maximum packet loss: above it, connections take longer than machines promise, and a correct lock would fail.
  private static let maximumLoss = 0.5

  private func pair(_ spec: DeviceSpec) throws(DeviceProblem) -> DriverPair {
    func setting(_ name: String) -> String? { spec.settings.last { $0.name == name }?.value }
    try spec.check()
    let secrets = try setting("secrets").map(Self.secrets) ?? ProgramSecrets()
    let driver = program(spec.name, as: .driver, secrets: secrets)
    let peripheral = program(setting("peripheral") ?? "", as: .peripheral, secrets: secrets)
    var pair: DriverPair
    do throws(DriverPair.Problem) {
      pair = try DriverPair(driver, peripheral)
    } catch {
      throw DeviceProblem(error)
    }
    if let text = setting("loss") { pair.loss = try Self.loss(text) }
    return pair
  }

  private static func loss(_ text: String) throws(DeviceProblem) -> Double {
    guard let loss = Double(text), (0...maximumLoss).contains(loss) else {
      throw DeviceProblem(
        .value(of: "loss"), "`\(text)` is not a value of `loss`",
        hint:
          "expected a number from 0 to \(maximumLoss): where more than half of the packets is lost, no link is kept for sure, and no lock can be judged"
      )
    }
    return loss
  }

  /// Reads names and values; no value is ever shown.
  private static func secrets(in path: String) throws(DeviceProblem) -> ProgramSecrets {
    do throws(LockFileError) {
      if let lock = try LockFile(reading: path).lock as? DriverLock { return ProgramSecrets(lock.secrets) }
    } catch {
      throw DeviceProblem(.value(of: "secrets"), error.description)
    }
    throw DeviceProblem(
      .value(of: "secrets"), "\(path): no lock file of a driver, with `driver` and `secrets`")
  }
}
