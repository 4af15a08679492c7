import Synchronization

/// Finds secrets in what is about to leave the program, and takes them out.
///
/// Every sink asks ``shared``: standard output and error, journals, manifests, captures, reports, the history. A secret
/// that was registered is found as raw bytes, as hexadecimal digits of either case, as base64 of both alphabets at any
/// place of a longer text, with or without padding, and as text; each also with its bytes in reverse order; and with what
/// formats put between or in place of its parts: spaces, line breaks, colons, `0x`, `\x`, `\u00`, percent signs, the
/// escapes of C, JSON and XML. Eight bytes in a row are enough, so a key of which an end was cut off is found too.
/// Each place becomes ``mark``.
///
/// While nothing is registered, which is the case in every run without a real lock, asking costs one look at a number.
public final class Redactor: Sendable {
  /// The one that all sinks ask.
  public static let shared = Redactor()

  /// What stands where a secret stood.
  public static let mark = "‹redacted›"

  /// The fewest bytes that can be told from ordinary text.
  public static let shortest = 8

  private let hasSecrets = Atomic<Bool>(false)
  private let forms = Mutex(SecretForms())

  /// Makes one that knows no secret.
  public init() {}

  /// Whether there is anything to be found.
  public var isActive: Bool { hasSecrets.load(ordering: .acquiring) }

  /// Has a secret taken out from now on.
  ///
  /// - Throws: why it cannot be: it is too short, or too much like ordinary text.
  public func register(_ secret: Secret) throws(RedactionRefusal) {
    guard secret.count >= Self.shortest else { throw .tooShort(secret.count) }
    let bytes = secret.withBytes { bytes in bytes.indices.map { bytes[$0] } }
    let isFound = forms.withLock { $0.add(bytes) }
    guard isFound else { throw .tooPlain }
    hasSecrets.store(true, ordering: .releasing)
  }

  /// A text without the secrets in it.
  public func redacted(_ text: String) -> String {
    guard isActive else { return text }
    let bytes = Array(text.utf8)
    let found = ranges(in: bytes)
    return found.isEmpty ? text : String(decoding: replaced(bytes[...], found), as: UTF8.self)
  }

  /// Bytes without the secrets in them.
  public func redacted(_ bytes: [UInt8]) -> [UInt8] {
    guard isActive else { return bytes }
    let found = ranges(in: bytes)
    return found.isEmpty ? bytes : replaced(bytes[...], found)
  }

  /// Bytes with as many stars where secrets stood: for formats that count.
  public func masked(_ bytes: [UInt8]) -> [UInt8] {
    guard isActive else { return bytes }
    var bytes = bytes
    for range in ranges(in: bytes) {
      for index in range { bytes[index] = UInt8(ascii: "*") }
    }
    return bytes
  }

  /// Where the secrets stand, in order and apart from each other.
  func ranges(in bytes: [UInt8]) -> [Range<Int>] {
    let forms = forms.withLock { $0 }
    return merged(SymbolReading.Encoding.allCases.flatMap { SymbolReading(bytes, $0).ranges(of: forms) })
  }

  /// Where the secrets stand in a text that goes on, and from where on it may be the beginning of another one.
  func ranges(in bytes: [UInt8], minimum: Int) -> (found: [Range<Int>], sure: Int) {
    let forms = forms.withLock { $0 }
    let tail = Array(bytes.suffix(Self.tail))
    var sure = bytes.count
    for end in Escape.ends(of: tail) {
      let text = Array(tail[..<end])
      for encoding in SymbolReading.Encoding.allCases {
        guard let place = SymbolReading(text, encoding).unfinished(forms, in: text, minimum: minimum) else {
          continue
        }
        sure = min(sure, bytes.count - tail.count + place)
      }
    }
    return (ranges(in: bytes), sure)
  }

  /// How far back the beginning of a secret is looked for.
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
  /// Says nothing of the secrets.
  public var description: String { "<redactor>" }

  /// A mirror without children.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Why a secret cannot be taken out of what is written.
public enum RedactionRefusal: Error, Equatable, Sendable, CustomStringConvertible {
  /// It has so few bytes.
  case tooShort(Int)
  /// It is nearly all one character.
  case tooPlain

  public var description: String {
    switch self {
    case .tooShort(let count):
      "a secret of \(count) bytes is too short to be told from ordinary text: it needs \(Redactor.shortest)"
    case .tooPlain: "a secret that is nearly all one character cannot be told from ordinary text"
    }
  }
}

/// A part of a text with marks in place of some ranges; a mark belongs to where its range begins.
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
