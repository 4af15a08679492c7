import Basics
import Foundation
import TestSupport
import Testing

/// Reports of journals and to places that are not as they should be.
@Suite("Reports in spite of trouble")
struct SalvageTests {
  /// What is added to the end of a whole journal, what the report says of it, and what it ends with.
  private static let tails: [(added: String, said: String, status: Int32)] = [
    ("", "", 0), ("{\"t\":\"0.7", "", 0),
    (
      "lockstep: talk\n",
      "  journal  a line behind the end is no record and is left out: line LAST: not JSON at column 1: expected a JSON value\n",
      0
    ),
    (
      "lockstep: talk\n\n{}\nmore",
      "  journal  2 lines behind the end are no records and are left out: line LAST: not JSON at column 1: expected a JSON value\n",
      0
    ),
    // Behind what was not brought to its end, nobody knows what is missing.
    (
      "{\"run\":{\"format\":1,\"seed\":7}}\nlockstep: talk\n",
      "  journal  line NEXT: not JSON at column 1: expected a JSON value\n"
        + "  journal  incomplete: the run did not end, its journal just stops\n", 5
    ),
    (
      "lockstep: talk\n{\"run\":{\"format\":1,\"seed\":7}}\n{\"end\":{\"cases\":3,\"status\":0}}\n",
      "  journal  line LAST: not JSON at column 1: expected a JSON value\n", 5
    ),
  ]

  @Test("what other programs wrote behind the end of a journal is left out, and said")
  func tails() throws {
    let folder = try Command.Folder()
    let made = try Command.line("run '\(Command.root)/Scenarios/door' -q --history none", in: folder.path)
    folder.move("Reports/runs/" + (try #require(folder.names("Reports/runs").last)), to: "Reports/runs/run")
    expect([made.output, made.errors], ["", ""])
    let journal = try folder.read("Reports/runs/run/journal.jsonl")
    let next = journal.split(separator: "\n").count + 1
    for (added, said, status) in Self.tails {
      try folder.write("Reports/runs/run/journal.jsonl", journal + added)
      let result = try Command.line("report run -q --html none --history none", in: folder.path)
      let words = said.replacingOccurrences(of: "LAST", with: "\(next)")
        .replacingOccurrences(of: "NEXT", with: "\(next + 1)")
      expect([result.output, result.errors, "\(result.status)"], [words, "", "\(status)"])
    }
  }

  @Test(
    "where a report cannot be written it is said what holds, how to make it, and that it is no fault of the lock"
  )
  func full() throws {
    let folder = try Command.Folder()
    let results = try [
      "run '\(Command.root)/Scenarios/door' -q --junit /dev/full --history none",
      "report Reports/runs/* -q --junit /dev/full",
    ].map { try Command.line($0, in: folder.path) }
    let name = folder.names("Reports/runs").last ?? ""
    expect(results.map(\.status), [3, 3])
    expect(results.map(\.output), ["", ""])
    let words = "lockstep: the reports are not written: cannot write /dev/full: No space left on device\n"
    let report = "lockstep report Reports/runs/\(name) --junit /dev/full --history none"
    expect(
      results.map(\.errors), ["\(words)  once there is a place for them: \(report)\n", words])
  }

  @Test("a finding is the same case in whichever folder its reports are")
  func findings() throws {
    let folder = try Command.Folder()
    for out in ["a", "b/c"] {
      let device = "--device 'emulator:sesame5?defect=status-lags-one-behind'"
      let result = try Command.line(
        "fuzz sesame \(device) --seed 4 --steps 3000 -q --html none --out \(out)", in: folder.path)
      expect([result.errors, "\(result.status)"], ["", "1"])
    }
    func cases(_ out: String) throws -> [String] {
      let run = try #require(folder.names(out + "/runs").last)
      return try folder.read("\(out)/runs/\(run)/journal.jsonl").split(separator: "\n").map(String.init)
        .filter { $0.hasPrefix(#"{"case""#) }
    }
    let known = try cases("a")
    #expect(known.contains { $0.contains(#"{"case":{"id":"failures/fuzz-sesame-"#) }, "\(known)")
    expect(try cases("b/c"), known)
  }
}
