import Conformance
import Automata
import Basics
import TestSupport
import Testing

@Suite("Invariants")
struct InvariantTests {
  private let vocabulary = Vocabulary(
    stimuli: ["lock", "unlock"], statuses: ["locked", "unlocked", "moved", "away"])

  private func verdicts(
    _ invariant: some Invariant, _ events: [TraceEvent], holding conditions: [String] = []
  ) -> [String?] {
    var invariant = invariant
    invariant.reset(isNew: false)
    let view = ModelView(vocabulary, holding: conditions)
    return events.enumerated().map { second, event in
      invariant.check(event, at: Instant.zero + .seconds(10 * Int64(second)), in: view)
    }
  }

  @Test("a broken rule is a divergence while nothing tampers with the link")
  func violation() {
    let broken = TraceEvent.observation(.violation(Violation("false-tag", "a tag is false")))
    let known = TraceEvent.observation(.violation(Violation("false-tag", "a tag is false", quirk: "all do")))
    let rule = NoViolation(unless: ["tampering"])
    let events = [known, broken, .fault(Fault("drop")), broken]
    let found = "the device broke a rule: false-tag: a tag is false"
    expect(verdicts(rule, events), [nil, found, nil, found])
    expect(verdicts(rule, events, holding: ["loss"]), [nil, found, nil, found])
    expect(verdicts(rule, events, holding: ["loss", "tampering"]), [nil, nil, nil, nil])
  }

  /// What a machine says of a reading, a value, and what is wrong with it.
  // swift-format-ignore
  static let readings: [(kind: ValueForm.Kind, value: Value, fault: String?)] = [
    (.number(0...6), .number(5.9), nil), (.number(0...6), .integer(6), nil),
    (.number(0...6), .integer(-999), "r is -999, and not a number from 0.0 to 6.0"),
    (.number(0...6), .text("5"), "r is the text '5', and not a number from 0.0 to 6.0"),
    (.anyNumber, .flag(true), "r is yes, and not a number"),
    (.wholeNumber(1...3), .integer(4), "r is 4, and not a whole number from 1 to 3"),
    (.wholeNumber(1...3), .number(2), "r is 2.0, and not a whole number from 1 to 3"),
    (.text, .text(""), nil), (.text, .integer(1), "r is 1, and not a text"),
    (.choice(["digit", "card"]), .text("card"), nil),
    (.choice(["digit", "card"]), .text("key"), "r is the text 'key', and not one of digit, card"),
    (.flag, .flag(false), nil), (.flag, .text("maybe"), "r is the text 'maybe', and not yes or no"),
    (.hexadecimal, .text("0aF1"), nil),
    (.hexadecimal, .text("0a1"), "r is the text '0a1', and not bytes in hexadecimal, two digits each"),
    (.duration(.zero ... .seconds(9)), .text("1.5 s"), nil),
    (.duration(.zero ... .seconds(9)), .text("10 s"), "r is the text '10 s', and not a duration with its unit, from 0 s to 9 s"),
    (.duration(.zero ... .seconds(9)), .integer(3), nil),
    (.duration(.zero ... .seconds(9)), .integer(10), "r is 10, and not a duration with its unit, from 0 s to 9 s"),
  ]

  @Test("a reading is what the machine says that it may be", arguments: readings)
  func declared(kind: ValueForm.Kind, value: Value, fault: String?) {
    let rule = ReadingsAsDeclared([ValueForm("other", .flag), ValueForm("r", kind)])
    let events = ["r", "unknown"].map { TraceEvent.observation(.reading(Reading($0, value))) }
    expect(verdicts(rule, events), [fault, nil])
  }
}
