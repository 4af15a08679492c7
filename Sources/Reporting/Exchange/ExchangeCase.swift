import Basics
import Journal
import System

/// A case for interchange formats: how each of its attempts ended, when, and why.
struct ExchangeCase {
  /// One attempt.
  struct Attempt {
    var ending: Record.Ending
    var text: CaseText
    var time: CaseTime?
  }

  /// The class, which stays the same from run to run.
  let className: String
  let name: String
  /// The display name.
  let title: String
  let start: Record.Case
  let entry: JournalIndex.Entry
  /// How it ended, or how an attempt ended.
  let ending: Record.Ending
  /// The representative attempt, and all of them in order; if there are many, those in the middle are
  /// omitted.
  let main: CaseText
  let attempts: [Attempt]

  /// The folders of its scenario, from the outermost.
  var suites: [String] { className.split(separator: ".").map(String.init) }

  /// The parameters of the run, by name.
  var parameters: [(name: String, value: String)] {
    [
      ("machine", start.machine), ("device", start.device), ("firmware", start.firmware),
      ("seed", start.seed.map { String($0) }),
    ].compactMap { name, value in value.map { (name, $0) } }
  }

  init(_ entry: JournalIndex.Entry, _ texts: CaseTexts, of suite: String) {
    let outcome = CaseOutcome(entry, texts)
    (className, self.entry, main) = (suite, entry, outcome.main)
    start = outcome.main.start
    (name, title) = (caseName(of: start, copy: entry.copy), caseTitle(of: start, copy: entry.copy))
    ending = entry.ending ?? .incomplete
    let first = texts.attempts.first?.start.attempt ?? 1
    attempts = texts.attempts.map { text in
      let number = text.start.attempt - first
      let time =
        entry.attemptTimes.isEmpty
        ? entry.time : number < entry.attemptTimes.count ? entry.attemptTimes[number] : nil
      return Attempt(ending: text.verdict?.ending() ?? .incomplete, text: text, time: time)
    }
  }
}

extension CaseTime {
  /// The beginning and the end in milliseconds since 1970.
  var range: (start: Int, stop: Int) {
    let start = Int(self.start.nanoseconds / 1_000_000)
    return (start, start + Int((Instant.zero + taken).milliseconds))
  }
}

extension Record.Attachment {
  /// The path for display, without leading `..`.
  var name: String { path.split(separator: "/").drop { $0 == ".." }.joined(separator: "/") }

  /// The media type.
  var mediaType: String {
    switch kind {
    case "packets": "application/x-ndjson"
    case "scenario": "application/yaml"
    default: "application/octet-stream"
    }
  }
}

extension RecordedRuns {
  /// Enumerates all cases that were not replaced by others, in the order of the reports.
  func forEachExchangeCase(_ body: (ExchangeCase) throws(FileFault) -> Void) throws(FileFault) {
    for suite in index.suites {
      for entry in suite.entries where entry.ending != nil {
        guard let texts = try index.sources[Int(entry.journal)].file?.texts(of: entry) else { continue }
        try body(ExchangeCase(entry, texts, of: suite.name))
      }
    }
  }

  /// The common properties of all runs.
  var manifest: Manifest { Manifest(index.sources.map(\.manifest)) }
}

/// An identifier in the form of a UUID that is derived from texts.
///
/// Source: RFC 9562, "Universally Unique IDentifiers", section 5.8.
func uuid(of parts: [String]) -> String {
  let halves = ["first", "second"].map { half in
    var fingerprint = Fingerprint(half)
    for part in parts { fingerprint.mix("\n\(part.utf8.count) \(part)") }
    return fingerprint.value
  }
  let digits = Array(
    (halves[0] & ~0xF000 | 0x8000).hex(digits: 16)
      + (halves[1] & ~(3 << 62) | 2 << 62).hex(digits: 16))
  return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }.joined(separator: "-")
}
