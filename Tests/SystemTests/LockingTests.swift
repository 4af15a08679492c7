import Basics
import Glibc
import TestSupport
import Testing

@testable import System

@Suite("Who holds a file")
struct LockingTests {
  private let folder = TestFolder()
  private var path: String { folder.path + "/alive" }

  /// A program that holds the file, or only has it open, and writes a number to it.
  private func program(holding lock: Bool = true, saying number: String) throws -> ChildProcess {
    let child = try ChildProcess(
      command: "exec 9>>alive; \(lock ? "flock 9; " : "")echo \(number) >alive; echo ready; exec sleep 1000",
      in: folder.path)
    expect(child.nextLine(until: MonotonicClock.now + timeLimit), .line(Array("ready".utf8)))
    return child
  }

  @Test("the process that holds a file is killed with its group, and the file is free then")
  func killed() throws {
    let child = try program(saying: "$$")
    expect(try HeldFile.holder(of: path), child.group)
    HeldFile.kill(holderOf: path)
    var ending: Ending?
    eventually {
      ending = child.reap()
      return ending != nil
    }
    expect(ending, .signal(SIGKILL))
    expect(try onceReleased { try HeldFile.holder(of: path) }, nil)
  }

  @Test(
    "a number that names no single process kills none, and the file still counts as held",
    arguments: [("none", 0), ("0", 0), ("-1", -1), ("2147483647", 2_147_483_647)]
      as [(String, Int32)])
  func spared(_ number: String, _ holder: Int32) throws {
    let child = try program(saying: number)
    expect(try HeldFile.holder(of: path), holder)
    HeldFile.kill(holderOf: path)
    expect(try HeldFile.holder(of: path), holder)
    expect(child.reap(), nil)
    expect(child.stop(grace: .zero), nil)
  }

  @Test("a process that let go of its file is not killed, whatever the file says")
  func released() throws {
    let child = try program(holding: false, saying: "$$")
    expect(try HeldFile.holder(of: path), nil)
    HeldFile.kill(holderOf: path)
    expect(child.reap(), nil)
    expect(child.stop(grace: .zero), nil)
  }

  @Test("a file that is locked is seen to be, and taken by none who does not wait")
  func locks() throws {
    folder.write("alive", "")
    let (holder, other) = unsafe (open(path, O_RDWR | O_CLOEXEC), open(path, O_RDWR | O_CLOEXEC))
    try Descriptors.lock(holder)
    expect(try Descriptors.isLocked(other), true)
    #expect(throws: SystemError(code: EWOULDBLOCK)) { try Descriptors.lock(other) }
    close(holder)
    expect(try onceReleased { try Descriptors.isLocked(other) ? true : nil }, nil)
    close(other)
    #expect(throws: SystemError(code: EBADF)) { try Descriptors.lock(-1) }
    #expect(throws: SystemError(code: EBADF)) { try Descriptors.isLocked(-1) }
  }

  @Test("a text that takes the place of a longer one leaves nothing of it, and is read wherever reading is")
  func overwritten() throws {
    folder.write("alive", "0123456789")
    let file = unsafe open(path, O_RDWR | O_CLOEXEC)
    defer { close(file) }
    var buffer = [UInt8](repeating: 0, count: 4)
    expect(try Descriptors.read(into: &buffer, from: file), 4)
    Descriptors.overwrite(file, with: "ab\n")
    expect(folder.read("alive"), "ab\n")
    expect(Array(Descriptors.beginning(of: file, count: 9)), Array("ab\n".utf8))
    expect(Array(Descriptors.beginning(of: file, count: 1)), Array("a".utf8))
    expect(Array(Descriptors.beginning(of: -1, count: 1)), [])
  }
}

@Suite("Waiting")
struct WaitingTests {
  @Test("waiting ends with what is ready or has failed, or at its time")
  func ready() throws {
    var ends: [Int32] = [-1, -1]
    try #require(unsafe pipe(&ends) == 0)
    let (reader, writer) = ((ends[0], Int16(POLLIN)), (ends[1], Int16(POLLOUT)))
    expect(Waiting.wait(for: [], until: .zero), false)
    expect(Waiting.wait(for: [reader], until: .zero), false)
    let begin = Waiting.now
    expect(Waiting.wait(for: [reader], until: begin + .milliseconds(20)), false)
    expect(Waiting.now >= begin + .milliseconds(20), true)
    expect(Waiting.wait(for: [reader, writer], until: .never), true)
    try Descriptors.write([1], to: ends[1])
    expect(Waiting.wait(for: [reader], until: .never), true)
    var buffer = [UInt8](repeating: 0, count: 9)
    expect(try Descriptors.read(into: &buffer, from: ends[0]), 1)
    expect(Waiting.wait(for: [reader], until: .zero), false)
    close(ends[1])
    expect(Waiting.wait(for: [reader], until: .never), true)
    close(ends[0])
    expect(Waiting.wait(for: [reader], until: .never), true)
  }
}
