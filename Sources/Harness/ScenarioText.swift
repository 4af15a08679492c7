import Conformance
import Documents
public import Basics

extension Scenario {
  /// The scenario as the text of a file; reading it gives an equal scenario.
  ///
  /// - Parameters:
  ///   - comments: lines for the top of the file, below the one that names the schema.
  ///   - schema: the path of the schema from the file's folder.
  public func yaml(comments: [String] = [], schema: String = SchemaFile.above) -> String {
    var entries: [(String, Node)] = [("scenario", .text(title)), ("machine", .text(machine))]
    if let device { entries.append(("device", deviceNode(device))) }
    if let seed { entries.append(("seed", .plain(String(seed)))) }
    if !tags.isEmpty { entries.append(("tags", .list(tags.map(Node.text), layout: .flow))) }
    if !assumed.isEmpty { entries.append(("assume", .list(assumed.map { .text($0) }, layout: .flow))) }
    entries.append(("steps", .list(steps.map(\.node))))
    return Node.mapping(entries).yaml(comments: ["yaml-language-server: $schema=\(schema)"] + comments)
  }

  /// The steps as text, one a line; repeated steps appear once, with their count.
  public var stepLines: [String] { steps.flatMap(\.lines) }

  private func deviceNode(_ spec: DeviceSpec) -> Node {
    guard !(start.settings.isEmpty && spec.settings.isEmpty) else { return .text(spec.description) }
    var entries: [(String, Node)] = [(spec.kind.rawValue, .text(spec.name))]
    entries += start.settings.map { ($0.name, valueNode($0.value)) }
    for setting in spec.settings where !entries.contains(where: { $0.0 == setting.name }) {
      let values = spec.settings.filter { $0.name == setting.name }.map { item in
        // A plain scalar without text would be a missing value.
        item.value.isEmpty ? Node.text("") : .plain(item.value)
      }
      entries.append((setting.name, values.count == 1 ? values[0] : .list(values, layout: .flow)))
    }
    return .mapping(entries, layout: .flow)
  }
}

extension Step {
  /// The step as text: `- { now: query }, 256 times`.
  fileprivate var lines: [String] {
    guard case .repeated(let times, let steps) = action else {
      return Node.list([node]).yaml().split(separator: "\n").map(String.init)
    }
    let lines = steps.flatMap(\.lines)
    if steps.count == 1, lines.count == 1 { return ["\(lines[0]), \(times) times"] }
    return ["- \(times) times:"] + lines.map { "  " + $0 }
  }

  fileprivate var node: Node {
    switch action {
    case .perform(let call): call.node
    case .performNow(let call): one("now", call.node)
    case .refuse(let call): one("refuse", call.node)
    case .fault(let fault):
      one("fault", fault.value == .flag(true) ? .text(fault.name) : one(fault.name, valueNode(fault.value)))
    case .wait(let interval): one("wait", .plain(interval.description))
    case .settle: one("wait", .plain(ScenarioGrammar.settled))
    case .next: one("wait", .plain(ScenarioGrammar.next))
    case .expect(let expectation): one("expect", expectation.node)
    case .until(let expectation): one("until", expectation.node)
    case .fuzz(let events): one("fuzz", events.node)
    case .repeated(let times, let steps):
      .mapping([
        ("repeat", .mapping([("times", .plain(String(times))), ("steps", .list(steps.map(\.node)))]))
      ])
    case .note(let text): one("note", .text(text))
    }
  }
}

extension Step.RandomEvents {
  fileprivate var node: Node {
    var entries: [(String, Node)] = [("events", .plain(String(count)))]
    if !weights.isEmpty {
      entries.append(
        ("weights", .mapping(weights.map { ($0.name, valueNode(.number($0.weight))) }, layout: .flow)))
    }
    if levels != [.events] {
      entries.append(("levels", .list(levels.map { .text($0.rawValue) }, layout: .flow)))
    }
    return .mapping(entries, layout: .flow)
  }
}

