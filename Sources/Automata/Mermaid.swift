extension MachineDefinition {
  /// Returns the machine as a Mermaid `stateDiagram-v2`.
  ///
  /// A wildcard row is drawn from each state that has no row of its own. A state whose name is not a valid identifier
  /// in Mermaid gets a numbered identifier, with its name as the text.
  public func mermaid() -> String {
    var lines = ["stateDiagram-v2"]
    var ids: [String: String] = [:]
    for (number, state) in states.enumerated() {
      let id = isIdentifier(state.name) ? state.name : "state\(number)"
      ids[state.name] = id
      if id != state.name || !state.entry.isEmpty {
        lines.append("  state \"\(entities(state.name))\" as \(id)")
      }
      if !state.entry.isEmpty {
        lines.append("  \(id) : entry / \(entities(state.entry.joined(separator: ", ")))")
      }
    }
    for start in starts {
      let settings = start.conditions.map { ($0.value ? "" : "not ") + $0.name }.joined(separator: ", ")
      lines.append(
        "  [*] --> \(ids[start.state] ?? start.state)" + (settings.isEmpty ? "" : " : \(entities(settings))"))
    }
    let wildcards = Wildcards(self)
    for transition in transitions {
      let label = entities(transition.arrowText)
      for source in wildcards.sources(of: transition) {
        for target in transition.targets(from: source) {
          lines.append("  \(ids[source] ?? source) --> \(ids[target] ?? target) : \(label)")
        }
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }
}

/// Returns whether Mermaid accepts a name as an identifier: only letters and digits, no keyword, and unlike the
/// numbered identifiers.
private func isIdentifier(_ name: String) -> Bool {
  let words = [
    "state", "note", "end", "direction", "class", "classDef", "style", "default", "hide", "scale", "as",
  ]
  guard let first = name.utf8.first, !words.contains(name) else { return false }
  let isLetter: (UInt8) -> Bool = { (65...90).contains($0) || (97...122).contains($0) }
  return isLetter(first) && name.utf8.allSatisfy { isLetter($0) || (48...57).contains($0) }
    && !(name.hasPrefix("state") && name.dropFirst(5).allSatisfy(\.isNumber))
}

/// Returns text with Mermaid's entities, so that no character of a name acts as syntax of the diagram.
private func entities(_ text: String) -> String {
  var result = ""
  for scalar in text.unicodeScalars {
    switch scalar {
    case "#", ";", ":", "\"", "<", ">", "{", "}", "%", "\\", "`", "~": result += "#\(scalar.value);"
    case _ where scalar.value < 0x20 || scalar.value == 0x7F: result += " "
    default: result.unicodeScalars.append(scalar)
    }
  }
  return result
}
