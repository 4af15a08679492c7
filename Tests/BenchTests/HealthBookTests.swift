@testable import Bench
import Basics
import TestSupport
import Testing

@Suite("The book of health")
struct HealthBookTests {
  private static func time(_ minute: Int) -> WallTime {
    WallTime(nanoseconds: 1_795_000_000_000_000_000 + Int64(minute) * 60_000_000_000)
  }

  private static func finding(_ word: Substring) -> HealthFinding {
    switch word {
    case "ok": .healthy("")
    case "bad": .unwell("it jammed")
    case "gone": .unreached("it was not heard")
    case "way": .transport("no answer")
    default: .limited("")
    }
  }

  /// Checks, `lock dongle finding` each, then what is out of use.
  // swift-format-ignore
  static let stories: [(title: String, checks: String, out: String)] = [
    ("nothing is wrong", "A d ok, A d ok, B d ok", ""),
    ("one failure is none", "A d bad, A d ok, A d bad, A d ok", ""),
    ("two failures in a row are the lock's", "A d bad, A d bad", "A"),
    ("what fails while another is fine is the lock", "A d gone, B d ok, A d gone", "A"),
    ("one that is never reached may be the lock or the dongle, and is left alone", "A d gone, A d gone, A d gone", "A"),
    ("two that are not reached are the dongle's", "A d gone, B d gone", "d"),
    ("a lock that was put out of use by such a dongle comes back", "A d gone, A d gone, B d gone", "d"),
    ("a lock that jammed besides stays out of use", "A d bad, A d bad, B d gone, C d gone", "A, d"),
    ("a lock that is reached in between clears the dongle", "A d gone, C d ok, B d gone", ""),
    ("also one that jams", "A d gone, C d bad, B d gone, C d bad", "C"),
    ("a transport that fails twice is out of use, and no lock", "A d way, A d way", "d"),
    ("whichever locks it is asked for", "A d way, B d way", "d"),
    ("a transport that works in between is in use", "A d way, A d ok, A d way", ""),
    ("a transport that fails and then reaches nobody is at fault", "A d way, A d gone", "d"),
    ("a lock that is reached over another dongle was not at fault", "A d gone, A e ok, A d gone", "d"),
    ("a limit says nothing", "A d bad, A d limit, A d limit", ""),
    ("nor is it forgotten for one", "A d bad, A d limit, A d bad", "A"),
    ("without a dongle all is the lock's", "A - gone, A - way", "A"),
    ("two dongles that reach nobody are both at fault", "A d gone, B d gone, A e gone, B e gone", "d, e"),
  ]

  @Test("whose fault it is", arguments: stories.indices)
  func story(index: Int) {
    let (title, checks, out) = Self.stories[index]
    var book = HealthBook()
    for (number, check) in checks.split(separator: ",").enumerated() {
      let words = check.split(separator: " ")
      _ = book.take(
        Self.finding(words[2]), lock: String(words[0]), dongle: words[1] == "-" ? nil : String(words[1]),
        at: Self.time(number))
    }
    let found = book.records.filter { $0.health.outOfUse != nil }.map(\.identity).joined(separator: ", ")
    #expect(found == out, "\(title)")
  }

  @Test("what changes is said: why something is out of use, and that a lock is in use again")
  func news() {
    var book = HealthBook()
    expect(book.take(.unreached("it was not heard"), lock: "A", dongle: "d", at: Self.time(0)), [])
    expect(
      book.take(.unreached("it was not heard"), lock: "A", dongle: "d", at: Self.time(1)),
      ["A is out of use: failed 2 times in a row: it was not heard"])
    expect(
      book.take(.unreached("it was not heard"), lock: "B", dongle: "d", at: Self.time(2)),
      [
        "d is out of use: failed 2 times in a row: A was not reached over it; B was not reached over it",
        "A is in use again: d was at fault",
      ])
    expect(book["A"].outOfUse, nil)
    expect(book["d"].outOfUse?.since, Self.time(2))
    expect(book["B"].failures, [])
  }

  @Test("what somebody saw to begins anew")
  func restore() {
    var book = HealthBook()
    for minute in 0...1 { _ = book.take(.unwell("it jammed"), lock: "A", dongle: "d", at: Self.time(minute)) }
    #expect(book["A"].outOfUse != nil)
    book.restore("A")
    expect(book["A"].outOfUse, nil)
    expect(book.take(.unwell("it jammed"), lock: "A", dongle: "d", at: Self.time(3)), [])
    expect(book.take(.unwell("it jammed"), lock: "A", dongle: "d", at: Self.time(4)).count, 1)
    // A dongle that was changed is asked about a lock anew.
    _ = book.take(.unreached("it was not heard"), lock: "B", dongle: "e", at: Self.time(5))
    book.restore("e")
    _ = book.take(.unreached("it was not heard"), lock: "C", dongle: "e", at: Self.time(6))
    expect(book["e"].outOfUse, nil)
  }
}
