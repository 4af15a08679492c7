public import Basics
import Conformance
public import Journal

/// The state from which a campaign can resume: `campaign.json` in the folder of its run.
public struct CampaignState {
  /// The file's name.
  public static let file = "campaign.json"
  /// The version of the format.
  private static let format = 1

  /// A known finding.
  public struct Known: Recorded {
    public var signature = ""
    public var path = ""
    public var length = 0
    public var count = 0

    /// Makes a known finding.
    public init(signature: String = "", path: String = "", length: Int = 0, count: Int = 0) {
      self.signature = signature
      self.path = path
      self.length = length
      self.count = count
    }

    public static let blank = Known()
    public static let noun = "a finding"
    public static let fields: [Field<Self>] = [
      .needed("signature", \.signature, .text), .needed("file", \.path, .text),
      .needed("length", \.length, .count), .needed("count", \.count, .count),
    ]
  }

  /// The machine, as it was named.
  public var machine: String
  /// The machine's hash; `nil` in an older state.
  public var machineHash: String?
  /// The device, as it was named.
  public var device: String
  public var twin: String?
  public var seed: UInt64
  /// The number of resumptions.
  public var round = 0
  /// The other options.
  public var options: [String] = []
  /// The status of exploration.
  public var status = CampaignStatus()
  /// The time spent exploring.
  public var elapsed = Interval.zero
  public var findings: [Known] = []
  /// The visited cells of the table, as `CellCoverage.digits`.
  public var cells: [String] = []
  /// The coverage figures.
  public var coverage: Coverage?
  /// The version of the format.
  public var format = Self.format
}

extension CampaignState {
  /// The state of a campaign that has not begun.
  public init(machine: String, device: String, seed: UInt64) {
    (self.machine, self.device, self.seed) = (machine, device, seed)
  }
}

extension CampaignState: Recorded {
  public static let blank = CampaignState(machine: "", device: "", seed: 0)
  public static let noun = "the state of a campaign"
  public static let fields: [Field<Self>] = [
    .needed("format", \.format, .count), .needed("machine", \.machine, .text),
    .extra("hash", \.machineHash, .text), .needed("device", \.device, .text),
    .extra("twin", \.twin, .text), .needed("seed", \.seed, .seed),
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
  /// Reads the file's text; `nil` if this version does not support it.
  public init?(text: [UInt8]) {
    guard let state = try? CampaignState(JSON(parsing: text)), state.format == Self.format else { return nil }
    self = state
  }

  /// Adds what the journal contains and the state does not: a campaign may have been killed between the two writes.
  public mutating func adopt(_ summary: RunSummary) {
    // A finding whose case is incomplete, or that was not reproduced, may be found again.
    for finding in summary.confirmed where !findings.contains(where: { $0.signature == finding.signature }) {
      guard let path = finding.file else { continue }
      findings.append(Known(signature: finding.signature, path: path, length: finding.shortest, count: 1))
    }
  }
}
