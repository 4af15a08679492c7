import Conformance
import Journal

/// Determines which tests of a suite detect the named defects of devices.
public struct DefectAnalysis {
  private let machine: MachineLibrary.Entry
  private let suite: MutationSuite
  private let seed: UInt64
  private let provider: any DeviceProvider

  /// Prepares an analysis.
  ///
  /// - Parameters:
  ///   - machine: the machine.
  ///   - suite: the tests.
  ///   - seed: the seed of the random choices of tests and devices.
  ///   - provider: makes the devices.
  public init(
    _ machine: MachineLibrary.Entry, _ suite: MutationSuite, seed: UInt64, provider: any DeviceProvider
  ) {
    self.machine = machine
    self.suite = suite
    self.seed = seed
    self.provider = provider
  }

  /// The tests that fail on a device with a defect.
  ///
  /// - Throws: what is wrong with the device.
  public func killers(of device: DeviceSpec) throws(DeviceProblem) -> [String] {
    switch suite {
    case .scenarios(let items):
      var selection = Plan.Selection()
      selection.device = device
      selection.seed = seed
      let failures = Failures()
      let plan = try Plan(ScenarioSet(items), selection, provider: provider)
      _ = Run(plan, in: [RunWorker(provider)], listener: failures).perform()
      return failures.files
    case .tour, .fuzz:
      let target = try FuzzTarget(machine, device, seed: seed, provider: provider)
      guard let made = try? provider.device(target.device, seed: seed) else { return [] }
      return fails(target, made) ? [suite.name] : []
    }
  }

  private func fails(_ target: FuzzTarget, _ device: some DeviceUnderTest) -> Bool {
    var engine = TestEngine(target, device, FuzzSettings(), recorder: NoRecorder())
    let body: MutationTest.Body
    switch suite {
    case .scenarios: return false
    case .tour:
      body = .tour(
        Tour(
          engine.specification, engine.alphabet, starts: engine.starts,
          standing: device.abilities.conditions))
    case .fuzz(let events): body = .fuzz(events: events)
    }
    let divergence = try? body.perform(on: &engine, seed: seed)
    return (divergence ?? nil) != nil
  }
}

extension MutationSuite {
  /// The name of a generated suite.
  fileprivate var name: String {
    switch self {
    case .scenarios: "scenarios"
    case .tour: "tour"
    case .fuzz: "fuzz"
    }
  }
}

/// Collects the scenarios that diverge.
private final class Failures: JournalListener {
  private(set) var files: [String] = []
  private var file = ""

  func take(_ record: Record) {
    switch record {
    case .begin(let test): file = test.file ?? ""
    case .verdict(let verdict) where verdict.word.isFailed: files.append(file)
    default: break
    }
  }
}
