public import Glibc

/// The maximum length of the name of a local socket, in bytes: its address has one more byte for the
/// terminator.
public let longestSocketName = 107

/// Passes the address of a local socket.
///
/// - Parameter isAbstract: whether the name is no file: it then begins with a zero byte, and has no
///   terminator.
public func withSocketAddress<Result>(
  _ name: String, isAbstract: Bool = false, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
) -> Result {
  var address = sockaddr_un()
  address.sun_family = sa_family_t(AF_UNIX)
  let bytes = isAbstract ? [0] + Array(name.utf8) : Array(name.utf8) + [0]
  unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
  let size = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
  return unsafe withUnsafePointer(to: address) { address in
    unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, size) }
  }
}
