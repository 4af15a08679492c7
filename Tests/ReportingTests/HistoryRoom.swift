import Journal
import Foundation
import TestSupport

@testable import Reporting

/// A history of its own for a test.
struct HistoryRoom {
  /// The databases that a test runs with.
  enum Kind: String, CaseIterable {
    case sqlite, postgres

    /// Those that are there.
    static var present: [Kind] { PostgresServer.isThere ? [.sqlite, .postgres] : [.sqlite] }
  }

  let scratch: TestFolder
  let place: HistoryPlace

  init(_ kind: Kind) throws {
    scratch = try TestFolder()
    switch kind {
    case .sqlite: place = .file(scratch.path("deep/below/history.sqlite"))
    case .postgres:
      guard let server = PostgresServer.shared else { throw HistoryRoomError.noServer }
      place = .postgres(try server.newDatabase())
    }
  }

  enum HistoryRoomError: Error { case noServer }

  func history(_ purpose: History.Purpose = .adding) throws -> History { try History(place, for: purpose) }
}

/// A night's run: a letter for each of its cases, from "a" on.
///
/// `.` agrees, `~` agrees at the second try, `F` diverges, `L` is trouble in the lab, `s` is skipped, `i` incomplete, and
/// a blank is a case that the run does not have.
func night(
  _ day: Int, _ letters: String, host: String = "bench-01", name: String? = nil,
  setting: RunRecord.Setting = .init(
    device: "emulator:door", firmware: "3.0", machine: "door", model: "8f31"),
  milliseconds: (Int) -> Int64 = { Int64($0 + 1) * 1000 }
) -> RunRecord {
  let date = "2026-01-\(day < 10 ? "0" : "")\(day)"
  var record = RunRecord(
    identity: .init(
      host: host, name: name ?? "\(date)-run", started: "\(date)T02:00:00Z", seed: "42"),
    started: "\(date)T02:00:00Z")
  record.seed = "42"
  record.revision = "61f6abf"
  record.version = "1.0"
  record.status = letters.contains("F") ? 1 : 0
  for (index, letter) in letters.enumerated() where letter != " " {
    let endings: [Character: Record.Ending] = [
      ".": .agreed, "~": .flaky, "F": .diverged, "L": .labFault, "s": .skipped, "i": .incomplete,
    ]
    var result = RunRecord.Result(
      className: "Scenarios.door", name: "case \(Character(Unicode.Scalar(UInt8(97 + index))))",
      ending: endings[letter]!, milliseconds: milliseconds(index))
    result.attempts = letter == "~" ? 2 : 1
    result.setting = setting
    if letter == "F" || letter == "~" {
      result.signature = "sig-\(index)"
      result.message = "the door stayed open"
    }
    record.results.append(result)
  }
  return record
}
