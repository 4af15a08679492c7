import Glibc
public import Basics
import Synchronization

/// Another process of this program, that works for this one and tells it so, a line at a time.
///
/// It is stopped by the end of its input, and so it stops too when this process ends, however it does. It is in a
/// process group of its own: Ctrl-C reaches this process alone, which passes it on. It is not killed with us, so that it
/// can end the device that it drives.
public final class WorkerProcess {
  /// What there is to hear of it.
  public enum Word: Equatable, Sendable {
    /// A line that it wrote.
    case line(String)
    /// Nothing for now.
    case nothing
    /// It ended; why, where that was not of its own accord with status 0.
    case ended(WorkerFault?)
  }

  /// The most bytes of a line. The longest that a worker has to write is a finding with every step of its test, of
  /// which this holds some hundred thousand; what grows with a campaign comes in parts.
  static let lineLimit = 16 << 20
  /// How long it may take to end once it closed its output.
  private static let grace = Interval.seconds(10)

  private let child: ChildProcess
  private var end: Word?

  /// Starts this program with some arguments, and sends it a first line.
  ///
  /// - Throws: why it could not be started.
  public init(_ arguments: [String], first line: String) throws(ProcessFault) {
    child = try ChildProcess(ourselves: arguments, first: line, lineLimit: Self.lineLimit)
  }

  /// What it says next.
  ///
  /// - Parameter limit: how long to wait for it.
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

  /// Asks it to stop when its step is done.
  public func stop() { child.closeInput() }

  /// Ends it at once: it does not do what it was asked.
  public func kill() { _ = finish("it did not stop, and was killed", within: .zero) }
}

/// Why a worker ended before it was done.
public struct WorkerFault: Equatable, Sendable {
  /// How, and with which last words.
  public var text: String
  /// Whether it was killed, by a person or for lack of memory. Any other end is a defect of its own.
  public var wasKilled: Bool
}

/// The end of our standard input, as a worker process watches for it.
public enum EndOfInput {
  private static let hasCome = Atomic<Bool>(false)

  /// Whether it has come.
  public static var isReached: Bool { hasCome.load(ordering: .relaxed) }

  /// Reads a line of standard input, waiting at most for its end; `nil` if there is none.
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

  /// Whether it has come already, asked once and at once; nothing but it may be left to read.
  public static var isAlreadyReached: Bool {
    var polled = [pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)]
    return Kernel.poll(&polled, for: 0) > 0
  }

  /// Watches from now on, in a thread of its own.
  public static func watch() {
    inBackground {
      var byte: UInt8 = 0
      while true {
        let count = unsafe Kernel.receive(STDIN_FILENO, &byte, 1)
        if count == 0 || (count < 0 && ![EINTR, EAGAIN].contains(errno)) { break }
      }
      EndOfInput.hasCome.store(true, ordering: .relaxed)
    }
  }
}
