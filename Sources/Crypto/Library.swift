// The helpers that every use of libcrypto needs.

/// An algorithm that is fetched once for the life of the process; libcrypto counts its users with atomics and never
/// changes it.
@safe
public struct Algorithm: @unchecked Sendable {
  /// The algorithm, for libcrypto.
  public let pointer: OpaquePointer

  /// Wraps the result of libcrypto's fetch by name.
  public init(_ pointer: OpaquePointer?) {
    unsafe self.pointer = require(pointer)
  }
}

/// Returns a static text as a C string for libcrypto, which keeps the address.
public func cString(_ text: StaticString) -> UnsafePointer<CChar> {
  unsafe UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
}

/// Passes the address of an array's bytes, which is never null, even for an empty array.
public func withBytes<Result>(_ bytes: [UInt8], _ body: (UnsafePointer<UInt8>) -> Result) -> Result {
  unsafe bytes.withUnsafeBufferPointer { buffer in
    if let start = buffer.baseAddress { return unsafe body(start) }
    var nothing: UInt8 = 0
    return unsafe withUnsafePointer(to: &nothing) { unsafe body($0) }
  }
}

/// Traps if libcrypto fails at something that cannot fail: it is out of memory or an unknown library.
public func require(_ result: Int32) {
  precondition(result > 0, "libcrypto refused an operation that cannot fail")
}

/// Traps if libcrypto returns no object: it is out of memory or an unknown library.
public func require(_ object: OpaquePointer?) -> OpaquePointer {
  guard let object = unsafe object else {
    preconditionFailure("libcrypto gave no object, or lacks an algorithm")
  }
  return unsafe object
}
