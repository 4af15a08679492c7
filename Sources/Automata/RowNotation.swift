import Basics

/// The words that the notations share: what triggers a row, and when.
///
///     connect
///     linkUp within 30 s
///     turn given jam or stiff unless empty
///     lock option quick
///     recover within 1 s to 3 s
///     autolock within delay - 1 s to delay + 5 s
///     after 3 s
///
/// A row that begins with a keyword, such as `after` or `given`, is triggered by time alone.
struct RowLabel: Hashable {
  var trigger: Transition.Trigger
  var window = Window.any
  var given: [String] = []
  var unless: [String] = []
  var options: [String] = []

  private static let keywords: Set = ["given", "unless", "option", "within", "after"]

  init(_ transition: Transition) {
    trigger = transition.trigger
    window = transition.window
    given = transition.given
    unless = transition.unless
    options = transition.options
  }

  /// Reads the words; a malformed row is a programming error and traps.
  init(_ text: String) {
    var words = text.split(separator: " ").map(String.init)[...]
    guard let first = words.first else { preconditionFailure("a row without an event") }
    trigger = Self.keywords.contains(first) ? .timer : .event(first)
    if trigger != .timer { words.removeFirst() }
    while let keyword = words.popFirst() {
      let clause = words.prefix { !Self.keywords.contains($0) }
      words = words.dropFirst(clause.count)
      switch keyword {
      case "given": given = clause.filter { $0 != "or" }
      case "unless": unless = clause.filter { $0 != "or" }
      case "option": options = clause.filter { $0 != "or" }
      case "within": window = Self.window(clause, in: text)
      case "after": window = .after(Self.interval(clause, in: text))
      default: preconditionFailure("'\(keyword)' in the row '\(text)'")
      }
    }
  }

  private static func window(_ clause: ArraySlice<String>, in text: String) -> Window {
    guard let to = clause.firstIndex(of: "to") else { return .within(interval(clause, in: text)) }
    let (earliest, latest) = (end(clause[..<to], in: text), end(clause[(to + 1)...], in: text))
    // A limit of `forever` does not move.
    guard earliest.plus == latest.plus || latest.interval == .forever else {
      preconditionFailure("a time of which one end moves in the row '\(text)'")
    }
    return Window(earliest: earliest.interval, latest: latest.interval, plus: earliest.plus)
  }

  /// Reads one end of a window: a duration, or a value plus or minus a duration.
  private static func end(
    _ clause: ArraySlice<String>, in text: String
  ) -> (interval: Interval, plus: String?) {
    if let sign = clause.firstIndex(where: { $0 == "+" || $0 == "-" }) {
      let more = interval(clause[(sign + 1)...], in: text)
      let value = clause[..<sign].joined(separator: " ")
      return (clause[sign] == "-" ? .zero - more : more, value)
    }
    let words = clause.joined(separator: " ")
    return Interval(word: words).map { ($0, nil) } ?? (.zero, words)
  }

  private static func interval(_ clause: ArraySlice<String>, in text: String) -> Interval {
    guard let interval = Interval(word: clause.joined(separator: " ")) else {
      preconditionFailure("no duration in the row '\(text)'")
    }
    return interval
  }
}

extension RowLabel: CustomStringConvertible {
  /// The words that ``init(_:)-(String)`` reads.
  var description: String {
    var words: [String] = []
    if case .event(let name) = trigger { words.append(name) }
    if !given.isEmpty { words.append("given " + given.joined(separator: " or ")) }
    if !unless.isEmpty { words.append("unless " + unless.joined(separator: " or ")) }
    if !options.isEmpty { words.append("option " + options.joined(separator: " or ")) }
    if window != .any || words.isEmpty { words.append(window.description) }
    return words.joined(separator: " ")
  }
}

extension Window: CustomStringConvertible {
  /// The window in the words of the notations: `after 3 s`, `within 30 s`, `within 1 s to 3 s`,
  /// `within delay - 1 s to delay + 5 s`.
  public var description: String {
    guard let plus else {
      if earliest == latest { return "after \(earliest)" }
      return "within \(earliest == .zero ? "" : "\(earliest) to ")\(latest)"
    }
    func end(_ interval: Interval) -> String {
      switch interval {
      case .forever: "\(interval)"
      case .zero: plus
      case ..<(.zero): "\(plus) - \(.zero - interval)"
      default: "\(plus) + \(interval)"
      }
    }
    return "within \(end(earliest)) to \(end(latest))"
  }
}

extension Interval {
  /// Reads what `description` writes, including `forever`.
  init?(word text: some StringProtocol) {
    if text == "forever" {
      self = .forever
    } else {
      self.init(text: text)
    }
  }
}

/// Where a row leads and what it does: targets (with `>`, the time does not restart), `!` effects before, and `;`
/// effects after.
struct RowOutcome: Hashable {
  var targets: [String]
  var shifts: Bool
  var before: [String] = []
  var after: [String] = []

  init(_ text: some StringProtocol) {
    var rest = Substring(text)
    if let mark = rest.firstIndex(of: ";") {
      after = Self.list(rest[mark...].dropFirst(), separator: ",")
      rest = rest[..<mark]
    }
    if let mark = rest.firstIndex(of: "!") {
      before = Self.list(rest[mark...].dropFirst(), separator: ",")
      rest = rest[..<mark]
    }
    rest = rest.drop { $0 == " " }
    shifts = rest.hasPrefix(">")
    targets = Self.list(shifts ? rest.dropFirst() : rest, separator: "/")
  }

  /// Returns the target for a definition, given the complete names.
  func target(_ names: [String]) -> Transition.Target {
    if targets == ["="] { return .stay }
    return shifts ? .shift(names) : .states(names)
  }

  private static func list(_ text: Substring, separator: Character) -> [String] {
    text.split(separator: separator).map(trim).filter { !$0.isEmpty }
  }
}

/// Returns the text without leading and trailing spaces.
func trim(_ text: some StringProtocol) -> String {
  var text = Substring(text)
  while text.first == " " { text.removeFirst() }
  while text.last == " " { text.removeLast() }
  return String(text)
}
