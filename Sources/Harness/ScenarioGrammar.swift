import Basics
import Documents

/// What may stand in a scenario, described once: the reader takes its keys from here, and so does the JSON Schema.
enum ScenarioGrammar {
  typealias Form = Documents.Form
  typealias Field = Documents.Form.Field

  /// The keys of a scenario.
  enum Key: String, CaseIterable {
    case scenario, machine, device, seed, tags, steps
  }

  /// The steps that are no stimuli. A stimulus of one of these names can be given with `now`.
  enum Keyword: String, CaseIterable {
    case until, expect, wait, fault, refuse, now, fuzz, `repeat`, note
  }

  /// The keys of an expectation that are no readings.
  enum ExpectationKey: String, CaseIterable {
    case status, effect, refused, quiet, within, `for`
  }

  /// The keys of `until`.
  enum UntilKey: String, CaseIterable {
    case status, within
  }

  /// The keys of a comparison.
  enum ComparisonKey: String, CaseIterable {
    case `is`, above, below
  }

  /// The keys of random events.
  enum FuzzKey: String, CaseIterable {
    case events, weights, levels
  }

  /// The keys of a repetition.
  enum RepetitionKey: String, CaseIterable {
    case times, steps
  }

  /// What `wait` has in place of a duration to let time pass until nothing is awaited.
  static let settled = "settled"
  /// The same, until the next thing is shown that is awaited.
  static let next = "next"
  /// The most rounds of one repetition.
  static let rounds = 1...10_000
  /// The most steps of a scenario, those that are repeated counted as often as they are done.
  static let mostSteps = 100_000
  /// The most repetitions inside one another.
  static let deepest = 8
}

extension ScenarioGrammar.Key {
  var field: ScenarioGrammar.Field {
    switch self {
    case .scenario:
      .init(
        name: rawValue, form: .text, summary: "What the scenario shows, in one sentence.", isRequired: true)
    case .machine:
      .init(
        name: rawValue, form: .text,
        summary: "The machine that the device is compared with: a name, or a path relative to this file. "
          + "Left out, it is the device's usual one.")
    case .device:
      .init(
        name: rawValue,
        form: .either([.text, .mapping(ScenarioGrammar.deviceFields, others: .oneOrMore(.value))]),
        summary:
          "The device: `socket`, `emulator:sesame5?defect=deaf-unlock`, `exec:COMMAND`, or a mapping with "
          + "the conditions in which the test starts. Left out, it is the machine's usual one.")
    case .seed:
      .init(name: rawValue, form: .wholeNumber(0...Int.max), summary: "The seed of everything that is drawn.")
    case .tags:
      .init(name: rawValue, form: .list(.text), summary: "Words to select the scenario by.")
    case .steps:
      .init(
        name: rawValue, form: .list(.reference("step")), summary: "What is done, in order.", isRequired: true)
    }
  }
}

extension ScenarioGrammar {
  static let deviceFields: [Field] = [
    Field(
      name: "lock", form: .text, summary: "The kind of lock; an emulated one unless --device says otherwise."),
    Field(name: "emulator", form: .text, summary: "The name of an emulated device."),
    Field(name: "exec", form: .text, summary: "A command that speaks for a device."),
  ]

  /// A stimulus: its name, or its name and what goes with it.
  static let call = Form.either([.text, .single([], others: arguments)])

  /// One argument, or several with names.
  static let arguments = Form.either([.value, .mapping([], others: .value)])

  static let comparison = Form.either([.value, .mapping(ComparisonKey.allCases.map(\.field), others: nil)])

  static let step = Form.either([
    .text, .single(Keyword.allCases.map(\.field), others: arguments),
  ])
}

