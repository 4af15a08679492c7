import Basics
import Conformance
import Journal
import TestSupport
import Testing

@testable import Harness

@Suite("The evidence of a trace")
struct TraceEvidenceTests {
  private static let vocabulary = Vocabulary(stimuli: ["open"], statuses: ["closed"], effects: ["ring"])

  /// `b` the test begins, `1` its first step; `a` the device is asked, `u` a request does not reach it; it shows `s` a
  /// status, `e` an effect, `?` something unknown, `g` a reading, `r` a refusal, `w` a broken rule, `q` a known quirk;
  /// `v` its client reports an event.
  private static func writer(_ letters: String) -> TraceWriter {
    var writer = TraceWriter(nil, vocabulary)
    for letter in letters {
      let shown: Observation? =
        switch letter {
        case "s": .status(0)
        case "e": .effect(0)
        case "?": .unknown("ajar")
        case "g": .reading(Reading("battery", .integer(5)))
        case "r": .refused("no")
        case "w": .violation(Violation("twice", "two answers"))
        case "q": .violation(Violation("twice", "two answers", quirk: "they do"))
        case "v": .event(SeenEvent(0, ""))
        default: nil
        }
      if let shown { writer.record(.observation(shown), at: .zero) }
      switch letter {
      case "b": writer.begin()
      case "1": writer.mark = StepMark(1, line: 3)
      case "a": writer.ask(reaching: true)
      case "u": writer.ask(reaching: false)
      default: break
      }
    }
    return writer
  }

  /// What happens, the number of observations that a verdict rests on, and the number of requests.
  // swift-format-ignore
  static let rows: [(letters: String, observations: Int, asked: Int)] = [
    ("", 0, 0), ("s", 0, 0), ("1s", 1, 0), ("1e?gw", 4, 0), ("s1", 0, 0),
    // The silence of a device that was heard is evidence; that of one that may be dead is not.
    ("1a", 0, 1), ("1aaa", 0, 3), ("s1a", 1, 1), ("s1aa", 2, 2), ("1as", 1, 1), ("1aas", 2, 2), ("1asa", 2, 2),
    // A request that does not reach it, and what its client alone refuses or reports, is no behaviour of the device.
    ("1u", 0, 0), ("s1u", 0, 0), ("1ur", 0, 0), ("1ar", 1, 1), ("1v", 0, 0), ("1av", 0, 1), ("1aur", 0, 1), ("s1aur", 1, 1),
    // A known quirk is a diagnostic.
    ("1q", 0, 0), ("1aq", 0, 1), ("s1aq", 1, 1),
    // A new attempt begins without the evidence of the last.
    ("s1aseb", 0, 0), ("s1asb1a", 0, 1),
  ]

  @Test("what the device did counts, and nothing else does", arguments: rows)
  func counts(letters: String, observations: Int, asked: Int) {
    let writer = Self.writer(letters)
    expect([writer.observations, writer.asked], [observations, asked])
  }

  @Test("a case without evidence says whether the device was asked for anything")
  func reasons() {
    let dead = "nothing was compared: the device showed nothing at all, as one that is dead would"
    let idle = "nothing was compared: the device was asked for nothing, and showed nothing"
    expect(["1", "1u", "1a"].map { Self.writer($0).whyNothingWasCompared }, [idle, idle, dead])
  }

  @Test("an observation meets one expectation, and none once the tester has acted")
  func used() {
    var writer = Self.writer("1aseeg")
    func effect(_ used: [Int] = []) -> Int? { writer.index(of: { $0 == .effect(0) }, besides: used) }
    expect([effect(), effect([0]), effect([0, 1])], [0, 1, nil])
    expect([writer.hasReading("battery"), writer.hasReading("load")], [true, false])
    writer.use([0, 2], passing: 1)
    expect([effect(), effect([1])], [1, nil])
    expect(writer.hasReading("battery"), false)
    expect([writer.passing.count, writer.count], [0, 4])
    writer.announce(.settle, at: .zero)
    expect(effect(), nil)
    // The latest value of a reading is known for the rest of the test.
    expect(writer.latest, ["battery": .integer(5)])
  }
}

