import System
import Bluetooth
import Glibc
import Basics

/// Sockets for H4 over a Unix socket.
enum UnixSocket {
  /// How many bytes a path may have: the address holds one more, which ends it.
  static let longestPath = 107

  /// Connects to a server.
  static func connect(
    to path: String, name: String, until limit: Instant
  ) throws(CarrierFault)
    -> DescriptorLine.Ends
  {
    let kind = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
    let descriptor = socket(AF_UNIX, Int32(kind), 0)
    guard descriptor >= 0 else { throw refused(name, errno) }
    var status = connect(descriptor, to: path)
    // With its queue of callers full, a server makes us ask again.
    while status != 0, errno == EAGAIN, Waiting.now < limit {
      Waiting.wait(for: [], until: Waiting.now + .milliseconds(10))
      status = connect(descriptor, to: path)
    }
    guard status == 0 else {
      let code = errno
      close(descriptor)
      throw refused(name, code)
    }
    return .init(peer: descriptor)
  }

  private static func connect(_ descriptor: Int32, to path: String) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    // A name that is no file starts with a zero byte, and has no other at its end.
    let isAbstract = path.hasPrefix("@")
    let bytes = isAbstract ? [0] + Array(path.utf8.dropFirst()) : Array(path.utf8) + [0]
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
    let size = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
    return unsafe withUnsafePointer(to: address) { address in
      unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe Glibc.connect(descriptor, $0, size)
      }
    }
  }

  private static func refused(_ name: String, _ code: Int32) -> CarrierFault {
    let cure = code == EACCES ? "may this user write to it?" : "does the controller run there?"
    return CarrierFault(.unavailable, "\(name) does not answer (\(errorText(code))); \(cure)")
  }
}
