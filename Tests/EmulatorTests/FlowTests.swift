import Conformance
import Emulator
import Models
import TestSupport
import Testing

@Suite("The flow device")
struct FlowDeviceTests {
  private let walk = AppWalk<FlowApp>(machine: .flow)

  @Test("each step shows its block before, the new state, and its block after")
  func blocks() throws {
    var device = FlowDevice()
    expect(
      try shown(by: &device, of: .flow, on: ["noSession", "logout", "authenticationCompleted"]),
      [
        "preBlock(noSession)", "login", "postBlock(noSession)",
        "refused: 'logout' does not lead on from login",
        "preBlock(authenticationCompleted)", "verifyCreateNewPassword", "postBlock(authenticationCompleted)",
      ])
  }

  @Test("it agrees with its model on random walks", arguments: [1, 2, 3] as [UInt64])
  func agrees(seed: UInt64) throws {
    let found = try walk.run(nil, seed: seed, tests: 60)
    #expect(found == nil, "\(found.map { "\($0.0.summary) after \($0.1)" } ?? "")")
  }

  @Test("each defect is found by random walks", arguments: FlowApp.Defect.allCases)
  func defects(defect: FlowApp.Defect) throws {
    #expect(try walk.run(defect, seed: 1, tests: 200, steps: 80) != nil)
  }
}
