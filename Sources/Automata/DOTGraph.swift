import Documents

/// The nodes and edges of a DOT file, in its order, with their attributes.
struct DOTGraph {
  /// The value of an attribute and its position.
  struct Value {
    var text: String
    /// Whether the value is in angle brackets.
    var isHTML = false
    var start: Position
    var end: Position
  }

  /// Attributes by name; if a name occurs twice, the last value counts.
  typealias Attributes = [String: Value]

  struct Node {
    var id: String
    var attributes: Attributes
    /// The position of its first occurrence.
    var start: Position
    var end: Position
  }

  struct Edge {
    var from: String
    var to: String
    var attributes: Attributes
    var start: Position
    var end: Position
  }

  var name = ""
  var attributes: Attributes = [:]
  private(set) var nodes: [Node] = []
  private(set) var edges: [Edge] = []
  private var numbers: [String: Int] = [:]

  /// The maximum number of edges in a file: `{a b} -> {c d}` draws four in one line.
  static let edgeLimit = 2_000_000

  /// Adds a node, or merges its attributes into an existing one. The defaults apply only to a new node.
  mutating func add(_ node: Node, defaults: Attributes) {
    if let number = numbers[node.id] {
      nodes[number].attributes.merge(node.attributes) { $1 }
    } else {
      numbers[node.id] = nodes.count
      nodes.append(node)
      nodes[nodes.count - 1].attributes.merge(defaults) { own, _ in own }
    }
  }

  mutating func add(_ edge: Edge) { edges.append(edge) }
}

/// Reads the DOT language: `digraph`, statements, attribute lists, subgraphs, chains of arrows.
struct DOTParser {
  private var lexer: DOTLexer
  private var token = DOTToken(kind: .end, start: .start, end: .start)
  private var graph = DOTGraph()

  /// The maximum nesting depth of subgraphs.
  private static let depthLimit = 64

  private init(_ bytes: [UInt8]) {
    lexer = DOTLexer(bytes)
  }

  static func parse(_ bytes: [UInt8]) throws(DOTProblem) -> DOTGraph {
    var parser = DOTParser(bytes)
    try parser.parse()
    return parser.graph
  }

  private mutating func parse() throws(DOTProblem) {
    token = try lexer.next()
    if isWord("strict") { try advance() }
    if isWord("graph") { throw problem("this graph has no directions", hint: "a machine is a `digraph`") }
    guard isWord("digraph") else { throw problem("expected `digraph`") }
    try advance()
    if case .id(let name, _) = token.kind {
      graph.name = name
      try advance()
    }
    try expect("{")
    var scope = Scope()
    _ = try statements(&scope, depth: 0)
    try expect("}")
    guard token.kind == .end else { throw problem("only one graph can stand in a file") }
  }

  /// The default attributes of nodes and edges.
  private struct Scope {
    var nodes: DOTGraph.Attributes = [:]
    var edges: DOTGraph.Attributes = [:]
  }

  private struct NodeName {
    var id: String
    var start: Position
    var end: Position
  }

  /// Reads statements up to a closing brace and returns the nodes that they name.
  private mutating func statements(_ scope: inout Scope, depth: Int) throws(DOTProblem) -> [NodeName] {
    var names: [NodeName] = []
    while token.kind != .mark(UInt8(ascii: "}")) {
      if token.kind == .end { throw problem("a closing `}` is missing") }
      if token.kind == .mark(UInt8(ascii: ";")) {
        try advance()
        continue
      }
      names += try statement(&scope, depth: depth)
    }
    return names
  }

