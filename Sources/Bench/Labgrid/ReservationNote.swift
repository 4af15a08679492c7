import System
import Conformance
import Glibc

/// A file that names the owner of something at a coordinator; the run locks it for its lifetime.
///
/// A process that acquires the lock knows that the run is over, however it ended and even after a restart of the
/// machine, and releases what it left behind.
final class ReservationNote {
  private let path: String
  private let descriptor: Int32

  private init(_ path: String, _ descriptor: Int32) {
    (self.path, self.descriptor) = (path, descriptor)
  }

  deinit { if descriptor >= 0 { Kernel.close(descriptor) } }

  /// Writes a note for a client, atomically: it appears complete and locked.
  static func make(_ client: LabgridClient) throws(LabFault) -> ReservationNote {
    let path = try path(of: client.owner)
    let hidden = try StateFolder.folder("labgrid") + "/.\(client.owner.host),\(client.owner.user)"
    let descriptor = Kernel.open(hidden, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    let note = ReservationNote(path, descriptor)
    do throws(SystemError) {
      guard descriptor >= 0 else { throw SystemError.last }
      try Descriptors.lock(descriptor)
      try Descriptors.write(Array("\(client.address)\n".utf8), to: descriptor)
      guard Kernel.rename(hidden, path) == 0 else { throw SystemError.last }
    } catch {
      Kernel.unlink(hidden)
      throw LabFault(.noDevice, "what is held at the lab cannot be noted: \(path): \(errorText(error.code))")
    }
    return note
  }

  /// The note of an owner whose run is over; `nil` without one, or while the run continues.
  static func left(by owner: LabOwner) -> (note: ReservationNote, address: LabAddress)? {
    guard let path = try? path(of: owner) else { return nil }
    let descriptor = Kernel.open(path, O_RDWR | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    let note = ReservationNote(path, descriptor)
    guard (try? Descriptors.lock(descriptor)) != nil else { return nil }
    let line = Descriptors.beginning(of: descriptor, count: 512).prefix { $0 != UInt8(ascii: "\n") }
    let text = String(decoding: line, as: UTF8.self)
    guard let address = LabAddress(text) else {
      // Not a note of this program.
      note.remove()
      return nil
    }
    return (note, address)
  }

  /// Whether an owner has a note.
  static func isThere(for owner: LabOwner) -> Bool {
    // This must not create the folder.
    StateFolder.path.map { Host.isFile("\($0)/labgrid/\(owner.host),\(owner.user)") } ?? false
  }

  /// The owners that have notes.
  static var owners: [LabOwner] {
    guard let folder = try? StateFolder.folder("labgrid") else { return [] }
    return (folderEntries(folder) ?? []).compactMap { name in
      let parts = name.split(separator: ",", omittingEmptySubsequences: false)
      return parts.count == 2 ? LabOwner(host: String(parts[0]), user: String(parts[1])) : nil
    }
  }

  /// Removes the note, since the owner holds nothing.
  func remove() { Kernel.unlink(path) }

  private static func path(of owner: LabOwner) throws(LabFault) -> String {
    try StateFolder.folder("labgrid") + "/\(owner.host),\(owner.user)"
  }
}
