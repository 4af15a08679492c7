@testable import Devices
@testable import Bench
import Journal
import Conformance
import Harness
import TestSupport
import Testing

@testable import lockstep

/// The scenarios of the locks, driven on an emulated lock as on a real one: interlocked, with nobody beside it, from case to
/// case as it is.
@Suite("Scenarios with a real lock")
struct RealLockScenarioTests {
  /// What a run came to.
  private struct Result {
    var agreed = 0
    /// Those that did not agree and were driven, with how they ended.
    var others: [String] = []
    /// Why cases were skipped.
    var reasons: [String] = []
  }

  /// Drives all scenarios for a lock in one run.
  private func run(_ name: String, _ settings: [(String, String)] = [], allowed: [String]) throws -> Result {
    var lab = LabSettings()
    lab.interlock.budget = nil
    lab.interlock.allowed = allowed
    let world = World(lab: lab)
    var selection = Plan.Selection()
    selection.seed = 1
    selection.device = DeviceSpec(
      .emulator, name, [DeviceSpec.Setting("as", "real")] + settings.map { DeviceSpec.Setting($0, $1) })
    let items = Suite.items.filter { $0.path.contains("/Scenarios/\(name)/") }
    let endings = Endings()
    let plan = try Plan(ScenarioSet(items), selection, provider: world.devices)
    _ = Run(plan, in: [RunWorker(world.devices)], listener: endings).perform()
    var result = Result()
    for verdict in endings.all {
      switch verdict.word {
      case .agree: result.agreed += 1
      case .skipped: result.reasons.append(verdict.message ?? "")
      default: result.others.append("\(verdict.id): \(verdict.message ?? "")")
      }
    }
    return result
  }

  private static let everything = ["reset", "register", "configure"]

  @Test(
    "a healthy lock agrees with all that can be driven, and the rest says why it cannot",
    arguments: [("sesame5", 19, 28), ("sesame3", 20, 29)])
  func healthy(name: String, atLeast: Int, withPermission: Int) throws {
    for (allowed, count) in [([], atLeast), (Self.everything, withPermission)] {
      let result = try run(name, allowed: allowed)
      expect(result.others, [])
      #expect(result.agreed >= count, "\(result.agreed)")
      let known = [
        "needs the fault ", "needs the stimulus hand", "cannot be compared with the machine sesame-table",
        "with --allow ", "needs configured: no at the start, but \(name) starts with configured: yes",
        "needs registered: no at the start, but \(name) starts with registered: yes",
      ]
      for reason in result.reasons { #expect(known.contains { reason.contains($0) }, "\(reason)") }
      guard !allowed.isEmpty else { continue }
      #expect(!result.reasons.contains { $0.contains("--allow") || $0.hasPrefix("starts") })
    }
  }

  @Test(
    "a lock is driven wherever it is found, and one that has no owner only where it may get one",
    arguments: ["unregistered", "unconfigured", "unlocked", "moved"])
  func found(place: String) throws {
    let result = try run("sesame5", [("found", place)], allowed: Self.everything)
    expect(result.others, [])
    #expect(result.agreed >= 28, "\(result.agreed)")
    let strict = try run("sesame5", [("found", place)], allowed: [])
    expect(strict.others, [])
    let isDriven = place == "unlocked" || place == "moved"
    #expect(isDriven == (strict.agreed >= 19), "\(strict.agreed)")
  }

  @Test("a lock that hangs up at what no client says is accused of nothing, and what it prevents is skipped")
  func hangsUp() throws {
    let result = try run("sesame5", [("plaintext", "disconnect")], allowed: Self.everything)
    expect(result.others, [])
    #expect(result.agreed >= 28, "\(result.agreed)")
    #expect(result.reasons.count { $0.contains("disconnects after an input that no client sends") } >= 4)
    // Obeying it first is another matter.
    let wrong = try run(
      "sesame5", [("plaintext", "disconnect"), ("defect", "plaintext-command-obeyed")],
      allowed: Self.everything)
    #expect(wrong.others.contains { $0.contains("plaintext-command") }, "\(wrong.others)")
  }

  @Test(
    "a defect that can be seen without a hand makes some scenario fail",
    arguments: [
      ("sesame5", "deaf-unlock"), ("sesame5", "login-proof-unchecked"), ("sesame5", "login-proof-replayed"),
      ("sesame5", "plaintext-command-obeyed"), ("sesame5", "token-repeated"),
      ("sesame5", "jam-after-aborted-logins"), ("sesame5", "counter-kept-across-sessions"),
    ])
  func defect(name: String, defect: String) throws {
    let result = try run(name, [("defect", defect)], allowed: Self.everything)
    #expect(!result.others.isEmpty)
  }
}

/// How the cases of a run ended.
private final class Endings: JournalListener {
  private(set) var all: [Record.Verdict] = []

  func take(_ record: Record) {
    if case .verdict(let verdict) = record { all.append(verdict) }
  }
}
