import Basics
import Foundation
import TestSupport
import Testing

@testable import System

/// All that a program says until it ends, and how it does.
private func course(_ child: ChildProcess) -> [String] {
  let limit = MonotonicClock.now + timeLimit
  var said: [String] = []
  while true {
    switch child.nextLine(until: limit) {
    case .line(let bytes): said.append(String(decoding: bytes, as: UTF8.self))
    case .tooLong(let bytes):
      child.stop(grace: .zero)
      return said + ["too long: \(bytes.count)"]
    case .timedOut: return said + ["nothing came"]
    case .ended:
      said.append(child.stop(grace: timeLimit).map { "\($0)" } ?? "no end")
      return said + (child.lastWords.isEmpty ? [] : [child.lastWords])
    }
  }
}

@Suite("A program with three pipes")
struct ChildProcessTests {
  private let folder = TestFolder()

  // swift-format-ignore
  private static let cases: [(command: String, input: String, said: [String])] = [
    ("exit 3", "", ["exit status 3"]),
    ("echo one; echo two; printf three", "", ["one", "two", "exit status 0"]),
    ("kill -9 $$", "", ["signal 9"]),
    ("read a; echo \"$a!\"", "hello\n", ["hello!", "exit status 0"]),
    ("cat", "a\nb\n", ["a", "b", "exit status 0"]),
    ("for i in 1 2 3 4 5 6 7; do echo $i >&2; done; exit 1", "", ["exit status 1", "3\n4\n5\n6\n7"]),
    ("printf 'red\\033[31m\\n' >&2", "", ["exit status 0", "red\\u{1B}[31m"]),
    ("exec 1>&-; echo late >&2; exit 2", "", ["exit status 2", "late"]),
    ("head -c 70000 /dev/zero | tr '\\0' x", "", ["too long: 65536"]),
    ("head -c 100000 /dev/zero | tr '\\0' x >&2; echo done", "", ["done", "exit status 0", String(repeating: "x", count: 4096)]),
  ]

  @Test("what it says and how it ends is heard, whatever it does to its pipes", arguments: cases)
  func programs(command: String, input: String, said expected: [String]) throws {
    let child = try ChildProcess(command: command)
    child.send(Array(input.utf8))
    child.closeInput()
    expect(course(child), expected)
    expect(child.reap(), nil)
  }

  @Test("one that is silent is waited for no longer than is said, and is ended with what it started")
  func silent() throws {
    let child = try ChildProcess(command: "sleep 1000 & echo $!; exec cat")
    guard case .line(let number) = child.nextLine(until: MonotonicClock.now + timeLimit) else {
      return #expect(Bool(false), "no number")
    }
    expect(child.nextLine(until: .zero), .timedOut)
    expect(child.reap(), nil)
    expect(child.stop(grace: timeLimit), .exit(0))
    let other = try #require(Int32(String(decoding: number, as: UTF8.self)))
    eventually { kill(other, 0) != 0 || isDead(other) }
    expect(child.stop(grace: .zero), nil)
    expect(child.nextLine(until: .zero), .ended)
  }

  /// Whether a process is only waited for.
  private func isDead(_ process: Int32) -> Bool {
    (smallFile("/proc/\(process)/stat") ?? ")").split(separator: ")").last?.hasPrefix(" Z") ?? true
  }

  @Test("one that is killed with its group is reaped when it has gone")
  func killed() throws {
    let child = try ChildProcess(command: "exec cat")
    child.killGroup()
    var ending: Ending?
    eventually {
      ending = child.reap()
      return ending != nil
    }
    expect(ending, .signal(SIGKILL))
  }

  @Test("what it was sent and has not read is known")
  func unread() throws {
    let child = try ChildProcess(command: "read a; echo \"$a\"; exec sleep 1000")
    expect(child.hasUnread, false)
    child.send(Array("one\n".utf8))
    guard case .line = child.nextLine(until: MonotonicClock.now + timeLimit) else {
      return #expect(Bool(false), "no answer")
    }
    expect(child.hasUnread, false)
    child.send(Array("two\n".utf8))
    expect(child.hasUnread, true)
    // More than a pipe holds waits, and is no reason to wait.
    child.send([UInt8](repeating: 0, count: 1 << 20))
    expect(child.nextLine(until: .zero), .timedOut)
    child.stop(grace: .zero)
  }

