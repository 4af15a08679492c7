import Conformance
import Emulator
import Models
import TestSupport
import Testing

@Suite("The door device")
struct DoorDeviceTests {
  private let walk = AppWalk<DoorApp>(machine: .door)

  @Test("the door writes a line each time, and what it cannot do is refused")
  func lines() throws {
    var device = DoorDevice()
    expect(
      try shown(by: &device, of: .door, on: ["Close", "Open", "Close"]),
      [
        "refused: 'Close' has no transition from the current state", "Opened", "print(Opened)", "Closed",
        "print(Closed)",
      ])
  }

  @Test("a door that bounces is closed again at once, at the third opening")
  func bouncing() throws {
    var device = DoorDevice(defect: .bouncing)
    expect(
      Array(try shown(by: &device, of: .door, on: ["Open", "Close", "Open", "Close", "Open"]).suffix(4)),
      ["Opened", "print(Opened)", "Closed", "print(Closed)"])
  }

  @Test("it agrees with its model on random walks", arguments: [1, 2, 3] as [UInt64])
  func agrees(seed: UInt64) throws {
    let found = try walk.run(nil, seed: seed, tests: 60)
    #expect(found == nil, "\(found.map { "\($0.0.summary) after \($0.1)" } ?? "")")
  }

  @Test("each defect is found by random walks", arguments: DoorApp.Defect.allCases)
  func defects(defect: DoorApp.Defect) throws {
    #expect(try walk.run(defect, seed: 1, tests: 20) != nil)
  }
}
