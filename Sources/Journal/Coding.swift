public import Basics

// Converts records to lines, and lines to records.

extension Record {
  /// The line as JSON.
  ///
  /// - Parameter lease: The number of the lease of the lock under which the line is written.
  public func json(lease: Int? = nil) -> JSON {
    var members: [JSON.Member] =
      switch self {
      case .run(let run): [.init("run", run.json)]
      case .begin(let test): [.init("case", test.json)]
      case .event(let event): event.members
      case .verdict(let verdict): verdict.members
      case .left(let left): [.init("left", left.json)]
      case .machine(let machine): [.init("machine", machine.json)]
      case .coverage(let coverage): [.init("coverage", coverage.json)]
      case .finding(let finding): [.init("finding", finding.json)]
      case .campaign(let status): [.init("campaign", status.json)]
      case .end(let end): [.init("end", end.json)]
      }
    if let lease { members.append(.init("lease", .integer(lease))) }
    return .mapping(members)
  }

  /// The text of the line, without its line feed.
  public func line(lease: Int? = nil) -> String { json(lease: lease).line }

  /// Creates a record from a parsed line.
  ///
  /// - Throws: Why the line is not a record.
  public init(_ line: JSON) throws(RecordError) {
    guard case .mapping = line else { throw RecordError(reason: "a line is one JSON object") }
    if let word = line["verdict"] {
      self = .verdict(try Verdict(named: word, line))
    } else if let start = line["case"] {
      var test = try Case(start)
      test.lease = line["lease"]?.int
      self = .begin(test)
    } else if let run = line["run"] {
      self = .run(try Run(understanding: run))
    } else if let coverage = line["coverage"] {
      self = .coverage(try Coverage(coverage))
    } else if let machine = line["machine"] {
      self = .machine(try Machine(machine))
    } else if let end = line["end"] {
      self = .end(try End(end))
    } else if let finding = line["finding"] {
      self = .finding(try Finding(finding))
    } else if let status = line["campaign"] {
      self = .campaign(try CampaignStatus(status))
    } else if let left = line["left"] {
      self = .left(try Left(left))
    } else if let event = try Event(line) {
      self = .event(event)
    } else {
      throw RecordError(reason: "no record is known by its keys")
    }
  }

  /// Creates a record from the text of a line. An invalid string is read as far as possible, since the rest of the
  /// line is valuable.
  ///
  /// - Throws: Why the line is not a record.
  public init(parsing line: Span<UInt8>) throws(RecordError) {
    let json: JSON
    do {
      json = try JSON(parsing: line, isLenient: true)
    } catch {
      throw RecordError(reason: "not JSON at column \(error.offset + 1): \(error.reason)")
    }
    try self.init(json)
  }
}

extension Record.Verdict {
  fileprivate init(named word: JSON, _ line: JSON) throws(RecordError) {
    guard Notation.written.read(word) != nil else {
      throw RecordError(reason: "no verdict is called \(word.words)")
    }
    try self.init(line)
    if self.word == .divergence, !unmet.isEmpty { self.word = .unmet }
  }
}

extension Record.Run {
  fileprivate init(understanding json: JSON) throws(RecordError) {
    let format = json["format"]?.int ?? 0
    guard (1...Record.format).contains(format) else {
      throw RecordError(
        reason:
          "the journal's format is \((json["format"] ?? .null).words), and \(Record.format) is understood")
    }
    try self.init(json)
  }
}

// MARK: - The schema

extension Record {
  /// The JSON Schema of each kind of line, from the tables that also define how lines are written and read.
  public static var shapes: [JSON] {
    let lines: [JSON] =
      [Shape.object(["run": Run.shape]), Shape.object(["case": Case.shape])] + Event.shapes
      + [
        Shape.object(["left": Left.shape]), Verdict.shape, Shape.object(["machine": Machine.shape]),
        Shape.object(["coverage": Coverage.shape]), Shape.object(["finding": Finding.shape]),
        Shape.object(["campaign": CampaignStatus.shape]), Shape.object(["end": End.shape]),
      ]
    return lines.map(leased)
  }

  /// Returns the schema of a line that may contain the number of a lease.
  private static func leased(_ line: JSON) -> JSON {
    guard case .mapping(var members) = line,
      let place = members.firstIndex(where: { $0.name == "properties" }),
      case .mapping(let keys) = members[place].value
    else { return line }
    members[place].value = .mapping(keys + [JSON.Member("lease", Shape.count)])
    return .mapping(members)
  }
}
