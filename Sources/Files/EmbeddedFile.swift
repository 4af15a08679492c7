// Whoever uses a file names it, so the list of them comes along.
@_exported public import CFiles

extension EmbeddedFile {
  /// What stands in it.
  public var text: String { unsafe String(cString: lockstep_embedded_text(self)) }

  /// What stands in it, with a value in place of each `{{name}}`.
  ///
  /// A name that has a line for itself is replaced by as many lines as its value has, each indented as the name is; by none
  /// where the value is empty. The value may end with a line end.
  public func text(_ values: [String: String]) -> String { filled(text, values) }
}

/// A text that ends with a line end, with values in place of names.
func filled(_ text: String, _ values: [String: String]) -> String {
  var result = ""
  for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
    let indentation = line.prefix { $0 == " " }
    if let lines = lines(of: line.dropFirst(indentation.count), values) {
      for line in lines { result += (line.isEmpty ? "" : indentation) + line + "\n" }
    } else {
      result += filled(line, values) + "\n"
    }
  }
  return result
}

/// The lines of a value whose name is all of a text; `nil` for another text.
private func lines(of text: Substring, _ values: [String: String]) -> [Substring]? {
  guard text.hasPrefix("{{"), text.hasSuffix("}}"), let value = values[String(text.dropFirst(2).dropLast(2))]
  else { return nil }
  if value.isEmpty { return [] }
  let lines = value.split(separator: "\n", omittingEmptySubsequences: false)
  return value.hasSuffix("\n") ? lines.dropLast() : lines
}

/// A line with values in place of names; what is in braces and no name of them stays.
private func filled(_ line: Substring, _ values: [String: String]) -> String {
  var (result, rest) = ("", line)
  while let open = rest.firstRange(of: "{{"), let close = rest[open.upperBound...].firstRange(of: "}}") {
    let value = values[String(rest[open.upperBound..<close.lowerBound])]
    result += rest[..<open.lowerBound] + (value ?? String(rest[open.lowerBound..<close.upperBound]))
    rest = rest[close.upperBound...]
  }
  return result + rest
}
