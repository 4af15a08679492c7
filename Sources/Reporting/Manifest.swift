/// What differs between two runs of one seed: when, where and with what a run was made.
///
/// It stands in `manifest.json` beside the journal:
/// `{"name":"…","host":"…","start":"2026-11-20T22:38:51Z","version":"…","properties":{"…":"…"}}`. What is left out is
/// unknown.
struct Manifest: Hashable {
  var name: String?
  var host: String?
  /// When the run started, as `2026-11-20T22:38:51Z`.
  var start: String?
  var version: String?
  /// Anything else worth finding in a report: a commit, a firmware, a dongle.
  var properties: [JSONValue.Member] = []

  /// Nothing known.
  init() {}

  /// Reads a manifest; what cannot be read is unknown.
  init(path: String) {
    guard let bytes = contents(of: path, limit: 1 << 20) else { return }
    var scanner = JSONScanner(bytes.span)
    guard let value = try? scanner.document() else { return }
    name = value["name"]?.text
    host = value["host"]?.text
    start = value["start"]?.text.flatMap(wholeSeconds)
    version = value["version"]?.text
    if case .object(let members) = value["properties"] { properties = members }
  }
}

extension Manifest {
  /// What several manifests say together: all names, the first start, and what they agree on.
  init(paths: [String]) {
    let all = paths.map(Manifest.init(path:))
    guard let first = all.first else { return }
    self = first
    let names = all.compactMap(\.name)
    name = names.isEmpty ? nil : names.joined(separator: ", ")
    start = all.compactMap(\.start).min()
    if all.contains(where: { $0.host != first.host }) { host = nil }
    if all.contains(where: { $0.version != first.version }) { version = nil }
    properties = first.properties.filter { property in all.allSatisfy { $0.properties.contains(property) } }
  }
}

/// A time in UTC without its fraction of a second, or `nil` when the text is none.
private func wholeSeconds(_ text: String) -> String? {
  let pattern = "0000-00-00T00:00:00"
  let head = text.prefix(pattern.count)
  let rest = text.dropFirst(pattern.count)
  let matches =
    head.utf8.count == pattern.utf8.count
    && zip(head.utf8, pattern.utf8).allSatisfy { byte, model in
      model == UInt8(ascii: "0") ? (0x30...0x39).contains(byte) : byte == model
    }
  let fraction = rest.dropLast()
  let isFraction = fraction.isEmpty || (fraction.first == "." && fraction.dropFirst().allSatisfy(\.isNumber))
  return matches && rest.last == "Z" && isFraction ? head + "Z" : nil
}
