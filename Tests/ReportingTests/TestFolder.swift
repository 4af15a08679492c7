import Foundation
import Reporting
import System
import Testing
import TestSupport

/// A directory of its own for one test, removed with it.
final class TestFolder {
  let directory: URL

  init() throws {
    directory = FileManager.default.temporaryDirectory.appendingPathComponent("lockstep-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(at: directory)
  }

  func path(_ name: String) -> String { directory.appendingPathComponent(name).path }

  /// Writes a file, in a folder if the name has one, and gives its path.
  func file(_ name: String, _ bytes: [UInt8]) throws -> String {
    let place = directory.appendingPathComponent(name)
    try FileManager.default.createDirectory(
      at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(bytes).write(to: place)
    return path(name)
  }

  func text(_ name: String) throws -> String {
    String(decoding: try Data(contentsOf: directory.appendingPathComponent(name)), as: UTF8.self)
  }

  /// Makes a report of a journal and gives its text and what it counts.
  func report(_ journal: [UInt8], manifest: String? = nil) throws -> (xml: String, report: JUnitReport) {
    let manifest = try manifest.map { try file("manifest.json", Array($0.utf8)) }
    let report = try JUnitReport.write(
      journal: file("journal.jsonl", journal), manifest: manifest, to: path("junit.xml"))
    return (try text("junit.xml"), report)
  }

  func report(_ lines: [String], manifest: String? = nil) throws -> (xml: String, report: JUnitReport) {
    try report(Array(lines.map { $0 + "\n" }.joined().utf8), manifest: manifest)
  }
}

/// A whole journal of the given lines between its first and its last.
func journal(_ lines: [String], cases: Int, status: Int = 0) -> [String] {
  [#"{"run":{"format":1,"seed":42}}"#] + lines
    + [#"{"end":{"cases":\#(cases),"status":\#(status)}}"#]
}

/// The lines of a case that ends with a verdict.
func caseLines(
  _ id: String, _ word: String = "agree", file: String? = nil, time: String = "1.000"
) -> [String] {
  let file = file.map { #","file":"\#($0)""# } ?? ""
  return [
    #"{"case":{"id":"\#(id)"\#(file)}}"#, #"{"verdict":"\#(word)","case":"\#(id)","t":"\#(time)"}"#,
  ]
}

/// Runs a program and gives its exit status and what it printed.
func run(_ program: String, _ arguments: [String]) throws -> (status: Int32, output: Data, errors: String) {
  let result = try Program.run("/usr/bin/env", [program] + arguments)
  return (result.status, result.output, String(decoding: result.errors, as: UTF8.self))
}

extension JUnitReport {
  /// Writes the report of some journals.
  static func write(
    journals: [String], manifests: [String] = [], to path: String, profile: JUnitProfile = .ci,
    largest: Int = 25_000_000
  ) throws(FileFault) -> JUnitReport {
    try RecordedRuns(journals: journals, manifests: manifests).writeJUnit(
      to: path, profile: profile, largest: largest)
  }

  /// Writes the report of one journal.
  static func write(
    journal: String, manifest: String? = nil, to path: String, profile: JUnitProfile = .ci
  ) throws(FileFault) -> JUnitReport {
    try write(journals: [journal], manifests: manifest.map { [$0] } ?? [], to: path, profile: profile)
  }
}

extension HTMLReport {
  /// Writes the page about some journals.
  @discardableResult
  static func write(
    journals: [String], manifests: [String] = [], to path: String, history: (any CaseHistorySource)? = nil,
    scenariosBelow folder: String = Host.folder
  ) throws(FileFault) -> HTMLReport {
    try RecordedRuns(journals: journals, manifests: manifests).writeHTML(
      to: path, history: history, scenariosBelow: folder)
  }
}
