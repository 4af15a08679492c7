import Basics
import Foundation
import TestSupport
import Testing

@testable import System

@Suite("Files")
struct FileTests {
  private let folder = TestFolder()
  private var path: String { folder.path + "/file" }

  @Test("what takes a file's place is there whole, for whom it is meant, and nothing stays beside it")
  func replacement() throws {
    folder.write("file", "old", mode: 0o644)
    try WholeFile.replacePrivate(path, with: Array("new".utf8))
    expect(folder.read("file"), "new")
    expect(folder.mode("file"), 0o600)
    var file = try Replacement(of: path)
    try file.write("one two three")
    try file.overwrite(at: 4, Array("TWO".utf8))
    expect(file.count, 13)
    expect(folder.read("file"), "new")
    expect(folder.names.count, 2)
    try file.commit()
    expect(folder.read("file"), "one TWO three")
    expect(folder.names, ["file"])
  }

  @Test("what is given up, or cannot take its place, leaves the old file and nothing beside it")
  func abandoned() throws {
    folder.write("file", "old")
    do {
      var file = try Replacement(of: path)
      try file.write("half")
    }
    expect(folder.read("file"), "old")
    expect(folder.names, ["file"])
    var file = try Replacement(of: folder.path + "/taken", saying: .write)
    try file.write("x")
    try FileManager.default.createDirectory(atPath: folder.path + "/taken", withIntermediateDirectories: true)
    do throws(FileFault) {
      try file.commit()
      Issue.record("a folder was replaced")
    } catch {
      expect(error.description, "cannot write \(folder.path)/taken: Is a directory")
    }
    expect(folder.names, ["file", "taken"])
  }

  @Test("of names that are given the first that is free is taken, and no link is followed")
  func named() throws {
    folder.write("victim", "mine")
    try FileManager.default.createSymbolicLink(
      atPath: path + ".new-1", withDestinationPath: folder.path + "/victim")
    try FileManager.default.createSymbolicLink(
      atPath: path + ".new-2", withDestinationPath: folder.path + "/nowhere")
    let path = path
    var file = try Replacement(of: path, mode: 0o600, named: { "\(path).new-\($0)" })
    try file.write("text")
    let finished = try file.finish()
    expect(finished.name, path + ".new-3")
    expect(folder.read("file.new-3"), "text")
    finished.discard()
    expect(folder.names, ["file.new-1", "file.new-2", "victim"])
    expect(folder.read("victim"), "mine")
  }

  @Test("a pipe is written directly")
  func pipe() throws {
    try #require(unsafe mkfifo(path, 0o600) == 0)
    let reader = unsafe open(path, O_RDWR)
    defer { close(reader) }
    var file = try Replacement(of: path)
    expect(file.isDirect, true)
    try file.write("through")
    try file.commit()
    var bytes = [UInt8](repeating: 0, count: 16)
    expect(try Descriptors.read(into: &bytes, from: reader), 7)
    expect(folder.names, ["file"])
  }

