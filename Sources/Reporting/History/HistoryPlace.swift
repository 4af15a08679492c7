import Secrets

/// The place of a history.
public enum HistoryPlace: Hashable, Sendable {
  /// A file of SQLite.
  case file(String)
  /// A PostgreSQL database, by the URL for libpq. The URL may contain a password, and is never shown
  /// unchanged.
  case postgres(String)

  /// Reads the value of an option: `postgres://…`, `postgresql://…`, or a path.
  public init(_ text: String) {
    self = databaseSchemes.contains { text.hasPrefix($0) } ? .postgres(text) : .file(text)
  }

  /// Whether it looks like a database of an unsupported kind: a file named `mysql://…` is improbable.
  public var isOtherScheme: Bool {
    guard case .file(let path) = self, let mark = path.firstRange(of: "://") else { return false }
    return path[..<mark.lowerBound].allSatisfy {
      $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0))
    }
  }
}

extension HistoryPlace: CustomStringConvertible {
  /// The path; of a URL only the host and the database.
  public var description: String {
    switch self {
    case .file(let path): path
    case .postgres(let url): withoutSecrets(url)
    }
  }
}
