public import Basics
public import Documents

/// The form of a machine in YAML, described once: the reader takes its keys from here, and so do the JSON Schema and
/// the page that explains them.
enum MachineGrammar {
  typealias Field = Form.Field

  /// Instead of the states from which a row leads: every state without a row of its own.
  static let anyState = "*"
  /// Instead of the states to which a row leads: the state from which it leads.
  static let sameState = "="
  /// Instead of a duration: a time that never comes.
  static let forever = Interval.forever.description

  /// The words for the types of a value.
  enum ValueWord: String, CaseIterable {
    case text, hex, flag, integer, number, duration, instant

    /// The form of its limits, or `nil` if it has none.
    var limit: Form? {
      switch self {
      case .text, .hex, .flag, .instant: nil
      case .integer: .wholeNumber(nil)
      case .number: .number
      case .duration: MachineGrammar.interval
      }
    }
  }

  /// The keys that limit the time of a row; `after` gives its exact time instead.
  static let limits = ["within", "not-before", "plus"]
  static let rowRules: [Form.Rule] =
    [.one(["to", "shift"]), .some(["event", "after"] + limits)] + limits.map { .excludes($0, "after") }
    + [.needs("keep-timer", "timer")]
  /// A machine has states with rows, or regions.
  static let machineRules: [Form.Rule] = [
    .one(["states", "regions"]), .one(["transitions", "regions"]), .some(["starts", "regions"]),
  ]
  /// The first of the rules: that the other keys are missing is then plain.
  static let statesOrRegions = Array(machineRules.prefix(1))
  static let eventRules: [Form.Rule] = [.excludes("one-of", "arguments")]

  static let names = Form.oneOrMore(.text)
  /// An effect, or a reading with the value that is due.
  static let effects = Form.oneOrMore(.either([.text, .mapping(due, others: nil)]))
  static let interval = Form.either([.duration, .word(forever)])
  /// A time, or the expression of one.
  static let time = Form.either([.duration, .word(forever), expression])
  /// An expression in place of a time.
  static let expression = Form.pattern("^[A-Za-z(]")
  /// A time to which a value is added, so that it may be negative.
  static let signed = Form.either([.duration, .negativeDuration, .word(forever)])
}

extension MachineGrammar {
  /// The keys of the file.
  static let machine: [Field] = [
    .required("machine", .text, "The name of the machine."),
    .optional("summary", .text, "What the machine describes, in one sentence."),
    .optional("states", states(state), "The states. Each is a name, or a mapping with more keys."),
    .optional(
      "regions", .mapping([], others: .mapping(region, others: nil)),
      "In place of `states` and `transitions`: small machines side by side, by name. Each has states and "
        + "transitions of its own, over the same events and variables."),
    .required(
      "events", .list(.either([.text, .single([], others: event)]), count: 1...Int.max),
      "The events. Each is a name (a stimulus), a name with its kind, or a name with a mapping."),
    .optional(
      "conditions", .list(.either([.text, .record(condition, [])])),
      "The conditions of the environment on which rows depend. Each is a name, or a mapping with more "
        + "keys."),
    .optional(
      "choices", .mapping([], others: .list(.text, count: 2...Int.max)),
      "Behaviour that differs from device to device, but that a device never changes: names, each with "
        + "its options. Once a device has shown an option, another one is a divergence."),
    .optional(
      "readings", values,
      "The values that a device may report in addition to statuses and effects: names, each with the "
        + "form of its value. A value of another form is a divergence."
    ),
    .optional(
      "variables", variables,
      "What the machine remembers beyond its state: names, each with the form of its value, or with a form and "
        + "a first value. A variable without a first value is unknown until the device shows it."),
    .optional(
      "starts", .list(.record(start, []), count: 1...Int.max),
      "The states in which a test can start. A scenario without start settings uses the last one. With regions, "
        + "it may be left out."),
    .optional(
      "transitions", .list(.record(row, rowRules)),
      "The transitions, one row each. A device must refuse a stimulus in every state from which it has "
        + "no row."),
    .optional(
      "rules", .list(.record(rule, [])),
      "The rules that a device must never break, in any state. Each is a small machine that watches the same trace."
    ),
  ]

  /// The keys of a rule.
  static let rule: [Field] = [
    .required("rule", .text, "The name of the rule."),
    .required(
      "states", states(state),
      "The states of the rule. A state with `status: broken` breaks it, and its name is the sentence of the report."
    ),
    .optional(
      "events", .list(.either([.text, .single([], others: event)]), count: 1...Int.max),
      "Events with arguments of their own, for faults. All others are those that rows name, and have the arguments of "
        + "the machine."),
    .optional(
      "conditions", .list(.text),
      "The conditions of the machine on which rows depend. One that may hold counts as one that holds."),
    .optional("variables", variables, "What the rule remembers, as the variables of a machine."),
    .optional(
      "starts", .list(.record(start, []), count: 1...2),
      "The states in which the rule starts: the first one, and then that of a new device. By default, the first state."
    ),
    .required(
      "transitions", .list(.record(row, rowRules)),
      "The rows. Anything that has no row in a state changes nothing."),
  ]