extension ScenarioGrammar.Keyword {
  var field: ScenarioGrammar.Field {
    switch self {
    case .until:
      .init(
        name: rawValue, form: .mapping(ScenarioGrammar.UntilKey.allCases.map(\.field), others: nil),
        summary: "Lets time pass until a status is shown; it must be in time, within a minute unless said.")
    case .expect:
      .init(
        name: rawValue,
        form: .mapping(
          ScenarioGrammar.ExpectationKey.allCases.map(\.field), others: ScenarioGrammar.comparison),
        summary:
          "What must be shown: now, `within` a time, or all the time `for` one. Other keys are readings.")
    case .wait:
      .init(
        name: rawValue,
        form: .either([.duration, .word(ScenarioGrammar.settled), .word(ScenarioGrammar.next)]),
        summary:
          "Lets time pass; `settled` until the model awaits nothing of the device, `next` until the device "
          + "shows the next thing that is awaited.")
    case .fault:
      .init(
        name: rawValue, form: .either([.text, .single([], others: .value)]),
        summary: "Brings about a fault of the surroundings, such as `jam` or `drop: next-notification`.")
    case .refuse:
      .init(
        name: rawValue, form: ScenarioGrammar.call,
        summary: "Gives a stimulus at once that the model does not allow; the device must not obey it.")
    case .now:
      .init(
        name: rawValue, form: ScenarioGrammar.call,
        summary: "Gives a stimulus at once, without waiting until the model allows it.")
    case .fuzz:
      .init(
        name: rawValue, form: .mapping(ScenarioGrammar.FuzzKey.allCases.map(\.field), others: nil),
        summary: "Makes random events from here on, drawn by the scenario's seed.")
    case .repeat:
      .init(
        name: rawValue, form: .mapping(ScenarioGrammar.RepetitionKey.allCases.map(\.field), others: nil),
        summary: "Does steps several times.")
    case .note:
      .init(name: rawValue, form: .text, summary: "Says something to whoever reads the report.")
    }
  }
}

extension ScenarioGrammar.ExpectationKey {
  var field: ScenarioGrammar.Field {
    switch self {
    case .status:
      .init(name: rawValue, form: .oneOrMore(.text), summary: "The status, or one of several.")
    case .effect:
      .init(name: rawValue, form: .text, summary: "An effect that was shown since something was last done.")
    case .refused:
      .init(
        name: rawValue, form: .either([.flag, .text]),
        summary: "`true`, or words that stand in the reason of the refusal.")
    case .quiet:
      .init(name: rawValue, form: .duration, summary: "For how long nothing at all may be shown.")
    case .within:
      .init(name: rawValue, form: .duration, summary: "By when all of it must be so.")
    case .for:
      .init(name: rawValue, form: .duration, summary: "How long the status must last.")
    }
  }
}

extension ScenarioGrammar.UntilKey {
  var field: ScenarioGrammar.Field {
    switch self {
    case .status:
      .init(
        name: rawValue, form: .oneOrMore(.text), summary: "The status, or one of several.", isRequired: true)
    case .within:
      .init(name: rawValue, form: .duration, summary: "By when it must be shown; 60 s unless given.")
    }
  }
}

extension ScenarioGrammar.ComparisonKey {
  var field: ScenarioGrammar.Field {
    switch self {
    case .is: .init(name: rawValue, form: .value, summary: "What the reading must be.")
    case .above:
      .init(name: rawValue, form: .value, summary: "A number that the reading must be greater than.")
    case .below: .init(name: rawValue, form: .value, summary: "A number that the reading must be less than.")
    }
  }
}

extension ScenarioGrammar.FuzzKey {
  var field: ScenarioGrammar.Field {
    switch self {
    case .events:
      .init(
        name: rawValue, form: .wholeNumber(1...ScenarioGrammar.mostSteps), summary: "How many events.",
        isRequired: true)
    case .weights:
      .init(
        name: rawValue, form: .mapping([], others: .value),
        summary: "How often a stimulus or a fault is chosen, where 1 is usual; 0 leaves it out.")
    case .levels:
      .init(
        name: rawValue, form: .oneOrMore(.text),
        summary: "Where the events may interfere: events, messages, att, link. Only events unless given.")
    }
  }
}

extension ScenarioGrammar.RepetitionKey {
  var field: ScenarioGrammar.Field {
    switch self {
    case .times:
      .init(
        name: rawValue, form: .wholeNumber(ScenarioGrammar.rounds), summary: "How often.", isRequired: true)
    case .steps:
      .init(name: rawValue, form: .list(.reference("step")), summary: "What is repeated.", isRequired: true)
    }
  }
}
