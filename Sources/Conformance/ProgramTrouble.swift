/// What is said of a program of the user's that failed, and what can be told from it again: a night has the journals of its
/// cases, and no program.
///
///     no device: the driver did not start: exit status 1, of python3 driver.py
///     its standard error ended with:
///     ModuleNotFoundError: No module named 'lockstep_device'
public struct ProgramTrouble: Equatable, Sendable {
  /// What happened.
  public enum Kind: Equatable, Sendable {
    /// It ended before it had answered anything.
    case notStarted
    /// It runs, and has answered nothing.
    case silent
    /// It worked, and then did not; in words, such as `ended`.
    case failed(String)
  }

  /// Which program: `program`, `driver` or `peripheral`.
  public var program: String
  /// What happened.
  public var kind: Kind
  /// What it wrote last to its standard error; without that how it ended, as far as that is told.
  public var lastWords: String?
}

extension ProgramTrouble {
  /// What stands behind the program's name where it did not start.
  public static let unstarted = "did not start"
  /// What stands behind the program's name where it runs and has answered nothing.
  public static let unanswered = "has not answered once"
  /// The line that stands before what a program wrote last.
  public static let introduction = "its standard error ended with:"

  /// Reads what a message says of a program; `nil` where it speaks of none.
  public init?(message: String) {
    for program in ["program", "driver", "peripheral"] {
      guard let found = Self.kind(of: program, in: message) else { continue }
      self.init(program: program, kind: found.kind, lastWords: Self.lastWords(in: message, after: found.rest))
      return
    }
    return nil
  }

  private static func kind(of program: String, in message: String) -> (kind: Kind, rest: Substring)? {
    for (sentence, kind) in [(unstarted, Kind.notStarted), (unanswered, .silent)] {
      let begin = "\(LabFault.Symptom.noDevice.rawValue): the \(program) \(sentence)"
      if let found = message.firstRange(of: begin) { return (kind, message[found.upperBound...]) }
    }
    guard let found = message.firstRange(of: "\(LabFault.Symptom.programFailed.rawValue): the \(program)")
    else {
      return nil
    }
    let rest = message[found.upperBound...]
    let symptoms: [(LabFault.Symptom, String)] = [
      (.ended, "ended"), (.noAnswer, "stopped answering"), (.badAnswer, "gave an answer of no known form"),
    ]
    let symptom = symptoms.first { rest.hasPrefix(", \($0.0.rawValue)") }
    return (.failed(symptom?.1 ?? "failed"), rest.dropFirst(symptom.map { $0.0.rawValue.count + 2 } ?? 0))
  }

  private static func lastWords(in message: String, after rest: Substring) -> String? {
    if let found = message.firstRange(of: introduction + "\n") {
      return message[found.upperBound...].split(separator: "\n").last.map(String.init)
    }
    // `: exit status 3, of python3 lock.py`
    guard rest.hasPrefix(": "), let end = rest.firstRange(of: ", of ") else { return nil }
    return String(rest[..<end.lowerBound].dropFirst(2))
  }
}

extension ProgramTrouble: CustomStringConvertible {
  /// What is said of the lock whose program it is: `has a driver that does not start (no module named keypad)`.
  public var description: String {
    let words =
      switch kind {
      case .notStarted: "does not start"
      case .silent: "never answers"
      case .failed(let what): what
      }
    let last = (lastWords ?? "").prefix(100)
    return "has a \(program) that \(words)" + (last.isEmpty ? "" : " (\(last))")
  }
}
