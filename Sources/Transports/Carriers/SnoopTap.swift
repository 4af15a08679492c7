import Bluetooth
import Glibc

/// A capture of everything that goes over a carrier, as btsnoop: Wireshark and btmon read it.
///
/// Each record is with the system as soon as it happened, so a program that is killed leaves a readable file.
struct SnoopTap: ~Copyable {
  private let descriptor: Int32
  private let role: CarrierSettings.Role
  private var record: [UInt8] = []

  /// Creates the file, or empties it.
  init(creating path: String, role: CarrierSettings.Role) throws(CarrierFault) {
    descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    self.role = role
    guard descriptor >= 0 else {
      throw CarrierFault(.unavailable, "the capture \(path) cannot be written (\(errorText(errno)))")
    }
    // Version 1, data link type 1002: H4.
    record = Array("btsnoop\0".utf8) + [0, 0, 0, 1, 0, 0, 3, 0xEA]
    guard write() else {
      throw CarrierFault(.unavailable, "the capture \(path) cannot be written (\(errorText(errno)))")
    }
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }

  /// Writes a packet down.
  ///
  /// - Returns: whether that went well; a record may be torn when it did not.
  mutating func note(_ packet: HCIPacket, isSent: Bool) -> Bool {
    let bytes = packet.h4
    let isFromController = isSent == (role == .controller)
    let flags: UInt32 = (isFromController ? 1 : 0) | (bytes[0] == 1 || bytes[0] == 4 ? 2 : 0)
    record.removeAll(keepingCapacity: true)
    for word in [UInt32(bytes.count), UInt32(bytes.count), flags, 0] { append(word) }
    // Microseconds since the year 0.
    let time = UInt64(microseconds() + 0x00DC_DDB3_0F2F_8000)
    append(UInt32(time >> 32))
    append(UInt32(truncatingIfNeeded: time))
    record += bytes
    return write()
  }

  private mutating func append(_ word: UInt32) {
    for shift in stride(from: 24, through: 0, by: -8) {
      record.append(UInt8(truncatingIfNeeded: word >> shift))
    }
  }

  private func write() -> Bool {
    var start = 0
    while start < record.count {
      let count = unsafe record.withUnsafeBytes { bytes in
        unsafe Glibc.write(descriptor, bytes.baseAddress! + start, bytes.count - start)
      }
      if count > 0 {
        start += count
      } else if errno != EINTR {
        return false
      }
    }
    return true
  }

  /// The time of day since 1970.
  private func microseconds() -> Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
  }
}