  @Test("it has its folder, its variables, and what is handed to it alone")
  func surroundings() throws {
    let child = try ChildProcess(
      command: "pwd; echo $LOCKSTEP_TEST_WORD; cat <&$LOCKSTEP_SECRETS_FD", in: folder.path,
      with: ["LOCKSTEP_TEST_WORD=it's"], handing: Array("secret\n".utf8))
    expect(course(child), [realPath(folder.path) ?? "", "it's", "secret", "exit status 0"])
    let absent = try ChildProcess(command: "pwd", in: folder.path + "/none")
    expect(course(absent)[0], "exit status 126")
    expect(
      #expect(throws: ProcessFault.self) {
        _ = try ChildProcess(command: "cat", handing: [UInt8](repeating: 0, count: 1 << 20))
      }?.description, "the program could not be started: \(errorText(E2BIG))")
  }

  @Test("a question and its answer over two pipes take time, until there is no answer")
  func pace() throws {
    let pace = try #require(PipePace(command: "while read a; do echo \"$a\"; echo; done", request: "?"))
    let time = try #require(pace.roundTrips(3))
    #expect(time > .zero)
    let last = try #require(PipePace(command: "read a; echo", request: "?"))
    expect(last.roundTrips(1), nil)
    expect(PipePace(command: "exit 1", request: "?") == nil, true)
  }

  @Test("a run is measured with its status, and one that cannot be started is none")
  func measured() throws {
    expect(Measurement.run("/bin/sh", ["-c", "exit 3"])?.status, 3)
    let run = try #require(Measurement.run("/bin/sh", ["-c", "kill -9 $$"]))
    expect(run.status, 137)
    #expect(run.memory > 100_000 && run.time > .zero)
    expect(Measurement.run("/nowhere/program", []), nil)
  }

  // swift-format-ignore
  private static let words: [(String, String)] = [
    ("plain", "plain"), ("", "''"), ("a b", "'a b'"), ("it's", "'it'\\''s'"), ("$HOME", "'$HOME'"), ("a=b,c:/d@e%f+g_h-i.j", "a=b,c:/d@e%f+g_h-i.j"),
    ("é", "'é'"), ("*", "'*'"), ("'", "''\\'''"), ("a\nb", "'a\nb'"),
  ]

  @Test("a word is one for the shell, whatever is in it")
  func shell() throws {
    for (word, quoted) in Self.words { expect(shellWord(word), quoted) }
    let list = Self.words.map(\.1).joined(separator: " ")
    let child = try ChildProcess(command: "for word in \(list); do printf '%s\\0' \"$word\"; done; echo")
    let said = course(child).dropLast().joined(separator: "\n")
    expect(said, Self.words.map { $0.0 + "\0" }.joined())
  }

  // swift-format-ignore
  private static let bytes: [(String, String)] = [
    ("plain\n", "plain\n"), ("a\tb\r\n", "a b\n"), ("\u{1B}[31m", "\\u{1B}[31m"), ("\u{85}\u{A0}é", "\\u{85}\u{A0}é"), ("\0", "\\u{0}"),
  ]

  @Test("what a program says is shown with its control characters spelled")
  func printing() { for (text, shown) in Self.bytes { expect(printable(text.utf8), shown) } }
}

@Suite("A service and its manager")
struct ServiceNotifierTests {
  private let folder = TestFolder()

  /// What arrives at a socket of a name while something is done.
  private func received(_ name: String, _ body: () -> Void) throws -> [String] {
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
    defer { close(descriptor) }
    let isAbstract = name.hasPrefix("@")
    let status = unsafe withSocketAddress(
      isAbstract ? String(name.dropFirst()) : name, isAbstract: isAbstract
    ) {
      unsafe bind(descriptor, $0, $1)
    }
    try #require(status == 0)
    body()
    var (texts, buffer) = ([String](), [UInt8](repeating: 0, count: 256))
    while true {
      let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
      guard count >= 0 else { return texts }
      texts.append(String(decoding: buffer[..<count], as: UTF8.self))
    }
  }

