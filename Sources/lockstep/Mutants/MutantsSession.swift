import CommandLine
import Devices
import Automata
import Journal
import System
import Basics
import Conformance
import Harness

/// A mutation analysis, from the command line to the score.
struct MutantsSession {
  private let arguments: MutantsArguments
  private let console: Console
  private let world: World
  private let machine: MachineLibrary.Entry
  private let suite: MutationSuite?
  private let devices: [(device: DeviceSpec, defects: [String])]
  private let usual: DeviceSpec?
  private let showsEffects: Bool

  init(_ arguments: MutantsArguments, _ console: Console) throws(UsageError) {
    self.arguments = arguments
    self.console = console
    world = World(messages: console.status)
    let machine = try world.machine(arguments.operands[0])
    self.machine = machine
    suite = try arguments.suite(of: machine, in: world, console)
    devices = try suite.map { suite throws(UsageError) in try arguments.devices(for: machine, suite) } ?? []
    if arguments.run.device != nil, let named = devices.first?.device {
      let provider = world.devices
      try checked("--device: ") { try provider.describe(named).check(named, against: machine) }
    }
    usual =
      devices.first?.device ?? (machine.isFile ? nil : world.devices.usualDevice(of: machine.machine.name))
    // A mutant reports what the machine's devices report; otherwise the suite would be credited with observations
    // that it cannot make.
    showsEffects =
      usual.flatMap { try? EmulatedDevice.named($0.name)?.make([], 0).abilities.showsEffects } ?? true
  }

  func perform() throws(UsageError) -> CommandStatus {
    guard let suite else { return .usage }
    Interruption.listen()
    let begin = MonotonicClock.now
    let analysis = MutationAnalysis(
      machine, suite, showsEffects: showsEffects, sample: arguments.sample?.value, seed: arguments.seed,
      limit: arguments.pairs.value)
    let report = MutantsReport(
      machine, analysis, console, arguments, defectCount: devices.reduce(0) { $0 + $1.defects.count })
    report.begin()
    guard !analysis.testNames.isEmpty else {
      console.say("lockstep: the suite has no test that the machine itself passes")
      return .nothingSelected
    }
    if let out = arguments.out { try checked("--out: ") { try makeFolder(out) } }
    analysis.perform { result in
      report.take(result, saved: save(result))
      return !Interruption.isRequested
    }
    try tryDefects(suite, report)
    if Interruption.isRequested {
      console.say("lockstep: stopped before the end: there is no score")
      return .incomplete
    }
    let percent = report.end(took: MonotonicClock.now - begin)
    return percent < arguments.threshold.value ? .divergence : .agree
  }

  private func tryDefects(_ suite: MutationSuite, _ report: MutantsReport) throws(UsageError) {
    defer { world.devices.shutDown() }
    let analysis = DefectAnalysis(machine, suite, seed: arguments.seed, provider: world.devices)
    for (device, defects) in devices {
      for defect in defects where !Interruption.isRequested {
        var wrong = device
        wrong.settings.append(DeviceSpec.Setting("defect", defect))
        let killers = try checked("\(wrong): ") { try analysis.killers(of: wrong) }
        report.take(defect: defect, of: device, killers: killers)
      }
    }
  }

  /// Saves the test that would kill a survivor, and returns its path.
  private func save(_ result: MutationAnalysis.Result) -> String? {
    guard let out = arguments.out, case .survived(let test) = result.fate else { return nil }
    let path = "\(out)/\(machine.machine.name)-\(result.number).yaml"
    var scenario = Scenario(
      title: "Would find: \(result.summary)", machine: machine.reference(from: out),
      device: usual ?? DeviceSpec(.emulator, ""), start: test.start, seed: arguments.seed,
      actions: test.actions,
      vocabulary: Vocabulary(machine: machine.machine))
    if usual == nil { scenario.device = nil }
    // Give the device time to reach the state in which the stimulus is allowed.
    scenario.steps = scenario.steps.map(\.waitingUntilAllowed)
    if scenario.steps.last?.action != .settle { scenario.steps.append(Step(.settle)) }
    return console.attempt {
      let schema = SchemaFile.found(from: out)
      try WholeFile.replace(path, with: scenario.yaml(comments: [test.divergence.summary], schema: schema))
      return path
    }
  }
}

extension Step {
  /// The same step, but the stimulus waits until the model allows it.
  fileprivate var waitingUntilAllowed: Step {
    switch action {
    case .performNow(let call): Step(.perform(call))
    case .repeated(let times, let steps): Step(.repeated(times, steps.map(\.waitingUntilAllowed)))
    case .perform, .refuse, .fault, .wait, .settle, .next, .expect, .until, .fuzz, .note: self
    }
  }
}
