import Basics
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import System

/// Gives this process a pipe or a file for its standard input; the other end of the pipe is given back.
private func replaceInput(with text: String?) -> Int32 {
  var ends: [Int32] = [-1, -1]
  guard unsafe pipe(&ends) == 0, dup2(ends[0], STDIN_FILENO) == STDIN_FILENO else { return -1 }
  close(ends[0])
  if let text { try? Descriptors.write(Array(text.utf8), to: ends[1]) }
  return ends[1]
}

/// Something that another thread says.
private final class Flag: Sendable {
  let isSet = Atomic<Bool>(false)
}

@Suite("Standard streams")
struct StreamTests {
  @Test("lines of the input are taken as they come, the last one with or without its end")
  func inputLines() async {
    await #expect(processExitsWith: .success) {
      let writer = replaceInput(with: "one\ntw")
      var lines = InputLines()
      #expect(!InputLines.isTerminal)
      #expect(lines.next() == .line("one"))
      #expect(lines.next() == nil)
      try Descriptors.write(Array("o\n\nthree".utf8), to: writer)
      #expect(lines.next() == .line("two"))
      #expect(lines.next() == .line(""))
      #expect(lines.next() == nil)
      close(writer)
      #expect(lines.next() == .line("three"))
      #expect(lines.next() == .end)
      #expect(lines.next() == .end)
    }
  }

  @Test("a line of the input that is too long is said, and an empty input has only its end")
  func longInput() async {
    await #expect(processExitsWith: .success) {
      close(replaceInput(with: nil))
      var none = InputLines()
      #expect(none.next() == .end)
      let folder = TestFolder()
      let path = folder.write("long", String(repeating: "x", count: LineBuffer.usualLimit + 1))
      let file = unsafe open(path, O_RDONLY)
      try #require(dup2(file, STDIN_FILENO) == STDIN_FILENO)
      var lines = InputLines()
      #expect(lines.next() == .tooLong)
    }
  }

  @Test("who listens for a line leaves the others, in their order, for who asks next")
  func keptLines() async {
    await #expect(processExitsWith: .success) {
      let writer = replaceInput(with: "one\ntwo\nstop\nthree\n")
      let lines = KeptInputLines()
      var ends: [Int32] = [-1, -1]
      try #require(unsafe pipe(&ends) == 0)
      let heard = ends[1]
      lines.listen(for: "stop") { close(heard) }
      #expect(Waiting.wait(for: [(ends[0], Int16(POLLIN))], until: Waiting.now + timeLimit))
      close(writer)
      #expect((0..<4).map { _ in lines.next() } == [.line("one"), .line("two"), .line("three"), .end])
    }
  }

  @Test("a worker reads its first line, and notices the end of what comes behind it")
  func endOfInput() async {
    await #expect(processExitsWith: .success) {
      let writer = replaceInput(with: "first\n")
      #expect(EndOfInput.firstLine() == "first")
      #expect(!EndOfInput.isAlreadyReached)
      EndOfInput.watch()
      #expect(!EndOfInput.isReached)
      close(writer)
      eventually { EndOfInput.isReached }
    }
    await #expect(processExitsWith: .success) {
      close(replaceInput(with: "half"))
      #expect(EndOfInput.firstLine() == nil)
      #expect(EndOfInput.isAlreadyReached)
    }
  }

  @Test("closed streams are filled, so that no file takes their place, and cannot be written")
  func closedStreams() async {
    await #expect(processExitsWith: .success) {
      let folder = TestFolder()
      for descriptor in STDIN_FILENO...STDERR_FILENO { close(descriptor) }
      StandardStreams.take()
      let path = folder.path + "/file"
      let file = unsafe open(path, O_WRONLY | O_CREAT, 0o600)
      guard file > STDERR_FILENO else { Glibc.exit(1) }
      let output = OutputFile.standardOutput()
      try output.write("text\n")
      guard output.fault?.code == EBADF, folder.read("file").isEmpty else { Glibc.exit(2) }
    }
  }

  @Test("what a signal handler says last is what was set last, on standard error")
  func finalMessage() async {
    await #expect(processExitsWith: .success) {
      let folder = TestFolder()
      let file = unsafe open(folder.path + "/errors", O_WRONLY | O_CREAT, 0o600)
      try #require(dup2(file, STDERR_FILENO) == STDERR_FILENO)
      FinalMessage.print()
      for text in ["one", "two", nil, "three"] {
        FinalMessage.set(text)
        FinalMessage.print()
      }
      #expect(folder.read("errors") == "one\ntwo\nthree\n")
    }
  }

  @Test(
    "from the first secret on files are for their owner alone, and a variable that holds one is not handed on"
  )
  func secrecy() async {
    await #expect(processExitsWith: .success) {
      let folder = TestFolder()
      umask(0o022)
      try WholeFile.replace(folder.path + "/before", with: "")
      unsafe setenv("LOCKSTEP_TEST_KEY", "wrench-owl-7f3a99", 1)
      #expect(Secrecy.withheldVariables == ["PGPASSWORD"])
      let secret = try #require(Secrecy.variable("LOCKSTEP_TEST_KEY"))
      #expect(Secrecy.variable("LOCKSTEP_TEST_NONE") == nil)
      #expect(Secrecy.withheldVariables == ["PGPASSWORD", "LOCKSTEP_TEST_KEY"])
      Secrecy.keep(secret)
      try WholeFile.replace(folder.path + "/after", with: "key wrench-owl-7f3a99.")
      #expect(folder.mode("before") == 0o644)
      #expect(folder.mode("after") == 0o600)
      #expect(!folder.read("after").contains("owl"))
      let child = try ChildProcess(command: "echo \"[$LOCKSTEP_TEST_KEY]\"")
      #expect(child.nextLine(until: MonotonicClock.now + timeLimit) == .line(Array("[]".utf8)))
    }
  }

  @Test("requests to end are counted, and two signals of a kind at once are one")
  func requests() async {
    await #expect(processExitsWith: .success) {
      #expect(EndingSignals.requestCount == 0)
      #expect(EndingSignals.countRequest(by: SIGINT) == 0)
      #expect(EndingSignals.countRequest(by: SIGINT) == 0)
      #expect(EndingSignals.requestCount == 1)
      #expect(EndingSignals.countRequest(by: SIGTERM) == 1)
      #expect(EndingSignals.countRequest(by: SIGTERM) == 2)
      #expect(EndingSignals.requestCount == 3)
    }
  }

  @Test("who waits in a monitor goes on when another has changed something, and who is in it may enter again")
  func monitor() {
    let (monitor, flag) = (Monitor(), Flag())
    monitor.locked {
      inBackground {
        monitor.locked {
          monitor.locked { flag.isSet.store(true, ordering: .relaxed) }
          monitor.announce()
        }
      }
      // The other one cannot enter before this one waits.
      expect(flag.isSet.load(ordering: .relaxed), false)
      while !flag.isSet.load(ordering: .relaxed) { monitor.wait() }
    }
  }

  @Test("a file of lines is one writer's, and a file that is replaced is not in its place")
  func lineFiles() throws {
    let folder = TestFolder()
    let path = folder.path + "/lock.log"
    let file = try LineFile(path)
    expect(try file.lock(), true)
    expect(try LineFile(path).lock(), false)
    expect(file.isInPlace, true)
    try WholeFile.replace(path, with: "other\n")
    expect(file.isInPlace, false)
    try removeFile(path)
    expect(file.isInPlace, false)
    let none = folder.path + "/none/lock.log"
    expect(
      #expect(throws: FileFault.self) { _ = try LineFile(none) }?.description,
      "\(none): there is no such file or folder")
  }

  // swift-format-ignore
  private static let faults: [(FileFault, String, isAbsence: Bool, isMachines: Bool, isReadersEnd: Bool)] = [
    (FileFault(.read, path: "a", code: ENOENT), "cannot read a: there is no such file or folder", true, false, false),
    (FileFault(path: "a/b", code: ENOTDIR), "a/b: Not a directory", true, false, false),
    (FileFault(.write, path: "", code: ENOSPC), "cannot write No space left on device", false, true, false),
    (FileFault(path: "", code: EPIPE), "Broken pipe", false, false, true),
    (FileFault.malformed("a.json"), "a.json: what it says cannot be understood", false, false, false),
    (FileFault(path: "a", code: EACCES), "a: Permission denied", false, false, false),
  ]

  @Test(
    "a fault is said with what was tried, and is the path's, the machine's or the reader's",
    arguments: faults.indices)
  func fault(index: Int) {
    let (fault, text, isAbsence, isMachines, isReadersEnd) = Self.faults[index]
    expect(fault.description, text)
    expect([fault.isAbsence, fault.isMachines, fault.isReadersEnd], [isAbsence, isMachines, isReadersEnd])
  }
}
