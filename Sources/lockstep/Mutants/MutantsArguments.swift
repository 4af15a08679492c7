import System
import CommandLine
import Devices
import Journal
import Automata
import Harness

/// The options of `mutants`.
struct MutantsArguments {
  var operands: [String] = []
  var suite: GeneratedSuite?
  var sample: Count?
  var threshold = Percent(0)
  var pairs = EventCount(5_000)
  var out: String?
  /// The options shared with `run`: device, seed, format.
  var run = RunArguments()
}

/// A generated suite: `tour` or `fuzz:N`.
enum GeneratedSuite: ArgumentValue, Equatable {
  case tour
  case fuzz(Int)

  static let form = "tour, or fuzz:N with a number of events such as fuzz:10k"

  init?(argument: String) {
    if argument == "tour" {
      self = .tour
    } else if argument.hasPrefix("fuzz:"), let count = EventCount(argument: String(argument.dropFirst(5))) {
      self = .fuzz(count.value)
    } else {
      return nil
    }
  }
}

/// A percentage: `95`, `99.5` or `95%`.
struct Percent: ArgumentValue, Equatable {
  var value: Double
  static let form = "a share in percent from 0 to 100, such as 95"

  init(_ value: Double) { self.value = value }

  init?(argument: String) {
    guard let value = Double(argument.hasSuffix("%") ? String(argument.dropLast()) : argument),
      (0...100).contains(value)
    else { return nil }
    self.value = value
  }
}

extension MutantsArguments {
  /// The options, in the order in which the help shows them.
  static var options: [Option<MutantsArguments>] {
    [
      .value(
        "suite", \.suite, "tour|fuzz:N",
        "Uses generated tests instead of scenarios: a tour through all requests, or N random events.",
        example: "tour", as: .choice(["tour", "fuzz:"])
      ).replaced(by: .operands(2, "PATH")),
      .value(
        "sample", \.sample, "N",
        "Tries N random mutants, with equal numbers of each kind where possible. By default all mutants "
          + "are tried.",
        example: "200"),
      .value(
        "seed", \.run.seed, "N", "The seed of all random choices. Default: 0.", example: "42"),
      .value(
        "device", \.run.device, "SPEC",
        "Tries only the defects of this emulated device: emulator:NAME?SETTING=VALUE&…",
        example: "emulator:sesame3", as: .device
      ).checked { text in ValueProblem { () throws(DeviceProblem) in _ = try named(text) } },
      .value(
        "threshold", \.threshold, "P", "Exits with 1 if the score is below P percent. Default: 0.",
        example: "95"),
      .value(
        "pairs", \.pairs, "N",
        "The maximum number of state pairs of model and mutant in the search for a test that kills a "
          + "survivor. Default: 5k.",
        example: "20k"),
      .value(
        "out", \.out, "DIR", "Saves, for each survivor, the test that would kill it there, as a scenario.",
        example: "survivors", as: .folder, short: "o"),
      .format(\.run.format), .color(\.run.color),
    ] + SettingsChoice.options.map { $0.lifted(to: \.run.settings) }
  }

  /// The seed of all random choices.
  var seed: UInt64 { run.seed ?? 0 }

  /// Returns the test suite; `nil` if scenarios are invalid, after reporting that.
  func suite(
    of machine: MachineLibrary.Entry, in world: World, _ console: Console
  ) throws(UsageError) -> MutationSuite? {
    let paths = Array(operands.dropFirst())
    switch suite {
    case .some where !paths.isEmpty:
      throw UsageError("--suite generates tests: '\(paths[0])' is one too many")
    case .tour: return .tour
    case .fuzz(let events): return .fuzz(events: events)
    case nil: break
    }
    var selection = RunArguments()
    selection.paths = paths
    guard let set = selection.scenarios(world, console) else { return nil }
    return .scenarios(set.items.filter { $0.machine.label == machine.label })
  }

  /// Parses a device specification, and returns the device with its defects.
  private static func named(_ text: String) throws(DeviceProblem) -> (device: DeviceSpec, defects: [String]) {
    let device = try DeviceSpec(text: text)
    guard device.kind == .emulator, let emulated = EmulatedDevice.named(device.name) else {
      throw DeviceProblem(.name, "an emulated device is needed, which has named defects")
    }
    return (device, emulated.defects)
  }

  /// Returns the devices whose defects are tried: the named one, or the first device of each family in the
  /// scenarios.
  func devices(
    for machine: MachineLibrary.Entry, _ suite: MutationSuite
  ) throws(UsageError) -> [(device: DeviceSpec, defects: [String])] {
    if let text = run.device {
      return try checked("--device: ") { [try Self.named(text)] }
    }
    guard !machine.isFile else { return [] }
    var wanted: [String]?
    if case .scenarios(let items) = suite { wanted = items.compactMap { $0.scenario.device?.name } }
    var families = Set<String>()
    return EmulatedDevice.all.filter { emulated in
      emulated.machines.contains(machine.machine.name) && wanted?.contains(emulated.name) ?? true
        && families.insert(emulated.family).inserted
    }.map { (DeviceSpec(.emulator, $0.name), $0.defects) }
  }
}
