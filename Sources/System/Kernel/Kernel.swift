import CShims
public import Glibc

/// The system calls of this process, in one file.
///
/// Nothing else in the project calls the system for files, processes, pipes and sockets. Each function does what the
/// Glibc function of the same name does, unless a ``CallGate`` is installed, which makes a call fail, return early or
/// never return. A user's process has none, and pays only for the check.
///
/// Calls that cannot fail in a way to which a caller could react, such as reading the time or the process number, are
/// not here.
public enum Kernel {
  /// The installed gate; `nil` except in tests. It is set before any thread is started.
  nonisolated(unsafe) package static var gate: (any CallGate)?

  /// The arguments to insert for a child process of this program.
  static var wordsForChildren: [String] { unsafe gate?.wordsForChildren ?? [] }

  @inline(__always)
  private static func pass<Result: SignedInteger & FixedWidthInteger>(
    _ call: SystemCall, _ site: Site, on subject: @autoclosure () -> CallSubject = .other,
    _ body: () -> Result
  ) -> Result {
    guard let gate = unsafe gate else { return body() }
    return Result(gate.pass(call, site, on: subject(), pretending: 0) { _ in Int(body()) })
  }

  /// The same for calls that may do only a part of their work.
  @inline(__always)
  private static func pass(_ call: SystemCall, _ site: Site, _ count: Int, _ body: (Int) -> Int) -> Int {
    guard let gate = unsafe gate else { return body(count) }
    return gate.pass(call, site, on: .other, pretending: count) { isShort in
      body(isShort && count > 1 ? count / 2 : count)
    }
  }

  /// The error with which a library's call must fail; `nil` to make the call.
  ///
  /// - Parameter library: the name of the library, in place of a source line.
  package static func error(_ call: SystemCall, of library: StaticString) -> Int32? {
    pass(call, Site(library, 0)) { Int32(0) } < 0 ? errno : nil
  }
}

/// The place of a call in the sources.
public struct Site: Hashable, Sendable, CustomStringConvertible {
  let file: StaticString
  let line: UInt

  /// The place of the caller.
  @inline(__always)
  public init(_ file: StaticString, _ line: UInt) { (self.file, self.line) = (file, line) }

  /// `System/Descriptors.swift:12`.
  public var description: String { "\(file):\(line)" }

  public static func == (one: Site, other: Site) -> Bool {
    one.line == other.line && "\(one.file)" == "\(other.file)"
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(line) }
}

// MARK: - Files

extension Kernel {
  /// open(2).
  public static func open(
    _ path: String, _ flags: Int32, _ mode: mode_t = 0, file: StaticString = #fileID, line: UInt = #line
  ) -> Int32 {
    while true {
      let descriptor = pass(.open, Site(file, line), on: .path(path)) {
        unsafe Glibc.open(path, flags, mode)
      }
      // Opening a file on a slow device may be interrupted; try again.
      if descriptor >= 0 || errno != EINTR { return descriptor }
    }
  }

