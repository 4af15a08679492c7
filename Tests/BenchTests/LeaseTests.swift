@testable import Bench
import CallFaults
import System
import Conformance
import Foundation
import Basics
import Synchronization
import TestSupport
import Testing

@testable import Transports

@Suite("Leases")
struct LeaseTests {
  private let folder = TestFolder()

  private func take(_ identity: String = "lock", for command: String = "a test") throws(LabFault) -> Lease {
    try Lease(of: identity, for: command, in: folder.path)
  }

  /// The words with which a lease is refused.
  private func refusal(_ identity: String = "lock") -> String? {
    do {
      _ = try take(identity)
      return nil
    } catch {
      return error.description
    }
  }

  @Test("one has it at a time, and who comes second hears who, why and since when")
  func exclusive() throws {
    let lease = try take(for: "lockstep run --repeat 5")
    let holder = try #require(Lease.holder(of: "lock", in: folder.path))
    expect(holder.token, lease.token)
    expect(holder.process, ProcessInfo.processInfo.processIdentifier)
    expect(holder.host, Host.name)
    expect(holder.command, "lockstep run --repeat 5")
    expect(
      refusal(),
      "no device: lock is in use by process \(holder.process) on \(Host.name) (lockstep run --repeat 5) since \(holder.since)"
    )
    _ = try take("another")
    expect(Lease.holder(of: "another", in: folder.path), nil)
    withExtendedLifetime(lease) {}
  }

  @Test("each acquisition has a token greater by one, which is in the file before it is used")
  func tokens() throws {
    let first = try take().token
    for number in 1...50 { expect(try take().token, first + UInt64(number)) }
    let lines = folder.read("lock.lease").split(separator: "\n").map { LeaseHolder(String($0))?.token }
    expect(lines, (0...50).map { first + UInt64($0) })
  }

