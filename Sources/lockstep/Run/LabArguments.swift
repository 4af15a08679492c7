import Harness
import Lab
import Simulation
import Transports

/// The options that lead to a lock on the air.
struct LabArguments {
  var carrier: String?
  var capture: String?
  var control: String?
  var allowed: [String] = []
  var actuations: Count?
  var rest = RestPosition.locked

  /// How a carrier is written.
  static let carriers =
    "usb:0, hci-socket:0, tcp-client:HOST:PORT, tcp-server:HOST:PORT, unix-client:PATH, serial:PATH,SPEED"

  /// The options as words, for a line that does the same again.
  var words: [String] {
    guard let carrier else { return [] }
    var words = ["--carrier", carrier]
    if let control { words += ["--control", control] }
    for name in allowed { words += ["--allow", name] }
    if let actuations { words += ["--actuations", String(actuations.value)] }
    if rest != .locked { words += ["--rest", rest.rawValue] }
    return words
  }
}

extension RestPosition: Choice {}

/// A lock's way and rules, checked.
struct LabSettings {
  /// The way to the client's controller.
  var carrier: CarrierSpec?
  /// Where the traffic with it is written down.
  var capture: String?
  /// The socket of the emulator of the lock.
  var control: String?
  /// What may be done to a real lock.
  var governor = GovernorSettings()
}

extension RunArguments {
  static var carrier: Option<RunArguments> {
    .value(
      "carrier", \.lab.carrier, "SPEC", "The way to a Bluetooth controller: \(LabArguments.carriers).",
      example: "usb:0", as: .carrier)
  }

  static var lab: [Option<RunArguments>] {
    [
      carrier,
      .value(
        "capture", \.lab.capture, "FILE",
        "Where the traffic over the carrier, or that of an emulated lock that is replayed, is written down, as btsnoop. "
          + "runs/NAME/capture.btsnoop unless given.", example: "air.btsnoop", as: .file),
      .value(
        "control", \.lab.control, "unix:PATH",
        "The lock is one of 'lockstep emulate --control unix:PATH', which can do to it what no client can.",
        example: "unix:lock.socket"),
      .list(
        "allow", \.lab.allowed, "NAME",
        "Allows \(GovernedStimuli.names.joined(separator: ", ")) with a real lock; may be given several times.",
        example: "reset", as: .choice(GovernedStimuli.names)),
      .value(
        "actuations", \.lab.actuations, "N",
        "How often the motor of a real lock may move in this run, the return to rest included. 100 unless given.",
        example: "20"),
      .value(
        "rest", \.lab.rest, "locked|unlocked|as-found", "Where a real lock is left. Locked unless given.",
        example: "as-found"),
    ]
  }

  /// What the options mean together.
  func labSettings() throws(UsageError) -> LabSettings {
    var settings = LabSettings()
    let isLock = device?.hasPrefix("lock:") ?? false
    guard let text = lab.carrier else {
      if isLock {
        throw UsageError(
          "a lock needs a way to it: --carrier usb:0, or another; 'lockstep doctor' says what there is")
      }
      return settings
    }
    guard isLock else { throw UsageError("--carrier leads to a lock: name it with --device lock:FILE") }
    settings.carrier = try carrierSpec(text)
    settings.capture = lab.capture
    settings.control = try lab.control.map { text throws(UsageError) in try socketPath(text, of: "--control")
    }
    for name in lab.allowed where !GovernedStimuli.names.contains(name) {
      throw UsageError(
        "'--allow' expects one of \(GovernedStimuli.names.joined(separator: ", ")), not '\(name)'")
    }
    settings.governor = GovernorSettings(
      budget: lab.actuations?.value ?? 100, rest: lab.rest, allowed: lab.allowed)
    return settings
  }
}

/// Reads a carrier as somebody typed it.
func carrierSpec(_ text: String, of option: String = "--carrier") throws(UsageError) -> CarrierSpec {
  do {
    return try CarrierSpec(text: text)
  } catch {
    throw UsageError("\(option): \(error)")
  }
}

/// Reads `unix:PATH`.
func socketPath(_ text: String, of option: String) throws(UsageError) -> String {
  guard text.hasPrefix("unix:"), text.count > 5 else {
    throw UsageError("'\(option)' expects unix:PATH, not '\(text)'")
  }
  return String(text.dropFirst(5))
}
