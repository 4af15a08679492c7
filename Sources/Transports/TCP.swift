import System
import Bluetooth
import Glibc
import Basics

/// TCP sockets for H4. No call blocks, except to resolve a host name.
enum TCP {
  /// Connects to a server, at the first of its addresses that answers.
  static func connect(
    to host: String, port: UInt16, name: String, until limit: Instant
  )
    throws(TransportFault) -> DescriptorLine.Ends
  {
    var failure: Int32 = ETIMEDOUT
    for address in try addresses(of: host, port: port, name: name) {
      switch connect(to: address, until: limit) {
      case .success(let descriptor): return .init(peer: descriptor, isTCP: true)
      case .failure(let error): failure = error.code
      }
    }
    throw TransportFault(
      .unavailable, "\(name) does not answer (\(errorText(failure))); does the controller run there?")
  }

  /// Listens on a port, on all interfaces if there is no host.
  static func listen(
    on host: String?, port: UInt16, name: String
  ) throws(TransportFault) -> DescriptorLine.Ends {
    var failure: Int32 = EADDRNOTAVAIL
    for address in try addresses(of: host, port: port, name: name) {
      let descriptor = openSocket(address.family)
      guard descriptor >= 0 else {
        failure = errno
        continue
      }
      set(SOL_SOCKET, SO_REUSEADDR, 1, on: descriptor)
      // All interfaces must include IPv4.
      if host == nil, address.family == AF_INET6 { set(Int32(IPPROTO_IPV6), IPV6_V6ONLY, 0, on: descriptor) }
      let status = unsafe address.withPointer { unsafe Kernel.bind(descriptor, $0, $1) }
      if status == 0, Kernel.listen(descriptor, 1) == 0 { return .init(listener: descriptor, isTCP: true) }
      failure = errno
      Kernel.close(descriptor)
    }
    throw TransportFault(
      failure == EADDRINUSE ? .busy : .unavailable, "\(name) cannot be listened on (\(errorText(failure)))")
  }

  /// Accepts the next peer; returns `nil` if none is waiting.
  static func accept(from listener: Int32) -> (descriptor: Int32, name: String)? {
    var address = SocketAddress()
    let descriptor = unsafe address.withMutablePointer { unsafe Kernel.accept(listener, $0, $1) }
    guard descriptor >= 0 else { return nil }
    Kernel.fcntl(descriptor, F_SETFL, O_NONBLOCK)
    Kernel.fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    disableDelays(descriptor)
    return (descriptor, address.text)
  }

  /// Acknowledges received data at once. The system resets this option, so it is set after each read: some
  /// controllers write header and body separately, and Nagle's algorithm then waits 40 ms for the acknowledgement.
  static func acknowledgeAtOnce(_ descriptor: Int32) {
    set(Int32(IPPROTO_TCP), TCP_QUICKACK, 1, on: descriptor)
  }

  /// The port that a socket is bound to.
  static func localPort(of descriptor: Int32) -> UInt16? {
    var address = SocketAddress()
    let status = unsafe address.withMutablePointer { unsafe getsockname(descriptor, $0, $1) }
    return status == 0 ? address.port : nil
  }
}

extension TCP {
  private struct Failure: Error {
    var code: Int32
  }

  private static func openSocket(_ family: Int32) -> Int32 {
    let kind = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
    return Kernel.socket(family, Int32(kind), 0)
  }

  private static func disableDelays(_ descriptor: Int32) {
    set(Int32(IPPROTO_TCP), TCP_NODELAY, 1, on: descriptor)
    acknowledgeAtOnce(descriptor)
  }

  private static func set(_ level: Int32, _ option: Int32, _ value: Int32, on descriptor: Int32) {
    var value = value
    _ = unsafe setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
  }

  private static func connect(to address: SocketAddress, until limit: Instant) -> Result<Int32, Failure> {
    let descriptor = openSocket(address.family)
    guard descriptor >= 0 else { return .failure(Failure(code: errno)) }
    disableDelays(descriptor)
    let status = unsafe address.withPointer { unsafe Kernel.connect(descriptor, $0, $1) }
    var code = status == 0 ? 0 : errno
    if code == EINPROGRESS {
      code = awaitConnection(of: descriptor, until: limit)
    }
    guard code == 0 else {
      Kernel.close(descriptor)
      return .failure(Failure(code: code))
    }
    return .success(descriptor)
  }

  /// Returns the result of connecting: 0, or the error code.
  private static func awaitConnection(of descriptor: Int32, until limit: Instant) -> Int32 {
    while !Waiting.wait(for: [(descriptor, Int16(POLLOUT))], until: limit) {
      if Waiting.now >= limit { return ETIMEDOUT }
    }
    var code: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    let status = unsafe getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &size)
    return status == 0 ? code : errno
  }

  private static func addresses(
    of host: String?, port: UInt16, name: String
  )
    throws(TransportFault) -> [SocketAddress]
  {
    var hints = unsafe addrinfo()
    unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    unsafe hints.ai_flags = AI_NUMERICSERV | (host == nil ? AI_PASSIVE : 0)
    var list: UnsafeMutablePointer<addrinfo>?
    let status = unsafe getaddrinfo(host, "\(port)", &hints, &list)
    defer { unsafe freeaddrinfo(list) }
    guard status == 0 else {
      let reason = unsafe String(cString: gai_strerror(status))
      throw TransportFault(.unavailable, "\(name): the host is not known (\(reason))")
    }
    var addresses: [SocketAddress] = []
    var next = unsafe list
    while let entry = unsafe next {
      unsafe addresses.append(SocketAddress(entry.pointee.ai_addr, entry.pointee.ai_addrlen))
      unsafe next = entry.pointee.ai_next
    }
    // Fall back to IPv4 for all interfaces if there is no IPv6.
    if host == nil { addresses.sort { $0.family == AF_INET6 && $1.family != AF_INET6 } }
    return addresses
  }
}

/// An IPv4 or IPv6 socket address.
struct SocketAddress {
  private var storage = sockaddr_storage()
  private var size = socklen_t(MemoryLayout<sockaddr_storage>.size)

  init() {}

  init(_ address: UnsafePointer<sockaddr>, _ size: socklen_t) {
    self.size = min(size, self.size)
    unsafe withUnsafeMutableBytes(of: &storage) { bytes in
      unsafe bytes.copyMemory(from: UnsafeRawBufferPointer(start: address, count: Int(self.size)))
    }
  }

  var family: Int32 { Int32(storage.ss_family) }

  /// The port, in host byte order.
  var port: UInt16 {
    // In both versions the port follows the family.
    unsafe withUnsafeBytes(of: storage) { bytes in
      unsafe UInt16(bytes[2]) << 8 | UInt16(bytes[3])
    }
  }

  /// The address and port in numeric form.
  var text: String {
    var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    let status = unsafe withPointer { address, size in
      unsafe getnameinfo(address, size, &host, socklen_t(host.count), nil, 0, NI_NUMERICHOST)
    }
    guard status == 0 else { return "a peer" }
    let numbers = String(decoding: host.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return "\(numbers.contains(":") ? "[\(numbers)]" : numbers):\(port)"
  }

  func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    unsafe withUnsafePointer(to: storage) { storage in
      unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, size) }
    }
  }

  mutating func withMutablePointer<Result>(
    _ body: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Result
  ) -> Result {
    size = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return unsafe withUnsafeMutablePointer(to: &storage) { storage in
      unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        unsafe withUnsafeMutablePointer(to: &size) { unsafe body(address, $0) }
      }
    }
  }
}
