import Testing

/// The stand-ins among themselves: when these fail, it is the stand-ins and not us.
@Suite("Other people's stacks among themselves", .timeLimit(.minutes(10)))
struct StandInTests {
  @Test("the lock and the client in Python hold to the vectors", .needs(.bumble))
  func vectors() async throws {
    let rig = try await Rig(.bumble)
    let vectors = "\(Place.root)/Tests/SesameTests/Vectors/sesame-vectors.json"
    try await rig.succeed(script: "bumble/vectors.py", vectors)
  }

  @Test("and they understand each other over rootcanal", .needs(.bumble, .rootcanal))
  func rootcanal() async throws {
    let rig = try await Rig(.bumble, .rootcanal)
    let key = try rig.writeKey()
    let controller = "tcp-client:127.0.0.1:\(try await rig.startRootcanal())"
    try await rig.startLock(controller, key)
    try await rig.succeed(script: "bumble/sesame_client.py", controller, key)
  }
}
