import CSQLite
import Glibc
import System

/// The calls that SQLite makes itself, with the gate of ``System/CallGate`` before them.
///
/// SQLite lets a program put functions of its own in the place of those by which it reaches its files; its own tests of
/// what it does when they fail work like this.
public enum SQLiteCalls {
  /// Puts the gate before them, for as long as the process lives; to be called before the first database is opened.
  public static func interpose() {
    unsafe replace("open", SQLiteCalls.open as @convention(c) (UnsafePointer<CChar>?, Int32, Int32) -> Int32)
    unsafe replace(
      "pread", SQLiteCalls.read as @convention(c) (Int32, UnsafeMutableRawPointer?, Int, off_t) -> Int)
    unsafe replace(
      "pread64", SQLiteCalls.read as @convention(c) (Int32, UnsafeMutableRawPointer?, Int, off_t) -> Int)
    unsafe replace(
      "pwrite", SQLiteCalls.write as @convention(c) (Int32, UnsafeRawPointer?, Int, off_t) -> Int)
    unsafe replace(
      "pwrite64", SQLiteCalls.write as @convention(c) (Int32, UnsafeRawPointer?, Int, off_t) -> Int)
    replace("ftruncate", SQLiteCalls.truncate as @convention(c) (Int32, off_t) -> Int32)
    unsafe replace("unlink", SQLiteCalls.unlink as @convention(c) (UnsafePointer<CChar>?) -> Int32)
  }

  private static func replace<Function>(_ name: String, _ function: Function) {
    guard let files = unsafe sqlite3_vfs_find(nil), let set = unsafe files.pointee.xSetSystemCall else {
      return
    }
    let pointer = unsafe unsafeBitCast(function, to: sqlite3_syscall_ptr.self)
    _ = unsafe set(files, name, pointer)
  }

  private static func fails(_ call: SystemCall, _ name: String) -> Bool {
    guard let code = CallGate.current?.error(call, "SQLite/\(name)") else { return false }
    errno = code
    return true
  }
}

extension SQLiteCalls {
  private static let open: @convention(c) (UnsafePointer<CChar>?, Int32, Int32) -> Int32 = {
    path, flags, mode in
    guard !SQLiteCalls.fails(.open, "open"), let path = unsafe path else { return -1 }
    return unsafe Glibc.open(path, flags, mode_t(mode))
  }

  private static let read: @convention(c) (Int32, UnsafeMutableRawPointer?, Int, off_t) -> Int = {
    SQLiteCalls.fails(.read, "pread") ? -1 : unsafe Glibc.pread($0, $1, $2, $3)
  }

  private static let write: @convention(c) (Int32, UnsafeRawPointer?, Int, off_t) -> Int = {
    SQLiteCalls.fails(.write, "pwrite") ? -1 : unsafe Glibc.pwrite($0, $1, $2, $3)
  }

  private static let truncate: @convention(c) (Int32, off_t) -> Int32 = {
    SQLiteCalls.fails(.truncate, "ftruncate") ? -1 : Glibc.ftruncate($0, $1)
  }

  private static let unlink: @convention(c) (UnsafePointer<CChar>?) -> Int32 = { path in
    guard !SQLiteCalls.fails(.unlink, "unlink"), let path = unsafe path else { return -1 }
    return unsafe Glibc.unlink(path)
  }
}
