/// The passwords in what somebody typed: of `scheme://user:PASSWORD@host/…`, and `password=PASSWORD` as libpq reads it.
///
/// They are known by where they stand, so that short ones are found too.
public enum Passwords {
  /// The passwords, as they stand there and as they are meant where percent signs stand for something.
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
    [addressed(text), named(text)].compactMap(\.self).sorted { $0.lowerBound < $1.lowerBound }
  }

  private static func addressed(_ text: [UInt8]) -> Range<Int>? {
    guard let scheme = text.firstRange(of: "://".utf8) else { return nil }
    let rest = text[scheme.upperBound...]
    let slash = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
    // A password that should have had its solidus escaped is still one.
    let isDatabase = text[..<scheme.lowerBound].contains("postgres".utf8)
    guard
      let at = rest[..<slash].lastIndex(of: UInt8(ascii: "@"))
        ?? (isDatabase ? rest.lastIndex(of: UInt8(ascii: "@")) : nil),
      let colon = rest[..<at].firstIndex(of: UInt8(ascii: ":")), colon + 1 < at
    else { return nil }
    return colon + 1..<at
  }

  private static func named(_ text: [UInt8]) -> Range<Int>? {
    guard let name = text.firstRange(of: "password=".utf8) else { return nil }
    let rest = text[name.upperBound...]
    let end = rest.firstIndex { $0 == UInt8(ascii: "&") || $0 == UInt8(ascii: " ") } ?? rest.endIndex
    return end > rest.startIndex ? rest.startIndex..<end : nil
  }
}
