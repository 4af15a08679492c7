/// A text that comes in pieces, with the secrets taken out that were cut in two.
///
/// What could be the beginning of a secret is kept back until it is known whether it is one. That is next to nothing:
/// only what stands in a secret in just this way.
public struct RedactingStream: Sendable {
  private let redactor: Redactor
  /// How many bytes of a secret must be there before they are kept back.
  private let minimum: Int
  /// What was given out last, as it came in, and how far back it is looked at.
  private var before: [UInt8] = []
  private static let reach = 128
  /// What is kept back.
  private var kept: [UInt8] = []
  /// Whether the last of what was given out is a mark whose secret may go on.
  private var endsInMark = false

  /// Begins a text.
  ///
  /// - Parameter isLive: whether somebody waits for each piece: then the first two bytes of a secret are not kept back
  ///   by themselves.
  public init(_ redactor: Redactor = .shared, isLive: Bool = false) {
    self.redactor = redactor
    minimum = isLive ? 3 : 1
  }

  /// Takes in a piece, and gives out what is sure.
  public mutating func next(_ piece: [UInt8]) -> [UInt8] {
    if !redactor.isActive, kept.isEmpty { return piece }
    let text = before + kept + piece
    let (found, sure) = redactor.ranges(in: text, minimum: minimum)
    return give(text, found, upTo: max(before.count, sure))
  }

  /// Ends the text, and gives out what was kept back.
  public mutating func finish() -> [UInt8] {
    if kept.isEmpty { return [] }
    let text = before + kept
    return give(text, redactor.ranges(in: text), upTo: text.count)
  }

  private mutating func give(_ text: [UInt8], _ found: [Range<Int>], upTo end: Int) -> [UInt8] {
    let start = before.count
    guard end > start else {
      kept = Array(text[end...])
      return []
    }
    var result = replaced(text[start..<end], found)
    // The mark of a secret that goes on from the last piece is there already.
    if endsInMark, found.contains(where: { $0.lowerBound < start && start < $0.upperBound }) {
      result.removeFirst(Redactor.mark.utf8.count)
    }
    endsInMark = found.contains { $0.lowerBound < end && end <= $0.upperBound }
    before = Array(text[..<end].suffix(Self.reach))
    kept = Array(text[end...])
    return result
  }
}
