import Harness
import TestSupport
import Testing

/// What a healthy lock or the way to it may do, and a case about it: none of them is a divergence.
private enum Habit: String, CaseIterable {
  case positionsNotExpected, positionsTaken, positionsLongKnown, positionsBeforeAHand
  case heldOut, heldUp
  case nearPositions
  case refusesMalformed
  case silentAtFalseProof, silentAtFalseProofOfOS2, refusedLate

  /// The lock, with the habit.
  var device: String {
    switch self {
    case .positionsNotExpected, .positionsTaken, .positionsLongKnown: "sesame5?positions=kept"
    case .positionsBeforeAHand: "sesame3?positions=kept&login-publish=before"
    case .heldOut, .nearPositions: "sesame3"
    case .heldUp, .refusesMalformed: "sesame5"
    case .silentAtFalseProof: "sesame5?wrong-login=silent"
    case .silentAtFalseProofOfOS2: "sesame3?wrong-login=silent"
    case .refusedLate: "sesame5?wrong-login=result"
    }
  }

  var steps: [String] {
    let login = ["closeTo", "connect", "until: { status: locked }"]
    let handOver =
      login + [
        "reset", "until: { status: noSignal, within: 10 s }", "closeTo", "connect",
        "until: { status: readytoRegister }", "register",
      ]
    let falseLogin = ["fault: wrong-key", "closeTo", "connect", "until: { status: logining }"]
    switch self {
    case .positionsNotExpected: return handOver + ["expect: { status: nosetting, within: 10 s }"]
    case .positionsTaken:
      return handOver + [
        "until: { status: locked }", "unlock", "expect: { status: unlocked, within: 10 s }",
      ]
    case .positionsLongKnown:
      return handOver + [
        "until: { status: locked }", "unlock", "until: { status: unlocked }",
        "expect: { status: nosetting, within: 1 s }",
      ]
    // What it says of its bolt when it is registered is from before the hand.
    case .positionsBeforeAHand: return handOver + ["wait: next", "handToMoved", "wait: 5 s"]
    // The moment in which the motor stops and the one in which the frames that were held go out are one.
    case .heldOut:
      return login + [
        "readVersion", "toggle", "wait: next", "fault: { out-of-range: 1 s }", "wait: 1 s",
        "until: { status: unlocked }",
      ]
    case .heldUp:
      return login + Array(repeating: ["fault: { delay: 3 s }", "readVersion"], count: 5).flatMap { $0 }
        + ["disconnect", "closeTo", "connect", "until: { status: locked, within: 5 s }"]
    // The ranges that apps set on a lock of OS2 reach 53 degrees to each side.
    case .nearPositions:
      return handOver + [
        "until: { status: nosetting }", "configure: { lock: 30, unlock: 60 }",
        "until: { status: [locked, unlocked, moved] }", "unlock", "until: { status: unlocked, within: 10 s }",
        "lock", "until: { status: locked, within: 10 s }",
      ]
    // It never understood the first of two requests for a delay, so that it awaits the counter of that still: what comes
    // with it is no shadow of the next message, which it would obey, or refuse, twice.
    case .refusesMalformed:
      return login + [
        "fault: { mutate: in-clear }", "now: { setAutolock: { delay: 0 s } }",
        "fault: { shadow: counter-1 }", "handToMoved", "fault: { request: autolock-negative }",
      ]
    case .silentAtFalseProof:
      return falseLogin
        + ["registration", "identity", "login again"].map { "fault: { forge: \($0) }" } + ["wait: 20 s"]
    case .silentAtFalseProofOfOS2:
      return falseLogin
        + ["identity", "registration", "login again"].map { "fault: { forge: \($0) }" } + ["wait: 20 s"]
    case .refusedLate:
      return login + [
        "reset", "until: { status: noSignal, within: 10 s }", "fault: { wrong-key: old-key }", "closeTo",
        "connect", "until: { status: readytoRegister }", "register", "until: { status: nosetting }",
      ]
    }
  }

  /// The line that sums up the run, and what else is said.
  var verdict: (status: Int32, lines: [String]) {
    switch self {
    case .positionsNotExpected:
      (
        4,
        [
          "1 case: 1 skipped",
          "1: the device has presetPositions, which is permitted; the case expects a device without it: "
            + "the model agrees; the scenario asks for more: expected status nosetting within 10 s, got locked",
        ]
      )
    // That it has them explains what it shows next, and nothing later.
    case .positionsLongKnown:
      (1, ["1 case: 1 not as expected", "expected status nosetting within 1 s, got unlocked"])
    default: (0, ["1 case: 1 agree"])
    }
  }
}

