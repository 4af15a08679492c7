import System
import Bluetooth
import Glibc
import Basics

/// Unix sockets for H4.
enum UnixSocket {
  /// The maximum length of a path in bytes.
  static let longestPath = longestSocketName

  /// Connects to a server.
  static func connect(
    to path: String, name: String, until limit: Instant
  ) throws(TransportFault)
    -> DescriptorLine.Ends
  {
    let kind = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
    let descriptor = Kernel.socket(AF_UNIX, Int32(kind), 0)
    guard descriptor >= 0 else { throw refused(name, errno) }
    var status = connect(descriptor, to: path)
    // A server whose backlog is full refuses with EAGAIN: retry.
    while status != 0, errno == EAGAIN, Waiting.now < limit {
      Waiting.wait(for: [], until: Waiting.now + .milliseconds(10))
      status = connect(descriptor, to: path)
    }
    guard status == 0 else {
      let code = errno
      Kernel.close(descriptor)
      throw refused(name, code)
    }
    return .init(peer: descriptor)
  }

  private static func connect(_ descriptor: Int32, to path: String) -> Int32 {
    let isAbstract = path.hasPrefix("@")
    return unsafe withSocketAddress(isAbstract ? String(path.dropFirst()) : path, isAbstract: isAbstract) {
      unsafe Kernel.connect(descriptor, $0, $1)
    }
  }

  private static func refused(_ name: String, _ code: Int32) -> TransportFault {
    let cure = code == EACCES ? "may this user write to it?" : "does the controller run there?"
    return TransportFault(.unavailable, "\(name) does not answer (\(errorText(code))); \(cure)")
  }
}
