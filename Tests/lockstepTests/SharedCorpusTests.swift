import Foundation
import TestSupport
import Testing

/// Campaigns of several processes and hosts: the tests that they share, and the parts of a job.
@Suite("Campaigns that belong together", .timeLimit(.minutes(10)))
struct SharedCorpusTests {
  @Test(
    "a corpus in a database is read by the next campaign, but not by the same job, and its password is said nowhere",
    .enabled(if: PostgresServer.isThere))
  func reading() throws {
    let folder = try Command.Folder()
    let url = try #require(PostgresServer.shared).newDatabase() + "&password=hidden-word"
    func fuzz(_ job: String, _ shard: Int) throws -> Command.Result {
      try Command.shell(
        "LOCKSTEP_JOB=\(job) $LOCKSTEP fuzz door -v --shard \(shard)/3 --steps 2k --corpus '\(url)' --out \(job)-\(shard)",
        in: folder.path)
    }
    let results = [try fuzz("first", 1), try fuzz("first", 2), try fuzz("second", 1)]
    for (result, isNew) in zip(results, [true, true, false]) {
      expect(result.status, 0)
      #expect((result.output + result.errors).contains(", door: 0 tests") == isNew, "\(result)")
      #expect(!(result.output + result.errors).contains("hidden-word"))
    }
    expect(folder.files(with: "hidden-word"), [])
    let nowhere = try Command.line(
      "fuzz door --steps 10 --corpus 'postgres:///x?host=/nowhere'", in: folder.path)
    expect(nowhere.status, 2)
    #expect(nowhere.errors.contains("--corpus: "), "\(nowhere.errors)")
  }

  @Test(
    "a corpus in a database is of use wherever the file of its machine lies",
    .enabled(if: PostgresServer.isThere))
  func elsewhere() throws {
    let folder = try Command.Folder()
    let url = try #require(PostgresServer.shared).newDatabase()
    let door = try Command.line("machines door --format yaml").output
    let lines = try [("a", "door.yaml"), ("b", "c/own.yaml")].map { host, machine in
      try folder.write("\(host)/\(machine)", door)
      let result = try Command.line(
        "fuzz \(machine) -v --device emulator:door --seed 1 --steps 2k --corpus '\(url)'",
        in: folder.path + "/" + host)
      expect(result.status, 0)
      return result.output.split(separator: "\n").filter { $0.contains("corpus  ") }.joined(separator: "\n")
    }
    #expect(lines[0].hasSuffix(", door: 0 tests"), "\(lines)")
    #expect(lines[1].contains(/, door: [1-9][0-9]* tests?$/), "\(lines)")
  }

  @Test("a part of a job that is killed, or is started twice, changes nothing about what the job comes to")
  func job() throws {
    var reports: [[String]] = []
    for starts in [[1, 2, 3], [3, 3, -2, 2, 1, -3]] {
      let folder = try Command.Folder()
      for start in starts {
        let fuzz =
          "LOCKSTEP_JOB=J $LOCKSTEP fuzz sesame-table --device 'emulator:reference?defect=deaf-unlock' --keep-going --steps 4k "
          + "--shard \(abs(start))/3 --out R/\(abs(start)) --html none --history none -q"
        let line =
          start > 0
          ? fuzz
          : """
          \(fuzz) & until [ -e R/\(-start)/corpus ]; do sleep 0.01; done
          kill -KILL $!; sleep 0.1
          """
        _ = try Command.shell(line, in: folder.path)
      }
      let merged = try Command.line(
        "report --reproducible --out R R/[123]/runs/*", in: folder.path)
      expect(merged.status, 1)
      reports.append([try folder.read("R/junit.xml"), try folder.read("R/report.html")])
    }
    expect(reports[0], reports[1])
    #expect(
      reports[0][0].contains("the device"), "there is something to compare: \(reports[0][0].prefix(2000))")
  }
}
