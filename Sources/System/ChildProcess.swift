public import Basics
import Glibc
import Synchronization

/// A program in a process group of its own, with pipes to its three streams.
///
/// No call blocks beyond its deadline: the pipes are non-blocking, and ``nextLine(until:)`` polls all three, so that
/// a program that fills its standard error or does not read its input cannot block us.
public final class ChildProcess {
  /// The result of waiting.
  public enum Wake: Equatable {
    /// A line of its output, without the end.
    case line([UInt8])
    /// The beginning of a line that is too long.
    case tooLong([UInt8])
    /// The time is over.
    case timedOut
    /// The program closed its output, as at its end.
    case ended
  }

  /// The maximum length of the standard error that is kept.
  private static let tail = 4096

  /// The process number of the program, which is also that of its group.
  public let group: Int32
  private var input: Int32
  private var output: Int32
  private var errors: Int32
  private var outgoing: [UInt8] = []
  private var lines: LineBuffer
  /// The buffer for reading, which is large enough for whole reads.
  private var room = [UInt8](repeating: 0, count: LineBuffer.usualLimit)
  private var errorOutput: [UInt8] = []
  private var isReaped = false
  /// Whether it had closed its standard input when data were sent to it.
  private var hasRefused = false
  private var polled = [POLLIN, POLLIN, POLLOUT].map { pollfd(fd: -1, events: Int16($0), revents: 0) }
  /// Receives its standard error as it is written.
  public var onErrorOutput: ((ArraySlice<UInt8>) -> Void)?
  /// Whether waiting for it counts as progress: it does for a program that is driven, but not for one that is
  /// used beside a radio.
  public var isDriven = true

  /// Starts a shell command of the user, without the environment variables that hold our secrets.
  ///
  /// - Parameters:
  ///   - folder: its working directory; `nil` for the current one.
  ///   - variables: additional environment variables, as `NAME=VALUE`.
  ///   - document: data that only this program can read, from the descriptor whose number is in
  ///     `LOCKSTEP_SECRETS_FD`; at most a pipe's capacity.
  public convenience init(
    command: String, in folder: String? = nil, with variables: [String] = [], handing document: [UInt8]? = nil
  ) throws(ProcessFault) {
    let script = folder.map { "cd \(shellWord($0)) || exit 126\n" + command } ?? command
    let handed = document == nil ? [] : ["LOCKSTEP_SECRETS_FD=\(Started.handedDescriptor)"]
    try self.init(
      program: "/bin/sh", ["-c", script], without: Secrecy.withheldVariables, with: variables + handed,
      handing: document)
    RunningGroup.set(group)
  }

  /// Starts a program.
  ///
  /// - Parameters:
  ///   - variables: additional environment variables, as `NAME=VALUE`.
  ///   - inSession: whether it gets a session of its own, so that signals to ours do not reach it.
  ///   - isOurs: whether it is this program again: ``EndingSignals`` are blocked until it handles them, so that an
  ///     early one does not kill it.
  ///   - lineLimit: the maximum length of an output line, in bytes.
  ///   - document: data that it can read from descriptor 3; at most a pipe's capacity.
  public init(
    program: String, _ arguments: [String], without withheld: [String] = [], with variables: [String] = [],
    inSession: Bool = false, isOurs: Bool = false, lineLimit: Int = LineBuffer.usualLimit,
    handing document: [UInt8]? = nil
  ) throws(ProcessFault) {
    FailedWrites.ignore()
    EndedChildren.keep()
    let started: Started
    do {
      started = try Started(
        program, arguments, without: withheld, with: variables, inSession: inSession, isOurs: isOurs,
        pipes: try Pipes(handing: document))
    } catch {
      throw ProcessFault("the program could not be started: \(errorText(error.code))")
    }
    lines = LineBuffer(limit: lineLimit)
    group = started.group
    input = started.input
    output = started.output
    errors = started.errors
  }

  /// Starts this program with some arguments, and sends it a first line.
  convenience init(
    ourselves arguments: [String], first line: String, lineLimit: Int = LineBuffer.usualLimit
  ) throws(ProcessFault) {
    guard let program = Host.program else {
      throw ProcessFault("the system does not tell which program this is")
    }
    try self.init(
      program: program, Kernel.wordsForChildren + arguments, isOurs: true, lineLimit: lineLimit)
    send(Array((line + "\n").utf8))
  }

  deinit {
    stop(grace: .milliseconds(500))
  }
}

extension ChildProcess {
  /// Writes bytes to its standard input; ``nextLine(until:)`` sends those for which there is no room now.
  public func send(_ bytes: [UInt8]) {
    outgoing += bytes
    if outgoing.count == bytes.count, input >= 0 { writeInput() }
  }

  /// Whether a whole line of its standard output is available.
  public var hasLine: Bool { lines.hasLine }

  /// Whether some of its input is unread: a program that has ended never read it.
  public var hasUnread: Bool {
    var count: Int32 = 0
    if hasRefused || !outgoing.isEmpty { return true }
    guard input >= 0, unsafe ioctl(input, UInt(FIONREAD), &count) == 0 else { return false }
    return count > 0
  }

