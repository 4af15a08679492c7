import System
import Bluetooth
import Glibc
import Secrets

/// Captures all packets of a transport in btsnoop format, for Wireshark and btmon.
///
/// Only the owner may read the file, because keys can be derived from a captured registration; known keys are
/// replaced by asterisks. Each record is written at once, so that a killed program leaves a readable file.
struct SnoopTap: ~Copyable {
  private let descriptor: Int32
  private let role: TransportSettings.Role
  private var record: [UInt8] = []

  /// Creates or truncates the file. Throws if another program is still writing a capture to it.
  init(creating path: String, role: TransportSettings.Role) throws(TransportFault) {
    descriptor = Kernel.open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    self.role = role
    guard descriptor >= 0 else {
      throw TransportFault(.unavailable, "the capture \(path) cannot be written (\(errorText(errno)))")
    }
    do {
      try Descriptors.lock(descriptor)
    } catch {
      guard error.code == EWOULDBLOCK else {
        throw TransportFault(
          .unavailable,
          "the capture \(path) cannot be kept from other programs (\(errorText(error.code)))")
      }
      throw TransportFault(.busy, "the capture \(path) is being written by another program")
    }
    restrict()
    // Truncation fails harmlessly on a pipe.
    _ = Kernel.ftruncate(descriptor, 0)
    record = BTSnoop.header
    guard write() else {
      throw TransportFault(.unavailable, "the capture \(path) cannot be written (\(errorText(errno)))")
    }
  }

  deinit {
    if descriptor >= 0 { Kernel.close(descriptor) }
  }

  /// Records a packet.
  ///
  /// - Returns: whether it was written; if not, the last record may be incomplete.
  mutating func note(_ packet: HCIPacket, isSent: Bool) -> Bool {
    record.removeAll(keepingCapacity: true)
    BTSnoop.Record(
      time: BTSnoop.unixEpoch + WallClock.microseconds, isReceived: isSent == (role == .controller),
      packet: Redactor.shared.masked(packet.h4)
    )
    .encode(into: &record)
    return write()
  }

  /// Restricts an existing file to its owner; the mode of a pipe or a terminal does not change.
  private func restrict() {
    var status = stat()
    guard Kernel.fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return }
    _ = Kernel.fchmod(descriptor, 0o600)
  }

  private func write() -> Bool {
    (try? Descriptors.write(record, to: descriptor)) != nil
  }
}
