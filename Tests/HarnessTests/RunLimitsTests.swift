import Basics
import Conformance
import Journal
import TestSupport
import Testing

@testable import Harness

/// Doors by the seed of their case: `+` opens, `-` is tired, `x` is gone, `f` is tired at the first attempt only.
private final class SeededDoors: DeviceProvider {
  private let toys = ToyProvider()
  private let openings: [Character]
  private var attempts: [UInt64: Int] = [:]

  init(_ openings: [Character]) { self.openings = openings }

  var emulators: [String] { toys.emulators }
  func describe(_ spec: DeviceSpec) throws(DeviceProblem) -> DeviceDescription { try toys.describe(spec) }
  func usualDevice(of machine: String) -> DeviceSpec? { toys.usualDevice(of: machine) }

  func device(_ spec: DeviceSpec, seed: UInt64) throws(LabFault) -> any DeviceUnderTest {
    attempts[seed, default: 0] += 1
    var script = ToyDoor.healthy
    switch openings[Int(seed)] {
    case "x": throw LabFault(.noDevice, "unplugged")
    case "-": script["open"] = [[(.zero, .status("tired"))]]
    case "f" where attempts[seed] == 1: script["open"] = [[(.zero, .status("tired"))]]
    default: break
    }
    return ToyDoor(script)
  }
}

@Suite("The limits of a run, and its workers")
struct RunLimitsTests {
  private static func run(
    _ openings: String, maximumFailures: Int? = nil, retries: Int = 0, failsFlaky: Bool = false,
    workers: Int = 1
  ) throws -> (lines: [String], summary: Run.Summary) {
    let openings = Array(openings)
    let reader = ScenarioReader(machines: toyMachines(), provider: ToyProvider())
    let machine = try toyMachines().machine("door")
    let items = try openings.indices.map { number in
      let text = "scenario: A\ndevice: oak\nseed: \(number)\nsteps: [open]\n"
      return ScenarioSet.Item(
        path: "\(number).yaml", scenario: try reader.read(Array(text.utf8), path: "\(number).yaml"),
        machine: machine)
    }
    let journal = JournalList()
    let plan = try Plan(ScenarioSet(items), Plan.Selection(), provider: SeededDoors(openings))
    let summary = Run(
      plan, in: (0..<workers).map { _ in RunWorker(SeededDoors(openings)) }, listener: journal,
      retries: retries,
      failsFlaky: failsFlaky, maximumFailures: maximumFailures
    ).perform()
    return (journal.lines, summary)
  }

  /// Doors, the maximum of failures, the number of retries, whether flaky cases fail, the verdicts, and the exit status.
  // swift-format-ignore
  static let limits: [(doors: String, maximum: Int?, retries: Int, failsFlaky: Bool, verdicts: String, status: CommandStatus)] = [
    ("+-+-++", nil, 0, false, "agree divergence agree divergence agree agree", .divergence),
    ("+-+-++", 2, 0, false, "agree divergence agree divergence skipped skipped", .divergence),
    ("-+-", 1, 0, false, "divergence skipped skipped", .divergence), ("+-", 1, 0, false, "agree divergence", .divergence),
    ("+++", 1, 0, false, "agree agree agree", .agree),
    // A case that the lab failed is one of them.
    ("x-+", 2, 0, false, "lab-fault divergence skipped", .divergence), ("x+", 1, 0, false, "lab-fault skipped", .labFault),
    // An attempt that is repeated is none of them, and a flaky case only where it fails.
    ("f+", 1, 1, false, "divergence agree agree", .agree), ("f+", 1, 1, true, "divergence agree skipped", .divergence),
    ("ff+", 2, 1, true, "divergence agree divergence agree skipped", .divergence),
    ("-+", 1, 1, false, "divergence divergence skipped", .divergence),
  ]

  @Test("no case begins after the last failure that is wanted", arguments: limits)
  func maximum(
    doors: String, maximum: Int?, retries: Int, failsFlaky: Bool, verdicts: String, status: CommandStatus
  ) throws {
    let (lines, summary) = try Self.run(
      doors, maximumFailures: maximum, retries: retries, failsFlaky: failsFlaky)
    let all = lines.filter { $0.hasPrefix(#"{"verdict""#) }
    expect(all.map { String($0.split(separator: "\"")[3]) }.joined(separator: " "), verdicts)
    expect(summary.exitStatus, status)
    let cases = maximum == 1 ? "1 case" : "\(maximum ?? 0) cases"
    let words = #""message":"not begun: \#(cases) failed, after which no more are wanted""#
    expect(all.filter { $0.contains("skipped") }.filter { !$0.contains(words) }, [])
  }

  @Test("the journal of a run is the same with any number of workers", arguments: 2...4)
  func workers(count: Int) throws {
    let doors = String(repeating: "+-f+x", count: 5)
    let one = try Self.run(doors, retries: 1)
    let several = try Self.run(doors, retries: 1, workers: count)
    expect(several.lines, one.lines)
    expect(several.summary.tally, one.summary.tally)
    expect(several.summary.coverage, one.summary.coverage)
    // Ten of the 25 cases fail or have no verdict, each once.
    expect([one.summary.tally.failures, one.summary.tally.labFaults, one.summary.tally.flaky], [5, 5, 5])
  }
}
