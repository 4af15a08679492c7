import Glibc
import Synchronization

private let given = Mutex<Set<Int>>([])

/// A port of 127.0.0.1 that nothing listens on; no two calls in one process give the same.
public func freePort() throws -> Int {
  while true {
    let port = try unusedPort()
    if given.withLock({ $0.insert(port).inserted }) { return port }
  }
}

/// The system gave no port.
private struct NoPort: Error {}

private func unusedPort() throws -> Int {
  let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
  defer { close(descriptor) }
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
  var size = socklen_t(MemoryLayout<sockaddr_in>.size)
  let status = unsafe withUnsafeMutablePointer(to: &address) {
    unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      unsafe bind(descriptor, $0, size) == 0 ? getsockname(descriptor, $0, &size) : -1
    }
  }
  guard status == 0 else { throw NoPort() }
  return Int(UInt16(bigEndian: address.sin_port))
}
