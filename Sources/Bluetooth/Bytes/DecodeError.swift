/// Why bytes, or their text form, cannot be decoded, and where.
///
/// The offset counts from the start of the decoder's input: bytes of a packet, or characters of a text form.
/// Any input of a peer or a file either decodes or throws this error; it never traps.
public struct DecodeError: Error, Hashable, Sendable {
  /// The kind of error.
  public enum Reason: Hashable, Sendable {
    /// This many more bytes are needed.
    case truncated(missing: Int)
    /// This many bytes are left over after the last field.
    case trailing(count: Int)
    /// A value, named here, has no layout of this length.
    case length(Int, of: String)
    /// A field has an invalid value.
    case value(Int, of: String)
    /// A required part is missing.
    case missing(String)
    /// Text does not have the named form.
    case malformed(String)
  }

  /// The offset of the error, in bytes (or characters) from the start.
  public var offset: Int
  /// The kind of error.
  public var reason: Reason

  /// Makes an error at an offset.
  @inlinable
  public init(at offset: Int, _ reason: Reason) {
    self.offset = offset
    self.reason = reason
  }
}

extension DecodeError {
  /// Makes the error of missing bytes at an offset.
  @inlinable
  public static func truncated(at offset: Int, missing: Int = 1) -> DecodeError {
    DecodeError(at: offset, .truncated(missing: missing))
  }

  /// Makes the error of left-over bytes from an offset on.
  @inlinable
  public static func trailing(at offset: Int, count: Int) -> DecodeError {
    DecodeError(at: offset, .trailing(count: count))
  }

  /// Makes the error of a value that has no layout of this length.
  @inlinable
  public static func length(_ length: Int, of name: String, at offset: Int = 0) -> DecodeError {
    DecodeError(at: offset, .length(length, of: name))
  }

  /// Makes the error of a field with an invalid value.
  @inlinable
  public static func value(_ value: Int, of name: String, at offset: Int) -> DecodeError {
    DecodeError(at: offset, .value(value, of: name))
  }

  /// Makes the error of a missing required part.
  @inlinable
  public static func missing(_ name: String, at offset: Int = 0) -> DecodeError {
    DecodeError(at: offset, .missing(name))
  }

  /// Makes the error of text that does not have the named form.
  @inlinable
  public static func malformed(_ form: String, at offset: Int) -> DecodeError {
    DecodeError(at: offset, .malformed(form))
  }

  /// The same error, relative to an enclosing value that starts a number of bytes earlier.
  @inlinable
  public func shifted(by distance: Int) -> DecodeError {
    DecodeError(at: offset + distance, reason)
  }
}

extension DecodeError.Reason: CustomStringConvertible {
  /// The reason in words.
  public var description: String {
    switch self {
    case .truncated(let missing): "\(missing) more byte\(missing == 1 ? "" : "s") needed"
    case .trailing(let count): "\(count) byte\(count == 1 ? "" : "s") left over"
    case .length(let length, let name): "no \(name) is \(length) byte\(length == 1 ? "" : "s") long"
    case .value(let value, let name): "\(value) is not a valid \(name)"
    case .missing(let name): "the \(name) is missing"
    case .malformed(let form): "not \(form)"
    }
  }
}

extension DecodeError: CustomStringConvertible {
  /// The offset and the reason: `at 4: 2 more bytes needed`.
  public var description: String { "at \(offset): \(reason)" }
}