  @Test("what may never end or never begin is not read, and what is there is said")
  func strange() throws {
    try #require(unsafe mkfifo(path, 0o600) == 0)
    let socket = folder.path + "/socket"
    let words = "import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])"
    try #require(python(words, [socket]).status == 0)
    for (path, what) in [(path, "a pipe"), (socket, "a socket"), ("/dev/zero", "a device")] {
      for open in [{ _ = try WholeFile.bytes(of: path) }, { _ = try LineReader(path) }] as [() throws -> Void]
      {
        expect(
          #expect(throws: FileFault.self) { try open() }?.reason, "expected a file, and it is \(what)")
      }
    }
    expect(
      #expect(throws: FileFault.self) { _ = try Replacement(of: socket) }?.description,
      "\(socket): expected a file, and it is a socket")
  }

  @Test("what was opened for us is read, whatever it is, as long as it takes")
  func handedOver() throws {
    var ends: [Int32] = [0, 0]
    try #require(unsafe Glibc.pipe(&ends) == 0)
    defer { close(ends[0]) }
    let writer = ends[1]
    inBackground {
      rest(for: .milliseconds(30))
      try? Descriptors.write(Array("late".utf8), to: writer)
      close(writer)
    }
    expect(try WholeFile.bytes(of: "/dev/fd/\(ends[0])"), Array("late".utf8))
    expect(try WholeFile.bytes(of: "/dev/null"), [])
  }

  @Test("the error of a device that is away is not that of a pipe, nor one of a network that of a reader")
  func numbers() {
    expect(
      FileFault(.write, path: "/dev/x", code: ENXIO).description,
      "cannot write /dev/x: No such device or address")
    expect(FileFault(.write, path: "x", code: ETIMEDOUT).description, "cannot write x: Connection timed out")
    var fault = FileFault(.write, path: "p", .untaken)
    expect(fault.description, "cannot write p: nothing more is taken of what is written")
    expect(fault.isMachines, true)
    fault.cause = .unreadPipe
    expect(fault.description, "cannot write p: no process reads this pipe")
  }

  @Test("a file that is longer than it may be is not read", arguments: [0, 5, 4096, 5000])
  func limit(size: Int) throws {
    folder.write("file", String(repeating: "x", count: size))
    expect(try WholeFile.bytes(of: path, limit: size).count, size)
    guard size > 0 else { return }
    do throws(FileFault) {
      _ = try WholeFile.bytes(of: path, limit: size - 1)
      Issue.record("it was read")
    } catch {
      expect(error, FileFault(path: path, code: EFBIG))
    }
  }

  @Test("lines are added behind those that are there, and a torn one does not join the next")
  func lines() throws {
    folder.write("file", "one\ntwo\nthr")
    let file = try LineFile(path)
    expect(try file.read { Optional($0) }.lines, ["one", "two", "thr"])
    expect(file.isTorn, true)
    try file.append(["four", "five"])
    expect(folder.read("file"), "one\ntwo\nthr\nfour\nfive\n")
    let again = try LineFile(reading: path).read({ Int($0.count) }, until: { $0 == 3 })
    expect(again.count, 5)
    expect(again.lines, [3, 4, 4])
  }

  @Test("what is no file keeps no lines, and is not waited for")
  func strangeLines() throws {
    try #require(unsafe mkfifo(path, 0o600) == 0)
    try #require(unsafe symlink("/dev/zero", folder.path + "/zero") == 0)
    for (name, what) in [("file", "pipe"), ("zero", "device")] {
      let place = folder.path + "/" + name
      let said = "\(place): expected a file, and it is a \(what)"
      expect(#expect(throws: FileFault.self) { try LineFile(place) }?.description, said)
      expect(#expect(throws: FileFault.self) { try LineFile(reading: place) }?.description, said)
    }
  }

  @Test("a file that is locked is not taken, and waited for as long as is said")
  func locked() throws {
    folder.write("file", "")
    let (one, other) = unsafe (open(path, O_RDWR), open(path, O_RDWR))
    defer { close(other) }
    try Descriptors.lock(one)
    expect(try Descriptors.isLocked(other), true)
    #expect(throws: SystemError(code: EWOULDBLOCK)) { try Descriptors.lock(other) }
    inBackground {
      rest(for: .milliseconds(30))
      close(one)
    }
    try Descriptors.lock(other, for: .seconds(5))
  }
}

@Suite("Programs")
struct ProgramTests {
  @Test("a program has our variables, but for those that are withheld")
  func environment() throws {
    for name in ["LOCKSTEP_TEST_OPEN", "LOCKSTEP_TEST_SECRET"] { unsafe setenv(name, "a=b", 1) }
    let child = try ChildProcess(program: "/usr/bin/env", [], without: ["LOCKSTEP_TEST_SECRET"])
    var lines: [String] = []
    while case .line(let line) = child.nextLine(until: MonotonicClock.now + .seconds(5)) {
      lines.append(String(decoding: line, as: UTF8.self))
    }
    expect(lines.filter { $0.hasPrefix("LOCKSTEP_TEST") }, ["LOCKSTEP_TEST_OPEN=a=b"])
    expect(lines, lines.sorted())
  }

  @Test("one that cannot be started says why")
  func absent() {
    do throws(ProcessFault) {
      _ = try ChildProcess(program: "/nowhere/program", [])
      Issue.record("it was started")
    } catch {
      expect(error.description, "the program could not be started: No such file or directory")
    }
  }
}
