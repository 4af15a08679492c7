import Synchronization

/// Finds secrets in everything that is about to leave the program, and replaces them.
///
/// Every sink uses ``shared``: standard output and error, journals, manifests, captures, reports, the history. A
/// registered secret is found in each of these forms, in either byte order:
///
/// - raw bytes, and text;
/// - hexadecimal digits of either case;
/// - base64 of both alphabets, at any position of a longer text, with or without padding.
///
/// Separators and escapes do not hide it: spaces, line breaks, colons, `0x`, `\x`, `\u00`, percent-encoding, and
/// the escapes of C, JSON and XML. Eight consecutive bytes are enough, so a truncated key is found too. Each
/// occurrence becomes ``mark``.
///
/// While no secret is registered, as in every run without a real lock, a call costs one atomic load.
public final class Redactor: Sendable {
  /// The redactor that all sinks use.
  public static let shared = Redactor()

  /// The text that replaces a secret.
  public static let mark = "‹redacted›"

  /// The minimum length of a secret in bytes: a shorter one cannot be distinguished from ordinary text.
  public static let shortest = 8

  private let hasSecrets = Atomic<Bool>(false)
  private let forms = Mutex(SecretForms())

  /// Makes a redactor without secrets.
  public init() {}

  /// Whether any secret is registered.
  public var isActive: Bool { hasSecrets.load(ordering: .acquiring) }

  /// Redacts a secret from now on.
  ///
  /// - Throws: a ``RedactionRefusal`` if the secret is too short, or too similar to ordinary text.
  public func register(_ secret: Secret) throws(RedactionRefusal) {
    guard secret.count >= Self.shortest else { throw .tooShort(secret.count) }
    let bytes = secret.withBytes { bytes in bytes.indices.map { bytes[$0] } }
    let isFound = forms.withLock { $0.add(bytes) }
    guard isFound else { throw .tooPlain }
    hasSecrets.store(true, ordering: .releasing)
  }

  /// Returns a text with a mark in place of each secret.
  public func redacted(_ text: String) -> String {
    guard isActive else { return text }
    let bytes = Array(text.utf8)
    let found = ranges(in: bytes)
    return found.isEmpty ? text : String(decoding: replaced(bytes[...], found), as: UTF8.self)
  }

  /// Returns bytes with a mark in place of each secret.
  public func redacted(_ bytes: [UInt8]) -> [UInt8] {
    guard isActive else { return bytes }
    let found = ranges(in: bytes)
    return found.isEmpty ? bytes : replaced(bytes[...], found)
  }

  /// Returns bytes with asterisks in place of secrets, for formats in which the length matters.
  public func masked(_ bytes: [UInt8]) -> [UInt8] {
    guard isActive else { return bytes }
    var bytes = bytes
    for range in ranges(in: bytes) {
      for index in range { bytes[index] = UInt8(ascii: "*") }
    }
    return bytes
  }

  /// Returns the ranges of secrets, in order and without overlaps.
  func ranges(in bytes: [UInt8]) -> [Range<Int>] {
    let forms = forms.withLock { $0 }
    return merged(SymbolReading.Encoding.allCases.flatMap { SymbolReading(bytes, $0).ranges(of: forms) })
  }

  /// Returns the ranges of secrets in a text that continues, and the offset from which another secret may begin.
  func ranges(in bytes: [UInt8], minimum: Int) -> (found: [Range<Int>], certainEnd: Int) {
    let forms = forms.withLock { $0 }
    let tail = Array(bytes.suffix(Self.tail))
    var certainEnd = bytes.count
    for end in Escape.ends(of: tail) {
      let text = Array(tail[..<end])
      for encoding in SymbolReading.Encoding.allCases {
        guard let offset = SymbolReading(text, encoding).unfinished(forms, in: text, minimum: minimum) else {
          continue
        }
        certainEnd = min(certainEnd, bytes.count - tail.count + offset)
      }
    }
    return (ranges(in: bytes), certainEnd)
  }

  /// How many bytes at the end of a text may contain the beginning of a secret.
  private static let tail = 128

  private func merged(_ ranges: [Range<Int>]) -> [Range<Int>] {
    var merged: [Range<Int>] = []
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let last = merged.last, last.upperBound >= range.lowerBound {
        merged[merged.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
      } else {
        merged.append(range)
      }
    }
    return merged
  }
}

extension Redactor: CustomStringConvertible, CustomReflectable {
  /// A placeholder that reveals nothing about the secrets.
  public var description: String { "<redactor>" }

  /// A mirror without children.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Why a secret cannot be redacted.
public enum RedactionRefusal: Error, Equatable, Sendable, CustomStringConvertible {
  /// It has too few bytes.
  case tooShort(Int)
  /// It consists almost entirely of one character.
  case tooPlain

  public var description: String {
    switch self {
    case .tooShort(let count):
      "a secret of \(count) bytes is too short to be told from ordinary text: it needs \(Redactor.shortest)"
    case .tooPlain: "a secret that is nearly all one character cannot be told from ordinary text"
    }
  }
}

/// Returns a part of a text with a mark in place of each range that overlaps it.
func replaced(_ bytes: ArraySlice<UInt8>, _ ranges: [Range<Int>]) -> [UInt8] {
  var result: [UInt8] = []
  var index = bytes.startIndex
  for range in ranges where range.upperBound > bytes.startIndex && range.lowerBound < bytes.endIndex {
    if range.lowerBound > index { result += bytes[index..<range.lowerBound] }
    result += Redactor.mark.utf8
    index = min(range.upperBound, bytes.endIndex)
  }
  return result + bytes[index...]
}
