// What every use of libcrypto needs.

/// An algorithm that was looked up once for the life of the process; libcrypto counts its users with
/// atomics and never changes it.
@safe
public struct Algorithm: @unchecked Sendable {
  /// The algorithm, for libcrypto.
  public let pointer: OpaquePointer

  /// Takes what libcrypto gave for its name.
  public init(_ pointer: OpaquePointer?) {
    unsafe self.pointer = require(pointer)
  }
}

/// A text of the program's own for libcrypto, which keeps the address.
public func cString(_ text: StaticString) -> UnsafePointer<CChar> {
  unsafe UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
}

/// Lends the address of an array's bytes, which is never null, even when there are none.
public func withBytes<Result>(_ bytes: [UInt8], _ body: (UnsafePointer<UInt8>) -> Result) -> Result {
  unsafe bytes.withUnsafeBufferPointer { buffer in
    if let start = buffer.baseAddress { return unsafe body(start) }
    var nothing: UInt8 = 0
    return unsafe withUnsafePointer(to: &nothing) { unsafe body($0) }
  }
}

/// Stops when libcrypto cannot do what it always can: it is out of memory or not the library we know.
public func require(_ result: Int32) {
  precondition(result > 0, "libcrypto refused an operation that cannot fail")
}

/// Stops when libcrypto gives no object: it is out of memory or not the library we know.
public func require(_ object: OpaquePointer?) -> OpaquePointer {
  guard let object = unsafe object else {
    preconditionFailure("libcrypto gave no object, or lacks an algorithm")
  }
  return unsafe object
}
