import Journal
import Automata
import Documents
import Models

/// What may stand in a scenario, described once: the reader takes its keys from here, and so does the JSON Schema.
enum ScenarioGrammar {
  typealias Form = Documents.Form
  typealias Field = Documents.Form.Field

  /// The steps that are no stimuli. A stimulus of one of these names can be given with `now`.
  enum Keyword: String, CaseIterable {
    case until, expect, wait, fault, refuse, now, fuzz, `repeat`, note
  }

  /// The keys of an expectation that are no readings.
  enum ExpectationKey: String, CaseIterable {
    case status, effect, refused, quiet, within, `for`
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

extension ScenarioGrammar {
  /// The keys of a scenario.
  static let scenario: [Field] = [
    .required("scenario", .text, "What the scenario shows, in one sentence."),
    .optional(
      "machine", .text,
      "The machine that the device is compared with: a name, or a path relative to this file. "
        + "Left out, it is the device's usual one."),
    .optional(
      "device", .either([.text, .mapping(deviceFields, others: .oneOrMore(.value))]),
      "The device: `socket`, `emulator:sesame5?defect=deaf-unlock`, `exec:COMMAND`, or a mapping with "
        + "the conditions in which the test starts. Left out, it is the machine's usual one."),
    .optional("seed", .wholeNumber(0...Int.max), "The seed of everything that is drawn."),
    .optional("tags", .list(.text), "Words to select the scenario by."),
    .required("steps", .list(.reference("step")), "What is done, in order."),
  ]

  static let deviceFields: [Field] = [
    .optional("lock", .text, "The kind of lock; an emulated one unless --device says otherwise."),
    .optional("emulator", .text, "The name of an emulated device."),
    .optional("exec", .text, "A command that speaks for a device."),
  ]

  /// The keys of `until`.
  static let until: [Field] = [
    .required("status", .oneOrMore(.text), "The status, or one of several."),
    .optional("within", .duration, "By when it must be shown; 60 s unless given."),
  ]

  /// The keys of a comparison.
  static let comparisonKeys: [Field] = [
    .optional("is", .value, "What the reading must be."),
    .optional("above", .value, "A number that the reading must be greater than."),
    .optional("below", .value, "A number that the reading must be less than."),
  ]

  /// The keys of random events.
  static let randomEvents: [Field] = [
    .required("events", .wholeNumber(1...mostSteps), "How many events."),
    .optional(
      "weights", .mapping([], others: .value),
      "How often a stimulus or a fault is chosen, where 1 is usual; 0 leaves it out."),
    .optional(
      "levels", .oneOrMore(.text),
      "Where the events may interfere: events, messages, att, link. Only events unless given."),
  ]

  /// The keys of a repetition.
  static let repetition: [Field] = [
    .required("times", .wholeNumber(rounds), "How often."),
    .required("steps", .list(.reference("step")), "What is repeated."),
  ]

  /// A stimulus: its name, or its name and what goes with it.
  static let call = Form.either([.text, .single(stimuli, others: arguments)])

  /// One argument, or several with names.
  static let arguments = Form.either([.value, .mapping([], others: .value)])

  static let comparison = Form.either([.value, .mapping(comparisonKeys, others: nil)])

  /// The readings of the machines that are built in, with what each may be.
  static let readings: [Field] = {
    let reserved = ExpectationKey.allCases.map(\.rawValue)
    var fields: [Field] = []
    for machine in MachineDefinition.catalog {
      for reading in machine.readings where !reserved.contains(reading.name) {
        guard !fields.contains(where: { $0.name == reading.name }) else { continue }
        let (kind, value) = (reading.kind, reading.kind.form)
        let same = Field.optional("is", value, "What the reading must be.")
        let keys = [same] + (kind.isNumber ? comparisonKeys.filter { $0.name != same.name } : [])
        let form = Form.either([value, .mapping(keys, others: nil)])
        fields.append(
          .optional(reading.name, form, "A reading of `\(machine.name)`: \(kind.expectation)."))
      }
    }
    return fields
  }()

