/// Finds possible keys in a text that should not contain any: a lock file mistaken for a scenario, a share key
/// pasted into a command line.
public enum Lookalikes {
  /// Returns the long words that look like hexadecimal digits or base64, if the text mentions keys. Digits are
  /// returned both as text and as the bytes that they represent.
  public static func secrets(in text: [UInt8]) -> [Secret] {
    let markers = ["secret", "key:", "sk="]
    guard markers.contains(where: { contains(Array($0.utf8), in: text) }) else { return [] }
    return words(of: text).flatMap { word -> [Secret] in
      let digits = word.compactMap { digitValue($0, radix: 16) }
      if digits.count == word.count, digits.count >= 16 {
        let bytes = stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
        return [Secret(word), Secret(bytes)]
      }
      return word.count >= 24 && isMixed(word) ? [Secret(word)] : []
    }
  }

  /// Returns whether a text contains a word. Every file that is read is searched, and a general search would take
  /// as long as reading the file.
  private static func contains(_ word: [UInt8], in text: [UInt8]) -> Bool {
    guard text.count >= word.count else { return false }
    return (0...text.count - word.count).contains { start in
      text[start] == word[0] && text[start..<start + word.count].elementsEqual(word)
    }
  }

  /// Splits a text into words of the characters that occur in keys.
  private static func words(of text: [UInt8]) -> [ArraySlice<UInt8>] {
    text.split { byte in
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "%"):
        false
      default: true
      }
    }
  }

  /// Returns whether a word contains upper-case letters, lower-case letters and digits.
  private static func isMixed(_ word: ArraySlice<UInt8>) -> Bool {
    [
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"),
    ]
    .allSatisfy { range in word.contains(where: range.contains) }
  }
}

extension Redactor {
  /// Redacts the possible keys in a text from now on.
  public func registerLookalikes(in text: [UInt8]) {
    for secret in Lookalikes.secrets(in: text) { try? register(secret) }
  }
}
