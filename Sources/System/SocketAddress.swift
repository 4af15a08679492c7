public import Glibc

/// The most bytes of the name of a socket on this machine: its address holds one more, which ends it.
public let longestSocketName = 107

/// Lends the address of a socket on this machine.
///
/// - Parameter isAbstract: whether the name is that of no file: it starts with a zero byte then, and has no other at its end.
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