  /// The keys of a state.
  static let state: [Field] = [
    .required("name", .text, "The name of the state, which must be unique."),
    .optional(
      "status", .text,
      "The status that the device shows in this state. By default, the name up to ` (`: `locked "
        + "(registered)` shows `locked`."),
    .optional("entry", names, "The effects that the device shows whenever it enters the state, in order."),
    .optional(
      "region", .text,
      "The region of the machine that the state belongs to. Reports give the coverage of each region. "
        + "By default, the region of the state from which it is entered."),
  ]

  /// The keys of an event.
  static let eventKeys: [Field] = [
    .optional(
      "kind", kind,
      "What causes the event: the tester (`stimulus`, the default), the device or its environment "
        + "(`spontaneous`), or either (`both`). With `both`, the tester causes it in rows without a time, "
        + "and the device in rows with one."
    ),
    .optional("arguments", values, "The arguments of the stimulus: names, each with the form of its value."),
    .optional("one-of", values, "The same, for arguments of which at most one can be given."),
  ]

  /// The keys of a condition.
  static let condition: [Field] = [
    .required(
      "name", .text, "The name of the condition. A fault or a start setting of this name makes it hold."),
    .optional("faults", names, "Other faults that make it hold. It holds while any of them lasts."),
    .optional("moments", names, "Faults and events after which it holds only for its `delay`."),
    .optional(
      "events", names,
      "Events that make it hold. If the device reports any of them, the faults alone do not make it hold."),
    .optional(
      "until", names,
      "Statuses that end it when the device shows one of them. With this key, it continues after its "
        + "faults end."),
    .optional(
      "stimuli", names,
      "Stimuli that set its value to their first argument, a duration or a number of seconds. Zero, or "
        + "no argument, ends it."),
    .optional(
      "unsure", names,
      "Conditions during which it is unknown whether a change of this condition reaches the device."),
    .optional(
      "reading", .text,
      "The reading that contains its value, in seconds. After this reading, the value is known again."),
    .optional(
      "from-entry", .flag,
      "Whether a change takes effect from the next state on and leaves the current state as it is."),
    .optional(
      "delay", interval,
      "How long after a change the device may still behave as before; \(Condition.usualDelay) by default."),
  ]

  /// The keys of a start.
  static let start: [Field] = [
    .required(
      "state", .either([.text, .mapping([], others: .text)]),
      "The state in which the machine starts. With regions: the regions that start in another state than their "
        + "`start`, each with that state."),
    .optional(
      "when", .mapping([], others: .flag),
      "The start settings of a test that select this start, each with true or false."),
    .optional("set", assignments, "The values of variables that differ from their first values."),
    .optional("start", names, "The named timers that run from the start of the test."),
  ]

  /// The keys of a row.
  static let row: [Field] = [
    .optional("event", .text, "The event that triggers the row. A row without an event is a timer."),
    .required(
      "from", names,
      "The state or states from which the row leads. \"*\" stands for every state without its own row "
        + "for the event."),
    .optional(
      "to", names,
      "The state to which the row leads, or several, of which the device chooses one. \"=\" stays in "
        + "the state and restarts no timer."),
    .optional(
      "shift", names,
      "Instead of `to`: states with the same status, in which the timers of the previous state continue."),
    .optional(
      "when", .text,
      "An expression over variables and the arguments of the event. Of several rows of one event and one state, "
        + "the first whose expression is true is taken; the last one may have none."),
    .optional(
      "set", assignments,
      "The new values of variables, each an expression. All are computed from the values before the row. "
        + "`unknown` stands for a value that the device chooses."),
    .optional("start", names, "The named timers that start, or start again, with this row."),
    .optional("stop", names, "The named timers that stop with this row."),
    .optional(
      "timer", .text,
      "The named timer from whose start the times of the row count, in place of the entry of the state. The row "
        + "is taken only while the timer runs, and stops it."),
    .optional("keep-timer", .flag, "Whether the row lets its named timer run on."),
    .optional(
      "after", time,
      "The exact time of the row, counted from the entry of the state, or an expression of it."),
    .optional(
      "within", time,
      "The latest time of the row, counted from the entry of the state, or an expression of it."),
    .optional(
      "not-before", .either([signed, expression]),
      "The earliest time of the row, counted from the entry of the state, or an expression of it. With `plus` "
        + "it may be negative."),
    .optional(
      "plus", .text,
      "The condition whose value, set by a stimulus, is added to `not-before` and to `within`."),
    .optional("given", names, "Conditions of which at least one must hold."),
    .optional("unless", names, "Conditions of which none may hold."),
    .optional("option", names, "Options of a choice. The row applies only to devices with one of them."),
    .optional(
      "first", effects,
      "The effects that the device shows before the state changes, in order. A mapping with `reading` and `is` is a "
        + "reading and the value that is due."),
    .optional(
      "then", effects,
      "The effects that the device shows after the state has changed and before those of its `entry`, "
        + "in order."),
    .optional(
      "shows", .text,
      "The output that the device shows instead of the status of the new state, as in a Mealy machine."),
    .optional(
      "ours", .flag,
      "Whether the author of the machine added the row because the specification does not cover the case."),
  ]

