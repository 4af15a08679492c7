import Basics

extension Array<UInt8> {
  /// Reads hexadecimal digits of either case, two for each byte and nothing between them.
  ///
  /// The offset of an error counts characters.
  public init(hex text: some StringProtocol) throws(DecodeError) {
    self = []
    reserveCapacity(text.utf8.count / 2)
    var high: UInt8?
    var offset = 0
    for character in text.utf8 {
      guard let value = hexValue(character) else { throw .malformed("hexadecimal", at: offset) }
      if let first = high {
        append(first << 4 | value)
        high = nil
      } else {
        high = value
      }
      offset += 1
    }
    guard high == nil else { throw .malformed("an even number of hexadecimal digits", at: offset) }
  }
}
