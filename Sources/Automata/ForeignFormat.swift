import Documents

/// Recognizes files in diagram and machine languages that are not supported, by how they begin.
enum ForeignFormat {
  /// Returns the problem to report for a file in another language, or `nil` if the file may be YAML.
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
    // A Mermaid diagram may begin with front matter in YAML.
    if lines.contains("stateDiagram") || lines.contains("stateDiagram-v2") { return "a Mermaid diagram" }
    // Skips comments of Mermaid, PlantUML and DOT.
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