@Suite("What a lock may do", .timeLimit(.minutes(10)))
struct HabitTests {
  /// Runs cases of a lock with an owner, each with its steps.
  private func run(
    _ cases: [[String]], _ lock: String, on device: String, _ options: [String] = []
  ) throws -> Command.Result {
    let folder = try Command.Folder()
    for (number, steps) in cases.enumerated() {
      let head = [
        "scenario: Case \(number)", "machine: sesame",
        "device: { \(lock), registered: true, configured: true }", "steps:",
      ]
      let lines = head + steps.map { "  - \($0)" }
      try folder.write("Scenarios/\(number).yaml", lines.joined(separator: "\n") + "\n")
    }
    let words =
      ["run", "--seed", "9525"] + (device.isEmpty ? [] : ["--device", "emulator:\(device)"]) + options
    return try Command.call(words, in: folder.path)
  }

  @Test("is judged as what it is", arguments: Habit.allCases)
  fileprivate func verdict(habit: Habit) throws {
    let lock = habit.device.prefix { $0 != "?" }
    let result = try run([habit.steps], "lock: \(lock)", on: habit.device)
    expect(result.status, habit.verdict.status)
    for line in habit.verdict.lines { #expect(result.output.contains(line), "\(result.output)") }
  }

  @Test("a lock of OS2 whose motor a reset has stopped between its positions moves on from there")
  func stoppedUnderWay() throws {
    let unlock = ["closeTo", "connect", "until: { status: locked }", "unlock"]
    let result = try run(
      [unlock + ["wait: 450 ms", "reset"], unlock + ["until: { status: unlocked }"]], "lock: sesame3",
      on: "sesame3?as=real", ["--allow", "reset", "--allow", "register", "--allow", "configure"])
    expect(result.status, 0)
    #expect(result.output.contains("2 cases: 2 agree"), "\(result.output)")
  }

  @Test("a packet of the tester's that comes between the frames of a message takes its answer away")
  func overtaking() throws {
    func forge(_ times: Int) -> String { "repeat: { times: \(times), steps: [{ now: forgeUnlock }] }" }
    let setAutolock = "now: { setAutolock: { delay: 0 s } }"
    let result = try run(
      [
        [
          "now: closeTo", "wait: settled", "now: connect", "wait: settled", forge(5),
          "fault: { shadow: in-clear }", forge(4), "fault: { att: prepared-write }",
          "fault: { request: four-frames }", forge(12), "now: lock", forge(1), setAutolock, setAutolock,
          setAutolock, "fault: { shadow: in-clear }", setAutolock, forge(1),
          "fault: { forge: command again }",
          setAutolock, "fault: { att: write-request }",
        ]
      ], "emulator: sesame3, link: radio, loss: 0.01", on: "")
    expect(result.status, 0)
    #expect(result.output.contains("1 case: 1 agree"), "\(result.output)")
  }

  @Test("what the last step has asked for is heard before a case ends", arguments: ["", "link=radio&"])
  func heardOut(link: String) throws {
    let steps = [
      "closeTo", "connect", "until: { status: locked }", "unlock: { tag: Alice }", "wait: settled",
      "readHistory",
    ]
    for (defect, status) in [("", 0), ("defect=history-tag-missing", 1)] as [(String, Int32)] {
      expect(try run([steps], "lock: sesame5", on: "sesame5?\(link)\(defect)").status, status)
    }
  }

  @Test("what is or is not so may be given yes, on, true or nothing, and no, off or false")
  func flags() throws {
    let values = ["yes", "on", "true", "no", "off", "false"]
    let faults = ["jam", "no-power", "out-of-range", "power-cycle", "reflect", "unsubscribe"]
    let steps = faults.flatMap { name in values.map { "fault: { \(name): \($0) }" } + ["fault: \(name)"] }
    let folder = try Command.Folder()
    let head = "scenario: Yes\nmachine: sesame\ndevice: { lock: sesame5, link: radio }\nsteps:\n"
    let lines = (steps + ["register: { login: yes }"]).map { "  - \($0)\n" }
    try folder.write("yes.yaml", head + lines.joined())
    let result = try Command.call("validate", "yes.yaml", in: folder.path)
    expect(result.status, 0)
    #expect(result.errors.isEmpty, "\(result.errors)")
  }

  @Test("a fault that takes no particulars may be given yes", arguments: ["wrong-key", "replay-login"])
  func plainFault(name: String) throws {
    let result = try run(
      [
        [
          "fault: { \(name): yes }", "closeTo", "connect", "until: { status: logining }",
          "expect: { status: noSignal, within: 11 s }",
        ]
      ], "lock: sesame5", on: "sesame5")
    expect(result.status, 0)
  }
}
