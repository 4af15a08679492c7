import Basics
import Glibc
import Synchronization
import System

/// What a disk would hold if the machine lost its power now, as far as this process has written to it.
///
/// It is the worst that a file system may do to who does not ask: octets that were written and not synchronized are gone,
/// and so is each name that was made, changed or taken away in a folder that was not synchronized since.
final class DiskMemory: @unchecked Sendable {
  /// A file, by its device and number.
  private struct File: Hashable {
    var device: UInt
    var number: UInt
  }

  /// What was done to a name, and how it is undone.
  private enum Change {
    case made(String)
    /// What stood under the new name is kept beside it, where something did.
    case renamed(String, to: String, old: String?)
    case removed(String, old: String?)

    var folder: String {
      switch self {
      case .made(let path), .renamed(_, let path, _), .removed(let path, _): Path.folder(of: path)
      }
    }
  }

  private struct State {
    /// How much of each file is on the disk, and where it stands.
    var sizes: [File: (size: off_t, path: String)] = [:]
    var changes: [Change] = []
    var backups = 0
  }

  private let state = Mutex(State())

  private static func file(_ status: stat) -> File {
    File(device: UInt(status.st_dev), number: UInt(status.st_ino))
  }

  private static func status(_ path: String) -> stat? {
    var status = stat()
    return unsafe Glibc.lstat(path, &status) == 0 ? status : nil
  }

  private static func status(_ descriptor: Int32) -> stat? {
    var status = stat()
    return unsafe Glibc.fstat(descriptor, &status) == 0 ? status : nil
  }

  /// Makes a call, and notes what it did to the disk where it succeeded.
  func noting(_ call: SystemCall, _ subject: CallSubject, _ body: () -> Int) -> Int {
    switch (call, subject) {
    case (.open, .path(let path)):
      let wasThere = unsafe Glibc.access(path, F_OK) == 0
      let descriptor = body()
      if descriptor >= 0 { opened(path, Int32(descriptor), wasThere: wasThere) }
      return descriptor
    case (.synchronize, .descriptor(let descriptor)):
      let status = body()
      if status == 0 { synchronized(Self.status(descriptor)) }
      return status
    case (.link, .path(let path)), (.makeFolder, .path(let path)):
      let status = body()
      if status == 0 { made(path) }
      return status
    case (.rename, .names(let path, let name)):
      let old = keep(name)
      let status = body()
      if status == 0 { renamed(path, to: name, old: old) }
      return status
    case (.unlink, .path(let path)):
      let old = keep(path)
      let status = body()
      if status == 0 { removed(path, old: old) }
      return status
    default: return body()
    }
  }

  /// Notes that a library synchronized what stands at some paths.
  func synchronized(_ paths: [String]) {
    for path in paths { synchronized(Self.status(path)) }
  }

  /// Keeps what stands under a name, which is about to be taken from it.
  private func keep(_ path: String) -> String? {
    guard let status = Self.status(path), status.st_mode & S_IFMT == S_IFREG else { return nil }
    let name = state.withLock { state in
      state.backups += 1
      return "\(Path.folder(of: path))/.power-\(getpid())-\(state.backups)"
    }
    return unsafe Glibc.link(path, name) == 0 ? name : nil
  }

  /// Notes that a file is open, where it is for writing.
  private func opened(_ path: String, _ descriptor: Int32, wasThere: Bool) {
    guard Glibc.fcntl(descriptor, F_GETFL) & O_ACCMODE != O_RDONLY, let status = Self.status(descriptor),
      status.st_mode & S_IFMT == S_IFREG
    else { return }
    state.withLock { state in
      let file = Self.file(status)
      // The number of a file that is gone may be given to a new one.
      if !wasThere || state.sizes[file] == nil { state.sizes[file] = (wasThere ? status.st_size : 0, path) }
      if !wasThere { state.changes.append(.made(path)) }
    }
  }

  /// Notes that a name was given to a file that had none, or that a folder was made.
  private func made(_ path: String) {
    state.withLock { state in
      state.changes.append(.made(path))
      guard let status = Self.status(path) else { return }
      let file = Self.file(status)
      if let size = state.sizes[file]?.size { state.sizes[file] = (size, path) }
    }
  }

  /// Notes that a file was synchronized, or the names of a folder.
  private func synchronized(_ status: stat?) {
    guard let status else { return }
    state.withLock { state in
      let file = Self.file(status)
      if let known = state.sizes[file] { state.sizes[file] = (status.st_size, known.path) }
      if status.st_mode & S_IFMT == S_IFDIR {
        state.changes.removeAll { change in
          Self.status(change.folder).map { Self.file($0) == file } ?? true
        }
      }
    }
  }

  private func renamed(_ path: String, to name: String, old: String?) {
    state.withLock { state in
      state.changes.append(.renamed(path, to: name, old: old))
      for (file, known) in state.sizes where known.path == path || known.path.hasPrefix(path + "/") {
        state.sizes[file] = (known.size, name + known.path.dropFirst(path.count))
      }
    }
  }

  private func removed(_ path: String, old: String?) {
    state.withLock { $0.changes.append(.removed(path, old: old)) }
  }

  /// Does to the disk what the loss of power would.
  func losePower() {
    state.withLock { state in
      for (file, known) in state.sizes.sorted(by: { $0.value.path < $1.value.path }) {
        // Another file may have taken its place since.
        guard let status = Self.status(known.path), Self.file(status) == file, status.st_size > known.size
        else { continue }
        _ = unsafe Glibc.truncate(known.path, known.size)
      }
      state.backups += 1
      for change in state.changes.reversed() {
        switch change {
        case .made(let path):
          if unsafe Glibc.unlink(path) == 0 || Glibc.rmdir(path) == 0 { continue }
          // A folder whose name is not on the disk takes all with it that is in it, synchronized or not.
          _ = unsafe Glibc.rename(path, "\(Path.folder(of: path))/.power-\(getpid())-\(state.backups)")
          state.backups += 1
        case .renamed(let path, let name, let old):
          _ = unsafe Glibc.rename(name, path)
          if let old { _ = unsafe Glibc.rename(old, name) }
        case .removed(let path, let old):
          if let old { _ = unsafe Glibc.rename(old, path) }
        }
      }
    }
  }
}
