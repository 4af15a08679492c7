@testable import System
import CallFaults
import Basics
import Glibc
import TestSupport
import Testing

/// What happens to something when each of its calls fails in each way.
private struct Ordeal {
  /// How many faults there were.
  var faults = 0
  /// The calls at which they happened.
  var places: Set<String> = []

  /// Does something once for each thing that can happen to each of its calls, but for the death of the process.
  ///
  /// - Parameters:
  ///   - prepare: puts things in order before it.
  ///   - body: what is done.
  ///   - check: looks at what is left; told whether it was done.
  mutating func run(
    prepare: () throws -> Void, _ body: () throws -> Void,
    check: (CallFault, _ fault: FileFault?) throws -> Void
  ) throws {
    try prepare()
    for (call, count) in try FaultGate.calls(of: body) {
      let kind = try #require(SystemCall(rawValue: String(call.prefix { $0 != "@" })))
      for name in CallFault.names(for: kind) where !name.hasPrefix("death") {
        for number in 1...count {
          try prepare()
          let fault = try #require(CallFault("\(call)#\(number)=\(name)"))
          var failure: FileFault?
          let (_, hasHappened) = try FaultGate.with(fault) {
            do { try body() } catch let error as FileFault { failure = error }
          }
          #expect(hasHappened, "\(fault) did not happen")
          try check(fault, failure)
          faults += 1
          places.insert(call)
        }
      }
    }
  }
}

@Suite("What cannot be written", .serialized)
struct CallGateTests {
  @Test("is read as it is written, and nothing else is")
  func text() {
    #expect(CallFault("write@System/A.swift:12#3=ENOSPC")?.number == 3)
    #expect(CallFault("write@System/A.swift:12#3=ENOSPC")?.call == "write@System/A.swift:12")
    #expect(CallFault("write@System/A.swift:12#3=ENOSPC")?.kind == .error(ENOSPC))
    for kind in SystemCall.allCases {
      for name in CallFault.names(for: kind) { #expect(CallFault("\(kind.rawValue)@a#1=\(name)") != nil) }
    }
    for wrong in [
      "", "write", "write@a=EIO", "write@a#0=EIO", "write@a#1=", "write@a#1=ENONSENSE", "a#1=EIO=EIO",
    ] {
      #expect(CallFault(wrong) == nil, "\(wrong)")
    }
  }

  @Test("is the old file or the new one, whatever fails, and nothing stays beside it")
  func replacement() throws {
    let folder = TestFolder()
    let path = folder.path + "/report.xml"
    var ordeal = Ordeal()
    try ordeal.run(prepare: {
      for name in folderEntries(folder.path) ?? [] { _ = unsafe unlink(folder.path + "/" + name) }
      try WholeFile.replace(path, with: "old")
    }) {
      try WholeFile.replace(path, with: "new")
    } check: { fault, failure in
      let text = String(decoding: try WholeFile.bytes(of: path), as: UTF8.self)
      // A name that is taken and a folder that cannot be synchronized leave the new file, and say so.
      #expect(text == "new" || failure != nil && text == "old", "\(fault): \(text), \(failure as Any)")
      let isMute = fault.call.hasPrefix("unlink")
      #expect(isMute || folderEntries(folder.path) == ["report.xml"], "\(fault) leaves something")
    }
    #expect(ordeal.faults > 20)
    #expect(ordeal.places.count > 5)
  }

  @Test("counts as not added, and never less than is said")
  func lines() throws {
    let folder = TestFolder()
    let path = folder.path + "/lock.log"
    var ordeal = Ordeal()
    try ordeal.run(prepare: {
      _ = unsafe unlink(path)
      try LineFile(path).append(["first"])
    }) {
      let file = try LineFile(path)
      _ = try file.read { $0 }
      try file.append(["second"])
      try file.append(["third"])
    } check: { fault, failure in
      let (count, lines) = try LineFile(path).read { $0 }
      #expect(lines.first == "first", "\(fault)")
      if failure == nil { #expect(lines == ["first", "second", "third"], "\(fault)") }
      #expect(count >= 1)
      // The next who adds to it goes on, behind a line that was torn.
      let next = try LineFile(path)
      _ = try next.read { $0 }
      try next.append(["next"])
      let last = try LineFile(path).read { $0 }.lines.last
      #expect(last == "next", "\(fault)")
    }
    #expect(ordeal.faults > 10)
  }

  @Test("loses no line of a journal that was said to be written")
  func journal() throws {
    let folder = TestFolder()
    let path = folder.path + "/journal.jsonl"
    var ordeal = Ordeal()
    try ordeal.run(prepare: { _ = unsafe unlink(path) }) {
      let file = try OutputFile(creating: path)
      for number in 1...3 { try file.write("{\"line\":\(number)}\n") }
      try file.synchronizeOrThrow()
    } check: { fault, failure in
      guard failure == nil else { return }
      let text = String(decoding: try WholeFile.bytes(of: path), as: UTF8.self)
      #expect(text == "{\"line\":1}\n{\"line\":2}\n{\"line\":3}\n", "\(fault)")
    }
    #expect(ordeal.faults > 10)
  }

  @Test("is missed by a check that is left out, which this would show")
  func canary() throws {
    let folder = TestFolder()
    let path = folder.path + "/report.xml"
    try WholeFile.replace(path, with: "old")
    let calls = try FaultGate.calls(of: { try WholeFile.replace(path, with: "new") })
    let write = try #require(calls.first { $0.call.hasPrefix("write@") })
    // A write that is not made and is taken for one that was: what a program does that does not look.
    let fault = try #require(CallFault("\(write.call)#1=pretence"))
    try FaultGate.with(fault) { try WholeFile.replace(path, with: "newer") }
    let left = try WholeFile.bytes(of: path)
    #expect(left.isEmpty)
  }
}
