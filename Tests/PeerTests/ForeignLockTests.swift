import TestSupport
import Testing

/// Our client and a lock that is none of ours: its host, its GATT server and its protocol are in Python, on Bumble.
@Suite("Our client and a lock on Bumble", .timeLimit(.minutes(10)))
struct ForeignLockTests {
  private static let scenario = "Scenarios/peers/there-and-back.yaml"

  @Test("over Bumble's virtual controller", .needs(.bumble, .tshark))
  func virtualController() async throws {
    let rig = try await Rig(.bumble, .tshark)
    let key = try rig.writeKey()
    let port = try freePort()
    try await rig.startLock("bumble:\(port)", key)
    try await rig.agree([Self.scenario], transport: "tcp-client:127.0.0.1:\(port)", device: "lock:\(key)")
  }

  @Test("over rootcanal", .needs(.bumble, .rootcanal, .tshark))
  func rootcanal() async throws {
    let rig = try await Rig(.bumble, .rootcanal, .tshark)
    let key = try rig.writeKey()
    let controller = "tcp-client:127.0.0.1:\(try await rig.startRootcanal())"
    try await rig.startLock(controller, key)
    try await rig.agree([Self.scenario], transport: controller, device: "lock:\(key)")
  }

  @Test("and over our own two controllers", .needs(.bumble, .tshark))
  func ownControllers() async throws {
    let rig = try await Rig(.bumble, .tshark)
    let key = try rig.writeKey()
    let controllers = try await rig.emulateControllers()
    try await rig.startLock("tcp-client:127.0.0.1:\(controllers.0)", key)
    try await rig.agree(
      [Self.scenario], transport: "tcp-client:127.0.0.1:\(controllers.1)", device: "lock:\(key)")
  }

  @Test("and a Sesame 3 over rootcanal", .needs(.bumble, .rootcanal, .tshark))
  func sesame3() async throws {
    let rig = try await Rig(.bumble, .rootcanal, .tshark)
    let keys = try rig.writeOS2Keys()
    let controller = "tcp-client:127.0.0.1:\(try await rig.startRootcanal())"
    try await rig.startLock(controller, keys.lock)
    try await rig.agree(
      ["Scenarios/sesame3/version-and-time.yaml"], transport: controller, device: "lock:\(keys.owner)")
  }
}
