import System
import Bluetooth
import Glibc
import Secrets

/// A capture of everything that goes over a transport, as btsnoop: Wireshark and btmon read it.
///
/// It is for its owner alone, since keys follow from a registration that somebody listened to, and a key that is known
/// here has stars in its place. Each record is with the system as soon as it happened, so a program that is killed leaves a readable file.
struct SnoopTap: ~Copyable {
  private let descriptor: Int32
  private let role: TransportSettings.Role
  private var record: [UInt8] = []

  /// Creates the file, or empties it. The capture of another program that still writes to it is left alone.
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
    // A pipe has nothing to cut off.
    _ = Kernel.ftruncate(descriptor, 0)
    record = BTSnoop.header
    guard write() else {
      throw TransportFault(.unavailable, "the capture \(path) cannot be written (\(errorText(errno)))")
    }
  }

  deinit {
    if descriptor >= 0 { Kernel.close(descriptor) }
  }

  /// Writes a packet down.
  ///
  /// - Returns: whether that went well; a record may be torn when it did not.
  mutating func note(_ packet: HCIPacket, isSent: Bool) -> Bool {
    record.removeAll(keepingCapacity: true)
    BTSnoop.Record(
      time: BTSnoop.unixEpoch + WallClock.microseconds, isReceived: isSent == (role == .controller),
      packet: Redactor.shared.masked(packet.h4)
    )
    .encode(into: &record)
    return write()
  }

  /// Takes a file that was there already from everybody else; nobody changes the mode of a pipe or a terminal.
  private func restrict() {
    var status = stat()
    guard Kernel.fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return }
    _ = Kernel.fchmod(descriptor, 0o600)
  }

  private func write() -> Bool {
    (try? Descriptors.write(record, to: descriptor)) != nil
  }
}