  /// inotify_init1(2): a descriptor for changes in folders, which never blocks.
  static func watch(file: StaticString = #fileID, line: UInt = #line) -> Int32 {
    pass(.open, Site(file, line)) { inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC)) }
  }

  /// inotify_add_watch(2).
  static func watch(
    _ path: String, by descriptor: Int32, for events: UInt32, file: StaticString = #fileID,
    line: UInt = #line
  ) -> Int32 {
    pass(.open, Site(file, line)) { unsafe inotify_add_watch(descriptor, path, events) }
  }

  /// close(2).
  @discardableResult
  public static func close(
    _ descriptor: Int32, file: StaticString = #fileID, line: UInt = #line
  ) -> Int32 {
    pass(.close, Site(file, line)) { Glibc.close(descriptor) }
  }

  /// read(2).
  public static func read(
    _ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int,
    file: StaticString = #fileID, line: UInt = #line
  ) -> Int {
    pass(.read, Site(file, line), count) { unsafe Glibc.read(descriptor, buffer, $0) }
  }

  /// pread(2).
  public static func pread(
    _ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int, _ offset: off_t,
    file: StaticString = #fileID, line: UInt = #line
  ) -> Int {
    pass(.read, Site(file, line), count) { unsafe Glibc.pread(descriptor, buffer, $0, offset) }
  }

  /// write(2).
  public static func write(
    _ descriptor: Int32, _ buffer: UnsafeRawPointer?, _ count: Int,
    file: StaticString = #fileID, line: UInt = #line
  ) -> Int {
    let call = descriptor <= STDERR_FILENO ? SystemCall.show : .write
    return pass(call, Site(file, line), count) { unsafe Glibc.write(descriptor, buffer, $0) }
  }

  /// pwrite(2).
  public static func pwrite(
    _ descriptor: Int32, _ buffer: UnsafeRawPointer?, _ count: Int, _ offset: off_t,
    file: StaticString = #fileID, line: UInt = #line
  ) -> Int {
    pass(.write, Site(file, line), count) { unsafe Glibc.pwrite(descriptor, buffer, $0, offset) }
  }

  /// fsync(2).
  public static func fsync(
    _ descriptor: Int32, file: StaticString = #fileID, line: UInt = #line
  ) -> Int32 {
    pass(.synchronize, Site(file, line), on: .descriptor(descriptor)) { Glibc.fsync(descriptor) }
  }

  /// fdatasync(2).
  public static func fdatasync(
    _ descriptor: Int32, file: StaticString = #fileID, line: UInt = #line
  ) -> Int32 {
    pass(.synchronize, Site(file, line), on: .descriptor(descriptor)) { Glibc.fdatasync(descriptor) }
  }

  /// ftruncate(2).
  public static func ftruncate(
    _ descriptor: Int32, _ size: off_t, file: StaticString = #fileID, line: UInt = #line
  ) -> Int32 {
    pass(.truncate, Site(file, line)) { Glibc.ftruncate(descriptor, size) }
  }

  /// fallocate(2), from the beginning of a file.
  public static func allocate(
    _ descriptor: Int32, _ size: Int, file: StaticString = #fileID, line: UInt = #line
  ) -> Int32 {
    pass(.allocate, Site(file, line)) { lockstep_allocate(descriptor, Int64(size)) }
  }

  /// lseek(2).
  public static func lseek(
    _ descriptor: Int32, _ offset: off_t, _ origin: Int32, file: StaticString = #fileID, line: UInt = #line
  ) -> off_t {
    pass(.seek, Site(file, line)) { Glibc.lseek(descriptor, offset, origin) }
  }

  /// flock(2).
  public static func flock(
    _ descriptor: Int32, _ operation: Int32, file: StaticString = #fileID, line: UInt = #line
  ) -> Int32 {
    pass(.lock, Site(file, line)) { lockWhole(descriptor, operation) }
  }

  /// fstat(2).
  public static func fstat(
    _ descriptor: Int32, _ status: inout stat, file: StaticString = #fileID, line: UInt = #line
  ) -> Int32 {
    pass(.stat, Site(file, line)) { unsafe Glibc.fstat(descriptor, &status) }
  }

  /// stat(2).
  public static func stat(
    _ path: String, _ status: inout stat, file: StaticString = #fileID, line: UInt = #line
  ) -> Int32 {
    pass(.stat, Site(file, line)) { statusOfTarget(path, &status) }
  }

  /// lstat(2).
  public static func lstat(
    _ path: String, _ status: inout stat, file: StaticString = #fileID, line: UInt = #line
  ) -> Int32 {
    pass(.stat, Site(file, line)) { unsafe Glibc.lstat(path, &status) }
  }

  /// fchmod(2).
  public static func fchmod(
    _ descriptor: Int32, _ mode: mode_t, file: StaticString = #fileID, line: UInt = #line
  ) -> Int32 {
    pass(.changeMode, Site(file, line)) { Glibc.fchmod(descriptor, mode) }
  }
}

// MARK: - Names

extension Kernel {
  /// access(2).
  public static func access(
    _ path: String, _ mode: Int32, file: StaticString = #fileID, line: UInt = #line
  ) -> Int32 {
    pass(.access, Site(file, line)) { unsafe Glibc.access(path, mode) }
  }

  /// rename(2).
  public static func rename(
    _ path: String, _ name: String, file: StaticString = #fileID, line: UInt = #line
  ) -> Int32 {
    pass(.rename, Site(file, line), on: .names(path, name)) { unsafe Glibc.rename(path, name) }
  }

  /// unlink(2).
  @discardableResult
  public static func unlink(
    _ path: String, file: StaticString = #fileID, line: UInt = #line
  ) -> Int32 {
    pass(.unlink, Site(file, line), on: .path(path)) { unsafe Glibc.unlink(path) }
  }

