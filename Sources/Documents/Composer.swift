import Basics

/// Builds nodes from libyaml's events, and reports what this reader does not accept.
///
/// It does not recurse, and nothing exceeds the limits: an alias shares the storage of its node, but counts in full
/// against the maximum number of nodes.
struct Composer {
  private let findings: Findings
  private let limits: Limits
  private var finder: PositionFinder
  private var frames: [Frame] = []
  private var root: Node?
  private var nodeCount = 0
  private var anchors: [String: Anchor] = [:]
  /// The names of the anchors in order of appearance, for hints.
  private var anchorNames: [String] = []
  private var isFinished = false

  init(_ findings: Findings, limits: Limits) {
    self.findings = findings
    self.limits = limits
    finder = PositionFinder(findings.source.bytes, from: byteOrderMarkLength(findings.source.bytes))
  }

  /// Returns the outermost node, or `nil` if none could be read to its end; then a problem gives the reason.
  mutating func compose() -> Node? {
    let bytes = findings.source.bytes
    if let problem = encodingProblem(bytes) {
      findings.add(problem)
      return nil
    }
    var parser = EventParser(bytes.dropFirst(byteOrderMarkLength(bytes)))
    while !isFinished {
      do {
        take(try parser.next())
      } catch {
        stop(syntaxProblem(error))
      }
    }
    return root
  }
}

extension Composer {
  /// The node that an anchor names.
  private enum Anchor {
    /// The node is incomplete.
    case open
    /// The node, and the number of nodes that it contains.
    case complete(Node, count: Int)
  }

  /// A list or a mapping that is still incomplete.
  private struct Frame {
    var isMapping: Bool
    var layout: Node.Layout
    var position: Position
    var anchor: String?
    /// The number of nodes read before this one.
    var countBefore: Int
    var members: [Node] = []
    var entries: [Node.Entry] = []
    /// The key whose value comes next.
    var key: Node?
    /// The line on which each key first occurs.
    var keyLines: [String: Int] = [:]
  }

  private mutating func take(_ event: YAMLEvent) {
    let start = finder.position(ofCharacter: event.start)
    let end = finder.position(ofCharacter: event.end)
    switch event.kind {
    case .streamStart, .documentEnd:
      break
    case .documentStart(let hasTagDirectives):
      if root != nil {
        findings.add(Problem(.unsupported, at: start, "a second document starts here, and one is expected"))
        isFinished = true
      } else if hasTagDirectives {
        findings.add(Problem(.unsupported, at: start, "tags are not used here", hint: "remove %TAG"))
      }
    case .streamEnd:
      if root == nil { findings.add(Problem(.empty, at: start, "the document is empty")) }
      isFinished = true
    case .alias(let name):
      insertAlias(name, from: start, to: end)
    case .scalar(let text, let style, let properties):
      refuseTag(of: properties, at: start)
      // A plain scalar that could not be saved without quotes is text.
      let isPlain = style == .plain && (text.isEmpty || canStandPlain(text))
      let node = Node(.scalar(text, isPlain ? .plain : .quoted), position: start, end: end)
      let countBefore = nodeCount
      guard count(1, at: start) else { return }
      complete(node, anchor: properties.anchor, countBefore: countBefore)
    case .sequenceStart(let layout, let properties):
      open(isMapping: false, layout, properties, at: start)
    case .mappingStart(let layout, let properties):
      open(isMapping: true, layout, properties, at: start)
    case .sequenceEnd, .mappingEnd:
      close(at: end)
    }
  }

  private mutating func open(
    isMapping: Bool, _ layout: Node.Layout, _ properties: YAMLEvent.Properties, at start: Position
  ) {
    refuseTag(of: properties, at: start)
    guard frames.count < limits.depth else {
      return stop(
        Problem(.tooLarge, at: start, "lists and mappings are nested more than \(limits.depth) deep"))
    }
    let countBefore = nodeCount
    guard count(1, at: start) else { return }
    if let name = properties.anchor { define(name, .open) }
    frames.append(
      Frame(
        isMapping: isMapping, layout: layout, position: start, anchor: properties.anchor,
        countBefore: countBefore))
  }

  private mutating func close(at end: Position) {
    guard let frame = frames.popLast() else { return }
    // libyaml ends a block where the next token starts, but the block ends with its last member.
    let last = frame.isMapping ? frame.entries.last?.value : frame.members.last
    let node = Node(
      frame.isMapping ? .mapping(frame.entries) : .sequence(frame.members), layout: frame.layout,
      position: frame.position,
      end: frame.layout == .flow ? end : max(last?.end ?? frame.position, frame.position))
    complete(node, anchor: frame.anchor, countBefore: frame.countBefore)
  }

  /// Inserts a complete node into its parent.
  private mutating func complete(_ node: Node, anchor: String?, countBefore: Int) {
    if let anchor { define(anchor, .complete(node, count: nodeCount - countBefore)) }
    insert(node)
  }

