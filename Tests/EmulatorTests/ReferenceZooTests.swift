import Emulator
import TestSupport
import Testing

@Suite("The bugs of the reference lock")
struct ReferenceZooTests {
  @Test("each has a shortest trace of the length that it says", arguments: ReferenceLock.Bug.allCases)
  func shortest(bug: ReferenceLock.Bug) throws {
    var search = try ReferenceSearch(bug)
    expect(try search.run(upTo: 30)?.actions.count, bug.shortest)
  }

  @Test("nothing makes model and a healthy lock disagree, as far as can be looked")
  func healthy() throws {
    var search = try ReferenceSearch(nil)
    #expect(try search.run(upTo: 30) == nil)
  }
}
