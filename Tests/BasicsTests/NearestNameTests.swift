import Basics
import TestSupport
import Testing

@Suite("The nearest name")
struct NearestNameTests {
  static let names = ["status", "state", "seed", "within", "noSignal", "locked", "unlocked", "run"]

  static let cases: [(String, String?)] = [
    ("statuss", "status"), ("satus", "status"), ("sttaus", "status"), ("Status", "status"),
    ("STATUS", "status"),
    ("no-signal", "noSignal"), ("no signal", "noSignal"), ("nosignl", "noSignal"), ("unlockd", "unlocked"),
    ("lokced", "locked"), ("withni", "within"), ("run", "run"), ("urn", "run"), ("sed", "seed"),
    ("x", nil), ("", nil), ("-", nil), ("bolt", nil), ("sta", nil), ("locks and keys", nil),
    (String(repeating: "status", count: 100), nil),
  ]

  @Test("is what was most likely meant, or none", arguments: cases)
  func nearest(name: String, expected: String?) {
    expect(nearestName(to: name, in: Self.names), expected)
  }

  @Test("of two equally near names is the first")
  func ties() {
    expect(nearestName(to: "caseC", in: ["caseA", "caseB"]), "caseA")
    expect(nearestName(to: "caseB", in: ["caseA", "caseB"]), "caseB")
    expect(nearestName(to: "x", in: []), nil)
  }
}
