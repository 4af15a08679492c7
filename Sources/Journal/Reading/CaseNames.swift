import Basics

// What reports call a case. Readers of reports know a case from one run to the next by its class and its name, so both are
// made of what stays when a title is spelled anew: where the scenario is, and what it was driven with beside what it asks for.

/// The class of a case, which is also the name of its suite: the folder of the scenario, with dots for slashes.
package func className(id: String) -> String {
  var name: [UInt8] = []
  for part in folder(ofID: id).utf8.split(separator: UInt8(ascii: "/"))
  where !part.elementsEqual([0x2E]) && !part.elementsEqual([0x2E, 0x2E]) {
    if !name.isEmpty { name.append(UInt8(ascii: ".")) }
    // Readers take the last dot for the end of a package.
    for byte in part { name.append(byte == UInt8(ascii: ".") ? UInt8(ascii: "_") : byte) }
  }
  let text = visible(String(decoding: name, as: UTF8.self))
  return isBlank(text) ? "lockstep" : clipped(text, toBytes: longestName)
}

/// The name of a case: that of its file without the ending, the round where there are several, and the settings that its
/// device was given; a number tells copies apart.
package func caseName(of start: Record.Case, copy: Int32) -> String {
  caseName(id: start.id, settings: start.settings, copy: copy)
}

/// The same, of the things that it is made of.
package func caseName(id: String, settings: String?, copy: Int32) -> String {
  var name = visible(String(id[lastPart(ofID: id)...]))
  if isBlank(name) { name = "case" }
  if let settings, !settings.isEmpty { name += " [\(visible(settings))]" }
  return numbered(clipped(name, toBytes: longestName), copy)
}

/// What people call a case: its title, or its name where it has none; with whatever tells it from others of that title.
package func caseTitle(of start: Record.Case, copy: Int32) -> String {
  let title = start.name.map(visible) ?? ""
  if isBlank(title) { return caseName(of: start, copy: copy) }
  let round = roundMark(ofID: start.id).map { " " + start.id[$0...] } ?? ""
  let settings = start.settings.map { $0.isEmpty ? "" : " [\(visible($0))]" } ?? ""
  return numbered(clipped(title + round + settings, toBytes: longestName), copy)
}

private func numbered(_ name: String, _ copy: Int32) -> String { copy == 1 ? name : "\(name) (\(copy))" }

/// The id of a case without the round behind it.
package func withoutRound(_ id: String) -> String { roundMark(ofID: id).map { String(id[..<$0]) } ?? id }

/// Where the number of the round stands in an id, if there is one: `#3`.
private func roundMark(ofID id: String) -> String.Index? {
  guard let mark = id.lastIndex(of: "#"), Int(id[id.index(after: mark)...]) != nil else { return nil }
  return mark
}

private func lastPart(ofID id: String) -> String.Index {
  id.utf8.lastIndex(of: UInt8(ascii: "/")).map { id.utf8.index(after: $0) } ?? id.startIndex
}

/// The front part of an id; the whole of one that has no other, but for its round.
private func folder(ofID id: String) -> Substring {
  let end = lastPart(ofID: id)
  return end == id.startIndex ? withoutRound(id)[...] : id[..<end]
}

/// The longest name of a case or of a class, in bytes; what is longer helps nobody to tell one from another.
package let longestName = 1024

/// Whether a reader may take a text for nothing.
private func isBlank(_ text: String) -> Bool {
  text.utf8.allSatisfy { $0 == 0x20 || (0x09...0x0D).contains($0) }
}

// MARK: - Names that need not be built

extension LineTokens {
  /// The last part of an id, where that is a case's own name as it stands: plain, short, and not nothing but spaces.
  package func plainName(ofID id: Raw) -> Raw? {
    guard id.kind == .string, id.form == .plain else { return nil }
    var start = id.range.upperBound
    while start > id.range.lowerBound, bytes[start - 1] != UInt8(ascii: "/") { start -= 1 }
    let name = start..<id.range.upperBound
    guard name.count <= longestName else { return nil }
    for place in name where bytes[place] != 0x20 { return Raw(range: name, kind: .string) }
    return nil
  }

  /// Whether a text can stand in a report as it is: plain, short, and not nothing but spaces.
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
