import Foundation
import TestSupport
import Testing

@Suite("Keywords of Robot Framework", .timeLimit(.minutes(10)), .needs(.robot))
struct RobotTests {
  private func folder() throws -> Command.Folder {
    let folder = try Command.Folder()
    let library = try Command.run("bindings", "robot")
    expect(library.status, 0)
    try folder.write("LockstepLibrary.py", library.output)
    try folder.write("Scenarios/unlock.yaml", TestFrameworks.unlock)
    try folder.write("Scenarios/lock.yaml", TestFrameworks.lock)
    try folder.write("Scenarios/door.yaml", TestFrameworks.door)
    return folder
  }

  /// Runs a test with one line, and gives how it ended and its message.
  private func robot(
    _ line: String, in folder: Command.Folder, beside other: String = ""
  ) throws -> (end: String, message: String) {
    try folder.write(
      "one.robot",
      "*** Settings ***\nLibrary    LockstepLibrary    seed=3\n\(other)\n*** Test Cases ***\nOne\n    \(line)\n"
    )
    let bin = URL(filePath: Tool.robot.path).deletingLastPathComponent().path
    let result = try Command.shell(
      """
      '\(bin)/robot' --pythonpath . --log none --report none --console none one.robot
      '\(bin)/python' -c "from robot.api import ExecutionResult
      test = ExecutionResult('output.xml').suite.tests[0]
      print(test.status, test.message, sep=chr(10))"
      """, in: folder.path)
    expect(result.errors, "")
    let parts = result.output.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
    let message = parts.count > 1 ? parts[1].trimmingCharacters(in: .newlines) : ""
    return (String(parts[0]), message)
  }

  @Test("in one job of several of a pipeline all that a keyword has is run, unless it takes a part")
  func pipeline() throws {
    let folder = try folder()
    let prepared =
      "Set Environment Variable    CI_NODE_INDEX    2\n    Set Environment Variable    CI_NODE_TOTAL    4\n    "
    for (line, count) in [
      ("Run Scenarios", 3), ("Run Scenario    Scenarios    None    None    --shard=1/3", 1),
    ] {
      let end = try robot(prepared + line, in: folder, beside: "Library    OperatingSystem\n")
      expect(end.end, "PASS")
      #expect(
        try folder.read("Reports/junit.xml").contains("<testsuites name=\"lockstep\" tests=\"\(count)\""),
        "\(line)")
    }
  }

  private static let lags = "device=\(TestFrameworks.broken)"

  @Test(
    "how each keyword ends",
    arguments: [
      ("Run Scenario    Scenarios/unlock.yaml", "PASS", ""),
      ("Run Scenarios    Scenarios    filter=path(lock)", "PASS", ""),
      (
        "Run Scenario    Scenarios/unlock.yaml    \(lags)", "FAIL",
        "Scenarios/unlock.yaml:12   diverged at step 7"
      ),
      ("Run Scenarios    Scenarios    \(lags)", "FAIL", "\n  lockstep replay Reports/failures/unlock-"),
      (
        "Run Scenario    Scenarios/door.yaml    \(lags)", "SKIP",
        "sesame5 cannot be compared with the machine door"
      ),
      (
        "Run Scenarios    device=exec:/nowhere", "FAIL",
        "LabTrouble: Scenarios/door.yaml:1   trouble in the lab"
      ),
      (
        "Run Scenario    nowhere.yaml", "FAIL",
        "LockstepError: nothing came of it (lockstep ended with status 2)"
      ),
      ("Run Scenarios    Scenarios    filter=none()", "FAIL", "LockstepError: nothing was run"),
      ("Replay    Scenarios/unlock.yaml", "PASS", ""),
      ("Replay    Scenarios/unlock.yaml    \(lags)", "FAIL", "diverged at step 7"),
      ("Fuzz Machine    sesame    events=200", "PASS", ""),
      (
        "Fuzz Machine    sesame    5k    device=emulator:sesame5?defect=status-lags-one-behind", "FAIL",
        "\n  lockstep replay Reports/failures/fuzz-sesame-"
      ),
      ("Fuzz Machine    sesame    100    device=exec:/nowhere", "FAIL", "LabTrouble: "),
      ("Fuzz Machine    sesami    100", "FAIL", "did you mean `sesame`?"),
      (
        "Run Scenario    Scenarios/lock.yaml    emulator:sesame5    3    --retries=frog", "FAIL",
        "'--retries' expects"
      ),
    ])
  func ends(line: String, end: String, words: String) throws {
    let folder = try folder()
    let (found, message) = try robot(line, in: folder)
    expect(found, end)
    if words.isEmpty { expect(message, "") } else { #expect(message.contains(words), "\(message)") }
  }

  @Test("a verdict's weight is what a keyword returns, and trouble can be told from a divergence")
  func values() throws {
    let folder = try folder()
    expect(
      try robot(
        "${count}=    Run Scenario    Scenarios/door.yaml\n    Should Be Equal    ${count}    ${2}",
        in: folder
      ).end,
      "PASS")
    let expected = "Run Keyword And Expect Error    LabTrouble: *    Run Scenario    Scenarios/unlock.yaml"
    expect(try robot("\(expected)    device=exec:/nowhere", in: folder).end, "PASS")
    expect(try robot("\(expected)    \(Self.lags)", in: folder).end, "FAIL")
  }

  @Test("a command that is not there is said, and where it is looked for")
  func missing() throws {
    let folder = try folder()
    try folder.write(
      "LockstepLibrary.py",
      folder.read("LockstepLibrary.py").replacing(
        "def __init__(self, device=None, seed=None, out=\"Reports\", command=None",
        with: "def __init__(self, device=None, seed=None, out=\"Reports\", command=\"/nowhere/lockstep\""))
    let message = try robot("Run Scenario    Scenarios/lock.yaml", in: folder).message
    #expect(
      message.hasPrefix("LockstepError: lockstep cannot be started: /nowhere/lockstep: No such file"),
      "\(message)")
  }

  @Test("libdoc makes the page of the keywords, each with its documentation")
  func documentation() throws {
    let folder = try folder()
    let libdoc = URL(filePath: Tool.robot.path).deletingLastPathComponent().path + "/libdoc"
    let list = try Command.shell("'\(libdoc)' -P . LockstepLibrary list", in: folder.path)
    expect(list.output, "Fuzz Machine\nReplay\nRun Scenario\nRun Scenarios\n")
    expect(list.errors, "")
    let shown = try Command.shell("'\(libdoc)' -P . LockstepLibrary show", in: folder.path).output
    #expect(
      shown.components(separatedBy: "Documentation\n").count - 1 >= 4 && shown.contains("events"), "\(shown)")
  }
}
