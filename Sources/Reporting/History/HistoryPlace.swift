import Secrets

/// Where a history is kept.
public enum HistoryPlace: Hashable, Sendable {
  /// A file of SQLite, at a path.
  case file(String)
  /// A database of PostgreSQL, by the URL that libpq reads. It may hold a password, and is never shown as it is.
  case postgres(String)

  /// Reads the value of an option: `postgres://…`, `postgresql://…`, or a path.
  public init(_ text: String) {
    self = databaseSchemes.contains { text.hasPrefix($0) } ? .postgres(text) : .file(text)
  }

  /// Whether it looks like a database of a kind that is not known here: hardly anybody means a file by `mysql://…`.
  public var isOtherScheme: Bool {
    guard case .file(let path) = self, let mark = path.firstRange(of: "://") else { return false }
    return path[..<mark.lowerBound].allSatisfy {
      $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0))
    }
  }
}

extension HistoryPlace: CustomStringConvertible {
  /// The path, or of a URL only the host and the database.
  public var description: String {
    switch self {
    case .file(let path): path
    case .postgres(let url): withoutSecrets(url)
    }
  }
}
