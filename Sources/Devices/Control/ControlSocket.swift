import Conformance
import System
import Glibc
import Basics

/// Opens Unix sockets by their paths.
enum ControlSocket {
  /// Opens a listening socket for this user only.
  ///
  /// Replaces a socket that a program left behind, but never one in use or another kind of file.
  static func listen(at path: String) throws(ControlError) -> Int32 {
    try checkLength(of: path)
    try removeStale(path)
    let descriptor = try make()
    // The file gets the mode of the socket, so that no other user can connect even for a moment.
    let isOurs = Kernel.fchmod(descriptor, 0o600) == 0
    guard isOurs, unsafe withSocketAddress(path, { unsafe Kernel.bind(descriptor, $0, $1) }) == 0,
      Kernel.listen(descriptor, 8) == 0
    else {
      let code = errno
      Kernel.close(descriptor)
      throw ControlError("\(path): \(errorText(code))")
    }
    return descriptor
  }

  /// Connects to a socket.
  static func connect(to path: String) throws(ControlError) -> Int32 {
    try checkLength(of: path)
    let descriptor = try make()
    guard (unsafe withSocketAddress(path) { unsafe Kernel.connect(descriptor, $0, $1) }) == 0 else {
      let code = errno
      Kernel.close(descriptor)
      throw ControlError("\(path): \(errorText(code))")
    }
    return descriptor
  }

  private static func checkLength(of path: String) throws(ControlError) {
    guard path.utf8.count <= longestSocketName else {
      throw ControlError(
        "\(path): a socket's path may have \(longestSocketName) bytes, and this one has \(path.utf8.count)")
    }
    guard !path.isEmpty else { throw ControlError("a socket's path is empty") }
  }

  private static func make() throws(ControlError) -> Int32 {
    let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    let descriptor = Kernel.socket(AF_UNIX, type, 0)
    guard descriptor >= 0 else { throw ControlError("no socket: \(errorText(errno))") }
    return descriptor
  }

  private static func removeStale(_ path: String) throws(ControlError) {
    var status = stat()
    guard Kernel.lstat(path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFSOCK else { throw ControlError("\(path): exists, and is no socket") }
    if let other = try? connect(to: path) {
      Kernel.close(other)
      throw ControlError("\(path): another program listens there")
    }
    Kernel.unlink(path)
  }
}

/// One end of a non-blocking stream of lines.
struct LineStream {
  /// The result of reading.
  enum Reading: Equatable {
    case line([UInt8])
    case nothing
    /// The peer closed the connection, or sent a line without an end.
    case over
  }

  let descriptor: Int32
  private var lines = LineBuffer()
  private var outgoing: [UInt8] = []
  private var isOver = false

  init(_ descriptor: Int32) { self.descriptor = descriptor }

  /// The events to poll.
  var events: Int16 { Int16(POLLIN) | (outgoing.isEmpty ? 0 : Int16(POLLOUT)) }

  /// Whether the peer has fallen too far behind in reading.
  var isBehind: Bool { outgoing.count > 1 << 20 }

  /// Queues a line, and sends as much as possible.
  mutating func send(_ line: String) {
    outgoing += Array(line.utf8) + [UInt8(ascii: "\n")]
    flush()
  }

  /// Sends as much as possible.
  mutating func flush() {
    while !outgoing.isEmpty {
      let count = unsafe Kernel.send(descriptor, outgoing, outgoing.count, Int32(MSG_NOSIGNAL))
      if count > 0 {
        outgoing.removeFirst(count)
      } else if errno != EINTR {
        if errno != EAGAIN { (outgoing, isOver) = ([], true) }
        return
      }
    }
  }

  /// Returns the next line, if a complete one has arrived.
  mutating func next() -> Reading {
    while true {
      switch lines.next() {
      case .whole(let line): return .line(line)
      case .tooLong: return .over
      case nil: break
      }
      if isOver { return .over }
      var buffer = [UInt8](repeating: 0, count: 16 << 10)
      let count = unsafe Kernel.recv(descriptor, &buffer, buffer.count, 0)
      if count > 0 {
        lines.append(buffer[..<count])
      } else if count == 0 || errno != EINTR && errno != EAGAIN {
        isOver = true
      } else if errno == EAGAIN {
        return .nothing
      }
    }
  }

  /// Waits until the stream is readable or, if data are queued, writable.
  func wait(for interval: Interval) {
    var polled = [pollfd(fd: descriptor, events: events, revents: 0)]
    _ = Kernel.poll(&polled, for: max(0, min(interval.nanoseconds, 60_000_000_000)))
  }
}
