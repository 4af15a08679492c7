import Basics
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
}
