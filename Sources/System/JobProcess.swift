public import Basics
import CShims
import Glibc

/// A supervised run of this program: it sends signs of life, can be asked to stop, and can be killed.
///
/// It exits when this process does, however that ends, since its standard input closes then. No call blocks.
public final class JobProcess {
  private let child: ChildProcess
  private var hasClosedOutput = false

  /// Starts this program with some arguments, and sends it a first line.
  ///
  /// - Throws: why it could not be started.
  public init(_ arguments: [String], first line: String) throws(ProcessFault) {
    child = try ChildProcess(ourselves: arguments, first: line)
  }

  /// The state of the process.
  public enum State: Equatable, Sendable {
    /// It is running; `hasOutput` is true if it has written since the last query.
    case running(hasOutput: Bool)
    /// It ended, with the last lines of its standard error.
    case ended(Ending, words: String)
  }

  /// Reads its output, and returns its state.
  public func poll() -> State {
    var hasOutput = false
    while !hasClosedOutput {
      switch child.nextLine(until: MonotonicClock.now) {
      case .line, .tooLong: hasOutput = true
      case .timedOut: return ended ?? .running(hasOutput: hasOutput)
      case .ended: hasClosedOutput = true
      }
    }
    return ended ?? .running(hasOutput: hasOutput)
  }

  private var ended: State? { child.reap().map { .ended($0, words: child.lastWords) } }

  /// Asks it to end: it finishes its step and parks its lock.
  public func askToEnd() { child.closeInput() }

  /// Ends it at once.
  public func kill() { child.killGroup() }
}

/// A file that a process holds for its lifetime: the system releases it, however the process ends.
public final class HeldFile {
  private let descriptor: Int32

  /// Locks a file, and writes the number of this process to it; `nil` if another process holds it.
  ///
  /// - Parameter timeout: how long to retry a file that may be locked only for a moment.
  /// - Throws: if it cannot be determined whether another process holds it.
  public init?(_ path: String, timeout: Interval = .milliseconds(300)) throws(FileFault) {
    let descriptor = Kernel.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw FileFault(path: path, code: errno) }
    // A process that was killed while it started a child holds the file until the child executes its program.
    do {
      try Descriptors.lock(descriptor, for: timeout)
    } catch {
      Kernel.close(descriptor)
      guard error.code == EWOULDBLOCK else { throw FileFault(path: path, error) }
      return nil
    }
    Descriptors.overwrite(descriptor, with: "\(getpid())\n")
    self.descriptor = descriptor
  }

  deinit { Kernel.close(descriptor) }

  /// The process that holds a file; `nil` without one, 0 if it has not written its number.
  ///
  /// - Throws: if that cannot be determined.
  public static func holder(of path: String) throws(FileFault) -> Int32? {
    let descriptor = Kernel.open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      let fault = FileFault(path: path, code: errno)
      if fault.isAbsence { return nil }
      throw fault
    }
    defer { Kernel.close(descriptor) }
    do {
      guard try Descriptors.isLocked(descriptor) else { return nil }
    } catch {
      throw FileFault(path: path, error)
    }
    let digits = Descriptors.beginning(of: descriptor, count: 32).prefix { $0 != UInt8(ascii: "\n") }
    return Int32(String(decoding: digits, as: UTF8.self)) ?? 0
  }

  /// Kills the process that holds a file, with its group.
  public static func kill(holderOf path: String) {
    guard let process = try? holder(of: path), process > 1 else { return }
    // The number just read may have been reused. A process that is stopped by its handle and still holds the
    // file cannot end before its group is killed.
    let handle = lockstep_open_process(process)
    guard handle >= 0 else { return }
    defer { Kernel.close(handle) }
    guard lockstep_signal_process(handle, SIGSTOP) == 0 else { return }
    guard (try? holder(of: path)) == process else {
      _ = lockstep_signal_process(handle, SIGCONT)
      return
    }
    Kernel.kill(-process, SIGKILL)
    _ = lockstep_signal_process(handle, SIGKILL)
  }
}