extension Step.Call {
  fileprivate var node: Node {
    switch arguments.count {
    case 0: .text(name)
    case 1 where arguments[0].name == Argument.only: one(name, valueNode(arguments[0].value))
    default:
      one(name, .mapping(arguments.map { ($0.name, valueNode($0.value)) }, layout: .flow))
    }
  }
}

extension Expectation {
  fileprivate var node: Node {
    var entries = conditions.map(entry)
    switch time {
    case .now: break
    case .within(let interval): entries.append(("within", .plain(interval.description)))
    case .lasting(let interval): entries.append(("for", .plain(interval.description)))
    }
    return .mapping(entries, layout: .flow)
  }

  private func entry(_ condition: Condition) -> (String, Node) {
    switch condition {
    case .status(let names):
      ("status", names.count == 1 ? .text(names[0]) : .list(names.map(Node.text), layout: .flow))
    case .effect(let name): ("effect", .text(name))
    case .refusal(let text): ("refused", text.isEmpty ? .plain("true") : .text(text))
    case .quiet(let interval): ("quiet", .plain(interval.description))
    case .reading(let name, let comparison): (name, comparison.node)
    }
  }
}

extension Expectation.Comparison {
  fileprivate var node: Node {
    if let value, above == nil, below == nil { return valueNode(value) }
    var entries: [(String, Node)] = []
    if let value { entries.append(("is", valueNode(value))) }
    if let above { entries.append(("above", valueNode(.number(above)))) }
    if let below { entries.append(("below", valueNode(.number(below)))) }
    return .mapping(entries, layout: .flow)
  }
}

private func one(_ name: String, _ value: Node) -> Node { .mapping([(name, value)], layout: .flow) }

/// A value as a node that is read as the same kind of value again.
private func valueNode(_ value: Value) -> Node {
  switch value {
  case .flag(let value): .plain(value ? "true" : "false")
  case .integer(let value): .plain(String(value))
  case .number(let value): .plain(value.description)
  case .duration(let value): .plain(value.description)
  case .text(let text):
    // Text that would be read as another kind of value is quoted.
    Value(plain: text) == value ? .text(text) : Node(.scalar(text, .quoted))
  case .bytes(let bytes): Node(.scalar(bytes.hex, .quoted))
  case .instant(let interval): .plain(String(Double(interval.nanoseconds) / 1e9))
  case .list(let values): .list(values.map(valueNode), layout: .flow)
  case .map(let entries): .mapping(entries.map { ($0.key.description, valueNode($0.value)) }, layout: .flow)
  case .record(let fields): .mapping(fields.map { ($0.name, valueNode($0.value)) }, layout: .flow)
  case .unknown, .absent: .plain("~")
  }
}

extension Value {
  /// The value of a word without quotes.
  public init(plain text: String) {
    self =
      if let flag = truth(ofWord: text) {
        .flag(flag)
      } else if Value.looksLikeNumber(text) {
        Int(text).map { .integer($0) } ?? Value.decimal(text)
      } else if let value = Interval(text: text) {
        .duration(value)
      } else {
        .text(text)
      }
  }

  /// Whether a word has the form of a JSON number: `007` and `1.` do not.
  private static func looksLikeNumber(_ text: String) -> Bool {
    let digits = text.drop { $0 == "-" }
    guard text.count - digits.count <= 1, let first = digits.first, first.isASCII, first.isNumber else {
      return false
    }
    let second = digits.dropFirst().first ?? "."
    guard digits.utf8.allSatisfy({ "0123456789.+-eE".utf8.contains($0) }) else { return false }
    return (first != "0" || !second.isNumber) && digits.last?.isNumber == true
  }

  /// A number with decimals; a run of digits that is too long for a number is text.
  private static func decimal(_ text: String) -> Value {
    guard text.contains(where: { ".eE".contains($0) }), let value = Double(text), value.isFinite else {
      return .text(text)
    }
    return .number(value)
  }
}
