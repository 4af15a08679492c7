public import Foundation
import Glibc
import Synchronization
import Testing

/// A program that a test started, in a process group of its own.
///
/// Foundation's `Process` is not used: it learns of an end by a socket that is closed, which other programs started at
/// the same moment inherit now and then, and takes a program for running until these have ended too. Here the kernel
/// is asked. The program has none of our files, and no signal is ignored or blocked in it.
public final class Program: Sendable {
  /// A program could not be started.
  public struct Failure: Error, CustomStringConvertible {
    public var description: String
  }

  /// What a program said, and how it ended.
  public struct Result: Sendable {
    /// Its exit status, or 128 and the signal that ended it.
    public var status: Int32
    public var output: Data
    public var errors: Data
  }

  /// The number of its process, and of its group.
  public let processIdentifier: Int32
  private let end = Mutex<Int32?>(nil)

  /// Starts one, with nothing to read.
  ///
  /// - Parameters:
  ///   - program: its path.
  ///   - folder: the one it starts in; ours unless given.
  ///   - variables: what is added to our environment.
  ///   - output: the file that takes what it says.
  ///   - errors: the file that takes its standard error; that of its output unless given.
  public init(
    _ program: String, _ arguments: [String] = [], in folder: String? = nil,
    adding variables: [String: String] = [:], output: String = "/dev/null", errors: String? = nil
  ) throws {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    let toWrite = O_WRONLY | O_CREAT | O_TRUNC
    unsafe posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output, toWrite, 0o600)
    if let errors {
      unsafe posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors, toWrite, 0o600)
    } else {
      unsafe posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO)
    }
    let ours = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { Int32($0) }
    for descriptor in ours where descriptor > STDERR_FILENO {
      unsafe posix_spawn_file_actions_addclose(&actions, descriptor)
    }
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe posix_spawnattr_setsigmask(&attributes, &signals)
    unsafe sigfillset(&signals)
    unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
    unsafe posix_spawnattr_setpgroup(&attributes, 0)
    unsafe posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
    let environment = ProcessInfo.processInfo.environment.merging(variables) { $1 }
    // What starts it in a folder becomes it.
    let words = (folder.map { ["/usr/bin/env", "-C", $0] } ?? []) + [program] + arguments
    var process: pid_t = 0
    let code = unsafe Self.withStrings(words) { arguments in
      unsafe Self.withStrings(environment.map { "\($0)=\($1)" }) {
        unsafe posix_spawn(&process, words[0], &actions, &attributes, arguments, $0)
      }
    }
    guard code == 0 else {
      throw Failure(description: "\(program) cannot be started: \(unsafe String(cString: strerror(code)))")
    }
    processIdentifier = process
  }

  private static func withStrings<Value>(
    _ strings: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) throws -> Value
  ) rethrows -> Value {
    var pointers = unsafe strings.map { unsafe strdup($0) } + [nil]
    defer { unsafe pointers.forEach { unsafe free($0) } }
    return try unsafe pointers.withUnsafeMutableBufferPointer { try unsafe body($0.baseAddress!) }
  }

  /// Its exit status, or 128 and the signal that ended it; `nil` while it runs.
  public var status: Int32? {
    end.withLock { end in
      if end == nil {
        var status: Int32 = 0
        guard unsafe waitpid(processIdentifier, &status, WNOHANG) == processIdentifier else { return nil }
        end = status & 0x7f == 0 ? status >> 8 & 0xff : 128 + status & 0x7f
      }
      return end
    }
  }

  /// Whether it has not ended.
  public var isRunning: Bool { status == nil }

  /// Waits until it has ended, and gives its exit status, or 128 and the signal that ended it.
  @discardableResult
  public func waitUntilExit() -> Int32 {
    while true {
      if let status { return status }
      // It is left to be waited for: who asks meanwhile is answered too.
      var information = unsafe siginfo_t()
      _ = unsafe waitid(P_PID, id_t(processIdentifier), &information, WEXITED | WNOWAIT)
    }
  }

  /// Sends it alone a signal.
  public func signal(_ number: Int32) {
    if isRunning { kill(processIdentifier, number) }
  }

  /// Sends it alone a signal, and waits until it has it: two of a kind that come together are one.
  public func signalAndWait(_ number: Int32) {
    signal(number)
    eventually(by: self) {
      let status = (try? String(contentsOfFile: "/proc/\(processIdentifier)/status", encoding: .utf8)) ?? ""
      let pending = status.split(separator: "\n").filter {
        $0.hasPrefix("SigPnd:") || $0.hasPrefix("ShdPnd:")
      }
      return pending.allSatisfy { line in
        let signals = line.split(separator: "\t").last.flatMap { UInt64($0, radix: 16) } ?? 0
        return signals & 1 << UInt64(number - 1) == 0
      }
    }
  }

  /// Waits until it, and all that it started, wait for something and do nothing by themselves. One that has no processor because the
  /// machine is busy does not wait.
  public func awaitRest() {
    var count = 0
    eventually(by: self) {
      count = Self.rests(processIdentifier) ? count + 1 : 0
      usleep(5000)
      return count == 30
    }
  }

  private static func rests(_ process: Int32) -> Bool {
    let tasks = "/proc/\(process)/task"
    for task in (try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? [] {
      let stat = (try? String(contentsOfFile: "\(tasks)/\(task)/stat", encoding: .utf8)) ?? ""
      // The name of a program may have brackets.
      let state = stat.split(separator: ")").last?.split(separator: " ").first ?? "Z"
      guard state == "S" || state == "Z" || state == "T" else { return false }
      let children = (try? String(contentsOfFile: "\(tasks)/\(task)/children", encoding: .utf8)) ?? ""
      guard children.split(separator: " ").compactMap({ Int32($0) }).allSatisfy(rests) else { return false }
    }
    return true
  }

  /// Runs a program to its end. What it says goes to files and not to pipes: there is nothing to drain.
  public static func run(
    _ program: String, _ arguments: [String] = [], in folder: String? = nil,
    adding variables: [String: String] = [:]
  ) throws -> Result {
    let said = TestFolder()
    let (output, errors) = (said.path + "/output", said.path + "/errors")
    let process = try Program(
      program, arguments, in: folder, adding: variables, output: output, errors: errors)
    let status = process.waitUntilExit()
    return Result(
      status: status, output: try Data(contentsOf: URL(filePath: output)),
      errors: try Data(contentsOf: URL(filePath: errors)))
  }
}
