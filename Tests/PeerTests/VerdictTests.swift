import TestSupport
import Testing

/// What is said of a lock that is none of ours, driven as a real one: without a control socket, a hand or a jam.
@Suite("A lock on Bumble is judged", .timeLimit(.minutes(10)))
struct VerdictTests {
  @Test(
    "its faults are named", .needs(.bumble),
    arguments: [
      ("deaf-unlock", "Scenarios/peers/there-and-back.yaml", "status unlocked within 5 s"),
      (
        "plaintext-command-obeyed", "Scenarios/sesame5/plaintext-command.yaml",
        "the device obeyed a forged command: an unlock in clear"
      ),
      ("login-proof-unchecked", "Scenarios/sesame5/wrong-secret.yaml", "the device accepted a false proof"),
    ])
  func faults(fault: String, scenario: String, message: String) async throws {
    let result = try await Self.judge(["--fault", fault], scenario)
    #expect(result.status == 1, "\(result.output)")
    #expect(result.output.contains(message), "\(result.output)")
  }

  @Test(
    "its habits are not held against it", .needs(.bumble),
    arguments: [
      ["status-twice", "small-frames", "more-services"],
      ["unknown-publishes", "status-first", "chatty-motor", "token-twice", "clock-slow"],
      ["leftover-frame", "answers-last"], ["leftover-ciphertext"],
    ])
  func habits(habits: [String]) async throws {
    let result = try await Self.judge(
      habits.flatMap { ["--habit", $0] }, "Scenarios/peers/there-and-back.yaml")
    #expect(result.status == 0, "\(result.output)")
    #expect(result.output.contains(": 1 agree"), "\(result.output)")
  }

  private static func judge(_ arguments: [String], _ scenario: String) async throws -> Rig.Result {
    let rig = try await Rig(.bumble)
    let key = try rig.writeKey()
    let port = try freePort()
    try await rig.startLock("bumble:\(port)", key, arguments)
    return try await rig.run(
      "run",
      [
        Place.lockstep, "run", scenario, "--transport", "tcp-client:127.0.0.1:\(port)", "--device",
        "lock:\(key)",
        "--out", rig.path("Reports"),
      ])
  }
}