  @Test(
    "where nobody can say that the name of its file is on the disk, it is not had, and the next one asks again"
  )
  func unsureName() async {
    // What is done to calls is done to those of the whole process, and so this has one of its own.
    await #expect(processExitsWith: .success) { [path = folder.path as String] in
      let synchronized = try FaultGate.calls { _ = try Lease(of: "one", for: "a test", in: path) }
        .filter { $0.call.hasPrefix("synchronize@") }
      expect(synchronized.reduce(0) { $0 + $1.count }, 2)
      for call in synchronized {
        for number in 1...call.count {
          let fault = try #require(CallFault("\(call.call)#\(number)=EIO"))
          for _ in 1...2 {
            #expect(throws: LabFault.self, "\(fault)") {
              _ = try FaultGate.with(fault) { try Lease(of: "two", for: "a test", in: path) }
            }
          }
        }
      }
      _ = try Lease(of: "two", for: "a test", in: path)
    }
  }

  @Test("what it says of years ago takes no room, and the count goes on")
  func old() throws {
    let line = "\(LeaseHolder(token: 41, process: 1, host: "lab", since: "then", command: "a test").line)\n"
    let years = String(repeating: line, count: 3_000_000 / line.utf8.count)
    // Just before the end of a part that may go.
    folder.write("lock.lease", String(years.suffix(2_949_120 / line.utf8.count * line.utf8.count)) + line)
    let path = folder.path + "/lock.lease"
    func room() throws -> Int {
      var status = stat()
      try #require(unsafe stat(path, &status) == 0)
      return Int(status.st_blocks) * 512
    }
    #expect(try room() > 2_900_000)
    for number in 42...44 { expect(try take().token, UInt64(number)) }
    #expect(try room() < 200_000)
    expect(onceReleased { Lease.holder(of: "lock", in: folder.path) }, nil)
    let lease = try take()
    expect(Lease.holder(of: "lock", in: folder.path)?.token, 45)
    withExtendedLifetime(lease) {}
  }

  @Test("a line that was torn, and nonsense, do not stop the count")
  func torn() throws {
    let first = try take().token
    for rest in ["\(first + 7) 12 2026-11-2", "nonsense\n\n", "\0\0\0\0", "\(first) 1 now here it\n12"] {
      folder.write("lock.lease", folder.read("lock.lease") + rest)
      let last = folder.read("lock.lease").split(separator: "\n").count
      let token = try take().token
      #expect(token > first, "\(rest)")
      #expect(folder.read("lock.lease").split(separator: "\n").count > last - 1)
      expect(LeaseHolder(String(folder.read("lock.lease").split(separator: "\n").last ?? ""))?.token, token)
    }
  }

  @Test("a file that is deleted or replaced while its lease is held makes no room for another")
  func replaced() throws {
    let lease = try take()
    let path = folder.path + "/lock.lease"
    try FileManager.default.removeItem(atPath: path)
    #expect(refusal()?.hasPrefix("no device: lock is in use by") == true)
    folder.write("lock.lease", "5 1 2026-11-22T00:00:00.000Z elsewhere nothing\n")
    #expect(refusal()?.hasPrefix("no device: lock is in use by") == true)
    #expect(Lease.holder(of: "lock", in: folder.path) != nil)
    // Whoever has it puts the file back, with its number.
    try lease.confirm()
    expect(Lease.holder(of: "lock", in: folder.path)?.token, lease.token)
    try lease.confirm()
    expect(folder.read("lock.lease").split(separator: "\n").count, 2)
  }

  @Test("where another was there meanwhile, a lease is lost, and says to whom")
  func lost() throws {
    let lease = try take()
    try FileManager.default.removeItem(atPath: folder.path + "/lock.lease")
    folder.write(
      "lock.lease", "\(lease.token + 1) 77 2026-11-22T00:00:00.000Z elsewhere lockstep fuzz sesame\n")
    do {
      try lease.confirm()
      Issue.record("it is held")
    } catch {
      #expect(error.detail.contains("is no longer ours"), "\(error)")
      #expect(error.detail.contains("process 77 on elsewhere (lockstep fuzz sesame)"), "\(error)")
    }
  }

  @Test("a number is greater than all before it also after the file was deleted")
  func deleted() throws {
    let first = try take().token
    usleep(2000)
    try FileManager.default.removeItem(atPath: folder.path + "/lock.lease")
    #expect(try take().token > first)
    expect(onceReleased { Lease.holder(of: "lock", in: folder.path) }, nil)
  }

  @Test("no program that is started keeps it")
  func inherited() throws {
    var lease: Lease? = try take()
    let child = try ChildProcess(command: "sleep 20")
    #expect(refusal() != nil)
    withExtendedLifetime(lease) {}
    lease = nil
    expect(refusal(), nil)
    child.stop(grace: .zero)
  }

  @Test("who only looks keeps nobody from it")
  func looking() throws {
    let path = folder.path
    let isOver = Mutex(false)
    let looker = Thread {
      while !isOver.withLock({ $0 }) { _ = Lease.holder(of: "lock", in: path) }
    }
    looker.start()
    for _ in 0..<200 { _ = try take() }
    isOver.withLock { $0 = true }
    while !looker.isFinished { usleep(1000) }
  }

  @Test("where nothing can be written, nothing is used")
  func unwritable() throws {
    folder.write("file", "")
    for place in ["\(folder.path)/file", "\(folder.path)/missing", "/proc"] {
      do {
        _ = try Lease(of: "lock", for: "a test", in: place)
        Issue.record("it is held in \(place)")
      } catch {
        expect(error.symptom, .noDevice)
        #expect(
          error.detail.hasPrefix(
            "lock cannot be protected from other processes, and so it is not used: \(place)/lock.lease: "),
          "\(error)")
      }
    }
    // A link leads to somebody else's file.
    try FileManager.default.createSymbolicLink(
      atPath: folder.path + "/linked.lease", withDestinationPath: folder.path + "/file")
    #expect(refusal("linked")?.contains("not used") == true)
  }

  @Test(
    "an identity makes the name of a file",
    arguments: [
      ("5c2a2f49-3b0e-4b7a-9f51-0d1f4d6c7e10", "5c2a2f49-3b0e-4b7a-9f51-0d1f4d6c7e10"),
      ("c7:e6:da:90:f5:f9", "c7-e6-da-90-f5-f9"), ("usb:0A12:0001/00E04C", "usb-0A12-0001-00E04C"),
      ("tcp-client:[::1]:9001", "tcp-client----1--9001"), ("unix-client:/run/a b", "unix-client--run-a-b"),
      (String(repeating: "ä", count: 200), String(repeating: "-", count: 80) + "-"),
    ])
  func names(identity: String, name: String) {
    let made = Lease.name(identity)
    #expect(made == name || identity.count > 100 && made.hasPrefix(name) && made.utf8.count < 110)
  }

  @Test("a holder's line is one line, whatever the command says")
  func line() {
    let holder = LeaseHolder(
      token: 7, process: 12, host: "a b", since: "2026-11-22T00:00:00.000Z", command: "run 'a\nb' \u{1B}[31m")
    expect(holder.line, "7 12 2026-11-22T00:00:00.000Z a-b run 'a b' \\u{1B}[31m")
    expect(LeaseHolder(holder.line)?.command, "run 'a b' \\u{1B}[31m")
    for text in ["", "7", "7 12 a b", "x 12 a b c", "-7 12 a b c"] { expect(LeaseHolder(text), nil) }
  }
}
