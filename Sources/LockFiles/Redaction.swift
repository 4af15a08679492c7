import Basics
import Documents

/// Hides what may be a key in messages about a file that holds one.
enum Redaction {
  /// The keys of a lock file whose values are no secret, and those below them.
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

  /// The text with stars in place of every value that is not known to be open; nothing moves.
  private static func hidden(_ bytes: [UInt8]) -> [UInt8] {
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    // A PIN may be a short word, and what a secret is called is up to its owner: after that word nothing is known to be open.
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
    // A key is a word, and a secret that somebody chose may be anything.
    return line[..<start]
      + line[start...].map { byte in
        let isShown = isAmongSecrets ? " \t{}[],:\"'".utf8.contains(byte) : !isWord(byte)
        return isShown ? byte : UInt8(ascii: "*")
      }
  }

  /// No word that is meant for people is so long without a hyphen or a space, and every key is.
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

  /// Letters, digits and what base64 and percent signs need.
  private static func isWord(_ byte: UInt8) -> Bool { byte.isLetterOrDigit || "+/%=".utf8.contains(byte) }
}
