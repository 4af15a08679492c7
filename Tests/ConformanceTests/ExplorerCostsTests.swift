import Basics
import TestSupport
import Testing

@testable import Conformance

@Suite("What waiting may cost")
struct ExplorerCostsTests {
  private let waits: [TestAction] = [.wait(.seconds(1)), .wait(.seconds(10)), .wait(.seconds(660))]

  @Test(
    "what was called off is waited for while it has its share of the time, and always where shares are not kept",
    arguments: [true, false])
  func doubts(isShared: Bool) {
    var costs = ExplorerCosts(waits: waits, longestWindow: .seconds(30))
    costs.hasShares = isShared
    #expect(costs.doubt(for: .seconds(5)) == 1)
    costs.pass(.seconds(25), waiting: 1)
    costs.pass(.seconds(75), waiting: nil)
    // A quarter of the time was waited: more than there is for it.
    #expect(costs.doubt(for: .seconds(5)) == (isShared ? nil : 1))
    if isShared {
      costs.pass(.seconds(20), waiting: nil)
      #expect(costs.doubt(for: .seconds(5)) == 1)
    }
    #expect(costs.doubt(for: .seconds(10)) == nil, "nothing is longer but silence")
  }

  @Test("where settling took long, it has a share of the time; where it is quick, it costs nothing")
  func settling() {
    var costs = ExplorerCosts(waits: waits, longestWindow: .seconds(30))
    func recordSettling(_ position: UInt64, _ time: Interval) {
      costs.recordSettling(at: position, in: time)
      costs.pass(time, waiting: nil)
    }
    recordSettling(1, .seconds(10))
    recordSettling(2, .milliseconds(300))
    expect([1, 2, 3].map(costs.maySettle), [false, true, true])
    costs.pass(.seconds(100), waiting: nil)
    // Ten seconds in 110 are more than its share, and in 130 less.
    expect(costs.maySettle(at: 1), false)
    costs.pass(.seconds(20), waiting: nil)
    expect(costs.maySettle(at: 1), true)
    recordSettling(1, .seconds(2))
    recordSettling(2, .seconds(30))
    expect([1, 2].map(costs.maySettle), [true, false])
  }
}