  @Test(
    "each state is one datagram, the same line is sent once, and lives are shown as often as is wanted",
    arguments: [false, true])
  func states(isAbstract: Bool) throws {
    let name = isAbstract ? "@lockstep-test-\(getpid())" : folder.path + "/notify"
    expect(
      try received(name) {
        let variables = ["NOTIFY_SOCKET": name, "WATCHDOG_USEC": "3600000000"]
        let notifier = ServiceNotifier { variables[$0] }
        notifier.ready()
        notifier.status("one\ntwo")
        notifier.status("one\ntwo")
        notifier.status("three")
        notifier.alive()
        notifier.alive()
        notifier.stopping()
      }, ["READY=1", "STATUS=one two", "STATUS=three", "WATCHDOG=1", "STOPPING=1"])
  }

  @Test("without a manager, with a name that is no socket's, or too long, nothing is sent and nothing fails")
  func nobody() throws {
    let longest = "@" + String(repeating: "n", count: longestSocketName)
    expect(
      try received(longest) { ServiceNotifier { $0 == "NOTIFY_SOCKET" ? longest : nil }.ready() }, ["READY=1"]
    )
    for name in [nil, "relative", longest + "n", folder.path + "/none"] {
      let notifier = ServiceNotifier { $0 == "NOTIFY_SOCKET" ? name : nil }
      expect(try received(longest) { notifier.ready() }, [])
    }
  }

  // swift-format-ignore
  private static let watchdogs: [([String: String], Interval?)] = [
    ([:], nil), (["WATCHDOG_USEC": "2000000"], .seconds(2)), (["WATCHDOG_USEC": "0"], nil), (["WATCHDOG_USEC": "-1"], nil),
    (["WATCHDOG_USEC": "often"], nil), (["WATCHDOG_USEC": "1000", "WATCHDOG_PID": "\(getpid())"], .milliseconds(1)),
    (["WATCHDOG_USEC": "1000", "WATCHDOG_PID": "1"], nil), (["WATCHDOG_USEC": "1000", "WATCHDOG_PID": "x"], nil),
  ]

  @Test("signs of life are wanted where the manager says so of this process")
  func watchdog() {
    for (variables, time) in Self.watchdogs {
      expect(ServiceNotifier { variables[$0] }.watchdog, time)
    }
  }
}

@Suite("Progress and versions")
struct HeartbeatTests {
  @Test("who says when something happens is stuck two seconds after that, and not before or when all is done")
  func stuck() async {
    await #expect(processExitsWith: .success) {
      #expect(!Heartbeat.isStuck)
      for (offset, isStuck) in [(Interval.seconds(-1), false), (.seconds(-3), true), (.seconds(60), false)] {
        Heartbeat.expect(by: Waiting.now + offset)
        #expect(Heartbeat.isStuck == isStuck)
      }
      Heartbeat.expect(by: Waiting.now + .seconds(-3))
      Heartbeat.end()
      #expect(!Heartbeat.isStuck)
    }
  }

  @Test("a version and its day have their form, and a build is said with both of its words or not at all")
  func version() throws {
    #expect(Version.text.wholeMatch(of: try Regex("[0-9]+\\.[0-9]+(\\.[0-9]+)?")) != nil)
    #expect(Version.date.wholeMatch(of: try Regex("20[0-9]{2}-[01][0-9]-[0-3][0-9]")) != nil)
    if let build = Version.build {
      #expect(build.date.wholeMatch(of: try Regex("20[0-9]{2}-[01][0-9]-[0-3][0-9]")) != nil)
      expect(build.commit.isEmpty, false)
    }
  }

  @Test("a call that does not come back is given up at its time")
  func bounded() {
    expect(BoundedCall.run(until: Waiting.now + timeLimit) { 7 }, 7)
    var ends: [Int32] = [-1, -1]
    expect(unsafe pipe(&ends), 0)
    let reader = ends[0]
    expect(
      BoundedCall.run(until: Waiting.now + .milliseconds(20)) { () -> Int in
        var byte: UInt8 = 0
        return unsafe read(reader, &byte, 1)
      }, nil)
    close(ends[1])
  }
}
