import Basics

// Defines the names of cases in reports.
//
// Readers of reports identify a case from run to run by its class and its name. Both are therefore made of data that
// does not change with the title: the location of the scenario, and the settings in addition to those of the scenario.

/// Returns the class of a case, which is also the name of its suite: the folder of the scenario, with dots for
/// slashes.
package func className(id: String) -> String {
  var name: [UInt8] = []
  for part in folder(ofID: id).utf8.split(separator: UInt8(ascii: "/"))
  where !part.elementsEqual([0x2E]) && !part.elementsEqual([0x2E, 0x2E]) {
    if !name.isEmpty { name.append(UInt8(ascii: ".")) }
    // Readers treat the last dot as the end of a package name.
    for byte in part { name.append(byte == UInt8(ascii: ".") ? UInt8(ascii: "_") : byte) }
  }
  let text = visible(String(decoding: name, as: UTF8.self))
  return isBlank(text) ? "lockstep" : clipped(text, toBytes: longestName)
}

/// Returns the name of a case: its file name without the extension, the round if there are several, and the device's
/// settings, with a number if several cases have the same name.
package func caseName(of start: Record.Case, copy: Int32) -> String {
  caseName(id: start.id, settings: start.settings, copy: copy)
}

/// Returns the same name, from its components.
package func caseName(id: String, settings: String?, copy: Int32) -> String {
  var name = visible(String(id[lastPart(ofID: id)...]))
  if isBlank(name) { name = "case" }
  if let settings, !settings.isEmpty { name += " [\(visible(settings))]" }
  return numbered(clipped(name, toBytes: longestName), copy)
}

/// Returns the title of a case, or its name if it has none, with the round, the settings and the number of the copy.
package func caseTitle(of start: Record.Case, copy: Int32) -> String {
  let title = start.name.map(visible) ?? ""
  if isBlank(title) { return caseName(of: start, copy: copy) }
  let round = roundMark(ofID: start.id).map { " " + start.id[$0...] } ?? ""
  let settings = start.settings.map { $0.isEmpty ? "" : " [\(visible($0))]" } ?? ""
  return numbered(clipped(title + round + settings, toBytes: longestName), copy)
}

private func numbered(_ name: String, _ copy: Int32) -> String { copy == 1 ? name : "\(name) (\(copy))" }

/// Returns the id of a case without its round.
package func withoutRound(_ id: String) -> String { roundMark(ofID: id).map { String(id[..<$0]) } ?? id }

/// Returns the position of the round in an id, such as `#3`, if there is one.
private func roundMark(ofID id: String) -> String.Index? {
  guard let mark = id.lastIndex(of: "#"), Int(id[id.index(after: mark)...]) != nil else { return nil }
  return mark
}

private func lastPart(ofID id: String) -> String.Index {
  id.utf8.lastIndex(of: UInt8(ascii: "/")).map { id.utf8.index(after: $0) } ?? id.startIndex
}

/// Returns the folder of an id; for an id without a folder, the id without its round.
private func folder(ofID id: String) -> Substring {
  let end = lastPart(ofID: id)
  return end == id.startIndex ? withoutRound(id)[...] : id[..<end]
}

/// The maximum length of the name of a case or a class, in bytes; a longer name is no help in telling cases apart.
package let longestName = 1024

/// Returns whether a reader may treat a text as empty.
private func isBlank(_ text: String) -> Bool {
  text.utf8.allSatisfy { $0 == 0x20 || (0x09...0x0D).contains($0) }
}

// MARK: - Names that need no string

extension LineTokens {
  /// Returns the last part of an id if it is the name of the case as it is: plain, short and not blank.
  package func plainName(ofID id: Raw) -> Raw? {
    guard id.kind == .string, id.form == .plain else { return nil }
    var start = id.range.upperBound
    while start > id.range.lowerBound, bytes[start - 1] != UInt8(ascii: "/") { start -= 1 }
    let name = start..<id.range.upperBound
    guard name.count <= longestName else { return nil }
    for place in name where bytes[place] != 0x20 { return Raw(range: name, kind: .string) }
    return nil
  }

  /// Returns whether a text can appear in a report as it is: plain, short and not blank.
  package func isPlain(_ raw: Raw) -> Bool {
    guard raw.form == .plain, raw.range.count <= longestName else { return false }
    for place in raw.range where bytes[place] != 0x20 { return true }
    return false
  }

  /// Returns the hash of a plain text, continued from another hash.
  package func hash(_ raw: Raw, after before: UInt64) -> UInt64 {
    var hash = Fingerprint(after: before)
    for place in raw.range { hash.mix(UInt64(bytes[place])) }
    return hash.value
  }
}
