/// What a document may not exceed, so that no file can exhaust the reader.
public struct Limits: Hashable, Sendable {
  /// The most bytes of text.
  public var bytes: Int
  /// The most lists and mappings inside one another.
  public var depth: Int
  /// The most nodes, those that aliases repeat included.
  public var nodes: Int

  /// Sets the limits; those left out are generous for anything written by hand.
  public init(bytes: Int = 4 << 20, depth: Int = 64, nodes: Int = 250_000) {
    self.bytes = bytes
    self.depth = depth
    self.nodes = nodes
  }

  /// Refuses a file by its size alone, before anything of it is read.
  public func admit(byteCount: Int, name: String) throws(DocumentError) {
    guard byteCount > bytes else { return }
    throw DocumentError(
      source: Source(name: name, bytes: []),
      problems: [
        Problem(.tooLarge, at: .start, "the file has \(byteCount) bytes, and at most \(bytes) are read")
      ])
  }
}

/// A YAML document: its nodes, and the text they came from.
///
/// It is YAML 1.1 as libyaml reads it, with less: one document in a file, in UTF-8; keys are scalars, each given
/// once; no tags and no merge keys, since nothing is typed before its reader asks. Anchors and aliases work, within
/// ``Limits``.
public struct Document: Sendable {
  /// The text.
  public let source: Source

  /// The outermost node.
  public let root: Node

  /// Reads a document.
  ///
  /// - Parameters:
  ///   - bytes: The whole file.
  ///   - name: What messages call it, usually its path.
  ///   - limits: What it may not exceed.
  /// - Throws: Everything that is wrong with it, up to the first error of syntax.
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

  /// Reads a document and makes a value of it, and reports together what either finds wrong.
  ///
  /// - Parameters:
  ///   - bytes: The whole file.
  ///   - name: What messages call it, usually its path.
  ///   - limits: What it may not exceed.
  ///   - body: Makes the value of the outermost node; `nil` after it reported why not.
  /// - Throws: Every problem found, in the order of the text.
  public static func read<Value>(
    _ bytes: [UInt8], name: String, limits: Limits = Limits(), as body: (Cursor) -> Value?
  ) throws(DocumentError) -> Value {
    let findings = Findings(Source(name: name, bytes: bytes))
    return try value(of: compose(findings, limits), findings, body)
  }

  /// Makes a value of the document; see ``read(_:name:limits:as:)``.
  public func read<Value>(as body: (Cursor) -> Value?) throws(DocumentError) -> Value {
    try value(of: root, Findings(source), body)
  }
}

private func compose(_ findings: Findings, _ limits: Limits) throws(DocumentError) -> Node {
  try limits.admit(byteCount: findings.source.bytes.count, name: findings.source.name)
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

/// Where problems are gathered while a document is read.
final class Findings {
  let source: Source
  private var problems: [Problem] = []
  private var omitted = 0

  /// The most problems that are listed; more help nobody.
  private static let limit = 100

  init(_ source: Source) {
    self.source = source
  }

  var isEmpty: Bool { problems.isEmpty }

  /// Notes a problem, which is made only if there is still room for it.
  func add(_ problem: @autoclosure () -> Problem) {
    if problems.count < Self.limit {
      problems.append(problem())
    } else {
      omitted += 1
    }
  }

  /// Throws when anything was found.
  func check() throws(DocumentError) {
    if !problems.isEmpty { throw error() }
  }

  /// What was found, in the order of the text.
  func error() -> DocumentError {
    let ordered = problems.enumerated().sorted {
      ($0.element.position.offset, $0.offset) < ($1.element.position.offset, $1.offset)
    }
    return DocumentError(source: source, problems: ordered.map(\.element), omitted: omitted)
  }
}
