public import Basics

/// An unchecked state machine, as its author wrote it.
///
/// Every notation, from the operators to a YAML file, produces this type; ``Machine`` checks it and builds the dense
/// table. Two definitions are equal if they have the same parts in the same order.
public struct MachineDefinition: Equatable, Sendable {
  /// The name of the machine in scenarios and on the command line.
  public var name: String
  /// What the machine describes, in one sentence.
  public var summary: String
  /// The states, in the order in which they are drawn.
  public var states: [State]
  /// The events: stimuli and spontaneous ones.
  public var events: [Event]
  /// The conditions of the environment, and the faults, events and stimuli that change them.
  public var conditions: [Condition]
  /// The behaviour that differs between devices, but that a device never changes.
  public var choices: [DeviceChoice]
  /// The forms of the values that a device may report in addition to statuses and effects.
  public var readings: [ValueForm]
  /// What the machine remembers beyond its state, on which rows may depend.
  public var variables: [Variable]
  /// The transition relation.
  ///
  /// A pair of state and stimulus without a row is a refusal.
  public var transitions: [Transition]
  /// The states in which a test may start.
  ///
  /// The last one is the default.
  public var starts: [Start]
  /// The rules that a device must never break, in any state.
  public var rules: [TraceRule]

  /// Makes a definition.
  public init(
    name: String, summary: String = "", states: [State] = [], events: [Event] = [],
    conditions: [Condition] = [], choices: [DeviceChoice] = [], readings: [ValueForm] = [],
    variables: [Variable] = [], transitions: [Transition] = [], starts: [Start] = [],
    rules: [TraceRule] = []
  ) {
    self.name = name
    self.summary = summary
    self.states = states
    self.events = events
    self.conditions = conditions
    self.choices = choices
    self.readings = readings
    self.variables = variables
    self.transitions = transitions
    self.starts = starts
    self.rules = rules
  }
}

/// A behaviour that differs between devices, but that a device never changes.
///
/// Every option is correct until the device has shown its own. From then on, any other option is a divergence.
public struct DeviceChoice: Equatable, Sendable {
  /// The unique name.
  public var name: String
  /// The options; no other choice has an option of the same name.
  public var options: [String]

  /// Makes a choice.
  public init(_ name: String, _ options: [String]) {
    self.name = name
    self.options = options
  }
}

/// A state of a machine.
public struct State: Equatable, Sendable {
  /// The unique name.
  ///
  /// A name such as `noSignal (registered)` shows the status `noSignal`.
  public var name: String
  /// What an observer sees in this state.
  public var status: String
  /// The named actions on entry, in order.
  public var entry: [String]
  /// The region of the machine to which the state belongs, for reports on coverage; empty if none is declared.
  public var region: String

  /// Makes a state; by default its status is its name without a final parenthesis.
  public init(_ name: String, status: String? = nil, entry: [String] = [], region: String = "") {
    self.name = name
    self.status = status ?? State.status(of: name)
    self.entry = entry
    self.region = region
  }

  /// Returns the status that a state's name implies: the name up to a final parenthesis.
  public static func status(of name: String) -> String {
    guard name.last == ")", let open = name.firstIndex(of: "("), open > name.startIndex,
      name[name.index(before: open)] == " "
    else { return name }
    return String(name[..<name.index(before: open)])
  }
}

/// Something that can happen to a machine.
public struct Event: Equatable, Sendable {
  /// What causes an event.
  public enum Kind: String, Equatable, Sendable, CaseIterable {
    /// The tester.
    case stimulus
    /// The device, its environment or time: the tester can only observe it.
    case spontaneous
    /// Either: the tester in rows without a window, the device in rows with one.
    case both
  }

  /// The unique name.
  public var name: String
  /// What causes the event.
  public var kind: Kind
  /// The forms of its arguments, or `nil` if the definition does not declare them.
  public var arguments: ArgumentForms?

  /// Makes an event.
  public init(_ name: String, _ kind: Kind = .stimulus, arguments: ArgumentForms? = nil) {
    self.name = name
    self.kind = kind
    self.arguments = arguments
  }
}

/// A property of the environment that decides which transitions can happen: a jammed bolt, an unreliable link, an
/// active autolock.
///
/// Conditions keep the model strict: a condition that the tester has not brought about excuses no deviation.
public struct Condition: Equatable, Sendable {
  /// The unique name.
  ///
  /// A fault or a start setting of this name makes it hold or ends it.
  public var name: String
  /// The faults that make it hold. A fault ends with the value `no`, `off` or `0`, or after the duration that it was
  /// given. The condition ends with the last of its faults.
  public var faults: [String]
  /// The faults and events that are over at once: after one of them the condition holds for its ``delay``.
  public var moments: [String]
  /// The events that make it hold. If the device reports any of them, the faults alone do not make it hold.
  public var events: [String]
  /// The statuses that end it when the device shows one of them, whatever made it hold. With any of these, it
  /// continues after its faults end.
  public var until: [String]
  /// The stimuli that set its value to their first argument, a duration or a number of seconds. Zero, or no argument,
  /// ends it.
  public var stimuli: [String]
  /// The conditions during which it is unknown whether a change of this condition reaches the device.
  ///
  /// A value that a stimulus sets may not arrive. The effect of a fault may show only after the fault is over,
  /// because statuses arrive late.
  public var unsure: [String]
  /// The reading that contains its value, in seconds. After this reading, the value is known.
  public var reading: String?
  /// Whether a change takes effect from the next state on and leaves the current state as it is.
  public var countsFromEntry: Bool
  /// How long after a change the device may still behave as before, because it completes what it has begun.
  public var delay: Interval

