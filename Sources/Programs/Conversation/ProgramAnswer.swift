import Basics
package import Conformance

/// One line of a program.
enum ProgramAnswer: Equatable {
  case hello(ProgramIntroduction)
  case status(String)
  case effect(String)
  case reading(Reading)
  /// It saw an event that it does not do.
  case event(String, detail: String)
  case violation(Violation)
  case log(String)
  /// It wants something done with our Bluetooth.
  case operation(ProgramOperation)
  /// It was done, or was not and why, and the answer is complete; when it will do something by itself, where it says so.
  case settled(next: Next)
  case refused(String, next: Next)

  /// When a program will do something by itself, if nothing is asked before.
  enum Next: Equatable {
    case unsaid
    case at(Instant)
  }

  /// Why a line is invalid.
  struct Malformed: Error, Equatable {
    var reason: String
  }
}

/// A line, and when what it shows happened, where it says so.
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
      // What begins so was to be an answer; anything else was printed.
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

  /// Reads what stands under the first name, beside its particulars.
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
  /// What a line shows that the program of a lock wrote; `nil` for one that shows nothing.
  ///
  /// - Throws: that a peripheral writes no such line.
  package func observation(ofPeripheral line: [UInt8]) throws(LabFault) -> Observation? {
    do throws(ProgramAnswer.Malformed) {
      return observation(of: try ProgramLine(parsing: line, of: .peripheral).answer)
    } catch {
      throw LabFault(.badAnswer, error.reason)
    }
  }

  /// What a line shows; `nil` for one that shows nothing.
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
