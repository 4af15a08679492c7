/// The limits on a document, so that no file can exhaust the reader.
public struct Limits: Hashable, Sendable {
  /// The maximum number of bytes.
  public var bytes: Int
  /// The maximum nesting depth of lists and mappings.
  public var depth: Int
  /// The maximum number of nodes, including those that aliases repeat.
  public var nodes: Int

  /// Makes limits; the defaults are generous for anything written by hand.
  public init(bytes: Int = 4 << 20, depth: Int = 64, nodes: Int = 250_000) {
    self.bytes = bytes
    self.depth = depth
    self.nodes = nodes
  }

  /// Rejects a file that is too large, before its content is read.
  public func check(byteCount: Int, name: String) throws(DocumentError) {
    guard byteCount > bytes else { return }
    throw DocumentError(
      source: Source(name: name, bytes: []),
      problems: [
        Problem(.tooLarge, at: .start, "the file has \(byteCount) bytes, and at most \(bytes) are read")
      ])
  }
}

/// A YAML document: its nodes, and the text from which they were read.
///
/// The format is YAML 1.1 as libyaml reads it, with restrictions: a file has one document, in UTF-8. Keys are
/// scalars, and each occurs once. There are no tags and no merge keys, because values have no type until a reader
/// asks for one. Anchors and aliases work, within ``Limits``.
public struct Document: Sendable {
  /// The text.
  public let source: Source

  /// The outermost node.
  public let root: Node

  /// Reads a document.
  ///
  /// - Parameters:
  ///   - bytes: The whole file.
  ///   - name: The name of the file in messages, usually its path.
  ///   - limits: The limits on the file.
  /// - Throws: All problems of the document, up to the first syntax error.
  public init(_ bytes: [UInt8], name: String, limits: Limits = Limits()) throws(DocumentError) {
    let findings = Findings(Source(name: name, bytes: bytes))
    let root = try compose(findings, limits)
    try findings.check()
    self.init(source: findings.source, root: root)
  }

  /// Reads a document from text; see ``init(_:name:limits:)``.
  public init(text: String, name: String, limits: Limits = Limits()) throws(DocumentError) {
    try self.init(Array(text.utf8), name: name, limits: limits)
  }

  private init(source: Source, root: Node) {
    self.source = source
    self.root = root
  }

  /// Reads a document and makes a value from it, and reports the problems of both together.
  ///
  /// - Parameters:
  ///   - bytes: The whole file.
  ///   - name: The name of the file in messages, usually its path.
  ///   - limits: The limits on the file.
  ///   - body: Makes the value from the outermost node, or returns `nil` after it has reported why not.
  /// - Throws: Every problem found, in the order of the text.
  public static func read<Value>(
    _ bytes: [UInt8], name: String, limits: Limits = Limits(), as body: (Cursor) -> Value?
  ) throws(DocumentError) -> Value {
    let findings = Findings(Source(name: name, bytes: bytes))
    return try value(of: compose(findings, limits), findings, body)
  }

  /// Makes a value from the document; see ``read(_:name:limits:as:)``.
  public func read<Value>(as body: (Cursor) -> Value?) throws(DocumentError) -> Value {
    try value(of: root, Findings(source), body)
  }
}

private func compose(_ findings: Findings, _ limits: Limits) throws(DocumentError) -> Node {
  try limits.check(byteCount: findings.source.bytes.count, name: findings.source.name)
  var composer = Composer(findings, limits: limits)
  guard let root = composer.compose() else { throw findings.error() }
  return root
}

private func value<Value>(
  of root: Node, _ findings: Findings, _ body: (Cursor) -> Value?
) throws(DocumentError) -> Value {
  let cursor = Cursor(root, findings)
  let value = body(cursor)
  if value == nil, findings.isEmpty { cursor.report("this document cannot be read") }
  try findings.check()
  guard let value else { throw findings.error() }
  return value
}

/// Collects the problems found while a document is read.
final class Findings {
  let source: Source
  private var problems: [Problem] = []
  private var omitted = 0

  /// The maximum number of problems in an error; more would not help.
  private static let limit = 100

  init(_ source: Source) {
    self.source = source
  }

  var isEmpty: Bool { problems.isEmpty }

  /// Adds a problem, which is only created if it is within the limit.
  func add(_ problem: @autoclosure () -> Problem) {
    if problems.count < Self.limit {
      problems.append(problem())
    } else {
      omitted += 1
    }
  }

  /// Throws if there are problems.
  func check() throws(DocumentError) {
    if !problems.isEmpty { throw error() }
  }

  /// Returns an error with the problems, in the order of the text.
  func error() -> DocumentError {
    let ordered = problems.enumerated().sorted {
      ($0.element.position.offset, $0.offset) < ($1.element.position.offset, $1.offset)
    }
    return DocumentError(source: source, problems: ordered.map(\.element), omitted: omitted)
  }
}
