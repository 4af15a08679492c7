public import Basics
public import Documents

/// What may stand in the YAML of a machine, described once: the reader takes its keys from here, and so do the JSON Schema
/// and the page that explains them.
enum MachineGrammar {
  typealias Field = Form.Field

  /// In place of the states that a row starts from: every one without a row of its own.
  static let anyState = "*"
  /// In place of the states that a row leads to: the one it starts from.
  static let sameState = "="
  /// In place of a duration: a time that never comes.
  static let forever = Interval.forever.description

  /// The words for what a value may be.
  enum ValueWord: String, CaseIterable {
    case text, hex, flag, integer, number, duration

    /// What its limits are written as; `nil` where it has none.
    var limit: Form? {
      switch self {
      case .text, .hex, .flag: nil
      case .integer: .wholeNumber(nil)
      case .number: .number
      case .duration: MachineGrammar.interval
      }
    }
  }

  /// The times of a row; `after` says exactly when, and the others between what.
  static let limits = ["within", "not-before", "plus"]
  static let rowRules: [Form.Rule] =
    [.one(["to", "shift"]), .some(["event", "after"] + limits)] + limits.map { .excludes($0, "after") }
  static let eventRules: [Form.Rule] = [.excludes("one-of", "arguments")]

  static let names = Form.oneOrMore(.text)
  static let interval = Form.either([.duration, .word(forever)])
  /// A time that a value is added to, and that may be less than nothing.
  static let signed = Form.either([.duration, .negativeDuration, .word(forever)])
}

extension MachineGrammar {
  /// The keys of the file.
  static let machine: [Field] = [
    .required("machine", .text, "The name of the machine."),
    .optional("summary", .text, "What the machine describes, in one sentence."),
    .required(
      "states", .list(.either([.text, .record(state, [])]), count: 1...Int.max),
      "The states: each a name, or a mapping where there is more to say."),
    .required(
      "events", .list(.either([.text, .single([], others: event)]), count: 1...Int.max),
      "What can happen: each a name, which is a stimulus, or a name with its kind or with what goes with it."),
    .optional(
      "conditions", .list(.either([.text, .record(condition, [])])),
      "What the environment may be like, for rows that depend on it: each a name, or a mapping where there is more "
        + "to say."),
    .optional(
      "choices", .mapping([], others: .list(.text, count: 2...Int.max)),
      "What devices do differently, each of them always alike: names with the options there are. A device is held to the "
        + "option that it showed."),
    .optional(
      "readings", values,
      "What a device may report beside statuses and effects: names with what each may be. One that is something else is a divergence."
    ),
    .required(
      "starts", .list(.record(start, []), count: 1...Int.max),
      "Where a test may start. The last is meant where a scenario asks for nothing."),
    .required(
      "transitions", .list(.record(row, rowRules)),
      "The rows. A stimulus without a row from a state is refused there."),
  ]

  /// The keys of a state.
  static let state: [Field] = [
    .required("name", .text, "The name of the state; no other has it."),
    .optional(
      "status", .text,
      "What an observer sees in this state: unless given, its name up to ` (`, so that `locked (registered)` shows "
        + "`locked`."),
    .optional("entry", names, "The effects that are shown whenever the state is entered, in order."),
    .optional(
      "region", .text,
      "The part of the machine that the state belongs to: coverage is told by part. A state without one belongs to the part "
        + "from which it is entered."),
  ]

  /// The keys of an event.
  static let eventKeys: [Field] = [
    .optional(
      "kind", kind,
      "Who brings the event about: the tester (`stimulus`, unless given), the device or its environment "
        + "(`spontaneous`), or either (`both`): the tester where its row has no time, and the device where it has."
    ),
    .optional("arguments", values, "What may be given with the stimulus: names with what each may be."),
    .optional("one-of", values, "The same, where one of them at the most is given."),
  ]

