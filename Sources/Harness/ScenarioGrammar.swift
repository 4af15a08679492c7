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
  /// The permitted numbers of rounds of one repetition.
  static let rounds = 1...10_000
  /// The maximum number of steps of a scenario; a repeated step counts as often as it is performed.
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
      .required("scenario", .text, "What the scenario tests, in one sentence."),
      .optional(
        "machine", names.machine,
        "The machine with which the device is compared: a name, or a path relative to this file. By "
          + "default, that of the device."),
      .optional(
        "device", .either(names.devices + [.mapping(names.deviceFields, others: names.otherSettings)]),
        "The device: `socket`, `emulator:sesame5?defect=deaf-unlock`, `exec:COMMAND`, or a mapping with "
          + "the start conditions of the test. By default, that of the machine."),
      .optional("seed", .wholeNumber(0...Int.max), "The seed of all random choices."),
      .optional("tags", .list(.text), "Words with which to select the scenario."),
      .optional(
        "assume", .oneOrMore(.text),
        "The options of choices that the device has already shown. Another option is a divergence."
      ),
      .required("steps", .list(.reference("step")), "The steps of the test, in order."),
    ]
  }

  /// The keys of `until`.
  var until: [Field] {
    [
      .required("status", .oneOrMore(names.status), "The status, or one of several."),
      .optional("within", .duration, "The time within which the device must show it; 60 s by default."),
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
        "The relative frequency of a stimulus or a fault. The default is 1; 0 excludes it."),
      .optional(
        "levels", .oneOrMore(.words(TestLevel.allCases.map(\.rawValue))),
        "The levels of the events: events, messages, att, link. Only events by default."),
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

  /// The steps that are not stimuli, without those for which there are no names to use.
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
        "Lets time pass until the device shows a status; it fails after a minute, or the time of `within`.")
    case .expect:
      .optional(
        name, .mapping(expectation, others: names.otherReadings),
        "What the device must show: now, `within` a time, or during the whole time of `for`. Other keys "
          + "are readings.")
    case .wait:
      .optional(
        name, .either([.duration, .word(Self.settled), .word(Self.next)]),
        "Lets time pass: a duration, `settled` (until the model expects no more output), or `next` "
          + "(until the next expected output).")
    case .fault:
      .optional(
        name, .either(names.faults),
        "Injects a fault, such as `jam` or `drop: next-notification`.")
    case .refuse:
      .optional(
        name, call, "Sends at once a stimulus that the model does not allow; the device must not obey it.")
    case .now:
      .optional(name, call, "Sends a stimulus at once, without waiting until the model allows it.")
    case .fuzz:
      .optional(
        name, .mapping(randomEvents, others: nil),
        "Runs random events, determined by the seed of the scenario.")
    case .repeat:
      .optional(name, .mapping(Self.repetition, others: nil), "Repeats steps.")
    case .note:
      .optional(name, .text, "Adds a note to the report.")
    }
  }

  /// The keys of an expectation.
  private var expectation: [Field] {
    let keys = ExpectationKey.allCases.compactMap { key -> Field? in
      let name = key.rawValue
      return switch key {
      case .status: .optional(name, .oneOrMore(names.status), "The status, or one of several.")
      case .effect:
        names.effect.map { .optional(name, $0, "An effect that the device has shown since the last action.") }
      case .refused:
        .optional(
          name, .either([.flag, .text]), "`true`, or words that the reason of the refusal contains.")
      case .quiet: .optional(name, .duration, "How long the device must show nothing at all.")
      case .within: .optional(name, .duration, "The time within which all of this must hold.")
      case .for: .optional(name, .duration, "How long the status must last.")
      }
    }
    let reserved = ExpectationKey.allCases.map(\.rawValue)
    return keys + names.readings.filter { !reserved.contains($0.name) }
  }
}
