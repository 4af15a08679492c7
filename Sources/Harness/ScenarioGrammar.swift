import Journal
import Conformance
import Documents

/// The grammar of a scenario, from which the reader takes its keys and the JSON Schema is made.
struct ScenarioGrammar {
  typealias Form = Documents.Form
  typealias Field = Documents.Form.Field

  /// The allowed names.
  let names: ScenarioNames

  /// The grammar of any scenario.
  static let any = ScenarioGrammar(names: .any)

  /// The steps that are not stimuli. A stimulus with one of these names is sent with `now`.
  enum Keyword: String, CaseIterable {
    case until, expect, wait, fault, refuse, now, fuzz, `repeat`, note
  }

  /// The keys of an expectation that are not readings.
  enum ExpectationKey: String, CaseIterable {
    case status, effect, refused, quiet, within, `for`
  }

  /// The value of `wait` that lets time pass until the model awaits nothing.
  static let settled = Record.Event.settled
  /// The value of `wait` that lets time pass until the next awaited observation.
  static let next = Record.Event.next
  /// The most rounds of one repetition.
  static let rounds = 1...10_000
  /// The most steps of a scenario; a repeated step counts as often as it is performed.
  static let maximumSteps = 100_000
  /// The maximum nesting of repetitions.
  static let deepest = 8

  /// The keys that name a device.
  static let deviceKeys = ScenarioNames.any.deviceFields.map(\.name)
  /// A flag, as written in a scenario.
  static let flag = Form.either([
    .flag, .words(["yes", "no", "on", "off"]), .pattern("^(Yes|YES|No|NO|On|ON|Off|OFF)$"),
  ])
  /// The arguments of an unknown stimulus: one value, or several with names.
  static let arguments = Form.either([.value, .mapping([], others: .value)])
}

extension ScenarioGrammar {
  /// The keys of a scenario.
  var scenario: [Field] {
    [
      .required("scenario", .text, "What the scenario shows, in one sentence."),
      .optional(
        "machine", names.machine,
        "The machine that the device is compared with: a name, or a path relative to this file. "
          + "Left out, it is the device's usual one."),
      .optional(
        "device", .either(names.devices + [.mapping(names.deviceFields, others: names.otherSettings)]),
        "The device: `socket`, `emulator:sesame5?defect=deaf-unlock`, `exec:COMMAND`, or a mapping with "
          + "the conditions in which the test starts. Left out, it is the machine's usual one."),
      .optional("seed", .wholeNumber(0...Int.max), "The seed of everything that is drawn."),
      .optional("tags", .list(.text), "Words to select the scenario by."),
      .optional(
        "assume", .oneOrMore(.text),
        "Options of choices that the device is held to, since it showed them before: another one is a divergence."
      ),
      .required("steps", .list(.reference("step")), "What is done, in order."),
    ]
  }

  /// The keys of `until`.
  var until: [Field] {
    [
      .required("status", .oneOrMore(names.status), "The status, or one of several."),
      .optional("within", .duration, "By when it must be shown; 60 s unless given."),
    ]
  }

  /// The keys of a comparison.
  static let comparisonKeys: [Field] = [
    .optional("is", .value, "What the reading must be."),
    .optional("above", .value, "A number that the reading must be greater than."),
    .optional("below", .value, "A number that the reading must be less than."),
  ]

  /// The keys of random events.
  var randomEvents: [Field] {
    [
      .required("events", .wholeNumber(1...Self.maximumSteps), "How many events."),
      .optional(
        "weights", .mapping(names.weights, others: names.otherWeights),
        "How often a stimulus or a fault is chosen, where 1 is usual; 0 leaves it out."),
      .optional(
        "levels", .oneOrMore(.words(TestLevel.allCases.map(\.rawValue))),
        "Where the events may interfere: events, messages, att, link. Only events unless given."),
    ]
  }

  /// The keys of a repetition.
  static let repetition: [Field] = [
    .required("times", .wholeNumber(rounds), "How often."),
    .required("steps", .list(.reference("step")), "What is repeated."),
  ]

  /// A stimulus: its name alone, or its name with arguments.
  private var call: Form { .either(names.calls + [.single(names.stimuli, others: names.otherStimuli)]) }

  var step: Form {
    let reserved = Keyword.allCases.map(\.rawValue)
    let stimuli = names.stimuli.filter { !reserved.contains($0.name) }
    return .either(names.calls + [.single(keywords + stimuli, others: names.otherStimuli)])
  }

  /// The steps that are not stimuli, without those that take nothing.
  private var keywords: [Field] {
    Keyword.allCases.compactMap { keyword in
      switch keyword {
      case .fault where names.faults.isEmpty, .refuse where names.calls.isEmpty,
        .now where names.calls.isEmpty:
        nil
      default: field(keyword)
      }
    }
  }

  private func field(_ keyword: Keyword) -> Field {
    let name = keyword.rawValue
    return switch keyword {
    case .until:
      .optional(
        name, .mapping(until, others: nil),
        "Lets time pass until a status is shown; it must be in time, within a minute unless said.")
    case .expect:
      .optional(
        name, .mapping(expectation, others: names.otherReadings),
        "What must be shown: now, `within` a time, or all the time `for` one. Other keys are readings.")
    case .wait:
      .optional(
        name, .either([.duration, .word(Self.settled), .word(Self.next)]),
        "Lets time pass; `settled` until the model awaits nothing of the device, `next` until the device "
          + "shows the next thing that is awaited.")
    case .fault:
      .optional(
        name, .either(names.faults),
        "Brings about a fault of the environment, such as `jam` or `drop: next-notification`.")
    case .refuse:
      .optional(
        name, call, "Gives a stimulus at once that the model does not allow; the device must not obey it.")
    case .now:
      .optional(name, call, "Gives a stimulus at once, without waiting until the model allows it.")
    case .fuzz:
      .optional(
        name, .mapping(randomEvents, others: nil),
        "Makes random events from here on, drawn by the scenario's seed.")
    case .repeat:
      .optional(name, .mapping(Self.repetition, others: nil), "Does steps several times.")
    case .note:
      .optional(name, .text, "Says something to whoever reads the report.")
    }
  }

  /// The keys of an expectation.
  private var expectation: [Field] {
    let keys = ExpectationKey.allCases.compactMap { key -> Field? in
      let name = key.rawValue
      return switch key {
      case .status: .optional(name, .oneOrMore(names.status), "The status, or one of several.")
      case .effect:
        names.effect.map { .optional(name, $0, "An effect that was shown since something was last done.") }
      case .refused:
        .optional(
          name, .either([.flag, .text]), "`true`, or words that stand in the reason of the refusal.")
      case .quiet: .optional(name, .duration, "For how long nothing at all may be shown.")
      case .within: .optional(name, .duration, "By when all of it must be so.")
      case .for: .optional(name, .duration, "How long the status must last.")
      }
    }
    let reserved = ExpectationKey.allCases.map(\.rawValue)
    return keys + names.readings.filter { !reserved.contains($0.name) }
  }
}
