/// Bytes that nobody may see: a key, or a password.
///
/// Its text forms and its mirror hide them, it has no coded form and no `==`, and there are two ways to them, which
/// are easy to search for: ``withBytes(_:)`` and ``revealed``. Whether two secrets are the same is asked by
/// ``matches(_:)``, which takes as long for every answer. The memory is wiped when the last reference goes; what
/// somebody copied out of it is theirs to wipe.
///
/// What is known as a secret should also be known to a ``Redactor``, which catches it at the door when somebody who
/// may have it says it all the same.
public final class Secret: Sendable {
  private let bytes: Memory

  /// Takes bytes.
  public init(_ bytes: some Collection<UInt8>) {
    self.bytes = Memory(bytes)
  }

  /// Takes the UTF-8 of a text.
  public convenience init(text: String) { self.init(text.utf8) }

  /// How many bytes it has.
  public var count: Int { bytes.count }

  /// Lends the bytes for as long as the body runs.
  public func withBytes<Result, Failure: Error>(
    _ body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try bytes.lend(to: body)
  }

  /// The bytes as text, for whoever must hand it on.
  public var revealed: String {
    withBytes { bytes in
      var copy: [UInt8] = []
      for index in bytes.indices { copy.append(bytes[index]) }
      return String(decoding: copy, as: UTF8.self)
    }
  }

  /// Whether another one has the same bytes. Only the lengths show in how long it takes.
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
  /// Says that there is a secret, and nothing of it.
  public var description: String { "<secret>" }

  /// Says that there is a secret, and nothing of it.
  public var debugDescription: String { description }

  /// A mirror without children.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Memory of one owner, wiped before it is given back.
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

/// Writes zeros. Not optimised, since nobody reads them.
@_optimize(none)
@inline(never)
private func wipe(_ start: UnsafeMutablePointer<UInt8>, _ count: Int) {
  for index in 0..<count { unsafe start[index] = 0 }
}
