/// Finds passwords in user input: in `scheme://user:PASSWORD@host/…`, and in `password=PASSWORD` as libpq reads it.
///
/// Their position identifies them, so short passwords are found too.
public enum Passwords {
  /// Returns the passwords as typed and, if they contain percent-encoding, also as decoded.
  public static func secrets(in word: String) -> [Secret] {
    let text = Array(word.utf8)
    return ranges(in: text).flatMap { range -> [Secret] in
      let typed = Array(text[range])
      var meant: [UInt8] = []
      var index = 0
      while index < typed.count {
        let escape = typed[index] == UInt8(ascii: "%") ? Escape.resolve(typed, at: index) : nil
        meant += escape?.bytes ?? [typed[index]]
        index = escape?.end ?? index + 1
      }
      return typed == meant ? [Secret(typed)] : [Secret(typed), Secret(meant)]
    }
  }

  private static func ranges(in text: [UInt8]) -> [Range<Int>] {
    [rangeInURL(text), rangeInKeyValue(text)].compactMap(\.self).sorted { $0.lowerBound < $1.lowerBound }
  }

  private static func rangeInURL(_ text: [UInt8]) -> Range<Int>? {
    guard let scheme = text.firstRange(of: "://".utf8) else { return nil }
    let rest = text[scheme.upperBound...]
    let slash = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
    // In a database URL, a slash that should have been percent-encoded may be part of the password.
    let isDatabase = text[..<scheme.lowerBound].contains("postgres".utf8)
    guard
      let at = rest[..<slash].lastIndex(of: UInt8(ascii: "@"))
        ?? (isDatabase ? rest.lastIndex(of: UInt8(ascii: "@")) : nil),
      let colon = rest[..<at].firstIndex(of: UInt8(ascii: ":")), colon + 1 < at
    else { return nil }
    return colon + 1..<at
  }

  private static func rangeInKeyValue(_ text: [UInt8]) -> Range<Int>? {
    guard let name = text.firstRange(of: "password=".utf8) else { return nil }
    let rest = text[name.upperBound...]
    let end = rest.firstIndex { $0 == UInt8(ascii: "&") || $0 == UInt8(ascii: " ") } ?? rest.endIndex
    return end > rest.startIndex ? rest.startIndex..<end : nil
  }
}
