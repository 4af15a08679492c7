import System
public import Conformance
import Basics
import Glibc

/// A process of this program that watches a run, and parks the lock if the run dies.
///
/// It detects the run's death by the end of its input, which the system closes however a process ends. It has a
/// session of its own, so that neither keys typed at the run's terminal nor a signal to the run's process group
/// reaches it. A service manager or a cluster that kills all processes of a job kills it too; the next run then finds
/// the pending park in the state store.
///
///     the run:      init ──▶ send … ──▶ dismiss, and it exits      or: the run dies
///     the watcher:  Watch.awaitEnd: lines … ──▶ nil                            ──▶ the lines, to be carried out
public final class Watcher {
  /// The name of its command.
  public static let command = "lock-watcher"

  /// Whether this process is a watcher.
  static var isOurs: Bool { CommandLine.arguments.dropFirst().first == command }

  /// Whether the holder of a lease is a watcher, and so releases it once the lock is parked.
  static func isHolder(_ holder: LeaseHolder?) -> Bool {
    holder?.command.hasPrefix("lockstep \(command) ") ?? false
  }

  private let child: ChildProcess

  /// Starts the watcher, before the run does anything that must be undone.
  ///
  /// - Parameters:
  ///   - words: the command and its operands, which every user of the machine can read.
  ///   - withheld: the environment variables to remove.
  public init(_ words: [String], without withheld: [String] = []) throws(LabFault) {
    guard let program = Host.program else {
      throw LabFault(.noDevice, "the system does not tell which program this is")
    }
    do {
      child = try ChildProcess(
        program: program, words, without: withheld, inSession: true, isOurs: true)
    } catch {
      throw LabFault(error)
    }
    child.isDriven = false
    // The watcher must outlive this object.
    _ = unsafe Unmanaged.passRetained(child)
  }

  /// Sends the watcher a line.
  public func send(_ line: String) { child.send(Array((line + "\n").utf8)) }

  /// Dismisses the watcher: nothing is pending.
  public func dismiss() {
    send(Watch.done)
    child.closeInput()
    child.stop(grace: .seconds(2))
  }

  /// Lets the watcher do its work once this process ends or continues with something else.
  public func handOver() { child.closeInput() }
}

/// The watcher's own side of a ``Watcher``: the process that watches a run.
public enum Watch {
  static let done = "done"

  /// Detaches this process from the run, and waits for the run's end.
  ///
  /// - Returns: the lines from the run, if it died; `nil` if it ended normally.
  public static func awaitEnd() -> [String]? {
    EndingSignals.ignore()
    // The run's parent process may wait for inherited files to be closed; it must not wait for the watcher.
    for name in folderEntries("/proc/self/fd") ?? [] {
      if let number = Int32(name), number > STDERR_FILENO { Kernel.close(number) }
    }
    var lines: [String] = []
    while let line = EndOfInput.firstLine() {
      if line == done { return nil }
      lines.append(line)
    }
    return lines
  }
}
