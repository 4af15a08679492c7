import Conformance
import Documents
import Harness

/// What a worker writes to the process that started it, one JSON object a line.
enum WorkerLine {
  /// How far it is, and what it visited.
  case progress(CampaignStatus, [String])
  /// It came upon something, with the lines of the journal that show it.
  case found(FindingNotice, journal: [String])
  /// A line of the journal that belongs to no finding.
  case journal(String)
  case say(String)
  case warn(String)
  /// It is over.
  case end(CampaignEnd, CampaignStatus, [String])

  var json: JSON {
    switch self {
    case .progress(let status, let cells): ["progress": status.json, "visited": .list(cells.map(JSON.text))]
    case .found(let notice, let journal):
      ["found": notice.message, "lines": .list(journal.map(JSON.text))]
    case .journal(let line): ["journal": .text(line)]
    case .say(let text): ["say": .text(text)]
    case .warn(let text): ["warn": .text(text)]
    case .end(let cause, let status, let cells):
      ["end": cause.json, "status": status.json, "visited": .list(cells.map(JSON.text))]
    }
  }

  /// Reads a line; `nil` when it is none of these.
  init?(_ text: String) {
    guard let value = try? JSON(parsing: text) else { return nil }
    let cells = value["visited"]?.strings
    if let status = value["progress"].flatMap(CampaignStatus.init), let cells {
      self = .progress(status, cells)
    } else if let notice = value["found"].flatMap(FindingNotice.init), let lines = value["lines"]?.strings {
      self = .found(notice, journal: lines)
    } else if let line = value["journal"]?.string {
      self = .journal(line)
    } else if let text = value["say"]?.string {
      self = .say(text)
    } else if let text = value["warn"]?.string {
      self = .warn(text)
    } else if let cause = value["end"].flatMap(CampaignEnd.init), let cells,
      let status = value["status"].flatMap(CampaignStatus.init)
    {
      self = .end(cause, status, cells)
    } else {
      return nil
    }
  }
}

/// What a worker is told when it starts: how often the campaign was taken up again, and what it found before.
struct WorkerOrders {
  var round: Int
  var known: [String]

  var line: String {
    let json: JSON = ["round": .integer(round), "known": .list(known.map(JSON.text))]
    return json.line
  }

  init(round: Int, known: [String]) {
    self.round = round
    self.known = known
  }

  /// Reads ``line``; `nil` when it is none.
  init?(_ text: String) {
    guard let value = try? JSON(parsing: text), let round = value["round"]?.int,
      let known = value["known"]?.strings
    else { return nil }
    self.init(round: round, known: known)
  }
}

extension CampaignEnd {
  fileprivate var json: JSON {
    switch self {
    case .done: ["done"]
    case .found: ["found"]
    case .stopped: ["stopped"]
    case .trouble(let fault): ["trouble", .text(fault.symptom.rawValue), .text(fault.detail)]
    case .limited(let reason): ["limited", .text(reason)]
    }
  }

  fileprivate init?(_ value: JSON) {
    guard let words = value.strings, let first = words.first else { return nil }
    switch (first, words.count) {
    case ("done", 1): self = .done
    case ("found", 1): self = .found
    case ("stopped", 1): self = .stopped
    case ("limited", 2): self = .limited(words[1])
    case ("trouble", 3):
      guard let symptom = LabFault.Symptom(rawValue: words[1]) else { return nil }
      self = .trouble(LabFault(symptom, words[2]))
    default: return nil
    }
  }

  /// How much it weighs among the ends of several workers: what kept one from going on is told of all.
  var weight: Int {
    switch self {
    case .done: 0
    case .found: 1
    case .stopped: 2
    case .trouble: 3
    case .limited: 4
    }
  }
}
