@testable import Workbench
@testable import Devices
import Conformance
import Emulator
import Harness
import Basics
import TestSupport
import Testing

@testable import lockstep

/// Campaigns on emulated locks that are driven as real ones, each of which goes on from test to test as it is.
@Suite("Fuzzing a lock that lives on")
struct RealLockSearchTests {
  private func search(
    _ device: String, _ defect: LockDefect?, seed: UInt64, events: Int
  ) throws -> AirSearch.Result {
    try #require(AirSearch(device: device, defect: defect, seed: seed, events: events).perform())
  }

  /// What is shown while a lock is made ready, what earlier tests have left, and what stops the motor: with the events in
  /// which each is found.
  static let defects: [(LockDefect, Int)] = [
    (.counterKeptAcrossSessions, 2000), (.resetKeepsKey, 20_000), (.registrationBusyAfterReset, 2000),
    (.tokenMissingEverySecondTime, 2000), (.statusLagsOneBehind, 5000), (.historyNeverEmpties, 5000),
    (.answerNamesAnotherRequest, 2000), (.settingsLostOnReconnect, 2000), (.deafUnlock, 20_000),
  ]

  @Test(
    "a defect is found and confirmed, whatever it does to the sessions between tests",
    arguments: defects, ["sesame5?as=real", "sesame3?as=real", "sesame5?as=real&loss=0.01"])
  func found(defect: (LockDefect, Int), device: String) throws {
    let result = try search("emulator:\(device)", defect.0, seed: 1, events: defect.1)
    #expect(result.isFound, "\(defect.0.name) on \(device): \(result)")
  }

  @Test(
    "a healthy lock is never accused",
    arguments: ["emulator:sesame5?as=real", "emulator:sesame3?as=real", "emulator:sesame5?as=real&loss=0.05"])
  func healthy(device: String) throws {
    let result = try search(device, nil, seed: 5, events: 15_000)
    expect(result.findings, 0)
    #expect(result.events >= 15_000, "\(result)")
  }

  @Test("a saved finding can be read again: its device has the faults that it has with its options")
  func replayable() throws {
    let text = """
      scenario: nonsense on the air
      machine: sesame
      device: { emulator: sesame5, registered: true, configured: true, as: real }
      steps:
        - { now: closeTo }
        - { wait: settled }
        - { now: connect }
        - { wait: settled }
        - { fault: { att: pairing } }
        - { wait: settled }
      """
    let world = World()
    let reader = ScenarioReader(machines: world.machines, provider: world.devices)
    let scenario = try reader.read(Array(text.utf8), path: "finding.yaml")
    expect(scenario.steps.count, 6)
    let hand = text.replacing("att: pairing", with: "jam: yes")
    #expect(throws: (any Error).self) { try reader.read(Array(hand.utf8), path: "finding.yaml") }
  }
}
