/// What may be keys in a text that is not known to hold any: a lock file that is taken for a scenario, a share key that
/// was pasted into a command line.
public enum Lookalikes {
  /// Long words of a text that speaks of keys, where they look like hexadecimal digits or base64; as they stand there,
  /// and the bytes that digits stand for.
  public static func secrets(in text: [UInt8]) -> [Secret] {
    let signs = ["secret", "key:", "sk="]
    guard signs.contains(where: { speaks(text, of: Array($0.utf8)) }) else { return [] }
    return words(of: text).flatMap { word -> [Secret] in
      let digits = word.compactMap { digitValue($0, radix: 16) }
      if digits.count == word.count, digits.count >= 16 {
        let bytes = stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
        return [Secret(word), Secret(bytes)]
      }
      return word.count >= 24 && isMixed(word) ? [Secret(word)] : []
    }
  }

  /// Whether a text holds a word. Every file that is read is searched, and a general search takes as long as reading it.
  private static func speaks(_ text: [UInt8], of word: [UInt8]) -> Bool {
    guard text.count >= word.count else { return false }
    return (0...text.count - word.count).contains { start in
      text[start] == word[0] && text[start..<start + word.count].elementsEqual(word)
    }
  }

  /// The words, of characters that keys are written in.
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

  /// Whether there are capitals, small letters and digits in it.
  private static func isMixed(_ word: ArraySlice<UInt8>) -> Bool {
    [
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"),
    ]
    .allSatisfy { range in word.contains(where: range.contains) }
  }
}

extension Redactor {
  /// Has what looks like keys in a text taken out from now on.
  public func registerLookalikes(in text: [UInt8]) {
    for secret in Lookalikes.secrets(in: text) { try? register(secret) }
  }
}