@Suite("Comparisons of values")
struct ComparisonTests {
  private typealias Comparison = Harness.Expectation.Comparison

  private static func comparison(
    _ value: Value?, above: Double? = nil, below: Double? = nil
  ) -> Comparison {
    Comparison(value: value, above: above, below: below)
  }

  // swift-format-ignore
  private static let rows: [(comparison: Comparison, value: Value, holds: Bool)] = [
    (comparison(.integer(5)), .integer(5), true), (comparison(.integer(5)), .number(5), true),
    (comparison(.number(5.9)), .number(5.9000000000001), true), (comparison(.number(5.9)), .number(5.901), false),
    (comparison(.integer(5)), .text("5"), false), (comparison(.text("5")), .integer(5), false),
    (comparison(.text("red")), .text("red"), true), (comparison(.text("red")), .text("Red"), false),
    (comparison(.flag(true)), .flag(true), true), (comparison(.flag(true)), .integer(1), false),
    // A device may report a flag as a word.
    (comparison(.flag(false)), .text("off"), true), (comparison(.flag(true)), .text("off"), false),
    (comparison(.flag(true)), .text("red"), false), (comparison(.text("off")), .flag(false), false),
    (comparison(.duration(.seconds(1))), .duration(.milliseconds(1000)), true),
    (comparison(.duration(.seconds(1))), .integer(1), false),
    // Bounds are exclusive, and only numbers lie between them.
    (comparison(nil, above: 5), .integer(5), false), (comparison(nil, above: 5), .number(5.1), true),
    (comparison(nil, below: 5), .integer(5), false), (comparison(nil, below: 5), .integer(4), true),
    (comparison(nil, above: 1, below: 5), .integer(0), false), (comparison(nil, above: 1, below: 5), .integer(3), true),
    (comparison(nil, above: 1, below: 5), .integer(7), false), (comparison(nil, below: 5), .text("4"), false),
    (comparison(nil, above: 5), .duration(.seconds(9)), false),
    (comparison(.integer(3), above: 3), .integer(3), false), (comparison(.integer(3), above: 2), .integer(3), true),
    (comparison(nil), .text("anything"), true),
  ]

  @Test("a value meets a comparison", arguments: rows.indices)
  func holds(index: Int) {
    let (comparison, value, holds) = Self.rows[index]
    expect(comparison.holds(value), holds)
    expect(comparison.holds(Observation.reading(Reading("load", value)), "load"), holds)
    expect(comparison.holds(Observation.reading(Reading("load", value)), "turns"), false)
  }

  /// A word without quotes, and the value that it is.
  // swift-format-ignore
  static let words: [(text: String, value: Value)] = [
    ("true", .flag(true)), ("no", .flag(false)), ("5", .integer(5)), ("-5", .integer(-5)), ("0", .integer(0)),
    ("5.0", .number(5)), ("1e3", .number(1000)), ("-0.5", .number(-0.5)),
    // Serial numbers and versions stay as they are written.
    ("007", .text("007")), ("1.", .text("1.")), ("--5", .text("--5")), (".5", .text(".5")), ("1.2.3", .text("1.2.3")),
    ("99999999999999999999", .text("99999999999999999999")), ("1e999", .text("1e999")), ("٣", .text("٣")),
    ("5 s", .duration(.seconds(5))), ("300 ms", .duration(.milliseconds(300))), ("5 parsecs", .text("5 parsecs")),
    ("red", .text("red")), ("", .text("")),
  ]

  @Test("a word is a flag, a number, a duration or a text", arguments: words)
  func plain(text: String, value: Value) { expect(Value(plain: text), value) }
}
