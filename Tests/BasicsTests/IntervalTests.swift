import Basics
import TestSupport
import Testing

@Suite("Intervals and instants")
struct IntervalTests {
  static let written: [(Int64, String)] = [
    (0, "0 s"),
    (1, "1 ns"),
    (999, "999 ns"),
    (1000, "1 us"),
    (7_500_000, "7.5 ms"),
    (1_000_000_001, "1.000000001 s"),
    (90_000_000_000, "90 s"),
    (120_000_000_000, "2 min"),
    (5_400_000_000_000, "90 min"),
    (7_200_000_000_000, "2 h"),
    (-3_000_000_000, "-3 s"),
    (-1, "-1 ns"),
    (.max - 1, "9223372036.854775806 s"),
    (.max, "forever"),
    (.min, "-9223372036.854775808 s"),
  ]

  static let clocked: [(Int64, String)] = [
    (0, "0.0 s"), (49, "0.0 s"), (50, "0.1 s"), (894, "0.9 s"), (6589, "6.6 s"), (59_949, "59.9 s"),
    (59_950, "1:00"), (60_499, "1:00"), (60_500, "1:01"), (3_599_499, "59:59"), (3_599_500, "1:00:00"),
    (3_661_500, "1:01:02"), (.max / 1_000_000, "2562047:47:17"),
  ]

  @Test("a time on the screen is rounded to what is shown of it", arguments: clocked)
  func onScreen(milliseconds: Int64, text: String) {
    expect(clock(.milliseconds(milliseconds)), text)
  }

  @Test("an interval is written with the unit that suits it, and its text reads back", arguments: written)
  func text(nanoseconds: Int64, text: String) {
    expect(Interval(nanoseconds: nanoseconds).description, text)
    expect(Interval(text: text), Interval(nanoseconds: nanoseconds))
  }

  static let read: [(String, Int64?)] = [
    ("250us", 250_000),
    ("250 µs", 250_000),
    ("  3   s", 3_000_000_000),
    ("0.5 h", 1_800_000_000_000),
    ("3.0000000000000000000000000 s", 3_000_000_000),
    ("0.00000000005 min", 3),
    ("007 ms", 7_000_000),
    ("9223372036854775807 ns", .max),
    ("9223372036854775808 ns", nil),
    ("-9223372036854775808 ns", .min),
    ("-9223372036854775809 ns", nil),
    ("18446744073709551616 ns", nil),
    ("18446744073709551615 h", nil),
    ("0.5 ns", nil),
    ("1.00000000001 s", nil),
    ("0.0000000000000000000001 s", nil),
    ("3", nil),
    ("3 s ", nil),
    ("3 seconds", nil),
    ("3. s", nil),
    (".5 s", nil),
    ("1.2.3 s", nil),
    ("1,5 s", nil),
    ("+3 s", nil),
    ("- 3 s", nil),
    ("--3 s", nil),
    ("1e3 s", nil),
    ("٣ s", nil),
    ("s", nil),
    ("", nil),
    ("ever", nil),
  ]

  @Test("only exact lengths with a unit are read", arguments: read)
  func reading(text: String, nanoseconds: Int64?) {
    expect(Interval(text: text)?.nanoseconds, nanoseconds)
  }

  @Test("any interval reads back from its text")
  func roundTrip() {
    var generator = SeededGenerator(seed: 1)
    for _ in 0..<2000 {
      let interval = Interval(nanoseconds: Int64(bitPattern: generator.next()) >> generator.below(64))
      expect(Interval(text: interval.description), interval)
    }
  }

  @Test("sums and products stay within the range, and for ever stays for ever")
  func saturation() {
    let shortest = Interval(nanoseconds: .min)
    expect(
      [
        .seconds(2) + .milliseconds(500), .seconds(2) - .seconds(3), .microseconds(250) * 4,
        .forever + .seconds(1), .forever - .seconds(1), .seconds(1) + .forever,
        Interval(nanoseconds: .max - 5) + .seconds(1), shortest - .seconds(1), shortest + .seconds(-1),
        .forever * 2, .forever * -2, shortest * -1, shortest * 2,
      ] as [Interval],
      [
        .milliseconds(2500), .seconds(-1), .milliseconds(1),
        .forever, .forever, .forever,
        .forever, shortest, shortest,
        .forever, shortest, .forever, shortest,
      ])
  }

  @Test("moments move by intervals, and never stays never")
  func instants() {
    expect(
      [
        .zero + .seconds(3), .zero + .seconds(3) - .milliseconds(1), .never + .seconds(1),
        .never - .seconds(1),
        .zero + .forever, Instant(nanoseconds: .max - 1) + .seconds(1),
      ] as [Instant],
      [
        Instant(nanoseconds: 3_000_000_000), Instant(nanoseconds: 2_999_000_000), .never, .never, .never,
        .never,
      ])
    expect(
      [Instant(nanoseconds: 5) - Instant(nanoseconds: 7), .never - .zero] as [Interval],
      [Interval(nanoseconds: -2), .forever])
    #expect(.zero < Instant(nanoseconds: 1) && Instant(nanoseconds: 1) < .never)
  }

  static let moments: [(Int64, String)] = [
    (0, "0.000"), (7_000_000, "0.007"), (10_113_000_000, "10.113"), (10_113_400_000, "10.1134"),
    (1, "0.000000001"), (-1_500_000_000, "-1.500"), (3_600_000_000_000, "3600.000"),
  ]

  @Test("a moment is written in seconds, exactly, with at least three decimals", arguments: moments)
  func secondsText(nanoseconds: Int64, text: String) {
    let instant = Instant(nanoseconds: nanoseconds)
    expect([instant.secondsText, instant.description], [text, text + " s"])
  }

  @Test("never has a word of its own, and seconds are there for display")
  func display() {
    expect(Instant.never.description, "never")
    expect([Instant(nanoseconds: 2_500_000_000).seconds, Interval.milliseconds(-250).seconds], [2.5, -0.25])
  }
}
