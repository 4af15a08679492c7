import Foundation
import TestSupport
import Testing

@Suite("Annotations by the command", .timeLimit(.minutes(10)))
struct AnnotationCommandTests {
  /// A folder with a scenario that a lock fails which says each status too late, and one that it does not.
  private func folder() throws -> Command.Folder {
    let folder = try Command.Folder()
    try folder.write("Scenarios/unlock.yaml", TestFrameworks.unlock)
    try folder.write("Scenarios/lock.yaml", TestFrameworks.lock)
    return folder
  }

  private func commands(_ text: String) -> [String] {
    text.split(separator: "\n").map(String.init).filter { $0.hasPrefix("::") }
  }

  @Test(
    "a broken lock is an error at the line of its step, a healthy one is nothing, and reports tell the same again"
  )
  func run() throws {
    let folder = try folder()
    let result = try Command.call(
      "run", "--device", TestFrameworks.broken, "--annotations", "github", in: folder.path)
    expect(result.status, 1)
    let told = commands(result.errors)
    expect(told.count, 1)
    let start =
      "::error file=Scenarios/unlock.yaml,line=12,title=An unlock is told "
      + "[defect=status-lags-one-behind]%3A diverged at step 7::"
    #expect(told[0].hasPrefix(start) && told[0].contains("%0Alockstep replay Reports/failures/"), "\(told)")
    expect(commands(result.output), [])
    let run = try #require(folder.names("Reports/runs").first)
    let again = try Command.call(
      "report", run, "--annotations", "github", in: folder.path)
    expect(again.status, 1)
    expect(commands(again.errors), told)
    let healthy = try Command.call("run", "--annotations", "github", in: folder.path)
    expect(healthy.status, 0)
    expect(commands(healthy.errors), [])
  }

  @Test("nothing is told unless it is asked for, on GitHub neither")
  func unasked() throws {
    let folder = try folder()
    let result = try Command.shell(
      "GITHUB_ACTIONS=true $LOCKSTEP run --device '\(TestFrameworks.broken)'", in: folder.path)
    expect(result.status, 1)
    expect(commands(result.errors + result.output), [])
  }

  @Test("trouble of the lab is a warning")
  func trouble() throws {
    let folder = try folder()
    let result = try Command.call(
      "run", "--device", "exec:/nowhere/at/all", "--annotations", "github", in: folder.path)
    expect(result.status, 3)
    let told = commands(result.errors)
    expect(told.count, 2)
    #expect(told.allSatisfy { $0.hasPrefix("::warning file=Scenarios/") }, "\(told)")
  }

  @Test("what a campaign found is told at the scenario that it saved")
  func fuzz() throws {
    let folder = try folder()
    let result = try Command.call(
      "fuzz", "sesame", "--device", "emulator:sesame5?defect=status-lags-one-behind", "--seed", "3",
      "--steps", "5k",
      "--annotations", "github",
      in: folder.path)
    expect(result.status, 1)
    let saved = try #require(folder.names("Reports/failures").first)
    let told = commands(result.errors)
    expect(told.count, 1)
    // At its last step, which is the one that shows it.
    let lines = try folder.read("Reports/failures/\(saved)").split(
      separator: "\n", omittingEmptySubsequences: false)
    let line = try #require(lines.lastIndex { $0.hasPrefix("  - ") }) + 1
    #expect(
      told[0].hasPrefix("::error file=Reports/failures/\(saved),line=\(line),title="), "\(told)")
  }

  @Test(
    "a wrong word",
    arguments: [
      ("githb", "'--annotations' expects one of github, not 'githb': did you mean 'github'?"),
      ("gitlab", "'--annotations' expects one of github, not 'gitlab'"),
      ("github=a", "not 'github=a'"),
    ])
  func refusals(word: String, words: String) throws {
    let folder = try folder()
    let result = try Command.call("run", "--annotations", word, in: folder.path)
    expect(result.status, 2)
    #expect(result.errors.contains(words), "\(result.errors)")
  }
}
