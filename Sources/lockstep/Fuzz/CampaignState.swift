import Reporting
import Journal
import Conformance
import Documents
import Harness
import Basics

/// What it takes to go on with a campaign: `campaign.json` in the folder of its run.
struct CampaignState {
  /// The file's name.
  static let file = "campaign.json"
  /// The version of the format.
  private static let format = 1

  /// A finding that is known.
  struct Known: Recorded {
    var signature = ""
    var path = ""
    var length = 0
    var count = 0

    static let blank = Known()
    static let noun = "a finding"
    static let fields: [Field<Self>] = [
      .needed("signature", \.signature, .text), .needed("file", \.path, .text),
      .needed("length", \.length, .count), .needed("count", \.count, .count),
    ]
  }

  /// The machine, as it was named.
  var machine: String
  /// The device, as it was named.
  var device: String
  var twin: String?
  var seed: UInt64
  /// How often it was taken up again.
  var round = 0
  /// What else was asked for, as options.
  var options: [String] = []
  /// How far it is.
  var status = CampaignStatus()
  /// How long it was explored.
  var elapsed = Interval.zero
  var findings: [Known] = []
  /// What was visited of the table, as `CellCoverage.digits`.
  var cells: [String] = []
  /// What was visited, counted.
  var coverage: Coverage?
  /// The version of its format.
  var format = Self.format
}

extension CampaignState: Recorded {
  static let blank = CampaignState(machine: "", device: "", seed: 0)
  static let noun = "the state of a campaign"
  static let fields: [Field<Self>] = [
    .needed("format", \.format, .count), .needed("machine", \.machine, .text),
    .needed("device", \.device, .text), .extra("twin", \.twin, .text), .needed("seed", \.seed, .seed),
    .needed("round", \.round, .count), .needed("options", \.options, .list(.text)),
    .needed("nanoseconds", \.nanoseconds, .count), .needed("status", \.status, .object()),
    .needed("findings", \.findings, .list(.object())),
    .known("legal", { $0.coverage.map { counts($0.total.legal) } }, .list(.count)),
    .known("empty", { $0.coverage.map { counts($0.total.empty) } }, .list(.count)),
    .needed("visited", \.cells, .list(.text)),
  ]

  private var nanoseconds: Int {
    get { Int(elapsed.nanoseconds) }
    set { elapsed = Interval(nanoseconds: Int64(newValue)) }
  }

  private static func counts(_ share: CellCoverage.Share) -> [Int] { [share.visited, share.count] }
}

extension CampaignState {
  /// Reads the file's text; `nil` when it is none that this version understands.
  init?(text: [UInt8]) {
    guard let state = try? CampaignState(JSON(parsing: text)), state.format == Self.format else { return nil }
    self = state
  }

  /// Reads the state of a run: by the name that its folder has under `OUT/runs`, or by the folder's path.
  ///
  /// - Returns: the state, with all that the journal holds, and the folder, which this process holds from now on.
  static func read(
    _ run: String, out: String
  ) throws(UsageError) -> (state: CampaignState, run: EarlierRun) {
    let run = try EarlierRun(run, out: out, with: file, saying: "--resume: ")
    let path = run.folder + "/" + file
    let bytes = try checked("--resume: ") {
      try ScenarioFiles.read(path, limits: Limits(bytes: 64 << 20))
    }
    guard var state = CampaignState(text: bytes) else {
      throw UsageError("--resume: \(path) is no state of a campaign that is understood")
    }
    state.adopt(RunSummary(journals: [run.folder + "/journal.jsonl"]))
    return (state, run)
  }

  /// Takes in what the journal has and the state does not: a campaign may have been killed between the two.
  private mutating func adopt(_ summary: RunSummary) {
    for finding in summary.findings where !findings.contains(where: { $0.signature == finding.signature }) {
      // One whose case is not at its end is to be found again, as is one that did not show again.
      guard let path = finding.file,
        summary.failures.contains(where: {
          $0.id == CampaignJournal.id(ofSaved: path) && $0.word == .divergence
        })
      else { continue }
      findings.append(Known(signature: finding.signature, path: path, length: finding.shortest, count: 1))
    }
  }
}