  /// The default delay of a condition.
  public static let usualDelay = Interval.milliseconds(100)

  /// Makes a condition.
  public init(
    _ name: String, faults: [String] = [], moments: [String] = [], events: [String] = [],
    until: [String] = [],
    stimuli: [String] = [], unsure: [String] = [], reading: String? = nil, countsFromEntry: Bool = false,
    delay: Interval = usualDelay
  ) {
    self.name = name
    self.faults = faults
    self.moments = moments
    self.events = events
    self.until = until
    self.stimuli = stimuli
    self.unsure = unsure
    self.reading = reading
    self.countsFromEntry = countsFromEntry
    self.delay = delay
  }
}

/// The times, counted from the entry of its state, at which a transition that the tester does not cause can happen.
public struct Window: Hashable, Sendable {
  /// The least time in the state; it may be negative if a value is added to it.
  public var earliest: Interval
  /// The greatest time in the state; a state that lasts longer is a divergence.
  public var latest: Interval
  /// The condition whose value is added to ``earliest`` and to ``latest``: the whole window moves with it.
  public var plus: String?

  /// Makes a window.
  public init(earliest: Interval = .zero, latest: Interval = .forever, plus: String? = nil) {
    self.earliest = earliest
    self.latest = latest
    self.plus = plus
  }

  /// At any time.
  public static let any = Window()

  /// Exactly after an interval.
  public static func after(_ interval: Interval) -> Window { Window(earliest: interval, latest: interval) }

  /// At any time up to an interval.
  public static func within(_ interval: Interval) -> Window { Window(latest: interval) }
}

/// One row of the transition relation.
public struct Transition: Equatable, Sendable {
  /// What triggers a row.
  public enum Trigger: Hashable, Sendable {
    /// The event of this name.
    case event(String)
    /// Time alone.
    case timer
  }

  /// The states from which a row leads.
  public enum Source: Equatable, Sendable {
    /// These states.
    case states([String])
    /// Every state without a row of its own for the event. An event has at most one such row.
    case wildcard
  }

  /// The states to which a row leads.
  public enum Target: Equatable, Sendable {
    /// One of these states; the device decides.
    case states([String])
    /// The same state: its timers continue, and its entry actions do not run again.
    case stay
    /// One of these states, of the same status, in which the time of the previous state continues.
    case shift([String])
  }

  /// Where a row comes from.
  public enum Origin: String, Equatable, Sendable {
    /// The document that specifies the machine.
    case seed
    /// The author of the machine, where that document does not cover the case.
    case ours
  }

  /// What triggers the row.
  public var trigger: Trigger
  /// When it can happen, if the tester does not cause it.
  public var window: Window
  /// The states from which the row leads.
  public var from: Source
  /// The states to which the row leads.
  public var to: Target
  /// The named effects before the change of state, in order.
  public var before: [String]
  /// The named effects after the change of state and before its entry actions, in order.
  public var after: [String]
  /// The output that the device shows instead of the target's status, as in a Mealy machine.
  public var shows: String?
  /// The conditions of which at least one must hold; empty for no requirement.
  public var given: [String]
  /// The conditions of which none may hold.
  public var unless: [String]
  /// The options of a choice to which the row is limited: it applies to devices with one of them. Empty for every
  /// device.
  public var options: [String]
  /// What the row says about variables, named timers and readings.
  public var data: RowData
  /// Where the row comes from.
  public var origin: Origin

  /// Makes a row.
  public init(
    _ trigger: Trigger, from: Source, to: Target, window: Window = .any, before: [String] = [],
    after: [String] = [], shows: String? = nil, given: [String] = [], unless: [String] = [],
    options: [String] = [], data: RowData = RowData(), origin: Origin = .seed
  ) {
    self.trigger = trigger
    self.window = window
    self.from = from
    self.to = to
    self.before = before
    self.after = after
    self.shows = shows
    self.given = given
    self.unless = unless
    self.options = options
    self.data = data
    self.origin = origin
  }
}

/// A state in which a test can start.
public struct Start: Equatable, Sendable {
  /// A setting of a test that selects the start.
  public struct Condition: Equatable, Sendable {
    /// The setting's name, such as `registered`.
    public var name: String
    /// Its value.
    public var value: Bool

    /// Makes a condition.
    public init(_ name: String, _ value: Bool) {
      self.name = name
      self.value = value
    }
  }

  /// The state in which the machine starts.
  public var state: String
  /// The settings that select the start; a start without settings is always possible.
  public var conditions: [Condition]
  /// The values of variables that differ from their first values.
  public var set: [Assignment]
  /// The named timers that run from the start of a test.
  public var start: [String]

  /// Makes a start.
  public init(
    _ state: String, when conditions: [Condition] = [], set: [Assignment] = [], start: [String] = []
  ) {
    self.state = state
    self.conditions = conditions
    self.set = set
    self.start = start
  }
}
