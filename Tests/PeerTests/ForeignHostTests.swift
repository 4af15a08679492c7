import Testing

/// Hosts that are none of ours on two of our controllers.
@Suite("Other people's hosts on our controllers", .timeLimit(.minutes(10)))
struct ForeignHostTests {
  @Test("two Bumble hosts read, write, notify and indicate", .needs(.bumble))
  func bumble() async throws {
    let rig = try await Rig(.bumble)
    let (below, above) = try await rig.emulateControllers()
    try await rig.succeed(
      script: "bumble/gatt_exchange.py", "tcp-client:127.0.0.1:\(below)", "tcp-client:127.0.0.1:\(above)",
      "--rounds", "4")
  }

  @Test("a raw HCI central walks through a Bumble peripheral", .needs(.bumble))
  func probe() async throws {
    let rig = try await Rig(.bumble)
    let (below, above) = try await rig.emulateControllers()
    try await rig.startLock("tcp-client:127.0.0.1:\(below)", try rig.writeKey())
    try await rig.succeed(script: "probe/rawhci.py", "tcp:127.0.0.1:\(above)")
  }
}
