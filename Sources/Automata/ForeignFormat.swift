import Documents

/// A language of diagrams and machines that is not read, by how its files begin.
enum ForeignFormat {
  /// The problem that a file in another language is reported with; `nil` where it may be YAML.
  static func problem(in bytes: [UInt8]) -> Problem? {
    let start = String(decoding: bytes.prefix(4096), as: UTF8.self)
    guard let name = name(of: start) else { return nil }
    return Problem(
      .syntax, at: .start, "this is \(name), which is not read as a machine",
      hint: "write the machine in YAML, or as a GraphViz digraph in a file whose name ends in .dot or .gv")
  }

  private static func name(of text: String) -> String? {
    let text = text.hasPrefix("\u{FEFF}") ? String(text.dropFirst()) : text
    let lines = text.split(whereSeparator: \.isNewline).map { $0.drop(while: \.isWhitespace) }
    // Mermaid may have a part in YAML in front.
    if lines.contains("stateDiagram") || lines.contains("stateDiagram-v2") { return "a Mermaid diagram" }
    // Comments of Mermaid, PlantUML and DOT.
    guard let line = lines.first(where: { line in !["%%", "'", "//", "#"].contains { line.hasPrefix($0) } }),
      !line.isEmpty
    else { return nil }
    if line.hasPrefix("<") { return xml(text) }
    if line.hasPrefix("@start") { return "PlantUML" }
    let words = line.split(whereSeparator: { $0.isWhitespace || $0 == "{" || $0 == ";" })
    switch words.first {
    case "stateDiagram", "stateDiagram-v2", "flowchart", "sequenceDiagram": return "a Mermaid diagram"
    case "graph" where words.count == 2 && ["TB", "TD", "BT", "RL", "LR"].contains(words[1]):
      return "a Mermaid diagram"
    case "digraph": return "DOT, and its file has another name"
    case "strict" where words.dropFirst().first == "digraph": return "DOT, and its file has another name"
    default: return nil
    }
  }

  private static func xml(_ text: String) -> String {
    for (tag, name) in [
      ("<scxml", "SCXML"), ("<structure", "a file of JFLAP"), ("<nta", "a file of UPPAAL"),
      ("<svg", "an SVG image"),
    ] where text.contains(tag) {
      return name
    }
    return "XML"
  }
}
