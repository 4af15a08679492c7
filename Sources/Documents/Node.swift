/// A value in a document, with its position.
///
/// Scalars are text: the reader decides whether a text means a number or a name, so YAML does not guess. Two nodes
/// are equal if they have the same content, whatever their positions and layouts.
public struct Node: Sendable {
  /// How a scalar is written.
  public enum ScalarStyle: Hashable, Sendable {
    /// Without quotes: a name, a number, a duration, or a missing value if the text is empty.
    case plain
    /// With quotes, as a block, over several lines, or with brackets, commas or a question mark: text and nothing
    /// else.
    case quoted
  }

  /// A key of a mapping and its value.
  public struct Entry: Hashable, Sendable {
    /// The key, a scalar.
    public var key: Node
    /// The value.
    public var value: Node

    /// Makes an entry from a key, which must be a scalar, and a value.
    public init(key: Node, value: Node) {
      self.key = key
      self.value = value
    }
  }

  /// The content of a node.
  public enum Content: Hashable, Sendable {
    /// Text, and how it is written.
    case scalar(String, ScalarStyle)
    /// A list.
    case sequence([Node])
    /// Keys and values in the order of the document, without duplicates.
    case mapping([Entry])
  }

  /// How a list or a mapping is written.
  public enum Layout: Hashable, Sendable {
    /// One line for each member.
    case block
    /// On one line, in brackets or braces, if it fits.
    case flow
  }

  /// The content of the node.
  public var content: Content

  /// How a list or a mapping is written; it has no meaning for scalars.
  public var layout: Layout

  /// The start of the node.
  public var position: Position

  /// The end of the node, after its last character.
  public var end: Position

  /// Makes a node, by default at the start of the text.
  public init(
    _ content: Content, layout: Layout = .block, position: Position = .start, end: Position = .start
  ) {
    self.content = content
    self.layout = layout
    self.position = position
    self.end = end
  }

  /// Makes a scalar without quotes: a number, a duration, `true`. It has quotes if the text requires them.
  public static func plain(_ text: String) -> Node {
    Node(.scalar(text, text.isEmpty || canStandPlain(text) ? .plain : .quoted))
  }

  /// Makes a scalar that is text, without quotes only if no reader of YAML could take it for anything else.
  public static func text(_ text: String) -> Node {
    Node(.scalar(text, canStandPlain(text) && !readsAsOther(text) ? .plain : .quoted))
  }

  /// Makes a list.
  public static func list(_ members: [Node], layout: Layout = .block) -> Node {
    Node(.sequence(members), layout: layout)
  }

  /// Makes a mapping from texts, which must differ, to nodes.
  public static func mapping(_ entries: [(String, Node)], layout: Layout = .block) -> Node {
    Node(.mapping(entries.map { Entry(key: .text($0), value: $1) }), layout: layout)
  }

  /// The text of a scalar, or `nil` for a list or a mapping.
  public var text: String? {
    if case .scalar(let text, _) = content { text } else { nil }
  }

  /// The members of a list, or `nil` for anything else.
  public var members: [Node]? {
    if case .sequence(let members) = content { members } else { nil }
  }

  /// The entries of a mapping, or `nil` for anything else.
  public var entries: [Entry]? {
    if case .mapping(let entries) = content { entries } else { nil }
  }

  /// Returns the value of a key, or `nil` if there is none or the node is not a mapping.
  public subscript(key: String) -> Node? {
    entries?.first { $0.key.text == key }?.value
  }

  /// A description of the node for a message: `a list`, `a mapping`, `nothing` or the text itself.
  var kind: String {
    switch content {
    case .sequence: "a list"
    case .mapping: "a mapping"
    case .scalar("", .plain): "nothing"
    case .scalar(let text, .plain): quoted(text)
    case .scalar(let text, .quoted): "the text \(quoted(text))"
    }
  }
}

extension Node: Hashable {
  /// Returns whether two nodes have the same content, whatever their positions.
  public static func == (left: Node, right: Node) -> Bool { left.content == right.content }

  /// Hashes the content of the node.
  public func hash(into hasher: inout Hasher) { hasher.combine(content) }
}

/// Returns a part of the document for a message: in backticks, on one line and not too long.
func quoted(_ text: String) -> String {
  let limit = 40
  var shown = String.UnicodeScalarView()
  for scalar in text.unicodeScalars.prefix(limit) {
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: shown.append(" ")
    default: shown.append(scalar)
    }
  }
  return "`\(String(shown))\(text.unicodeScalars.count > limit ? "…" : "")`"
}
