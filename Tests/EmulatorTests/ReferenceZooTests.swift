import Emulator
import TestSupport
import Testing

@Suite("The bugs of the reference lock")
struct ReferenceZooTests {
  static let lengths: [(bug: ReferenceLock.Bug, length: Int)] = [
    (.deafUnlock, 16),
    (.jamAfterAbortedLogins, 28),
    (.stuckAfterTwoMoved, 21),
    (.bouncingLock, 8),
    (.dozingUnlock, 7),
    (.echoOfOldSession, 20),
    (.offendedByReplay, 8),
    (.staleReset, 7),
    (.wornBolt, 21),
    (.evenResets, 23),
    (.newbornLock, 14),
    (.combination, 10),
    (.forgottenPositions, 19),
    (.longSession, 26),
  ]

  @Test("the table has every bug once")
  func table() {
    expect(Self.lengths.map(\.bug), ReferenceLock.Bug.allCases)
  }

  @Test("each has a shortest trace of the length that its documentation says", arguments: lengths)
  func shortest(bug: ReferenceLock.Bug, length: Int) throws {
    var search = try ReferenceSearch(bug)
    expect(try search.run(upTo: length)?.actions.count, length)
  }

  @Test("nothing makes model and a healthy lock disagree, as far as can be looked")
  func healthy() throws {
    var search = try ReferenceSearch(nil)
    #expect(try search.run(upTo: 30) == nil)
  }
}
