import System

/// What differs between two runs of one seed: when, where and with what a run was made.
///
/// It stands in `manifest.json` beside the journal:
/// `{"name":"…","host":"…","start":"2026-11-20T22:38:51Z","version":"…","properties":{"…":"…"}}`, and
/// `"job":"…","part":"3/16"` where an engine started it as one of many. What is left out is unknown.
struct Manifest: Hashable {
  var name: String?
  var host: String?
  /// When the run started, as `2026-11-20T22:38:51Z`.
  var start: String?
  var version: String?
  /// The words of the command line.
  var command: String?
  /// Which part of which job the run was, if it was one.
  var jobPart: JobPart?
  /// Anything else worth finding in a report: a commit, a firmware, a dongle.
  var properties: [JSONValue.Member] = []

  /// Nothing known.
  init() {}

  /// Reads a manifest; what cannot be read is unknown.
  init(path: String) {
    guard let bytes = try? WholeFile.bytes(of: path, limit: 1 << 20) else { return }
    var scanner = JSONScanner(bytes.span)
    guard let value = try? scanner.document() else { return }
    name = value["name"]?.text
    host = value["host"]?.text
    start = value["start"]?.text.flatMap(wholeSeconds)
    version = value["version"]?.text
    command = value["command"]?.elements.map { $0.compactMap(\.text).joined(separator: " ") }
    jobPart = JobPart(job: value["job"]?.text, part: value["part"]?.text)
    if case .object(let members) = value["properties"] { properties = members }
  }
}

extension Manifest {
  /// What several manifests say together, in their order: the first start, and all that they say of the rest.
  init(_ all: [Manifest]) {
    start = all.compactMap(\.start).min()
    name = joined(all.map(\.name))
    let hosts = joined(all.map(\.host))
    host = all.contains { $0.host == hosts } ? hosts : nil
    version = joined(all.map(\.version))
    command = joined(all.map(\.command), by: "; ")
    var keys: [String] = []
    for property in all.flatMap(\.properties) where !keys.contains(property.key) { keys.append(property.key) }
    properties = keys.compactMap { key in
      let values = all.map { manifest in manifest.properties.first { $0.key == key }?.value.description }
      return joined(values).map { .init(key, .string($0)) }
    }
    if host == nil, let hosts { properties.insert(.init("hosts", .string(hosts)), at: 0) }
  }
}

/// Each different text once, in the order in which they come first.
func joined(_ texts: [String?], by separator: String = ", ") -> String? {
  var all: [String] = []
  for case let text? in texts where !text.isEmpty && !all.contains(text) { all.append(text) }
  return all.isEmpty ? nil : all.joined(separator: separator)
}

/// A time in UTC without its fraction of a second, or `nil` when the text is none.
func wholeSeconds(_ text: String) -> String? {
  let pattern = "0000-00-00T00:00:00"
  let head = Array(text.utf8.prefix(pattern.utf8.count))
  let rest = text.utf8.dropFirst(pattern.utf8.count)
  let isDigit: (UInt8) -> Bool = { 0x30...0x39 ~= $0 }
  guard
    head.count == pattern.utf8.count,
    zip(head, pattern.utf8).allSatisfy({ $1 == UInt8(ascii: "0") ? isDigit($0) : $0 == $1 }),
    rest.last == UInt8(ascii: "Z"),
    rest.count == 1 || (rest.first == UInt8(ascii: ".") && rest.dropFirst().dropLast().allSatisfy(isDigit))
  else { return nil }
  func number(_ place: Range<Int>) -> Int { head[place].reduce(0) { $0 * 10 + Int($1 - 0x30) } }
  let (year, month, day) = (number(0..<4), number(5..<7), number(8..<10))
  let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
  let days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
  // Readers refuse a day that there is not.
  guard
    year > 0, 1...12 ~= month, 1...days[month - 1] ~= day, number(11..<13) < 24, number(14..<16) < 60,
    number(17..<19) < 60
  else { return nil }
  return String(decoding: head, as: UTF8.self) + "Z"
}