  /// unlinkat(2).
  public static func unlink(
    _ name: String, in folder: Int32, _ flags: Int32 = 0, file: StaticString = #fileID, line: UInt = #line
  ) -> Int32 {
    pass(.unlink, Site(file, line)) { unsafe unlinkat(folder, name, flags) }
  }

  /// openat(2).
  public static func open(
    _ name: String, in folder: Int32, _ flags: Int32, file: StaticString = #fileID, line: UInt = #line
  ) -> Int32 {
    pass(.open, Site(file, line)) { unsafe openat(folder, name, flags) }
  }

  /// link(2).
  public static func link(
    _ path: String, _ name: String, file: StaticString = #fileID, line: UInt = #line
  ) -> Int32 {
    pass(.link, Site(file, line), on: .path(name)) { unsafe Glibc.link(path, name) }
  }

  /// chmod(2).
  public static func chmod(
    _ path: String, _ mode: mode_t, file: StaticString = #fileID, line: UInt = #line
  ) -> Int32 {
    pass(.changeMode, Site(file, line)) { unsafe Glibc.chmod(path, mode) }
  }

  /// mkdir(2).
  public static func mkdir(
    _ path: String, _ mode: mode_t, file: StaticString = #fileID, line: UInt = #line
  ) -> Int32 {
    pass(.makeFolder, Site(file, line), on: .path(path)) { unsafe Glibc.mkdir(path, mode) }
  }

  /// rmdir(2).
  public static func rmdir(
    _ path: String, file: StaticString = #fileID, line: UInt = #line
  ) -> Int32 {
    pass(.removeFolder, Site(file, line)) { unsafe Glibc.rmdir(path) }
  }

  /// opendir(3); `nil` if it fails.
  public static func opendir(
    _ path: String, file: StaticString = #fileID, line: UInt = #line
  ) -> OpaquePointer? {
    var folder: OpaquePointer?
    _ = pass(.openFolder, Site(file, line)) {
      unsafe folder = Glibc.opendir(path)
      return Int32(unsafe folder == nil ? -1 : 0)
    }
    return unsafe folder
  }
}

extension Kernel {
  /// readdir(3); `nil` at the end, with `errno` 0, and if it fails.
  public static func readdir(
    _ folder: OpaquePointer, file: StaticString = #fileID, line: UInt = #line
  ) -> UnsafeMutablePointer<dirent>? {
    var entry: UnsafeMutablePointer<dirent>?
    _ = pass(.readFolder, Site(file, line)) {
      errno = 0
      unsafe entry = unsafe Glibc.readdir(folder)
      return Int32(0)
    }
    return unsafe entry
  }
}

// MARK: - Processes

extension Kernel {
  /// kill(2).
  @discardableResult
  public static func kill(
    _ process: pid_t, _ signal: Int32, file: StaticString = #fileID, line: UInt = #line
  ) -> Int32 {
    pass(.kill, Site(file, line)) { Glibc.kill(process, signal) }
  }

  /// pipe2(2): both ends are closed in programs that we start.
  public static func pipe(
    _ ends: inout [Int32], file: StaticString = #fileID, line: UInt = #line
  ) -> Int32 {
    pass(.pipe, Site(file, line)) { unsafe lockstep_pipe(&ends) }
  }

  /// fcntl(2) with an argument.
  @discardableResult
  public static func fcntl(
    _ descriptor: Int32, _ command: Int32, _ value: Int32, file: StaticString = #fileID, line: UInt = #line
  ) -> Int32 {
    pass(.control, Site(file, line)) { Glibc.fcntl(descriptor, command, value) }
  }

  /// write(2) to a pipe.
  public static func send(
    _ pipe: Int32, _ buffer: UnsafeRawPointer?, _ count: Int,
    file: StaticString = #fileID, line: UInt = #line
  ) -> Int {
    pass(.send, Site(file, line), count) { unsafe Glibc.write(pipe, buffer, $0) }
  }

  /// read(2) from a pipe.
  public static func receive(
    _ pipe: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int,
    file: StaticString = #fileID, line: UInt = #line
  ) -> Int {
    pass(.receive, Site(file, line), count) { unsafe Glibc.read(pipe, buffer, $0) }
  }

