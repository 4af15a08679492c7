/// How the URL of a database of PostgreSQL begins, as libpq reads it.
public let databaseSchemes = ["postgres://", "postgresql://"]

/// A word of a command line, with every URL of PostgreSQL in it cut down to its host and its database.
///
/// A password may stand before the host and also among what follows the question mark, and a URL that is written
/// wrongly may have it anywhere: so nothing is kept but what certainly is none.
public func withoutSecrets(_ word: String) -> String {
  let places = databaseSchemes.compactMap { scheme in
    word.firstRange(of: scheme).map { (start: $0.lowerBound, end: $0.upperBound) }
  }
  guard let place = places.min(by: { $0.start < $1.start }) else { return word }
  var rest = word[place.end...]
  rest = rest[..<(rest.firstIndex { "?#".contains($0) || $0.isWhitespace } ?? rest.endIndex)]
  // A password may have an @, and wrongly a slash: what stands before the last @ is no host.
  if let at = rest.lastIndex(of: "@") { rest = rest[rest.index(after: at)...] }
  let parts = rest.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
  let hosts = (parts.first ?? "").split(separator: ",").map { host in
    // Nothing but a number is a port.
    guard let colon = host.lastIndex(of: ":"), !host.hasSuffix("]") else { return plain(host) }
    let port = host[host.index(after: colon)...]
    return plain(host[..<colon]) + (port.allSatisfy(\.isNumber) && !port.isEmpty ? ":" + port : "")
  }
  let database = parts.dropFirst().map { "/" + plain($0) }.joined()
  return word[..<place.start] + "postgres://" + hosts.joined(separator: ",") + database
}

private func plain(_ text: Substring) -> String {
  text.filter { $0.isLetter || $0.isNumber || "-_.:[]%".contains($0) }
}