  /// Closes its standard input. Queued data is written before only as far as the pipe takes it at once; the rest is
  /// discarded. Nothing may be sent afterwards.
  public func closeInput() {
    if !outgoing.isEmpty { _ = wait(milliseconds: 0) }
    outgoing = []
    close(&input)
  }

  /// Measures round trips through its two pipes: each is one write, and reads until a number of lines have
  /// come back; `nil` if it does not answer.
  ///
  /// Nothing else may be in progress. It waits without a time limit.
  public func bareRoundTrips(_ count: Int, sending request: [UInt8], lines: Int) -> Interval? {
    for end in [input, output] { Kernel.fcntl(end, F_SETFL, 0) }
    defer { for end in [input, output] { Kernel.fcntl(end, F_SETFL, O_NONBLOCK) } }
    let begin = MonotonicClock.now
    for _ in 0..<count {
      guard unsafe Kernel.send(input, request, request.count) == request.count else { return nil }
      var left = lines
      while left > 0 {
        let size = unsafe Kernel.receive(output, &room, room.count)
        guard size > 0 else { return nil }
        for index in 0..<size where room[index] == UInt8(ascii: "\n") { left -= 1 }
      }
    }
    return MonotonicClock.now - begin
  }

  /// Waits for a whole line of its standard output, up to a moment of the monotonic clock.
  ///
  /// After the moment it returns only what is available.
  public func nextLine(until limit: Interval) -> Wake {
    while true {
      switch lines.next() {
      case .whole(let line): return .line(line)
      case .tooLong(let start): return .tooLong(start)
      case nil: break
      }
      guard output >= 0 else { return .ended }
      let left = limit - MonotonicClock.now
      let milliseconds = left <= .zero ? 0 : min((left.nanoseconds + 999_999) / 1_000_000, 60_000)
      if !wait(milliseconds: Int32(milliseconds)), left <= .zero { return .timedOut }
    }
  }

  /// How the program ended, if it has; then ends its group, too. Never waits.
  public func reap() -> Ending? {
    guard !isReaped, hasEnded() != nil else { return nil }
    return stop(grace: .zero)
  }

  /// Ends the whole process group at once, without waiting for its end.
  public func killGroup() {
    if !isReaped { Kernel.kill(-group, SIGKILL) }
  }

  /// The last lines of its standard error, as printable text.
  public var lastWords: String {
    let lines = printable(errorOutput).split(separator: "\n", omittingEmptySubsequences: true)
    return lines.suffix(5).joined(separator: "\n")
  }

  /// Ends the whole process group; returns how the program itself ended.
  ///
  /// - Parameter grace: how long to wait for its own end after its input was closed.
  @discardableResult
  public func stop(grace: Interval) -> Ending? {
    close(&input)
    // Its further output is useless, and would fill the pipe.
    close(&output)
    guard !isReaped else { return nil }
    let limit = MonotonicClock.now + grace
    var ending = hasEnded()
    while ending == nil, MonotonicClock.now < limit {
      if !wait(milliseconds: 5) { rest(for: .milliseconds(1)) }
      ending = hasEnded()
    }
    // Its own children may outlive it. The group's number is in use until the program is reaped.
    Kernel.kill(-group, SIGKILL)
    // A process that is blocked in a call to a broken device dies when the call returns; do not wait for that.
    let end = MonotonicClock.now + .seconds(2)
    // After it is reaped, its number may be reused.
    RunningGroup.clear(group)
    var status: Int32 = 0
    while true {
      let reaped = Kernel.waitpid(group, &status, WNOHANG)
      let isWaiting = reaped == 0 || reaped < 0 && errno == EINTR
      guard isWaiting, MonotonicClock.now < end else { break }
      rest(for: .milliseconds(1))
    }
    isReaped = true
    drainErrors()
    close(&errors)
    return ending
  }
}

/// Why a program could not be started.
public struct ProcessFault: Error, Equatable, Sendable, CustomStringConvertible {
  public var description: String

  init(_ description: String) { self.description = description }
}

/// How a program ended.
public enum Ending: Equatable, Sendable, CustomStringConvertible {
  /// By itself, with a status.
  case exit(Int32)
  /// By a signal.
  case signal(Int32)

  public var description: String {
    switch self {
    case .exit(let status): "exit status \(status)"
    case .signal(let number): "signal \(number)"
    }
  }
}

extension ChildProcess {
  /// How the program ended, if it has; it is not reaped, so that its group keeps its number.
  private func hasEnded() -> Ending? {
    var info = unsafe siginfo_t()
    let status = unsafe Kernel.waitid(group, &info, WEXITED | WNOWAIT | WNOHANG)
    guard status == 0, unsafe info.si_signo == SIGCHLD else { return nil }
    let value = unsafe info._sifields._sigchld.si_status
    return unsafe info.si_code == CLD_EXITED ? .exit(value) : .signal(value)
  }

