import System
public import Conformance
import Basics
import Glibc

/// A process of this program that stands beside a run, and does what there is left to do should the run die.
///
/// It hears of the run's death by the end of its input, which the system closes however a process ends. It has a session
/// of its own: neither what is typed at the run's terminal nor what ends the run's process group reaches it. What ends all
/// processes of a job, as a service manager or a cluster may, ends it too; then what the run left written down is found
/// by the next one.
///
///     the run:      init ──▶ tell … ──▶ sendHome, and it ends      or: the run dies
///     the watcher:  Watch.awaitEnd: tells … ──▶ nil                              ──▶ what it was told, to be done
public final class Watcher {
  /// The name of its command.
  public static let command = "lock-watcher"

  /// Whether this process is one.
  static var isOurs: Bool { CommandLine.arguments.dropFirst().first == command }

  /// Whether somebody who has a lease is one, and so has it only until the lock is parked.
  static func isHolder(_ holder: LeaseHolder?) -> Bool {
    holder?.command.hasPrefix("lockstep \(command) ") ?? false
  }

  private let child: ChildProcess

  /// Starts it, before there is anything to be left undone.
  ///
  /// - Parameters:
  ///   - words: the command and its operands, which everybody on the machine can read.
  ///   - withheld: the variables that it does not get.
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
    // It is not ended with what it stands beside.
    _ = unsafe Unmanaged.passRetained(child)
  }

  /// Tells it something, a line.
  public func tell(_ line: String) { child.send(Array((line + "\n").utf8)) }

  /// Sends it home: nothing is left to do.
  public func sendHome() {
    tell(Watch.done)
    child.closeInput()
    child.stop(grace: .seconds(2))
  }

  /// Has it do what is left to do, when this process ends or goes on to something else.
  public func stayBehind() { child.closeInput() }
}

/// The other end of a ``Watcher``: the process that stands beside a run.
public enum Watch {
  static let done = "done"

  /// Makes this process one that outlives the run, and waits for the run's end.
  ///
  /// - Returns: what the run told, once it has died; `nil` when it ended well.
  public static func awaitEnd() -> [String]? {
    EndingSignals.ignore()
    // Who started the run may wait for the end of files that it inherited; it is not to wait for us.
    for name in folderEntries("/proc/self/fd") ?? [] {
      if let number = Int32(name), number > STDERR_FILENO { Kernel.close(number) }
    }
    var told: [String] = []
    while let line = EndOfInput.firstLine() {
      if line == done { return nil }
      told.append(line)
    }
    return told
  }
}
