import Glibc
public import Basics
import Synchronization

/// Another process of this program, which works for this one and reports in lines.
///
/// It stops at the end of its input, and so also when this process ends, however it does. It has a process
/// group of its own: Ctrl-C reaches this process only, which passes it on. It is not killed with this
/// process, so that it can release its device.
public final class WorkerProcess {
  /// A message of the worker.
  public enum Word: Equatable, Sendable {
    /// A line of its output.
    case line(String)
    /// No message yet.
    case nothing
    /// It ended, with the reason unless it ended by itself with status 0.
    case ended(WorkerFault?)
  }

  /// The maximum length of a line. The longest line is a finding with all steps of its test; this holds some
  /// hundred thousand steps. Data that grow with a campaign are divided.
  static let lineLimit = 16 << 20
  /// How long it may take to end after it closed its output.
  private static let grace = Interval.seconds(10)

  private let child: ChildProcess
  private var end: Word?

  /// Starts this program with some arguments, and sends it a first line.
  ///
  /// - Throws: why it could not be started.
  public init(_ arguments: [String], first line: String) throws(ProcessFault) {
    child = try ChildProcess(ourselves: arguments, first: line, lineLimit: Self.lineLimit)
  }

  /// The next message.
  ///
  /// - Parameter limit: the maximum time to wait.
  public func next(within limit: Interval) -> Word {
    if let end { return end }
    switch child.nextLine(until: MonotonicClock.now + limit) {
    case .line(let bytes): return .line(String(decoding: bytes, as: UTF8.self))
    case .timedOut: return .nothing
    case .tooLong: return finish("it wrote a line that is too long")
    case .ended: return finish(nil)
    }
  }

  private func finish(_ reason: String?, within grace: Interval = grace) -> Word {
    let ending = child.stop(grace: grace)
    var text = reason
    if ending != .exit(0), text == nil { text = ending.map { "it ended with \($0)" } ?? "it did not end" }
    let words = child.lastWords
    let word = Word.ended(
      text.map {
        WorkerFault(text: $0 + (words.isEmpty ? "" : ": " + words), wasKilled: ending == .signal(SIGKILL))
      })
    end = word
    return word
  }

  /// Asks it to stop after its current step.
  public func stop() { child.closeInput() }

  /// Kills it: it does not react to requests.
  public func kill() { _ = finish("it did not stop, and was killed", within: .zero) }
}

/// Why a worker ended early.
public struct WorkerFault: Equatable, Sendable {
  /// The end, with its last words.
  public var text: String
  /// Whether it was killed, by a person or for lack of memory. Any other end is a defect of the worker.
  public var wasKilled: Bool
}

/// Detects the end of standard input in a worker process.
public enum EndOfInput {
  private static let hasEnded = Atomic<Bool>(false)

  /// Whether the end was reached.
  public static var isReached: Bool { hasEnded.load(ordering: .relaxed) }

  /// Reads a line of standard input without a time limit; `nil` at the end.
  public static func firstLine() -> String? {
    var line: [UInt8] = []
    var byte: UInt8 = 0
    while true {
      let count = unsafe Kernel.receive(STDIN_FILENO, &byte, 1)
      if count == 1 {
        if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
        line.append(byte)
      } else if count == 0 || ![EINTR, EAGAIN].contains(errno) {
        return nil
      } else {
        var polled = [pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)]
        _ = Kernel.poll(&polled, for: -1)
      }
    }
  }

  /// Whether the end is reached now, without waiting; all input before it must have been read.
  public static var isAlreadyReached: Bool {
    var polled = [pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)]
    return Kernel.poll(&polled, for: 0) > 0
  }

  /// Watches for the end from now on, in a thread of its own.
  public static func watch() {
    inBackground {
      var byte: UInt8 = 0
      while true {
        let count = unsafe Kernel.receive(STDIN_FILENO, &byte, 1)
        if count == 0 || (count < 0 && ![EINTR, EAGAIN].contains(errno)) { break }
      }
      EndOfInput.hasEnded.store(true, ordering: .relaxed)
    }
  }
}
