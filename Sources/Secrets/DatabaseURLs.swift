/// The schemes of PostgreSQL URLs, as libpq reads them.
public let databaseSchemes = ["postgres://", "postgresql://"]

/// Returns a command-line argument with the first PostgreSQL URL in it reduced to host and database.
///
/// A password may precede the host or be part of the query, and may be anywhere in a malformed URL. Only text that
/// is certainly no password is therefore kept, and everything after the URL is dropped.
public func withoutSecrets(_ word: String) -> String {
  let matches = databaseSchemes.compactMap { scheme in
    word.firstRange(of: scheme).map { (start: $0.lowerBound, end: $0.upperBound) }
  }
  guard let match = matches.min(by: { $0.start < $1.start }) else { return word }
  var rest = word[match.end...]
  rest = rest[..<(rest.firstIndex { "?#".contains($0) || $0.isWhitespace } ?? rest.endIndex)]
  // A password may contain an @ and, in a malformed URL, a slash: the host begins after the last @.
  if let at = rest.lastIndex(of: "@") { rest = rest[rest.index(after: at)...] }
  let parts = rest.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
  let hosts = (parts.first ?? "").split(separator: ",").map { host in
    // A port is a number; anything else is dropped.
    guard let colon = host.lastIndex(of: ":"), !host.hasSuffix("]") else { return plain(host) }
    let port = host[host.index(after: colon)...]
    return plain(host[..<colon]) + (port.allSatisfy(\.isNumber) && !port.isEmpty ? ":" + port : "")
  }
  let database = parts.dropFirst().map { "/" + plain($0) }.joined()
  return word[..<match.start] + "postgres://" + hosts.joined(separator: ",") + database
}

private func plain(_ text: Substring) -> String {
  text.filter { $0.isLetter || $0.isNumber || "-_.:[]%".contains($0) }
}
