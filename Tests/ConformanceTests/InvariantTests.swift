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

  private func status(_ name: String) -> TraceEvent { .observation(vocabulary.observation(ofStatus: name)) }

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

  @Test("a battery does not rise unless somebody changes it")
  func battery() {
    let readings = [6.0, 5.9, 5.9, 6.1].map {
      TraceEvent.observation(.reading(Reading("battery", .number($0))))
    }
    expect(
      verdicts(NeverRises("battery"), readings + [.fault(Fault("battery", .number(6))), readings[0]]),
      [nil, nil, nil, "battery rose from 5.9 to 6.1 by itself", nil, nil])
  }

  @Test("a battery that was set explains one rise to what it was set to, however late it is read")
  func batterySet() {
    func reading(_ volts: Double) -> TraceEvent { .observation(.reading(Reading("battery", .number(volts)))) }
    func fault(_ volts: Double) -> TraceEvent { .fault(Fault("battery", .number(volts))) }
    expect(
      verdicts(
        NeverRises("battery"),
        [
          reading(5), fault(0), fault(6), reading(0), reading(6), reading(5.9), reading(6), fault(0),
          reading(7),
        ]),
      [
        nil, nil, nil, nil, nil, nil, "battery rose from 5.9 to 6.0 by itself", nil,
        "battery rose from 6.0 to 7.0 by itself",
      ])
  }

  @Test("an unlocked door needs somebody who unlocked it; one found open does not")
  func unlocked() {
    let invariant = NeedsStimulus(
      TraceRule.Reason("unlocked", from: "locked", passing: ["moved"], after: ["unlock"]))
    let reason = "unlocked after locked, with none of: unlock"
    expect(
      verdicts(
        invariant,
        [
          status("unlocked"), status("locked"), .stimulus(Stimulus(1)), status("unlocked"), status("locked"),
          status("moved"), status("unlocked"), status("locked"), status("away"), status("unlocked"),
        ]),
      [nil, nil, nil, nil, nil, nil, reason, nil, nil, nil])
  }
}

extension InvariantTests {
  private static let passing = ["moved", "away"]

  @Test("a bolt needs a reason to have locked while nobody looked, and autolock is one for good")
  func locked() {
    let vocabulary = Vocabulary(
      stimuli: ["lock", "setAutolock"], statuses: ["locked", "unlocked", "moved", "away"])
    func verdicts(
      _ events: [TraceEvent], every step: Interval = .seconds(10), holding conditions: [String] = []
    ) -> [String?] {
      var invariant: any Invariant = NeedsStimulus(
        TraceRule.Reason(
          "locked", from: "unlocked", passing: Self.passing, after: ["lock"], orStanding: ["setAutolock"],
          slow: ["delay"]))
      invariant.reset(isNew: false)
      var time = Instant.zero
      return events.map { event in
        time = time + step
        return invariant.check(event, at: time, in: ModelView(vocabulary, holding: conditions))
      }
    }
    func status(_ name: String) -> TraceEvent { .observation(vocabulary.observation(ofStatus: name)) }
    func autolock(_ seconds: Int64) -> TraceEvent {
      .stimulus(Stimulus(1, [Argument("delay", .duration(.seconds(seconds)))]))
    }
    let lock = TraceEvent.stimulus(Stimulus(0))
    let reason = "locked after unlocked, with none of: lock"
    expect(verdicts([status("unlocked"), status("away"), status("locked")]), [nil, nil, reason])
    expect(verdicts([status("unlocked"), status("away"), lock, status("locked")]), [nil, nil, nil, nil])
    expect(verdicts([status("unlocked"), autolock(3), status("locked")]), [nil, nil, nil])
    expect(
      verdicts([autolock(3), status("unlocked"), status("locked"), status("unlocked"), status("locked")]),
      [nil, nil, nil, nil, nil])
    expect(verdicts([autolock(0), status("unlocked"), status("locked")]), [nil, nil, reason])
    // What is forged or replayed is a fault, and no reason.
    expect(verdicts([status("unlocked"), .fault(Fault("forge")), status("locked")]), [nil, nil, reason])
    // A reason wears off once the door has been seen open again, unless what is shown may be late.
    expect(verdicts([lock, status("unlocked"), status("locked")]), [nil, nil, reason])
    expect(
      verdicts([lock, status("unlocked"), status("locked")], holding: ["delay"]), [nil, nil, nil])
    expect(verdicts([lock, status("unlocked"), status("locked")], every: .seconds(2)), [nil, nil, nil])
  }
}
