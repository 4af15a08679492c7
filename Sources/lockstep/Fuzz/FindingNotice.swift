import Conformance
import Harness
import Journal
import Basics

/// A finding as it is told of, also from one process to another.
struct FindingNotice: Equatable {
  /// The number among those of the campaign.
  var number: Int
  /// What tells it from others.
  var signature: String
  /// How many events its shortest test has.
  var length: Int
  /// How sure it is, in words.
  var confirmation: String
  /// Whether there is a verdict.
  var isSure: Bool
  /// Whether it ends a campaign; see ``Finding/endsCampaign``.
  var endsCampaign: Bool
  /// What a person reads of it.
  var lines: [String]
  /// The steps of its test.
  var steps: [String]
  /// Where it was saved.
  var path: String
  /// The line to paste that does it again.
  var replay: String
  /// What the journal says of it.
  var record: Record.Finding
}

extension FindingNotice {
  init(_ finding: Finding, _ scenario: Scenario, path: String, replay: String) {
    let confirmation = "\(finding.confirmation)"
    let outcome = Outcome(.divergence(finding.divergence), at: finding.divergence.time)
    self.init(
      number: finding.number, signature: finding.signature, length: finding.test.choices.count,
      confirmation: confirmation, isSure: finding.whyNoVerdict == nil, endsCampaign: finding.endsCampaign,
      lines: [finding.divergence.summary] + outcome.details
        + finding.comments.dropFirst().filter { $0 != confirmation },
      steps: scenario.stepLines, path: path, replay: replay, record: finding.record(path: path))
  }

  /// Reads what another process wrote; `nil` when it is none.
  init?(_ value: JSON) {
    guard let number = value["number"]?.int, let signature = value["signature"]?.string,
      let length = value["length"]?.int, let confirmation = value["confirmation"]?.string,
      let isSure = value["isSure"]?.bool, let endsCampaign = value["endsCampaign"]?.bool,
      let lines = value["lines"]?.strings,
      let steps = value["steps"]?.strings, let path = value["path"]?.string,
      let replay = value["replay"]?.string,
      let record = value["record"].flatMap({ try? Record.Finding($0) })
    else { return nil }
    self.init(
      number: number, signature: signature, length: length, confirmation: confirmation, isSure: isSure,
      endsCampaign: endsCampaign, lines: lines, steps: steps, path: path, replay: replay, record: record)
  }

  /// The same under another number.
  func numbered(_ number: Int) -> FindingNotice {
    var notice = self
    notice.number = number
    notice.record.number = number
    return notice
  }

  /// For another process.
  var message: JSON {
    [
      "number": .integer(number), "signature": .text(signature), "length": .integer(length),
      "confirmation": .text(confirmation), "isSure": .flag(isSure), "endsCampaign": .flag(endsCampaign),
      "lines": .list(lines.map(JSON.text)),
      "steps": .list(steps.map(JSON.text)), "path": .text(path), "replay": .text(replay),
      "record": record.json,
    ]
  }

  /// What a person reads, in full.
  func text(_ paint: Painter) -> String {
    let head = paint(
      isSure ? .bad : .warning, "\(isSure ? "✘" : "…") finding \(number): \(confirmation)")
    let all =
      [head] + lines.map { "    " + $0 } + steps.map { "      " + paint(.faint, $0) } + ["  " + replay]
    return all.joined(separator: "\n") + "\n"
  }
}

extension Finding {
  /// What stands at the top of its file.
  var comments: [String] {
    [
      divergence.summary,
      "found after \(foundAt) events in a test of \(foundLength), "
        + (shrinking.runs == 0
          ? "with those before it \(test.choices.count)"
          : "shrunk to \(test.choices.count) with \(shrinking.runs) runs of \(shrinking.events) events")
        + ": \(shrinking.end)", "\(confirmation)",
    ] + (past.map { [$0.text] } ?? []) + (twin.map { [$0.text] } ?? [])
  }
}
