import Basics
import Foundation
import TestSupport
import Testing

/// Runs whose history cannot be written when they are over.
@Suite("Runs that could not be sent to the history")
struct UnsentRunTests {
  /// What lies at the place of the history, and what is said of it.
  private static let troubles: [(lies: Obstacle, said: String)] = [
    (
      .text,
      "the history at Reports/history.sqlite is damaged: file is not a database. Put it aside: 'lockstep history add RUN…' fills a new one from the journals"
    ),
    (.folder, "the history at Reports/history.sqlite cannot be used: unable to open database file"),
    (
      .otherDatabase,
      "the history at Reports/history.sqlite cannot be used: it is a database of another program"
    ),
  ]

  /// What may lie where the history should be.
  private enum Obstacle {
    case text, folder, otherDatabase

    /// Puts it there.
    func place(in folder: Command.Folder) throws {
      let name = "Reports/history.sqlite"
      switch self {
      case .text: try folder.write(name, "nothing of a database, and long enough for its head\n")
      case .folder: try folder.makeFolder(name)
      case .otherDatabase:
        try folder.makeFolder("Reports")
        let script = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('create table t (a)')"
        expect(python(script, [folder.path + "/" + name]).output, "")
      }
    }
  }

  @Test(
    "keep their status and reports, are noted, and sent once, in order, by the next run",
    arguments: troubles.indices)
  func file(_ index: Int) throws {
    let trouble = Self.troubles[index]
    let folder = try Command.Folder()
    func run() throws -> Command.Result {
      try Command.line("run '\(Command.root)/Scenarios/door' -q", in: folder.path)
    }
    try trouble.lies.place(in: folder)
    let away = [try run(), try run()]
    expect(away.map(\.status), [0, 0])
    expect(away.map(\.output), ["", ""])
    let words = """
      lockstep: \(trouble.said)
        the report says nothing of earlier runs
      lockstep: \(trouble.said)
        1 run noted in Reports/unsent: the next run sends what is there to the history, or 'lockstep history'

      """
    expect(away.map(\.errors), [words, words])
    expect(folder.names("Reports/unsent").count, 2)
    // Before anything of it is removed, the history must have it.
    let clean = try Command.line("clean --older 0h", in: folder.path)
    expect(clean.output.components(separatedBy: "not in its history yet").count - 1, 2)
    for name in folder.names("Reports") where name.hasPrefix("history.sqlite") {
      folder.remove("Reports/" + name)
    }
    let next = try run()
    expect([next.output, "\(next.status)"], ["", "0"])
    expect(
      next.errors,
      "lockstep: 2 runs that could not be sent earlier: now in the history at Reports/history.sqlite\n")
    expect(folder.names("Reports/unsent").filter { !$0.hasPrefix(".") }, [])
    let runs = try Command.line("history runs --format json", in: folder.path)
    expect(runs.errors, "")
    expect(try JSON(parsing: Array(runs.output.utf8))["runs"]?.elements?.count, 3)
  }

  @Test("are sent by whoever asks; a server that is away is tried again for a while")
  func server() throws {
    let folder = try Command.Folder()
    let place = "--history 'postgres://me:hunter2@/db?host=/none'"
    let run = try Command.line(
      "run '\(Command.root)/Scenarios/door' -q --html none \(place)", in: folder.path)
    expect([run.output, "\(run.status)"], ["", "0"])
    let said = "lockstep: the history at postgres:///db cannot be reached: "
    #expect(
      run.errors.hasPrefix(said) && run.errors.components(separatedBy: said).count == 2, "\(run.errors)")
    let note = try #require(folder.names("Reports/unsent").first { $0.hasSuffix(".json") })
    let text = try folder.read("Reports/unsent/" + note)
    #expect(text.contains(#""postgres:///db""#) && !text.contains("hunter2"), "\(text)")
    // What is noted for one history is not sent to another.
    let other = try Command.line("history runs", in: folder.path)
    expect([other.output, "\(other.status)"], ["", "4"])
    try folder.write(
      "Reports/unsent/" + note,
      text.replacingOccurrences(of: "postgres:///db", with: "Reports/history.sqlite"))
    let asked = try Command.line("history runs --format json", in: folder.path)
    expect(
      asked.errors,
      "lockstep: 1 run that could not be sent earlier: now in the history at Reports/history.sqlite\n")
    expect(try JSON(parsing: Array(asked.output.utf8))["runs"]?.elements?.count, 1)
  }
}
