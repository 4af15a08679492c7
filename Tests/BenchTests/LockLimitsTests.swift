@testable import Bench
import Basics
import Testing

@Suite("The limits of a lock")
struct LockLimitsTests {
  @Test("a lock about which nothing is said rests two seconds, and five minutes after a jam")
  func usual() {
    let limits = LockLimits()
    #expect(limits.gap == .seconds(2))
    #expect(limits.coolDown == .seconds(300))
    #expect(
      [limits.perHour, limits.perShift, limits.batteryFloor, limits.batterySlope] == [nil, nil, nil, nil])
  }
}
