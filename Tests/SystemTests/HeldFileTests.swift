import CallFaults
import Glibc
import Basics
import TestSupport
import Testing

@testable import System

@Suite("Files that are held")
struct HeldFileTests {
  private let folder = TestFolder()
  private var path: String { folder.path + "/alive" }

  @Test("one process holds a file, which says which, until it lets go")
  func exclusive() throws {
    expect(try HeldFile.holder(of: path), nil)
    var file = try HeldFile(path)
    expect(file == nil, false)
    expect(try HeldFile.holder(of: path), getpid())
    expect(try HeldFile(path) == nil, true)
    file = nil
    expect(try onceReleased { try HeldFile.holder(of: path) }, nil)
    expect(try HeldFile(path) == nil, false)
  }

  @Test("what is held for a moment, by a child of one that was killed or by who only looks, is waited for")
  func moment() throws {
    folder.write("alive", "")
    for mode in [LOCK_EX, LOCK_SH] {
      let other = unsafe open(path, O_RDWR)
      try #require(flock(other, mode) == 0)
      inBackground {
        rest(for: .milliseconds(50))
        close(other)
      }
      expect(try HeldFile(path, timeout: timeLimit) == nil, false)
    }
  }

  @Test("what cannot be locked or looked at is neither held nor free, but trouble of this machine")
  func trouble() async throws {
    folder.write("alive", "")
    await #expect(processExitsWith: .success) { [path = path as String] in
      let calls = try FaultGate.calls {
        _ = try HeldFile(path)
        _ = try HeldFile.holder(of: path)
        _ = FolderHold.state(atFile: path)
      }
      let opening = calls.filter { $0.call.hasPrefix("open@") }.map(\.call)
      let locking = calls.filter { $0.call.hasPrefix("lock@") }.map(\.call)
      try #require(opening.count == 3 && locking.count == 2)
      for (calls, name, code) in [(opening, "EMFILE", EMFILE), (locking, "ENOLCK", ENOLCK)] {
        let fault = FileFault(path: path, code: code)
        #expect(fault.isMachines)
        var thrown = 0
        for call in calls {
          let gate = try #require(CallFault("\(call)#1=\(name)"))
          _ = FaultGate.with(gate) {
            do throws(FileFault) { _ = try HeldFile(path) } catch { thrown += error == fault ? 1 : 0 }
          }
          _ = FaultGate.with(gate) {
            do throws(FileFault) { _ = try HeldFile.holder(of: path) } catch {
              thrown += error == fault ? 1 : 0
            }
          }
          _ = FaultGate.with(gate) { thrown += FolderHold.state(atFile: path) == .unknown(fault) ? 1 : 0 }
        }
        #expect(thrown == 3)
      }
    }
  }
}
