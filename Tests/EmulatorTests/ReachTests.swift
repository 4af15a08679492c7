import Conformance
import Emulator
import SesameDevice
import Basics
import TestSupport
import Testing

@Suite("What comes to a lock")
struct ReachTests {
  /// The stimuli that are tried at each stage, and which of them come to the lock there.
  private static let tried = ["closeTo", "connect", "lock", "unlock", "toggle", "forgeUnlock", "disconnect"]

  // swift-format-ignore
  private static let stages: [(given: String?, until: String?, reaching: [String])] = [
    (nil, nil, ["closeTo"]),
    ("closeTo", "receivedBle", ["connect"]),
    ("connect", "waitingGatt", []),
    (nil, "logining", ["forgeUnlock", "disconnect"]),
    (nil, "locked", ["lock", "unlock", "toggle", "forgeUnlock", "disconnect"]),
    ("unlock", "unlocked", ["lock", "unlock", "toggle", "forgeUnlock", "disconnect"]),
    ("disconnect", "noSignal", ["closeTo"]),
  ]

  @Test(
    "what the client refuses does not come to the lock, and to ask changes nothing",
    arguments: ["sesame3", "sesame5"])
  func stages(name: String) throws {
    var (asked, other) = (try SesameBench(name), try SesameBench(name))
    try asked.reset()
    try other.reset()
    for stage in Self.stages {
      try advance(&asked, to: stage.until, by: stage.given)
      try advance(&other, to: stage.until, by: stage.given)
      for _ in 0..<3 { expect(try reaching(asked), stage.reaching) }
    }
    expect(asked.trace, other.trace)
    // A lock whose positions were never set is logged in to, and does not move.
    try asked.reset(configured: false)
    try advance(&asked, to: "receivedBle", by: "closeTo")
    try advance(&asked, to: "nosetting", by: "connect")
    expect(try reaching(asked), ["forgeUnlock", "disconnect"])
  }

  private func advance(_ bench: inout SesameBench<DirectLink>, to status: String?, by given: String?) throws {
    if let given { expect(try bench.perform(given), nil) }
    if let status { expect(try bench.until(status), nil) }
  }

  private func reaching(_ bench: SesameBench<DirectLink>) throws -> [String] {
    try Self.tried.filter { name in
      bench.lockstep.device.reaches(Stimulus(try #require(bench.lockstep.vocabulary.stimulus(name))))
    }
  }
}