  /// Polls the pipes once and serves those that are ready; false if none was.
  private func wait(milliseconds: Int32) -> Bool {
    polled[0].fd = output
    polled[1].fd = errors
    polled[2].fd = outgoing.isEmpty ? -1 : input
    if isDriven { Heartbeat.expect(by: Waiting.now + .milliseconds(Int64(milliseconds))) }
    defer { if isDriven { Heartbeat.expect(by: Waiting.now) } }
    guard Kernel.poll(&polled, for: Int64(milliseconds) * 1_000_000) > 0 else { return false }
    if polled[0].revents != 0 { readOutput() }
    if polled[1].revents != 0 { readErrors() }
    if polled[2].revents != 0 { writeInput() }
    return true
  }

  private func readOutput() {
    let count = unsafe Kernel.receive(output, &room, room.count)
    if count > 0 {
      lines.append(room[..<count])
    } else if count == 0 || !isTransient(errno) {
      close(&output)
    }
  }

  @discardableResult
  private func readErrors() -> Bool {
    let count = unsafe Kernel.receive(errors, &room, room.count)
    if count > 0 {
      errorOutput = (errorOutput + room[..<count]).suffix(Self.tail)
      onErrorOutput?(room[..<count])
      return true
    }
    if count == 0 || !isTransient(errno) { close(&errors) }
    return false
  }

  /// Reads the remaining standard error after the program's end, at most a pipe's capacity.
  private func drainErrors() {
    var reads = 0
    while errors >= 0, reads < 16, readErrors() { reads += 1 }
  }

  private func writeInput() {
    let count = unsafe Kernel.send(input, outgoing, outgoing.count)
    if count == outgoing.count {
      outgoing.removeAll(keepingCapacity: true)
    } else if count > 0 {
      outgoing.removeFirst(count)
    } else if !isTransient(errno) {
      // It reads no more. Its output shows whether it still answers.
      hasRefused = true
      outgoing = []
      close(&input)
    }
  }

  private func isTransient(_ code: Int32) -> Bool { [EINTR, EAGAIN].contains(code) }

  private func close(_ descriptor: inout Int32) {
    guard descriptor >= 0 else { return }
    Kernel.close(descriptor)
    descriptor = -1
  }
}

/// The two ends of three pipes, and the child's end of a fourth.
private struct Pipes {
  var input: (child: Int32, ours: Int32)
  var output: (child: Int32, ours: Int32)
  var errors: (child: Int32, ours: Int32)
  /// The pipe with the document for the child.
  var handed: Int32?

  /// The child's ends.
  var childEnds: [Int32] { [input.child, output.child, errors.child] + (handed.map { [$0] } ?? []) }

  init(handing document: [UInt8]? = nil) throws(SystemError) {
    var ends: [Int32] = []
    for _ in 0..<(document == nil ? 3 : 4) {
      var pair: [Int32] = [-1, -1]
      guard Kernel.pipe(&pair) == 0 else {
        let code = errno
        for end in ends { Kernel.close(end) }
        throw SystemError(code: code)
      }
      ends += pair
    }
    input = (ends[0], ends[1])
    output = (ends[3], ends[2])
    errors = (ends[5], ends[4])
    for end in [input.ours, output.ours, errors.ours] { Kernel.fcntl(end, F_SETFL, O_NONBLOCK) }
    guard let document else { return }
    handed = ends[6]
    Kernel.fcntl(ends[7], F_SETFL, O_NONBLOCK)
    let count = unsafe Kernel.send(ends[7], document, document.count)
    let code = errno
    Kernel.close(ends[7])
    guard count == document.count else {
      for end in ends.dropLast() { Kernel.close(end) }
      throw SystemError(code: count < 0 ? code : E2BIG)
    }
  }
}

/// A program just started, with our ends of its pipes.
private struct Started {
  /// The child's descriptor for the document.
  static let handedDescriptor: Int32 = 3

  public let group: Int32
  let input: Int32
  let output: Int32
  let errors: Int32

  init(
    _ program: String, _ words: [String], without withheld: [String], with variables: [String],
    inSession: Bool, isOurs: Bool, pipes: Pipes
  ) throws(SystemError) {
    var spawning = Spawning(
      program: program, words: words, withheld: withheld, added: variables, inSession: inSession,
      isOurs: isOurs)
    spawning.streams = [
      (pipes.input.child, STDIN_FILENO), (pipes.output.child, STDOUT_FILENO),
      (pipes.errors.child, STDERR_FILENO),
    ]
    if let handed = pipes.handed { spawning.streams.append((handed, Self.handedDescriptor)) }
    defer { for end in pipes.childEnds { Kernel.close(end) } }
    do {
      group = try spawning.start()
    } catch {
      for end in [pipes.input.ours, pipes.output.ours, pipes.errors.ours] { Kernel.close(end) }
      throw error
    }
    input = pipes.input.ours
    output = pipes.output.ours
    errors = pipes.errors.ours
  }
}
