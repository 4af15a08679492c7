import Basics
import Conformance
public import Journal
public import System

/// The report of a finding, which a worker process sends to the process that started it.
public struct FindingNotice: Equatable {
  /// The number of the finding in the campaign.
  public var number = 0
  /// The signature, which identifies it.
  public var signature = ""
  /// The number of events in its shortest test.
  public var length = 0
  /// How it was confirmed, as text.
  public var confirmation = ""
  /// Whether there is a verdict.
  public var isSure = false
  /// Whether it ends a campaign; see ``Finding/endsCampaign``.
  public var endsCampaign = false
  /// The description for people.
  public var lines: [String] = []
  /// How it was found, for verbose output.
  public var origin: [String] = []
  /// The steps of its test, one a line.
  public var steps: [String] = []
  /// The steps with their observations, in one sentence.
  public var sentence = ""
  /// The path of the saved scenario.
  public var path = ""
  /// The replay command.
  public var replay = ""
  /// The record for the journal.
  public var record = Record.Finding.blank
}

extension FindingNotice: Recorded {
  public static let blank = FindingNotice()
  public static let noun = "a finding"
  public static let fields: [Field<Self>] = [
    .needed("number", \.number, .count), .needed("signature", \.signature, .text),
    .needed("length", \.length, .count), .needed("confirmation", \.confirmation, .text),
    .needed("isSure", \.isSure, .flag), .needed("endsCampaign", \.endsCampaign, .flag),
    .needed("lines", \.lines, .list(.text)),
    .usual("origin", \.origin, .list(.text)), .needed("steps", \.steps, .list(.text)),
    .needed("sentence", \.sentence, .text), .needed("path", \.path, .text),
    .needed("replay", \.replay, .text),
    .needed("record", \.record, .object()),
  ]
}

extension FindingNotice {
  /// The evidence that decides which of several findings with one signature is kept.
  var evidence: Record.Finding.Evidence {
    Record.Finding.Evidence(isSure ? .diverged : .labFault, shortest: length)
  }

  public init(_ finding: Finding, _ scenario: Scenario, path: String, replay: String) {
    let confirmation = "\(finding.confirmation)"
    let outcome = Outcome(.divergence(finding.divergence), at: finding.divergence.time)
    self.init(
      number: finding.number, signature: finding.signature, length: finding.test.choices.count,
      confirmation: confirmation, isSure: finding.whyNoVerdict == nil, endsCampaign: finding.endsCampaign,
      lines: [finding.divergence.summary] + outcome.details + finding.asides,
      origin: [finding.origin, finding.confirmation.weight],
      steps: scenario.stepLines, sentence: finding.sentence, path: path, replay: replay,
      record: finding.record(path: path))
  }

  /// The same report with another number.
  public func numbered(_ number: Int) -> FindingNotice {
    var notice = self
    notice.number = number
    notice.record.number = number
    return notice
  }

  /// The text for people.
  ///
  /// - Parameter isVerbose: whether to include how it was found.
  public func text(_ paint: Painter, isVerbose: Bool = false) -> String {
    let head = paint(
      isSure ? .bad : .warning, "\(isSure ? "✘" : "…") finding \(number): \(confirmation)")
    var all = [head] + (lines + (isVerbose ? origin : [])).map { "    " + $0 }
    all += steps.map { "      " + paint(.faint, $0) }
    if !sentence.isEmpty { all.append("    " + sentence) }
    all.append("  " + replay)
    return all.joined(separator: "\n") + "\n"
  }
}

extension Finding {
  /// The comments at the top of its file.
  public var comments: [String] { [divergence.summary, origin, "\(confirmation)"] + asides }

  /// How it was found and shrunk, as text.
  fileprivate var origin: String {
    "found after \(foundAt) events in a test of \(foundLength), "
      + (shrinking.runs == 0
        ? "with those before it \(test.choices.count)"
        : "shrunk to \(test.choices.count) with \(shrinking.runs) runs of \(shrinking.events) events")
      + ": \(shrinking.end)"
  }

  /// Its relation to earlier requests to the device, and to the reference device.
  fileprivate var asides: [String] { [past?.text, twin?.text].compactMap(\.self) }
}
