/// Redacts a text that arrives in pieces, including secrets that are split between pieces.
///
/// Bytes that may begin a secret are held back until later bytes decide. Few bytes are affected: only sequences
/// that occur in a registered secret.
public struct RedactingStream: Sendable {
  private let redactor: Redactor
  /// The minimum number of bytes of a secret to hold back.
  private let minimum: Int
  /// The end of the previous output, before redaction: the context for the next search, at most ``reach`` bytes.
  private var context: [UInt8] = []
  private static let reach = 128
  /// The bytes that are held back.
  private var heldBack: [UInt8] = []
  /// Whether the output ends in a mark whose secret may continue.
  private var endsInMark = false

  /// Begins a text.
  ///
  /// - Parameter isLive: whether a reader waits for each piece: one or two bytes of a secret alone are then not
  ///   held back.
  public init(_ redactor: Redactor = .shared, isLive: Bool = false) {
    self.redactor = redactor
    minimum = isLive ? 3 : 1
  }

  /// Processes a piece, and returns the bytes that can be output.
  public mutating func next(_ piece: [UInt8]) -> [UInt8] {
    if !redactor.isActive, heldBack.isEmpty { return piece }
    let text = context + heldBack + piece
    let (found, certainEnd) = redactor.ranges(in: text, minimum: minimum)
    return emit(text, found, upTo: max(context.count, certainEnd))
  }

  /// Ends the text, and returns the bytes that were held back.
  public mutating func finish() -> [UInt8] {
    if heldBack.isEmpty { return [] }
    let text = context + heldBack
    return emit(text, redactor.ranges(in: text), upTo: text.count)
  }

  private mutating func emit(_ text: [UInt8], _ found: [Range<Int>], upTo end: Int) -> [UInt8] {
    let start = context.count
    guard end > start else {
      heldBack = Array(text[end...])
      return []
    }
    var result = replaced(text[start..<end], found)
    // If a secret continues from the last piece, its mark was already output.
    if endsInMark, found.contains(where: { $0.lowerBound < start && start < $0.upperBound }) {
      result.removeFirst(Redactor.mark.utf8.count)
    }
    endsInMark = found.contains { $0.lowerBound < end && end <= $0.upperBound }
    context = Array(text[..<end].suffix(Self.reach))
    heldBack = Array(text[end...])
    return result
  }
}