  /// The keys of a condition.
  static let condition: [Field] = [
    .required(
      "name", .text, "The name of the condition; a fault or a start setting of this name makes it hold."),
    .optional("faults", names, "Other faults that make it hold, as long as one of them lasts."),
    .optional("moments", names, "Faults and events that make it hold for its `delay` alone."),
    .optional(
      "events", names,
      "Events that make it hold. Where a device reports one of them, its faults alone do not."),
    .optional(
      "until", names, "Statuses that end it once one is shown. With any of these it outlasts its faults."),
    .optional(
      "stimuli", names,
      "Stimuli that set it to the duration, or to the seconds, that is their first argument; zero, or no argument, "
        + "ends it."),
    .optional("unsure", names, "Conditions under which it is not sure that a change of this one arrives."),
    .optional(
      "reading", .text, "The reading that tells what it is set to, in seconds; after it nothing is unsure."),
    .optional(
      "from-entry", .flag,
      "Whether a change leaves alone what is under way, and counts from the next state on."),
    .optional(
      "delay", interval,
      "How long after a change the device may still behave as before; \(Condition.usualDelay) unless given."),
  ]

  /// The keys of a start.
  static let start: [Field] = [
    .required("state", .text, "The state in which the machine is."),
    .optional(
      "when", .mapping([], others: .flag),
      "The settings of a test that stand for this start, each with true or false."),
  ]

  /// The keys of a row.
  static let row: [Field] = [
    .optional("event", .text, "The event that sets the row off; a row without one is a timer."),
    .required(
      "from", names,
      "The state, or the states, that the row starts from; \"*\" is every state without a row of its "
        + "own for the event."),
    .optional(
      "to", names,
      "The state that the row leads to, or several of which the device chooses; \"=\" stays, and no timer starts "
        + "again."),
    .optional(
      "shift", names,
      "In place of `to`: states of the same status, in which the time of the one before goes on."),
    .optional(
      "after", interval,
      "Exactly how long after the state was entered the row is taken."),
    .optional("within", interval, "How long after that it is taken at the latest."),
    .optional(
      "not-before", signed,
      "How long after that it is taken at the earliest; with `plus` it may be less than nothing."),
    .optional(
      "plus", .text,
      "The condition whose value, as a stimulus set it, is added to `not-before` and to `within`."),
    .optional("given", names, "Conditions of which one must hold."),
    .optional("unless", names, "Conditions of which none may hold."),
    .optional("option", names, "Options of a choice: the row is that of devices with one of them."),
    .optional("first", names, "The effects that are shown before the state changes, in order."),
    .optional(
      "then", names, "The effects that are shown after the state changed and before its `entry`, in order."),
    .optional(
      "shows", .text, "What is shown in place of the new state's status: the output of a Mealy machine."),
    .optional(
      "ours", .flag, "Whether we wrote the row where the document that the machine comes from is silent."),
  ]

  private static let kind = Form.words(Event.Kind.allCases.map(\.rawValue))
  private static let event = Form.either([kind, .record(eventKeys, eventRules)])

  /// Names, each with what may stand under it.
  private static let values = Form.mapping([], others: value)

  /// What a value may be: a word, a word with limits, or the words to choose from.
  private static let value = Form.either([
    .words(ValueWord.allCases.map(\.rawValue)),
    .single(
      ValueWord.allCases.compactMap { word in
        word.limit.map {
          .optional(word.rawValue, .list($0, count: 2...2), "The minimum and the maximum.")
        }
      }, others: nil),
    .list(.text, count: 1...Int.max),
  ])
}

extension MachineDefinition {
  /// The form of a machine in YAML.
  public static let form = Documents.Form.mapping(MachineGrammar.machine, others: nil)

  /// The JSON Schema (draft-07) of a machine in YAML, as editors read it.
  ///
  /// It knows the grammar. Whether a row names states that there are, only the reader knows.
  public static let schema: JSON = form.schema(
    title: "A machine of Lockstep",
    summary: "The states of a device, what can happen to it, and what it then does.")
}
