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
  struct Known: Equatable {
    var signature: String
    var path: String
    var length: Int
    var count: Int
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
}

extension CampaignState {
  /// The file's text.
  var text: String {
    let known = findings.map { known -> JSON in
      [
        "signature": .text(known.signature), "file": .text(known.path), "length": .integer(known.length),
        "count": .integer(known.count),
      ]
    }
    func share(_ share: CellCoverage.Share) -> JSON { [.integer(share.visited), .integer(share.count)] }
    return JSON.known([
      "format": .integer(Self.format), "machine": .text(machine), "device": .text(device),
      "twin": twin.map(JSON.text), "seed": .integer(seed), "round": .integer(round),
      "options": .list(options.map(JSON.text)), "nanoseconds": .integer(elapsed.nanoseconds),
      "status": status.json, "findings": .list(known), "legal": coverage.map { share($0.total.legal) },
      "empty": coverage.map { share($0.total.empty) }, "visited": .list(cells.map(JSON.text)),
    ]).pages
  }

  /// Reads the file's text; `nil` when it is none that this version understands.
  init?(text: [UInt8]) {
    guard let value = try? JSON(parsing: text), value["format"]?.int == Self.format,
      let machine = value["machine"]?.string, let device = value["device"]?.string,
      case .number(let digits) = value["seed"], let seed = UInt64(digits),
      let round = value["round"]?.int, let options = value["options"]?.strings,
      let nanoseconds = value["nanoseconds"]?.int,
      let status = value["status"].flatMap({ try? CampaignStatus($0) }),
      case .list(let findings) = value["findings"], let cells = value["visited"]?.strings
    else { return nil }
    self.init(machine: machine, device: device, seed: seed)
    twin = value["twin"]?.string
    self.round = round
    self.options = options
    self.status = status
    elapsed = Interval(nanoseconds: Int64(nanoseconds))
    self.cells = cells
    for finding in findings {
      guard let signature = finding["signature"]?.string, let path = finding["file"]?.string,
        let length = finding["length"]?.int, let count = finding["count"]?.int
      else { return nil }
      self.findings.append(Known(signature: signature, path: path, length: length, count: count))
    }
  }

  /// Reads the state of a run: by the name that its folder has under `OUT/runs`, or by the folder's path.
  ///
  /// - Returns: the state and the folder.
  static func read(
    _ run: String, out: String
  ) throws(UsageError) -> (state: CampaignState, folder: String) {
    let folders = [run.count > 1 && run.hasSuffix("/") ? String(run.dropLast()) : run, "\(out)/runs/\(run)"]
    for folder in folders {
      guard let bytes = try? ScenarioFiles.read(folder + "/" + file, limits: Limits(bytes: 64 << 20)) else {
        continue
      }
      guard let state = CampaignState(text: bytes) else {
        throw UsageError("--resume: \(folder)/\(file) is no state of a campaign that is understood")
      }
      return (state, folder)
    }
    throw UsageError(
      "--resume: neither \(folders.map { "\($0)/\(file)" }.joined(separator: " nor ")) is there")
  }
}
