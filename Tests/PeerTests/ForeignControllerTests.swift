import Testing

/// Our client and our lock, each behind a controller that is none of ours.
@Suite("Our client and our lock on other people's controllers", .timeLimit(.minutes(10)))
struct ForeignControllerTests {
  @Test("over rootcanal", .needs(.rootcanal, .tshark))
  func rootcanal() async throws {
    let rig = try await Rig(.rootcanal, .tshark)
    let controller = "tcp-client:127.0.0.1:\(try await rig.startRootcanal())"
    try await Self.meet(
      rig, on: controller, "Scenarios/sesame5/reconnect-after-loss.yaml",
      "Scenarios/sesame5/wrong-secret.yaml")
  }

  /// Time does not pass there: no scenario can step in between a connection and the end of the login.
  @Test("over BlueZ's btvirt, which has room for one packet", .needs(.btvirt, .tshark))
  func btvirt() async throws {
    let rig = try await Rig(.btvirt, .tshark)
    let controller = "unix-client:\(try await rig.startBtvirt())"
    try await Self.meet(rig, on: controller)
  }

  @Test("a driver and the lock of a program, over rootcanal", .needs(.rootcanal, .tshark))
  func driver() async throws {
    let rig = try await Rig(.rootcanal, .tshark)
    let controller = "tcp-client:127.0.0.1:\(try await rig.startRootcanal())"
    let project = rig.path("pad")
    _ = try await rig.succeed("new", [Place.lockstep, "new", project, "--quiet"])
    try await rig.start(
      "emulate",
      [
        Place.lockstep, "emulate", "peripheral:cd \(project) && exec python3 lock.py", "--transport",
        controller,
        "--duration", "600 s",
      ], until: "advertising")
    try await rig.agree(
      ["\(project)/scenarios/opens.yaml", "\(project)/scenarios/shuts-out.yaml"], transport: controller,
      device: "lock:\(project)/real.lock.yaml")
  }

  private static func meet(_ rig: Rig, on controller: String, _ scenarios: String...) async throws {
    let control = "unix:" + rig.path("control")
    let key = try await rig.emulateLock("--transport", controller, "--control", control)
    try await rig.agree(
      [
        "Scenarios/peers/there-and-back.yaml", "Scenarios/sesame5/register.yaml",
        "Scenarios/sesame5/jam.yaml",
      ]
        + scenarios,
      transport: controller, device: "lock:\(key)", options: ["--control", control])
  }
}