  private mutating func insert(_ node: Node) {
    guard let last = frames.indices.last else {
      root = node
      return
    }
    if !frames[last].isMapping {
      frames[last].members.append(node)
    } else if let key = frames[last].key {
      frames[last].key = nil
      if accepts(key, in: last) { frames[last].entries.append(Node.Entry(key: key, value: node)) }
    } else {
      frames[last].key = node
    }
  }

  /// Returns whether an entry may have this key; reports a problem if not.
  private mutating func accepts(_ key: Node, in frame: Int) -> Bool {
    switch key.content {
    case .sequence, .mapping:
      findings.add(
        Problem(.wrongKey, at: key.position, to: key.end, "a key must be text, and this is \(key.kind)"))
      return false
    case .scalar("", .plain):
      findings.add(Problem(.wrongKey, at: key.position, "a key is missing before this colon"))
      return false
    case .scalar("<<", .plain):
      findings.add(
        Problem(
          .unsupported, at: key.position, to: key.end, "merge keys are not used here",
          hint: "repeat the entries, or write \"<<\" in quotes where it is a name"))
      return false
    case .scalar(let text, _):
      if let line = frames[frame].keyLines[text] {
        let problem = Problem(
          .duplicateKey, at: key.position, to: key.end, "duplicate key \(quoted(text))",
          hint: "it is given on line \(line) already")
        findings.add(problem)
        return false
      }
      frames[frame].keyLines[text] = key.position.line
      return true
    }
  }

  private mutating func insertAlias(_ name: String, from start: Position, to end: Position) {
    // An empty scalar replaces a node that is not available.
    var node = Node.plain("")
    node.position = start
    node.end = end
    switch anchors[name] {
    case .complete(let named, let size):
      guard count(size, at: start) else { return }
      node = named
    case .open:
      findings.add(Problem(.unknownAlias, at: start, to: end, "`*\(name)` stands inside the node it names"))
    case nil:
      let nearest = nearestName(to: name, in: anchorNames).map { "*" + $0 }
      var problem = Problem(
        .unknownAlias, at: start, to: end, "no node before this one is named `&\(name)`",
        hint: nearest.map { .name($0, insteadOf: "*" + name) })
      problem.replacement = nearest
      findings.add(problem)
    }
    insert(node)
  }

  private mutating func define(_ name: String, _ anchor: Anchor) {
    if anchors.updateValue(anchor, forKey: name) == nil { anchorNames.append(name) }
  }

  private func refuseTag(of properties: YAMLEvent.Properties, at start: Position) {
    guard let tag = properties.tag else { return }
    findings.add(
      Problem(
        .unsupported, at: start, "tags are not used here",
        hint: "remove \(quoted(tag)): values are typed by their key"))
  }

  /// Counts nodes against the limit. Returns `false` if there are too many, and then reading stops.
  private mutating func count(_ size: Int, at position: Position) -> Bool {
    nodeCount += size
    guard nodeCount > limits.nodes else { return true }
    stop(
      Problem(
        .tooLarge, at: position,
        "the document holds more than \(limits.nodes) nodes, what aliases repeat included"))
    return false
  }

  /// Stops reading: the rest of the text cannot be understood.
  private mutating func stop(_ problem: Problem) {
    findings.add(problem)
    root = nil
    isFinished = true
  }

  private mutating func syntaxProblem(_ error: SyntaxError) -> Problem {
    let context = error.contextIndex.map { finder.position(ofCharacter: $0) }
    let position = error.index.map { finder.position(ofCharacter: $0) } ?? .start
    if error.message == "found unexpected end of stream", let context {
      return Problem(.syntax, at: context, "the quoted text that starts here has no end")
    }
    if error.message == "did not find expected <document start>" {
      return Problem(
        .unsupported, at: position, "the document ends before this",
        hint: "one document is expected in a file")
    }
    var hint: String?
    if let known = syntaxHint(error.message, at: position) {
      hint = known
    } else if let context, let text = error.context {
      hint = context.line == position.line ? text : "\(text) that starts on line \(context.line)"
    }
    return Problem(.syntax, at: position, error.message, hint: hint.map(Advice.words))
  }

  /// Returns the most likely mistake behind a message of libyaml about a character.
  private func syntaxHint(_ message: String, at position: Position) -> String? {
    let bytes = findings.source.bytes
    let byte = position.offset < bytes.count ? bytes[position.offset] : 0
    switch (message, byte) {
    case ("found character that cannot start any token", UInt8(ascii: "\t")):
      return "indent with spaces, not with tabs"
    case ("found character that cannot start any token", _):
      return "put text that starts with this character in quotes"
    case ("mapping values are not allowed in this context", _):
      return "put text that holds a colon and a space in quotes, or check the indentation"
    default:
      return nil
    }
  }
}
