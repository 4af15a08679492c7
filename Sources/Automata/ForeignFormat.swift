import Documents

/// Recognizes files in diagram and machine languages that are not supported, by how they begin.
enum ForeignFormat {
  /// Returns the problem to report for a file in another language, or `nil` if the file may be YAML.
  static func problem(in bytes: [UInt8]) -> Problem? {
    let start = text(bytes)
    if isDOT(start) {
      return Problem(
        .syntax, at: .start,
        "this is a GraphViz graph, and the name of its file ends in neither .dot nor .gv",
        hint: "rename the file")
    }
    if name(of: start) == scxml { return unnamedSCXML }
    return problem(named: name(of: start) ?? nameOfJSON(start, bytes))
  }

  /// Returns the problem to report for a file whose name says that it is DOT, or `nil` if it may be DOT.
  static func problem(inDOT bytes: [UInt8]) -> Problem? {
    let start = text(bytes)
    if start.hasPrefix("{") || firstLine(of: start).hasPrefix("machine:") {
      return Problem(
        .syntax, at: .start, "this is not a GraphViz graph, and the name of its file ends in .dot or .gv",
        hint: "let the name of a machine in YAML end in .yaml")
    }
    if name(of: start) == scxml { return unnamedSCXML }
    return isDOT(start) ? nil : problem(named: name(of: start))
  }

  /// Returns the problem to report for a file whose name says that it is SCXML, or `nil` if it may be SCXML.
  static func problem(inSCXML bytes: [UInt8]) -> Problem? {
    let start = text(bytes)
    guard !start.hasPrefix("<") else {
      let name = name(of: start)
      return name == scxml || name == "XML" ? nil : problem(named: name)
    }
    return Problem(
      .syntax, at: .start, "this is not SCXML, and the name of its file ends in .scxml",
      hint: "let the name of a machine in YAML end in .yaml")
  }

  private static let scxml = "SCXML"

  private static var unnamedSCXML: Problem {
    Problem(
      .syntax, at: .start, "this is SCXML, and the name of its file does not end in .scxml",
      hint: "rename the file")
  }

  private static func problem(named name: String?) -> Problem? {
    guard let name else { return nil }
    return Problem(
      .syntax, at: .start, "this is \(name), which is not read as a machine",
      hint: "write the machine in YAML, in SCXML, or as a GraphViz digraph")
  }

  /// The start of a file, without a byte order mark, blanks, and front matter as Mermaid has it.
  private static func text(_ bytes: [UInt8]) -> Substring {
    var text = String(decoding: bytes.prefix(4096), as: UTF8.self)[...]
    if text.hasPrefix("\u{FEFF}") { text.removeFirst() }
    text = text.drop(while: \.isWhitespace)
    let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    if lines[0] == "---", let end = lines.dropFirst().first(where: { $0 == "---" }) {
      text = text[end.endIndex...].drop(while: \.isWhitespace)
    }
    return text
  }

  /// The first line that is neither blank nor a comment of Mermaid, PlantUML or DOT.
  private static func firstLine(of text: Substring) -> Substring {
    let lines = text.split(whereSeparator: \.isNewline).map { $0.drop(while: \.isWhitespace) }
    return lines.first { line in
      !line.isEmpty && !["%%", "'", "//", "#"].contains { line.hasPrefix($0) }
    } ?? ""
  }

  private static func isDOT(_ text: Substring) -> Bool {
    let line = firstLine(of: text)
    var words = line.split { $0.isWhitespace || $0 == "{" }[...]
    if words.first == "strict" { words.removeFirst() }
    return words.first == "digraph" || words.first == "graph" && text.contains("{") && !isMermaid(line)
  }

  private static func name(of text: Substring) -> String? {
    let line = firstLine(of: text)
    if line.hasPrefix("<") { return xml(text) }
    if line.hasPrefix("@start") { return "PlantUML" }
    if line.hasPrefix("[*]") { return "a diagram of Mermaid or PlantUML" }
    return isMermaid(line) ? "a Mermaid diagram" : nil
  }

  private static func isMermaid(_ line: Substring) -> Bool {
    let words = line.split { $0.isWhitespace || $0 == ";" }
    return switch words.first {
    case "stateDiagram", "stateDiagram-v2", "sequenceDiagram": words.count == 1
    case "flowchart": true
    case "graph": words.count == 2 && ["TB", "TD", "BT", "RL", "LR"].contains(words[1])
    case "```mermaid": true
    default: false
    }
  }

  /// Returns the name of JSON that has other keys than a machine, which YAML could also read.
  private static func nameOfJSON(_ text: Substring, _ bytes: [UInt8]) -> String? {
    guard text.hasPrefix("{"), text.dropFirst().first(where: { !$0.isWhitespace }) == "\"" else { return nil }
    let isMachine = String(decoding: bytes, as: UTF8.self).contains("\"machine\"")
    return isMachine ? nil : "JSON without the key `machine`"
  }

  private static func xml(_ text: Substring) -> String {
    for (tag, name) in [
      ("<scxml", scxml), ("<structure", "a file of JFLAP"), ("<nta", "a file of UPPAAL"),
      ("<svg", "an SVG image"), ("<xmi:XMI", "XMI"), ("<XMI", "XMI"), ("<uml:Model", "XMI"),
      ("<mxfile", "a file of draw.io"), ("<graphml", "GraphML"),
    ] where text.contains(tag) {
      return name
    }
    return "XML"
  }
}
