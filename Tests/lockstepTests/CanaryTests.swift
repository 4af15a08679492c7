import Foundation
import TestSupport
import Testing

/// Whether the keys of locks turn up where they must not; `make canary` does the same with a thousand runs.
@Suite("Canary", .timeLimit(.minutes(10)))
struct CanaryTests {
  private static let script = Command.root + "/Tests/Canary/canary.py"

  @Test("after runs of every kind, right and wrong, no file and no line holds a key")
  func clean() throws {
    let result = try Command.shell("python3 \(Self.script) \"$LOCKSTEP\" --runs 55 --lanes 5")
    expect(result.status, 0)
    #expect(
      result.output.hasPrefix("canary: 55 runs, ") && result.output.contains("; 0 failures;"),
      "\(result.output)")
    expect(result.errors, "")
  }

  @Test("a key that is left lying about is found")
  func planted() throws {
    let result = try Command.shell("python3 \(Self.script) \"$LOCKSTEP\" --runs 1 --lanes 1 --plant")
    expect(result.status, 1)
    // Which number it has is by chance, as the keys are.
    #expect(result.output.contains(/canary: key \d+ in \S+\/planted\.txt/), "\(result.output)")
  }
}
