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
    expect(HeldFile.holder(of: path), nil)
    var file = HeldFile(path)
    expect(file == nil, false)
    expect(HeldFile.holder(of: path), getpid())
    expect(HeldFile(path) == nil, true)
    file = nil
    expect(HeldFile.holder(of: path), nil)
    expect(HeldFile(path) == nil, false)
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
      expect(HeldFile(path) == nil, false)
    }
  }
}
