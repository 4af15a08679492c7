/// A value in a document, with the place it was read from.
///
/// Scalars are text: what a text means, a number or a name, is for the reader to say and not for YAML to guess.
/// Two nodes are equal when they say the same; where they stand and how they are laid out does not count.
public struct Node: Sendable {
  /// How a scalar is written.
  public enum ScalarStyle: Hashable, Sendable {
    /// Without quotes: a name, a number, a duration, or nothing at all when the text is empty.
    case plain
    /// With quotes, as a block, or over several lines or with brackets, commas or a question mark: text and
    /// nothing else.
    case quoted
  }

  /// One key and its value in a mapping; the key is a scalar.
  public struct Entry: Hashable, Sendable {
    /// The key, a scalar.
    public var key: Node
    /// The value.
    public var value: Node

    /// Pairs a key, which must be a scalar, with a value.
    public init(key: Node, value: Node) {
      self.key = key
      self.value = value
    }
  }

  /// What a node holds.
  public enum Content: Hashable, Sendable {
    /// Text, with how it was written.
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
    /// On one line, in brackets or braces, where it fits.
    case flow
  }

  /// What the node holds.
  public var content: Content

  /// How a list or a mapping is written; scalars have no use for it.
  public var layout: Layout

  /// Where the node starts.
  public var position: Position

  /// Where the node ends: after its last character.
  public var end: Position

  /// Makes a node, at the start of the text unless said otherwise.
  public init(
    _ content: Content, layout: Layout = .block, position: Position = .start, end: Position = .start
  ) {
    self.content = content
    self.layout = layout
    self.position = position
    self.end = end
  }

  /// A scalar without quotes: a number, a duration, `true`; with quotes where the text cannot stand without.
  public static func plain(_ text: String) -> Node {
    Node(.scalar(text, text.isEmpty || canStandPlain(text) ? .plain : .quoted))
  }

  /// A scalar that is text, without quotes only where no reader of YAML could take it for anything else.
  public static func text(_ text: String) -> Node {
    Node(.scalar(text, canStandPlain(text) && !readsAsOther(text) ? .plain : .quoted))
  }

  /// A list.
  public static func list(_ members: [Node], layout: Layout = .block) -> Node {
    Node(.sequence(members), layout: layout)
  }

  /// A mapping from texts, which must differ, to nodes.
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

  /// The value of a key, or `nil` when there is none or this is no mapping.
  public subscript(key: String) -> Node? {
    entries?.first { $0.key.text == key }?.value
  }

  /// What the node is, in the words of a message: `a list`, `a mapping`, `nothing` or the text itself.
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
  /// Whether two nodes say the same, wherever they stand.
  public static func == (left: Node, right: Node) -> Bool { left.content == right.content }

  /// Feeds what the node says to a hasher.
  public func hash(into hasher: inout Hasher) { hasher.combine(content) }
}

/// A piece of the document in a message: in backticks, on one line and not too long.
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
