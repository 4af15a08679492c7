public import CommandLine
import Devices
import Documents
import Harness
import Reporting

/// Options with the same meaning in every command.
extension Option {
  /// The transport to a controller, possibly a bench's.
  static func transport(_ path: WritableKeyPath<Values, String?>) -> Option {
    .value(
      "transport", path, "SPEC",
      "The transport to a Bluetooth controller, or dongle:NAME of a bench. Transports are "
        + "\(LabArguments.transports).",
      example: "usb:0", as: .transport)
  }

  /// The file that captures the packets.
  static func capture(_ path: WritableKeyPath<Values, String?>) -> Option {
    .value(
      "capture", path, "FILE", "Writes the traffic of the transport to a file, as btsnoop.",
      example: "air.btsnoop", as: .file)
  }
}

extension ValueProblem {
  /// Creates a problem unless the value is valid.
  init?(unless isRight: Bool, _ form: String, _ text: String) {
    if isRight { return nil }
    self.init("expected \(form), found `\(text)`")
  }

  /// Creates a problem from a failed device check; `nil` if the check succeeds.
  init?(_ check: () throws(DeviceProblem) -> Void) {
    do throws(DeviceProblem) {
      try check()
      return nil
    } catch {
      self.init(error.message, code: error.code, hint: error.advice)
    }
  }

  /// Returns the problem of a device specification, as far as it can be checked without starting a program.
  static func ofDevice(_ text: String) -> ValueProblem? {
    ValueProblem { () throws(DeviceProblem) in
      let spec = try DeviceSpec(text: text)
      if spec.kind == .emulator { try Plan.check(spec, provider: World().devices) }
    }
  }
}

extension ValueKind {
  /// A scenario, or a folder of scenarios.
  static let scenario = ValueKind.known("scenario")
  /// A machine, by name or as a file.
  static let machine = ValueKind.known("machine")
  /// A device, as `--device` names it.
  static let device = ValueKind.known("device")
  /// A transport to a controller.
  static let transport = ValueKind.known("transport")
}

extension Shard: ArgumentValue {
  static let form = "a part of so many, such as 2/4"

  init?(argument: String) {
    let sides = argument.split(separator: "/", omittingEmptySubsequences: false)
    guard sides.count == 2, let part = Int(sides[0]), let count = Int(sides[1]) else { return nil }
    self.init(part: part, of: count)
  }
}
