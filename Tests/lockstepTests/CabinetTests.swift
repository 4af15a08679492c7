import Foundation
import TestSupport
import Testing

/// The cabinet lock below Tests/Peers/bench/cabinet, which is one of its users' own: what is found in it, and what must not be.
@Suite("A cabinet lock", .timeLimit(.minutes(10)))
struct CabinetTests {
  private static let folder = Command.root + "/Tests/Peers/bench/cabinet/cabinet"

  private func fuzz(_ argument: String, steps: Int, seed: Int = 1) throws -> Command.Result {
    try perform("fuzz cabinet.yaml --steps \(steps) --seed \(seed)", on: argument)
  }

  /// Runs a command on the lock, whose program gets an argument.
  private func perform(_ command: String, on argument: String) throws -> Command.Result {
    let folder = try Command.Folder()
    for name in ["cabinet.yaml", "lock.py", "bugs.py"] {
      try FileManager.default.copyItem(atPath: Self.folder + "/" + name, toPath: folder.path + "/" + name)
    }
    return try Command.shell(
      """
      $LOCKSTEP bindings python > lockstep_device.py
      exec $LOCKSTEP \(command) --device 'exec:python3 lock.py \(argument)'
      """, in: folder.path)
  }

  @Test("the healthy one is not accused")
  func healthy() throws {
    let result = try fuzz("", steps: 20_000)
    expect(result.status, 0)
    #expect(result.output.contains("nothing found"), "\(result.output)")
  }

  @Test(
    "what is wrong just before a timer ends, and with a count of one byte, is found",
    arguments: [
      "race=500ms", "race=10ms", "bug=late-pin", "bug=late-hold", "bug=query-two-hundred-fifty-six",
    ])
  func bugs(argument: String) throws {
    let result = try fuzz(argument, steps: 60_000)
    expect(result.status, 1)
    #expect(result.output.contains("finding 1: "), "\(result.output)")
  }

  @Test("one defect is one divergence of a tour, and what lies behind it is named")
  func tour() throws {
    let healthy = try perform("cover cabinet.yaml --seed 1", on: "")
    expect(healthy.status, 0)
    let result = try perform("cover cabinet.yaml --seed 1", on: "bug=two-tries")
    expect(result.status, 1)
    #expect(result.output.contains(", 1 diverge "), "\(result.output)")
    let reason = "given up: the device diverged on wrongPin from locked (one wrong) to locked (two wrong)"
    #expect(result.output.contains(reason), "\(result.output)")
  }
}