  static let step = Form.either([
    .text, .single(Keyword.allCases.map(\.field) + stimuli, others: arguments),
  ])

  /// The stimuli of the machines that are built in, with what goes with them. Those of a file may have the same names and
  /// take something else: what else is given, only the reader knows to be wrong.
  static let stimuli: [Field] = {
    let reserved = Keyword.allCases.map(\.rawValue)
    var fields: [Field] = []
    for machine in MachineDefinition.catalog {
      for event in machine.events where event.kind != .spontaneous {
        guard let forms = event.arguments?.forms, !forms.isEmpty, !reserved.contains(event.name),
          !fields.contains(where: { $0.name == event.name })
        else { continue }
        let known = forms.map { Field.optional($0.name, $0.kind.form, "Here \($0.kind.expectation).") }
        let form = Form.either([.value, .mapping(known, others: .value)])
        fields.append(.optional(event.name, form, "The stimulus of `\(machine.name)`."))
      }
    }
    return fields
  }()
}

extension ScenarioGrammar.Keyword {
  var field: ScenarioGrammar.Field {
    switch self {
    case .until:
      .optional(
        rawValue, .mapping(ScenarioGrammar.until, others: nil),
        "Lets time pass until a status is shown; it must be in time, within a minute unless said.")
    case .expect:
      .optional(
        rawValue,
        .mapping(
          ScenarioGrammar.ExpectationKey.allCases.map(\.field) + ScenarioGrammar.readings,
          others: ScenarioGrammar.comparison),
        "What must be shown: now, `within` a time, or all the time `for` one. Other keys are readings.")
    case .wait:
      .optional(
        rawValue, .either([.duration, .word(ScenarioGrammar.settled), .word(ScenarioGrammar.next)]),
        "Lets time pass; `settled` until the model awaits nothing of the device, `next` until the device "
          + "shows the next thing that is awaited.")
    case .fault:
      .optional(
        rawValue, .either([.text, .single([], others: .value)]),
        "Brings about a fault of the surroundings, such as `jam` or `drop: next-notification`.")
    case .refuse:
      .optional(
        rawValue, ScenarioGrammar.call,
        "Gives a stimulus at once that the model does not allow; the device must not obey it.")
    case .now:
      .optional(
        rawValue, ScenarioGrammar.call, "Gives a stimulus at once, without waiting until the model allows it."
      )
    case .fuzz:
      .optional(
        rawValue, .mapping(ScenarioGrammar.randomEvents, others: nil),
        "Makes random events from here on, drawn by the scenario's seed.")
    case .repeat:
      .optional(rawValue, .mapping(ScenarioGrammar.repetition, others: nil), "Does steps several times.")
    case .note:
      .optional(rawValue, .text, "Says something to whoever reads the report.")
    }
  }
}

extension ScenarioGrammar.ExpectationKey {
  var field: ScenarioGrammar.Field {
    switch self {
    case .status:
      .optional(rawValue, .oneOrMore(.text), "The status, or one of several.")
    case .effect:
      .optional(rawValue, .text, "An effect that was shown since something was last done.")
    case .refused:
      .optional(
        rawValue, .either([.flag, .text]), "`true`, or words that stand in the reason of the refusal.")
    case .quiet:
      .optional(rawValue, .duration, "For how long nothing at all may be shown.")
    case .within:
      .optional(rawValue, .duration, "By when all of it must be so.")
    case .for:
      .optional(rawValue, .duration, "How long the status must last.")
    }
  }
}

extension ValueForm.Kind {
  /// The form that a schema has for it.
  fileprivate var form: ScenarioGrammar.Form {
    switch self {
    case .text: .text
    case .hexadecimal: .pattern("^([0-9A-Fa-f]{2})*$")
    case .flag: .either([.flag, .words(["yes", "no", "on", "off"])])
    case .wholeNumber(let range): .wholeNumber(range)
    case .number: .number
    case .duration: .duration
    case .choice(let words): .words(words)
    }
  }
}
