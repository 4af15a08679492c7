/// Bytes that must not be revealed: a key, or a password.
///
/// Its descriptions and its mirror hide the bytes, and it conforms to neither `Codable` nor `Equatable`. Only
/// ``withBytes(_:)`` and ``revealed`` give access, and are easy to search for. ``matches(_:)`` compares two secrets
/// in a time that does not depend on their contents. The memory is wiped when the last reference is released;
/// callers must wipe their own copies.
///
/// Register each secret with a ``Redactor`` too: it catches the secret in the output of code that has access to it.
public final class Secret: Sendable {
  private let bytes: Memory

  /// Makes a secret from bytes.
  public init(_ bytes: some Collection<UInt8>) {
    self.bytes = Memory(bytes)
  }

  /// Makes a secret from the UTF-8 of a text.
  public convenience init(text: String) { self.init(text.utf8) }

  /// The number of bytes.
  public var count: Int { bytes.count }

  /// Gives access to the bytes while the body runs.
  public func withBytes<Result, Failure: Error>(
    _ body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try bytes.lend(to: body)
  }

  /// The bytes as text, for code that must pass them on.
  public var revealed: String {
    withBytes { bytes in
      var copy: [UInt8] = []
      for index in bytes.indices { copy.append(bytes[index]) }
      return String(decoding: copy, as: UTF8.self)
    }
  }

  /// Returns whether another secret has the same bytes. The time that this takes depends on the lengths alone.
  public func matches(_ other: Secret) -> Bool {
    withBytes { mine in
      other.withBytes { theirs in
        guard mine.count == theirs.count else { return false }
        var difference: UInt8 = 0
        for index in mine.indices { difference |= mine[index] ^ theirs[index] }
        return difference == 0
      }
    }
  }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// A placeholder that reveals nothing about the secret.
  public var description: String { "<secret>" }

  /// A placeholder that reveals nothing about the secret.
  public var debugDescription: String { description }

  /// A mirror without children.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Memory with a single owner, wiped before it is deallocated.
@safe
private struct Memory: ~Copyable, @unchecked Sendable {
  private let start: UnsafeMutablePointer<UInt8>
  let count: Int

  init(_ bytes: some Collection<UInt8>) {
    count = bytes.count
    unsafe start = .allocate(capacity: max(count, 1))
    var end = unsafe start
    for byte in bytes {
      unsafe end.initialize(to: byte)
      unsafe end += 1
    }
  }

  deinit {
    unsafe wipe(start, count)
    unsafe start.deallocate()
  }

  borrowing func lend<Result, Failure: Error>(
    to body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let bytes = unsafe Span(_unsafeStart: start, count: count)
    return try body(bytes)
  }
}

/// Overwrites memory with zeros. Not optimized, since the compiler would remove writes that nothing reads.
@_optimize(none)
@inline(never)
private func wipe(_ start: UnsafeMutablePointer<UInt8>, _ count: Int) {
  for index in 0..<count { unsafe start[index] = 0 }
}
