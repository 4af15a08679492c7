import TestSupport
import Testing

/// What the radio lost is no fault of a lock: a healthy one is never accused.
@Suite("A radio that loses packets")
struct LossyRadioTests {
  @Test(
    "accuses no healthy lock whose link or advertisement was lost",
    arguments: [
      ("sesame5/duplicated-frame.yaml", "sesame5?link-loss=0.05", 1),
      ("sesame5/duplicated-frame.yaml", "sesame5?link-loss=0.05", 9),
      ("sesame5/malformed-writes.yaml", "sesame5?link-loss=0.1", 122_173),
      ("sesame3/login.yaml", "sesame3?as=real&loss=0.2", 10),
      ("sesame3/login.yaml", "sesame3?as=real&loss=0.2", 30),
    ])
  func healthy(_ scenario: String, _ device: String, _ seed: Int) throws {
    let folder = try Command.Folder()
    let result = try Command.call(
      "run", "\(Command.root)/Scenarios/\(scenario)", "--device", "emulator:\(device)", "--seed", "\(seed)",
      in: folder.path)
    // It agrees at another attempt, or there is no verdict.
    #expect([0, 3].contains(result.status), "\(result)")
  }

  @Test("does not hide what a lock does wrong")
  func defect() throws {
    let folder = try Command.Folder()
    let result = try Command.call(
      "run", "\(Command.root)/Scenarios/sesame5/jam.yaml", "--device",
      "emulator:sesame5?defect=jam-reported-as-locked&loss=0.1", "--seed", "1", in: folder.path)
    expect(result.status, 1)
  }
}
