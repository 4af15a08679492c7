import Basics

/// The class of a case: the path of its file with dots for slashes, without the extension.
///
/// A case without a file has the front part of its id instead.
package func className(of start: Record.Case) -> String { className(file: start.file, id: start.id) }

/// The same, of the two things that it is made of.
package func className(file: String?, id: String) -> String {
  var name: [UInt8] = []
  var parts = (file ?? id).utf8.split(separator: UInt8(ascii: "/")).filter { !$0.elementsEqual([0x2E]) }
  parts.removeAll { $0.elementsEqual([0x2E, 0x2E]) }
  if file == nil {
    if parts.count > 1 { parts.removeLast() }
  } else if let last = parts.popLast() {
    let stem = last.lastIndex(of: UInt8(ascii: ".")).map { last[..<$0] } ?? last[...]
    parts.append(stem.isEmpty ? last : stem)
  }
  for part in parts {
    if !name.isEmpty { name.append(UInt8(ascii: ".")) }
    // Readers take the last dot for the end of a package.
    for byte in part { name.append(byte == UInt8(ascii: ".") ? UInt8(ascii: "_") : byte) }
  }
  let text = visible(String(decoding: name, as: UTF8.self))
  return isBlank(text) ? "lockstep" : clipped(text, toBytes: longestName)
}

/// The name of a case: its title, or its id where it has none; a number tells copies apart.
package func caseName(of start: Record.Case, copy: Int32) -> String {
  caseName(start.name, id: start.id, copy: copy)
}

/// The same, of the things that it is made of.
package func caseName(_ title: String?, id: String, copy: Int32) -> String {
  let title = title.map(visible) ?? ""
  var name = isBlank(title) ? visible(id) : title
  if isBlank(name) { name = "case" }
  name = clipped(name, toBytes: longestName)
  return copy == 1 ? name : "\(name) (\(copy))"
}

/// The longest name of a case or of a class, in bytes; what is longer helps nobody to tell one from another.
package let longestName = 1024

/// Whether a reader may take a text for nothing.
private func isBlank(_ text: String) -> Bool {
  text.utf8.allSatisfy { $0 == 0x20 || (0x09...0x0D).contains($0) }
}

// MARK: - Names that need not be built

extension LineTokens {
  /// Whether a text is its own name: plain, short, and not nothing but spaces.
  package func isPlain(_ raw: Raw) -> Bool {
    guard raw.form == .plain, raw.range.count <= longestName else { return false }
    for place in raw.range where bytes[place] != 0x20 { return true }
    return false
  }

  /// The hash of a plain text behind another.
  package func hash(_ raw: Raw, after before: UInt64) -> UInt64 {
    var hash = Fingerprint(after: before)
    for place in raw.range { hash.mix(UInt64(bytes[place])) }
    return hash.value
  }
}