  /// waitpid(2).
  public static func waitpid(
    _ process: pid_t, _ status: inout Int32, _ options: Int32,
    file: StaticString = #fileID, line: UInt = #line
  ) -> pid_t {
    pass(.wait, Site(file, line)) { unsafe Glibc.waitpid(process, &status, options) }
  }

  /// waitid(2) for a process.
  public static func waitid(
    _ process: pid_t, _ info: inout siginfo_t, _ options: Int32,
    file: StaticString = #fileID, line: UInt = #line
  ) -> Int32 {
    pass(.wait, Site(file, line)) { unsafe Glibc.waitid(P_PID, id_t(process), &info, options) }
  }

  /// posix_spawn(3), which returns its error number.
  public static func spawn(
    _ process: inout pid_t, _ program: String, _ actions: UnsafePointer<posix_spawn_file_actions_t>?,
    _ attributes: UnsafePointer<posix_spawnattr_t>?,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>,
    _ variables: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>,
    file: StaticString = #fileID, line: UInt = #line
  ) -> Int32 {
    let status = pass(.spawn, Site(file, line)) {
      let code = unsafe posix_spawn(&process, program, actions, attributes, arguments, variables)
      if code != 0 { errno = code }
      return Int32(code == 0 ? 0 : -1)
    }
    return status == 0 ? 0 : errno
  }

  /// ppoll(2) in nanoseconds; negative times mean no limit.
  public static func poll(
    _ descriptors: inout [pollfd], for nanoseconds: Int64, file: StaticString = #fileID, line: UInt = #line
  ) -> Int32 {
    pass(.poll, Site(file, line)) {
      unsafe lockstep_poll(&descriptors, UInt(descriptors.count), nanoseconds)
    }
  }
}

// MARK: - Sockets

extension Kernel {
  /// socket(2).
  public static func socket(
    _ domain: Int32, _ type: Int32, _ proto: Int32, file: StaticString = #fileID, line: UInt = #line
  ) -> Int32 {
    pass(.socket, Site(file, line)) { Glibc.socket(domain, type, proto) }
  }

  /// bind(2).
  public static func bind(
    _ descriptor: Int32, _ address: UnsafePointer<sockaddr>?, _ size: socklen_t,
    file: StaticString = #fileID, line: UInt = #line
  ) -> Int32 {
    pass(.bind, Site(file, line)) { unsafe Glibc.bind(descriptor, address, size) }
  }

  /// listen(2).
  public static func listen(
    _ descriptor: Int32, _ count: Int32, file: StaticString = #fileID, line: UInt = #line
  ) -> Int32 {
    pass(.listen, Site(file, line)) { Glibc.listen(descriptor, count) }
  }

  /// connect(2).
  public static func connect(
    _ descriptor: Int32, _ address: UnsafePointer<sockaddr>?, _ size: socklen_t,
    file: StaticString = #fileID, line: UInt = #line
  ) -> Int32 {
    pass(.connect, Site(file, line)) { unsafe Glibc.connect(descriptor, address, size) }
  }

  /// accept(2).
  public static func accept(
    _ descriptor: Int32, _ address: UnsafeMutablePointer<sockaddr>? = nil,
    _ size: UnsafeMutablePointer<socklen_t>? = nil, file: StaticString = #fileID, line: UInt = #line
  ) -> Int32 {
    pass(.accept, Site(file, line)) { unsafe Glibc.accept(descriptor, address, size) }
  }

  /// send(2).
  public static func send(
    _ descriptor: Int32, _ buffer: UnsafeRawPointer?, _ count: Int, _ flags: Int32,
    file: StaticString = #fileID, line: UInt = #line
  ) -> Int {
    pass(.send, Site(file, line), count) { unsafe Glibc.send(descriptor, buffer, $0, flags) }
  }

  /// recv(2).
  public static func recv(
    _ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int, _ flags: Int32,
    file: StaticString = #fileID, line: UInt = #line
  ) -> Int {
    pass(.receive, Site(file, line), count) { unsafe Glibc.recv(descriptor, buffer, $0, flags) }
  }
}

/// A structure has the same name as each of these two functions, and hides the function if it is fully
/// qualified.
private func lockWhole(_ descriptor: Int32, _ operation: Int32) -> Int32 { flock(descriptor, operation) }

private func statusOfTarget(_ path: String, _ status: inout stat) -> Int32 {
  unsafe stat(path, &status)
}
