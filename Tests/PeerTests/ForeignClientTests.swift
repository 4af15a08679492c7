import TestSupport
import Testing

/// Our lock and a client that is none of ours: it scans, logs in, unlocks and locks in Python, on Bumble.
@Suite("Our lock and a client on Bumble", .timeLimit(.minutes(10)))
struct ForeignClientTests {
  @Test("over rootcanal", .needs(.bumble, .rootcanal))
  func rootcanal() async throws {
    let rig = try await Rig(.bumble, .rootcanal)
    let controller = "tcp-client:127.0.0.1:\(try await rig.startRootcanal())"
    let key = try await rig.emulateLock("--transport", controller)
    try await rig.succeed(script: "bumble/sesame_client.py", controller, key, "--mtu", "247")
  }

  @Test("over our own controllers, which Bumble's host then drives", .needs(.bumble))
  func ownControllers() async throws {
    let rig = try await Rig(.bumble)
    let port = try freePort()
    let key = try await rig.emulateLock("--serve", "tcp-server:127.0.0.1:\(port)")
    try await rig.succeed(script: "bumble/sesame_client.py", "tcp-client:127.0.0.1:\(port)", key)
  }
}
