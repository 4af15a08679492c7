import Conformance
import TestSupport
import Testing

@testable import Harness

@Suite("Gaps of a tour")
struct CoverageGapsTests {
  private static func gap(
    _ state: String, _ kind: CoverageGaps.Kind, _ items: [String], isServed: Bool = true, path: [String] = []
  ) -> CoverageGaps {
    CoverageGaps(
      state: state, kind: kind, items: items, reason: "it was not tried", isAvoidable: false,
      isServed: isServed,
      path: path)
  }

  @Test(
    "a gap is a line with its reason, and the path to it; what the device does not take is one line for all states"
  )
  func lines() {
    let gaps = [
      Self.gap("closed", .legal, ["open", "tire"], path: ["close", "wait 5 s"]),
      Self.gap("closed", .empty, ["knock"], isServed: false),
      Self.gap("opened", .row, ["close given draught"]),
      Self.gap("opened", .empty, ["knock"], isServed: false),
      Self.gap("tired", .timer, ["within 9 s to closed"]),
      Self.gap("tired", .empty, ["ring"], isServed: false),
      Self.gap("opened", .legal, ["knock"], isServed: false),
    ]
    expect(
      CoverageGaps.lines(of: gaps),
      [
        "allowed    closed: open, tire   it was not tried", "  try  close ▸ wait 5 s",
        "row        opened: close given draught   it was not tried",
        "timer      tired: within 9 s to closed   it was not tried",
        "request    in 2 states: knock   this device does not take it",
        "request    tired: ring   this device does not take it",
      ])
    expect(CoverageGaps.lines(of: []), [])
  }
}
