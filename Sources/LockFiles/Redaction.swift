import Basics
import Documents

/// Hides possible keys in error messages about a lock file.
enum Redaction {
  /// The top-level and the nested keys of a lock file whose values are not secret.
  private static let open = ["name", "address"] + LockFile.families.flatMap { $0.openKeys }
  private static let openBelow = LockFile.families.flatMap { $0.openKeysBelow }

  static func hidingKeys(of error: DocumentError) -> DocumentError {
    var error = error
    error.source.bytes = hidden(error.source.bytes)
    for index in error.problems.indices {
      error.problems[index].message = hidingLongWords(error.problems[index].message)
    }
    return error
  }

  /// Returns a text with asterisks in place of every value that is not known to be public; all positions stay the
  /// same.
  private static func hidden(_ bytes: [UInt8]) -> [UInt8] {
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    // A PIN may be a short word, and users name their secrets freely: from the word `secrets` on, no value is
    // public.
    var isAmongSecrets = false
    let hidden = lines.map { line in
      isAmongSecrets = isAmongSecrets || line.contains("secrets".utf8)
      return hidingLongWords(hidingValue(line, isAmongSecrets))
    }
    return Array(hidden.joined(separator: [UInt8(ascii: "\n")]))
  }

  private static func hidingValue(_ line: ArraySlice<UInt8>, _ isAmongSecrets: Bool) -> [UInt8] {
    let colon = line.firstIndex(of: UInt8(ascii: ":"))
    let text = String(decoding: line[..<(colon ?? line.endIndex)], as: UTF8.self)
    let key = text.filter { $0 != " " }
    let isOpen = key == text ? open.contains(key) : openBelow.contains(key)
    if key.isEmpty || !isAmongSecrets && (key.hasPrefix("#") || colon != nil && isOpen) { return Array(line) }
    let start = colon ?? line.startIndex
    // A key is one word, but a secret that a user chose may contain any character.
    return line[..<start]
      + line[start...].map { byte in
        let isShown = isAmongSecrets ? " \t{}[],:\"'".utf8.contains(byte) : !isWord(byte)
        return isShown ? byte : UInt8(ascii: "*")
      }
  }

  /// The length of the longest word that is not hidden: without a hyphen or a space, no word of a message is
  /// longer, but every key is.
  private static let longestWord = 12

  private static func hidingLongWords(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    var start = 0
    for index in 0...bytes.count where index == bytes.count || !isWord(bytes[index]) {
      if index - start > longestWord {
        for place in start..<index { bytes[place] = UInt8(ascii: "*") }
      }
      start = index + 1
    }
    return bytes
  }

  private static func hidingLongWords(_ text: String) -> String {
    String(decoding: hidingLongWords(Array(text.utf8)), as: UTF8.self)
  }

  /// Returns whether a byte is a letter, a digit, or a character of base64 or percent-encoding.
  private static func isWord(_ byte: UInt8) -> Bool { byte.isLetterOrDigit || "+/%=".utf8.contains(byte) }
}
