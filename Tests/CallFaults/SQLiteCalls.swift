import Basics
import CSQLite
import Glibc
import Synchronization
import System

/// The calls that SQLite makes itself, with a ``FaultGate`` before them.
///
/// SQLite lets a program put functions of its own in the place of those by which it reaches its files; its own tests of
/// what it does when they fail work like this. Only what waits for the disk it calls itself, so its files are given another
/// method for that.
package enum SQLiteCalls {
  /// Puts the gate before them, for as long as the process lives; to be called before the first database is opened.
  package static func interpose() {
    guard let files = unsafe sqlite3_vfs_find(nil) else { return }
    unsafe replace(files, "open", open as @convention(c) (UnsafePointer<CChar>?, Int32, Int32) -> Int32)
    for name in ["pread", "pread64"] {
      unsafe replace(
        files, name, read as @convention(c) (Int32, UnsafeMutableRawPointer?, Int, off_t) -> Int)
    }
    for name in ["pwrite", "pwrite64"] {
      unsafe replace(files, name, write as @convention(c) (Int32, UnsafeRawPointer?, Int, off_t) -> Int)
    }
    unsafe replace(files, "ftruncate", truncate as @convention(c) (Int32, off_t) -> Int32)
    unsafe replace(files, "unlink", unlink as @convention(c) (UnsafePointer<CChar>?) -> Int32)
    unsafe folderOpener = unsafe files.pointee.xGetSystemCall(files, "openDirectory")
    unsafe replace(files, "openDirectory", openFolder)
    unsafe original = unsafe files
    let own = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
    unsafe own.initialize(to: files.pointee)
    unsafe own.pointee.zName = unsafe UnsafePointer(strdup("gate"))
    unsafe own.pointee.xOpen = unsafe openFile
    unsafe sqlite3_vfs_register(own, 1)
  }

  private static func replace<Function>(
    _ files: UnsafeMutablePointer<sqlite3_vfs>, _ name: String, _ function: Function
  ) {
    let pointer = unsafe unsafeBitCast(function, to: sqlite3_syscall_ptr.self)
    _ = unsafe files.pointee.xSetSystemCall(files, name, pointer)
  }
}

extension SQLiteCalls {
  private static let open: @convention(c) (UnsafePointer<CChar>?, Int32, Int32) -> Int32 = {
    path, flags, mode in
    guard let path = unsafe path else { return -1 }
    return Kernel.open(unsafe String(cString: path), flags, mode_t(mode), file: "SQLite/open", line: 0)
  }

  private static let read: @convention(c) (Int32, UnsafeMutableRawPointer?, Int, off_t) -> Int = {
    unsafe Kernel.pread($0, $1, $2, $3, file: "SQLite/pread", line: 0)
  }

  private static let write: @convention(c) (Int32, UnsafeRawPointer?, Int, off_t) -> Int = {
    unsafe Kernel.pwrite($0, $1, $2, $3, file: "SQLite/pwrite", line: 0)
  }

  private static let truncate: @convention(c) (Int32, off_t) -> Int32 = {
    Kernel.ftruncate($0, $1, file: "SQLite/ftruncate", line: 0)
  }

  private static let unlink: @convention(c) (UnsafePointer<CChar>?) -> Int32 = { path in
    guard let path = unsafe path else { return -1 }
    return Kernel.unlink(unsafe String(cString: path), file: "SQLite/unlink", line: 0)
  }
}

// MARK: - Waiting for the disk

extension SQLiteCalls {
  private typealias Methods = UnsafeMutablePointer<sqlite3_io_methods>

  /// SQLite's own way to its files, and what it calls for the folder of one. They are set before any database is opened.
  nonisolated(unsafe) private static var original: UnsafeMutablePointer<sqlite3_vfs>?
  nonisolated(unsafe) private static var folderOpener: sqlite3_syscall_ptr?
  /// The path of each file that is open, and the folder whose names are waited for with the next of them.
  private static let names = Mutex<(paths: [UInt: String], folder: String?)>(([:], nil))

  private static let openFolder:
    @convention(c) (UnsafePointer<CChar>?, UnsafeMutablePointer<Int32>?) -> Int32 = {
      path, descriptor in
      typealias Opener = @convention(c) (UnsafePointer<CChar>?, UnsafeMutablePointer<Int32>?) -> Int32
      if let path = unsafe path {
        let folder = Path.folder(of: unsafe String(cString: path))
        names.withLock { $0.folder = folder }
      }
      return unsafe unsafeBitCast(folderOpener, to: Opener.self)(path, descriptor)
    }

  private static let openFile:
    @convention(c) (
      UnsafeMutablePointer<sqlite3_vfs>?, UnsafePointer<CChar>?, UnsafeMutablePointer<sqlite3_file>?, Int32,
      UnsafeMutablePointer<Int32>?
    ) -> Int32 = { _, path, file, flags, given in
      let status = unsafe original!.pointee.xOpen(original, path, file, flags, given)
      guard let file = unsafe file, let methods = unsafe file.pointee.pMethods, status == SQLITE_OK else {
        return status
      }
      let own = Methods.allocate(capacity: 1)
      unsafe own.initialize(to: methods.pointee)
      unsafe own.pointee.xSync = unsafe synchronize
      unsafe file.pointee.pMethods = unsafe UnsafePointer(own)
      let name = unsafe path.map { unsafe String(cString: $0) }
      let number = UInt(bitPattern: file)
      names.withLock { $0.paths[number] = name }
      unsafe synchronizer = unsafe methods.pointee.xSync
      return status
    }

  nonisolated(unsafe) private static var synchronizer:
    (@convention(c) (UnsafeMutablePointer<sqlite3_file>?, Int32) -> Int32)?

  private static let synchronize: @convention(c) (UnsafeMutablePointer<sqlite3_file>?, Int32) -> Int32 = {
    file, flags in
    guard let gate = FaultGate.current else { return unsafe synchronizer!(file, flags) }
    let status = gate.pass(.synchronize, Site("SQLite/fsync", 0), on: .other, pretending: 0) { _ in
      let status = unsafe synchronizer!(file, flags)
      let number = UInt(bitPattern: file)
      let paths = names.withLock { names in [names.paths[number], names.folder.take()].compactMap(\.self) }
      if status == SQLITE_OK { gate.disk?.synchronized(paths) }
      return Int(status)
    }
    return status < 0 ? SQLITE_IOERR | 4 << 8 : Int32(status)
  }
}
