import Foundation
import TestSupport
import Testing

/// The rare tests of campaigns in PostgreSQL.
@Suite("A corpus that campaigns share", .enabled(if: PostgresServer.isThere), .timeLimit(.minutes(5)))
struct SharedCorpusTests {
  private func fuzz(
    _ shard: Int, _ url: String, in folder: Command.Folder, _ more: String = ""
  ) throws -> Command.Result {
    try Command.shell(
      "$LOCKSTEP fuzz door --job J --shard \(shard)/3 --steps 2k --corpus '\(url)' --out shard-\(shard) \(more)",
      in: folder.path)
  }

  @Test("is read by the next campaign, and its password is said nowhere")
  func reading() throws {
    let (folder, url) = (
      try Command.Folder(), try #require(PostgresServer.shared).newDatabase() + "&password=hidden-word"
    )
    let first = try fuzz(1, url, in: folder)
    #expect(first.status == 0 && (first.output + first.errors).contains(", door: 0 tests"), "\(first)")
    let second = try fuzz(2, url, in: folder)
    #expect(!(second.output + second.errors).contains(", door: 0 tests"), "\(second)")
    for result in [first, second] { #expect(!(result.output + result.errors).contains("hidden-word")) }
    let left = try Command.shell("grep -rl hidden-word shard-1 shard-2", in: folder.path)
    expect(left.output, "")
    let nowhere = try Command.shell(
      "$LOCKSTEP fuzz door --steps 10 --corpus 'postgres:///x?host=/nowhere'", in: folder.path)
    expect(nowhere.status, 2)
    #expect(nowhere.errors.contains("--corpus: "), "\(nowhere.errors)")
  }
}