  private mutating func statement(_ scope: inout Scope, depth: Int) throws(DOTProblem) -> [NodeName] {
    for word in ["graph", "node", "edge"] where isWord(word) {
      try advance()
      let attributes = try attributeLists()
      switch word {
      case "node": scope.nodes.merge(attributes) { $1 }
      case "edge": scope.edges.merge(attributes) { $1 }
      default: if depth == 0 { graph.attributes.merge(attributes) { $1 } }
      }
      return []
    }
    let isName = if case .id = token.kind { !isWord("subgraph") } else { false }
    var ends = [try endpoint(scope, depth: depth)]
    if isName, token.kind == .mark(UInt8(ascii: "=")) {
      try advance()
      let value = try text("a value")
      if depth == 0 { graph.attributes[ends[0][0].id] = value }
      return []
    }
    while case .arrow(let isDirected) = token.kind {
      guard isDirected else { throw problem("this edge has no direction", hint: "write `->`") }
      try advance()
      ends.append(try endpoint(scope, depth: depth))
    }
    let attributes = try attributeLists()
    for name in ends.joined() {
      let own = ends.count == 1 && isName ? attributes : [:]
      graph.add(
        DOTGraph.Node(id: name.id, attributes: own, start: name.start, end: name.end), defaults: scope.nodes)
    }
    for (sources, targets) in zip(ends, ends.dropFirst()) {
      guard graph.edges.count + sources.count * targets.count <= DOTGraph.edgeLimit else {
        throw problem("the file draws more than \(DOTGraph.edgeLimit) edges")
      }
      for source in sources {
        for target in targets {
          graph.add(
            DOTGraph.Edge(
              from: source.id, to: target.id, attributes: scope.edges.merging(attributes) { $1 },
              start: source.start, end: target.end))
        }
      }
    }
    return ends.flatMap { $0 }
  }

  /// Reads a node with an optional port, or a subgraph.
  private mutating func endpoint(_ scope: Scope, depth: Int) throws(DOTProblem) -> [NodeName] {
    if isWord("subgraph") {
      try advance()
      if case .id = token.kind { try advance() }
      guard token.kind == .mark(UInt8(ascii: "{")) else { throw problem("expected `{`") }
    }
    if token.kind == .mark(UInt8(ascii: "{")) {
      guard depth < Self.depthLimit else { throw problem("subgraphs are nested too deeply") }
      try advance()
      var inner = scope
      let names = try statements(&inner, depth: depth + 1)
      try expect("}")
      var seen = Set<String>()
      return names.filter { seen.insert($0.id).inserted }
    }
    let id = try text("a node")
    while token.kind == .mark(UInt8(ascii: ":")) {
      try advance()
      _ = try text("a port")
    }
    return [NodeName(id: id.text, start: id.start, end: id.end)]
  }

  private mutating func attributeLists() throws(DOTProblem) -> DOTGraph.Attributes {
    var attributes: DOTGraph.Attributes = [:]
    while token.kind == .mark(UInt8(ascii: "[")) {
      try advance()
      while token.kind != .mark(UInt8(ascii: "]")) {
        let name = try text("an attribute")
        var value = DOTGraph.Value(text: "true", start: name.start, end: name.end)
        if token.kind == .mark(UInt8(ascii: "=")) {
          try advance()
          value = try text("a value")
        }
        attributes[name.text] = value
        if token.kind == .mark(UInt8(ascii: ",")) || token.kind == .mark(UInt8(ascii: ";")) { try advance() }
      }
      try advance()
    }
    return attributes
  }

  /// Reads a name or a text; `+` concatenates quoted texts.
  private mutating func text(_ expected: String) throws(DOTProblem) -> DOTGraph.Value {
    guard case .id(var text, let form) = token.kind else { throw problem("expected \(expected)") }
    let start = token.start
    var end = token.end
    try advance()
    while form != .bare, token.kind == .mark(UInt8(ascii: "+")) {
      try advance()
      guard case .id(let more, let form) = token.kind, form != .bare else {
        throw problem("expected a quoted text")
      }
      text += more
      end = token.end
      try advance()
    }
    return DOTGraph.Value(text: text, isHTML: form == .html, start: start, end: end)
  }

  private mutating func advance() throws(DOTProblem) {
    token = try lexer.next()
  }

  private mutating func expect(_ mark: Character) throws(DOTProblem) {
    guard let byte = mark.asciiValue, token.kind == .mark(byte) else { throw problem("expected `\(mark)`") }
    try advance()
  }

  /// Returns whether the token is a keyword. Keywords ignore case, and a quoted word is not a keyword.
  private func isWord(_ word: String) -> Bool {
    if case .id(let text, .bare) = token.kind { text.lowercased() == word } else { false }
  }

  private func problem(_ message: String, hint: Advice? = nil) -> DOTProblem {
    let found =
      switch token.kind {
      case .end: "the end of the file"
      case .mark(let byte): "`\(Character(Unicode.Scalar(byte)))`"
      case .arrow(let isDirected): isDirected ? "`->`" : "`--`"
      case .id(let text, _): "`\(text.prefix(40))`"
      }
    return DOTProblem(token.start, to: token.end, "\(message), found \(found)", hint: hint)
  }
}