  /// The keys of a region.
  static let region: [Field] = [
    .required("states", states(regionState), "The states. Each is a name, or a mapping with more keys."),
    .required("start", .text, "The state in which the region starts."),
    .required(
      "transitions", .list(.record(regionRow, rowRules)),
      "The transitions, one row each. A region without a row for an event stays in its state."),
  ]

  /// The keys of a state of a region.
  static let regionState: [Field] =
    state.filter { $0.name != "region" } + [
      .optional(
        "transparent", .flag,
        "Whether the state shows no status, so that the status of the next region is seen through it.")
    ]

  /// The keys of a row of a region.
  static let regionRow: [Field] =
    row + [
      .optional(
        "in", .mapping([], others: names),
        "The states in which other regions must be. Of several rows of one event and one state, the first is taken "
          + "whose `in` and `when` are true.")
    ]

  /// A list of states.
  private static func states(_ state: [Field]) -> Form {
    .list(.either([.text, .record(state, [])]), count: 1...Int.max)
  }

  /// The keys of a reading that a row shows.
  static let due: [Field] = [
    .required("reading", .text, "The reading that the device shows here, and only in rows that name it."),
    .optional("is", .text, "The expression of the value that is due. Without it, any value may come."),
  ]

  static let variables = Form.mapping([], others: .either([.mapping(variable, others: nil), value]))

  /// The keys of a variable.
  static let variable: [Field] = [
    .required("form", value, "The form of its value."),
    .optional("first", .value, "The expression of its value at the start of a test."),
  ]

  private static let assignments = Form.mapping([], others: .value)

  private static let kind = Form.words(Event.Kind.allCases.map(\.rawValue))
  private static let event = Form.either([kind, .record(eventKeys, eventRules)])

  /// Names, each with the form of its value.
  private static let values = Form.mapping([], others: value)

  /// The form of a value: a word, a word with limits, the words to choose from, a list, a map or a record.
  private static let value = Form.reference("value")

  /// The keys of a list and of a map.
  static let list: [Field] = [
    .required("list", value, "The form of its elements."),
    .required("size", .wholeNumber(1...1000), "The greatest number of elements."),
  ]
  static let map: [Field] = [
    .required("map", .list(value, count: 2...2), "The form of its keys, and that of its values."),
    .required("size", .wholeNumber(1...1000), "The greatest number of entries."),
  ]
  static let record: [Field] = [
    .required("record", values, "The fields: names, each with the form of its value.")
  ]
  static let instant: [Field] = [
    .required("instant", .duration, "By how much a moment that the device shows may differ.")
  ]

  /// What ``value`` refers to.
  static let definitions: [(name: String, form: Form)] = [
    (
      "value",
      Form.either([

        .words(ValueWord.allCases.map(\.rawValue)),
        .single(
          ValueWord.allCases.compactMap { word in
            word.limit.map {
              .optional(word.rawValue, .list($0, count: 2...2), "The minimum and the maximum.")
            }
          }, others: nil),
        .list(.text, count: 1...Int.max),
        .mapping(list, others: nil), .mapping(map, others: nil), .mapping(record, others: nil),
        .mapping(instant, others: nil),
      ])
    )
  ]
}

extension MachineDefinition {
  /// The form of a machine in YAML.
  public static let form = Documents.Form.record(MachineGrammar.machine, MachineGrammar.machineRules)

  /// The JSON Schema (draft-07) of a machine in YAML, for editors.
  ///
  /// The schema covers only the grammar. Only the reader checks whether the states that a row names exist.
  public static let schema: JSON = form.schema(
    title: "A machine of Lockstep",
    summary: "The states of a device, what can happen to it, and what it then does.",
    definitions: MachineGrammar.definitions)
}
