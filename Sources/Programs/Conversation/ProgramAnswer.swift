import Basics
package import Conformance

/// One line of a program.
enum ProgramAnswer: Equatable {
  case hello(ProgramIntroduction)
  case status(String)
  case effect(String)
  case reading(Reading)
  /// The program observed an event that it did not cause.
  case event(String, detail: String)
  case violation(Violation)
  case log(String)
  /// The program requests a Bluetooth operation.
  case operation(ProgramOperation)
  /// The answer is complete: the request was performed or refused; with the next spontaneous action, if known.
  case settled(next: Next)
  case refused(String, next: Next)

  /// The time of a program's next spontaneous action, if no request comes first.
  enum Next: Equatable {
    case unsaid
    case at(Instant)
  }

  /// Why a line is invalid.
  struct Malformed: Error, Equatable {
    var reason: String
  }
}

/// A line, with the time of the observation if the line contains one.
struct ProgramLine: Equatable {
  var answer: ProgramAnswer
  var time: Instant?

  init(_ answer: ProgramAnswer, at time: Instant? = nil) {
    self.answer = answer
    self.time = time
  }

  init(
    parsing line: [UInt8], of role: ProgramConversation.Role = .device
  ) throws(ProgramAnswer.Malformed) {
    let value: JSON
    do {
      value = try JSON(parsing: line)
    } catch {
      // A line that begins like this was meant as an answer; any other line was printed.
      let isAnswer = line.starts(with: "{".utf8)
      throw ProgramAnswer.Malformed(
        reason: error.description
          + (isAnswer ? "" : "; a program prints nothing on its standard output but answers"))
    }
    guard case .mapping(let members) = value, let first = members.first(where: { $0.name != "at" }) else {
      throw ProgramAnswer.Malformed(reason: ProgramAnswer.expectation)
    }
    let particulars = members.filter { $0.name != "at" && $0.name != first.name }
    answer = try ProgramAnswer(first.name, first.value, particulars, role)
    if let at = value["at"] {
      guard answer.mayHaveTime else {
        throw ProgramAnswer.Malformed(
          reason: "`at` says when something was shown, and a line of `\(first.name)` shows nothing")
      }
      guard let moment = Instant(at) else {
        throw ProgramAnswer.Malformed(
          reason: "`at` is \(at.line.prefix(40)), and no number of seconds since the test began")
      }
      time = moment
    }
  }
}

extension ProgramAnswer {
  /// Whether such a line may contain its time. A message to people belongs to the preceding observation.
  fileprivate var mayHaveTime: Bool {
    switch self {
    case .status, .effect, .reading, .event, .violation, .log, .operation: true
    case .hello, .settled, .refused: false
    }
  }

  static let expectation =
    #"expected {"status":"…"}, {"settled":true}, {"refused":"…"} or another line of a device, one a line"#

  /// Creates an answer from the value of the first name and the other members.
  fileprivate init(
    _ name: String, _ value: JSON, _ particulars: [JSON.Member], _ role: ProgramConversation.Role
  ) throws(Malformed) {
    var left = particulars[...]
    func isKnown(_ names: String...) -> Bool { left.allSatisfy { names.contains($0.name) } }
    func detail(_ name: String) throws(Malformed) -> String? {
      guard let value = left.first(where: { $0.name == name })?.value else { return nil }
      return try ProgramItem(name: name, json: value).text
    }
    switch (name, value) {
    case ("status", .text) where role == .peripheral:
      throw Malformed(
        reason: "a peripheral shows no `status`: its driver does. What the lock itself does, it shows as an "
          + "`effect`, a `reading` or an `event`")
    case ("hello", let json) where left.isEmpty: self = .hello(try ProgramIntroduction(json, of: role))
    case ("status", .text(let name)) where left.isEmpty: self = .status(name)
    case ("effect", .text(let name)) where left.isEmpty: self = .effect(name)
    case ("reading", .mapping(let members)) where members.count == 1 && left.isEmpty:
      guard let value = Value(members[0].value) else {
        throw Malformed(reason: "a reading is \(Value.expectation)")
      }
      self = .reading(Reading(members[0].name, value))
    case ("event", .text(let name)) where isKnown("detail"):
      self = .event(name, detail: try detail("detail") ?? "")
    case ("violation", .text(let rule)) where isKnown("of", "detail"):
      self = .violation(Violation(rule, of: try detail("of"), try detail("detail") ?? ""))
    case ("log", .text(let text)) where left.isEmpty: self = .log(text)
    case ("settled", .flag(true)) where isKnown("next"):
      self = .settled(next: try Self.next(left.popFirst()?.value))
    case ("refused", .text(let reason)) where isKnown("next"):
      self = .refused(reason, next: try Self.next(left.popFirst()?.value))
    default:
      guard left.isEmpty, let operation = try ProgramOperation(name, value, of: role) else {
        throw Malformed(reason: Self.expectation)
      }
      self = .operation(operation)
    }
  }

  private static func next(_ value: JSON?) throws(Malformed) -> Next {
    guard let value else { return .unsaid }
    if value == .null { return .at(.never) }
    guard let moment = Instant(value) else {
      throw Malformed(
        reason:
          "`next` is \(value.line.prefix(40)), and neither a number of seconds since the test began nor null")
    }
    return .at(moment)
  }
}

extension Vocabulary {
  /// Returns the observation in a line of a lock's program; `nil` if the line is not an observation.
  ///
  /// - Throws: If a peripheral cannot write this line.
  package func observation(ofPeripheral line: [UInt8]) throws(LabFault) -> Observation? {
    do throws(ProgramAnswer.Malformed) {
      return observation(of: try ProgramLine(parsing: line, of: .peripheral).answer)
    } catch {
      throw LabFault(.badAnswer, error.reason)
    }
  }

  /// Returns the observation in an answer; `nil` if it is not an observation.
  func observation(of answer: ProgramAnswer) -> Observation? {
    switch answer {
    case .status(let name): observation(ofStatus: name)
    case .effect(let name): observation(ofEffect: name)
    case .reading(let reading): .reading(reading)
    case .event(let name, let detail):
      stimulus(name).map { .event(SeenEvent($0, detail)) } ?? .unknown(name)
    case .violation(let violation): .violation(violation)
    case .hello, .log, .operation, .settled, .refused: nil
    }
  }
}
