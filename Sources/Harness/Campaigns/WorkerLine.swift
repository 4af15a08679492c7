public import Basics
import Conformance
public import Journal

/// A message from a worker to the process that started it: one JSON object a line.
public enum WorkerLine {
  /// The worker's progress.
  case progress(CampaignStatus)
  /// The newly visited cells, as `CellCoverage.marks(beyond:)`.
  case visited([Int])
  /// A journal record that belongs to the finding that follows.
  case evidence(Record)
  /// A finding.
  case found(FindingNotice)
  /// A journal record that belongs to no finding.
  case journal(Record)
  case say(String)
  /// A message that other workers may send, too.
  case once(String)
  case warn(String)
  /// The worker has ended.
  case end(CampaignEnd, CampaignStatus)

  /// The maximum number of marks in one line of ``visited(_:)``.
  private static let maximumMarks = 4096

  /// The newly visited cells, in as many lines as needed.
  public static func visited(in marks: [Int]) -> [WorkerLine] {
    stride(from: 0, to: marks.count, by: maximumMarks).map { start in
      .visited(Array(marks[start..<min(start + maximumMarks, marks.count)]))
    }
  }

  public var json: JSON {
    switch self {
    case .progress(let status): ["progress": status.json]
    case .visited(let marks): ["visited": .list(marks.map(JSON.integer))]
    case .evidence(let line): ["evidence": line.json()]
    case .found(let notice): ["found": notice.json]
    case .journal(let line): ["journal": line.json()]
    case .say(let text): ["say": .text(text)]
    case .once(let text): ["once": .text(text)]
    case .warn(let text): ["warn": .text(text)]
    case .end(let cause, let status): ["end": cause.json, "status": status.json]
    }
  }

  /// Reads a line; `nil` if it is no message.
  public init?(_ text: String) {
    guard let value = try? JSON(parsing: text) else { return nil }
    if let status = value["progress"].flatMap({ try? CampaignStatus($0) }) {
      self = .progress(status)
    } else if let marks = value["visited"]?.ints {
      self = .visited(marks)
    } else if let line = value["evidence"].flatMap({ try? Record($0) }) {
      self = .evidence(line)
    } else if let notice = value["found"].flatMap({ try? FindingNotice($0) }) {
      self = .found(notice)
    } else if let line = value["journal"].flatMap({ try? Record($0) }) {
      self = .journal(line)
    } else if let text = value["say"]?.string {
      self = .say(text)
    } else if let text = value["once"]?.string {
      self = .once(text)
    } else if let text = value["warn"]?.string {
      self = .warn(text)
    } else if let cause = value["end"].flatMap(CampaignEnd.init),
      let status = value["status"].flatMap({ try? CampaignStatus($0) })
    {
      self = .end(cause, status)
    } else {
      return nil
    }
  }
}

/// The orders of a worker at its start: the number of resumptions, the known findings, and the folder of its
/// run for a finding's artifacts.
public struct WorkerOrders: Recorded {
  public var round = 0
  public var known: [String] = []
  public var folder = ""
  public var job: String?

  public static let blank = WorkerOrders()
  public static let noun = "a message to a worker"
  public static let fields: [Field<Self>] = [
    .needed("round", \.round, .count), .needed("known", \.known, .list(.text)),
    .needed("folder", \.folder, .text), .extra("job", \.job, .text),
  ]
}

extension CampaignEnd {
  fileprivate var json: JSON {
    switch self {
    case .done: ["done"]
    case .found: ["found"]
    case .stopped: ["stopped"]
    case .trouble(let fault): ["trouble", .text(fault.detail), Record.Trouble(fault).json]
    case .limited(let reason): ["limited", .text(reason)]
    }
  }

  fileprivate init?(_ value: JSON) {
    if case .list(let parts) = value, parts.count == 3, parts[0].string == "trouble" {
      guard let detail = parts[1].string, let fault = (try? Record.Trouble(parts[2]))?.fault(detail) else {
        return nil
      }
      self = .trouble(fault)
      return
    }
    guard let words = value.strings, let first = words.first else { return nil }
    switch (first, words.count) {
    case ("done", 1): self = .done
    case ("found", 1): self = .found
    case ("stopped", 1): self = .stopped
    case ("limited", 2): self = .limited(words[1])
    default: return nil
    }
  }

  /// Its weight among the ends of several workers: the campaign reports the most serious one.
  public var weight: Int {
    switch self {
    case .done: 0
    case .found: 1
    case .stopped: 2
    case .trouble: 3
    case .limited: 4
    }
  }
}
