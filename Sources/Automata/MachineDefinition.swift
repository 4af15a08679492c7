public import Basics

/// A state machine as its author wrote it, not yet checked.
///
/// Every notation, from the operators to a YAML file, ends here; ``Machine`` checks it and makes the dense table.
/// Two definitions are equal when they say the same in the same order.
public struct MachineDefinition: Equatable, Sendable {
  /// The name by which scenarios and the command line call the machine.
  public var name: String
  /// One sentence on what the machine describes.
  public var summary: String
  /// The states, in the order in which they are drawn.
  public var states: [State]
  /// What can happen: stimuli and spontaneous events.
  public var events: [Event]
  /// What the environment may be like, and which faults or stimuli make them so.
  public var conditions: [Condition]
  /// What devices do differently, each of them always alike.
  public var choices: [DeviceChoice]
  /// What a device may report beside statuses and effects, as far as the definition says what it is.
  public var readings: [ValueForm]
  /// The transition relation.
  ///
  /// A pair of state and stimulus without a row is a refusal.
  public var transitions: [Transition]
  /// The conditions in which a test may start.
  ///
  /// The last is the one meant when nothing is asked for.
  public var starts: [Start]

  /// Makes a definition.
  public init(
    name: String, summary: String = "", states: [State] = [], events: [Event] = [],
    conditions: [Condition] = [], choices: [DeviceChoice] = [], readings: [ValueForm] = [],
    transitions: [Transition] = [], starts: [Start] = []
  ) {
    self.name = name
    self.summary = summary
    self.states = states
    self.events = events
    self.conditions = conditions
    self.choices = choices
    self.readings = readings
    self.transitions = transitions
    self.starts = starts
  }
}

/// Something that devices are known to do differently, and that each of them does always alike: a choice that a device makes
/// once.
///
/// Every option is right until the device has shown which is its own. From then on it is held to that.
public struct DeviceChoice: Equatable, Sendable {
  /// The unique name.
  public var name: String
  /// What there is to choose from; no other choice has an option of the same name.
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
  /// The part of the machine that it belongs to, by which coverage is told; empty where none is declared.
  public var region: String

  /// Makes a state; its status is the name without what stands in parentheses, unless given.
  public init(_ name: String, status: String? = nil, entry: [String] = [], region: String = "") {
    self.name = name
    self.status = status ?? State.status(of: name)
    self.entry = entry
    self.region = region
  }

  /// The status that a state's name implies: the name up to a final parenthesis.
  public static func status(of name: String) -> String {
    guard name.last == ")", let open = name.firstIndex(of: "("), open > name.startIndex,
      name[name.index(before: open)] == " "
    else { return name }
    return String(name[..<name.index(before: open)])
  }
}

/// Something that can happen to a machine.
public struct Event: Equatable, Sendable {
  /// Who brings it about.
  public enum Kind: String, Equatable, Sendable, CaseIterable {
    /// The tester.
    case stimulus
    /// The device, its environment or time: the tester can only watch.
    case spontaneous
    /// Either, depending on the state: the tester where nothing else does it.
    case both
  }

  /// The unique name.
  public var name: String
  /// Who brings it about.
  public var kind: Kind
  /// What may be given with it; `nil` where the definition does not say.
  public var arguments: ArgumentForms?

  /// Makes an event.
  public init(_ name: String, _ kind: Kind = .stimulus, arguments: ArgumentForms? = nil) {
    self.name = name
    self.kind = kind
    self.arguments = arguments
  }
}

/// Something about the environment that decides which transitions can happen: a jammed bolt, an unreliable
/// link, an autolock that is set.
///
/// Conditions keep the model sharp: what the tester has not brought about is not an excuse.
public struct Condition: Equatable, Sendable {
  /// The unique name.
  ///
  /// A start condition of this name holds or withdraws it.
  public var name: String
  /// The faults that bring it about; one given the value `no`, `off` or `0` ends, one given a duration ends after
  /// that, and the condition with the last of them.
  public var faults: [String]
  /// The faults, and the events, that are over at once: what they do is felt for ``delay``.
  public var moments: [String]
  /// The events that bring it about. A device that reports one of them is taken at its word: with it the faults alone
  /// bring nothing about.
  public var events: [String]
  /// The statuses that end it, whatever brought it about: once one is shown, what it was about is over. With any of
  /// these it outlasts its faults.
  public var until: [String]
  /// The stimuli that set it, to the duration or the number of seconds that is their first argument; one of
  /// zero, or without an argument, takes it away.
  public var stimuli: [String]
  /// The conditions under which a change is unsure: what a stimulus sets may not arrive, so that it may hold, or may
  /// not; and what faults bring about may not be felt before they are over, since what is shown comes late.
  public var unsure: [String]
  /// The reading that tells what it is set to, in seconds: after it, nothing is unsure.
  public var reading: String?
  /// Whether a change of it leaves alone what is under way: it counts from the next state on that is entered.
  public var countsFromEntry: Bool
  /// How long, after it began or ended, the device may still behave as before: what was under way goes on.
  public var delay: Interval

  /// The delay of a condition that does not say otherwise.
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

/// When, after its state was entered, a transition that the tester does not cause can happen.
public struct Window: Hashable, Sendable {
  /// The least time in the state; less than zero where a value is added to it that it may be short of.
  public var earliest: Interval
  /// The most time in the state: if the state still lasts then, something is wrong.
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

  /// Exactly then.
  public static func after(_ interval: Interval) -> Window { Window(earliest: interval, latest: interval) }

  /// At any time up to then, and no later.
  public static func within(_ interval: Interval) -> Window { Window(latest: interval) }
}

/// One row of the transition relation.
public struct Transition: Equatable, Sendable {
  /// What sets it off.
  public enum Trigger: Hashable, Sendable {
    /// The event of this name.
    case event(String)
    /// Time alone.
    case timer
  }

  /// The states it starts from.
  public enum Source: Equatable, Sendable {
    /// These.
    case states([String])
    /// Every state that has no row of its own for the event. At most one such row per event.
    case wildcard
  }

  /// Where it leads.
  public enum Target: Equatable, Sendable {
    /// To one of these, as the device decides.
    case states([String])
    /// Nowhere: the state goes on, its timers too, and its entry actions are not run again.
    case stay
    /// To one of these, of the same status, in which the time of the state that is left goes on.
    case shift([String])
  }

  /// Who wrote the row.
  public enum Origin: String, Equatable, Sendable {
    /// The document that the machine comes from.
    case seed
    /// We, where that document is silent.
    case ours
  }

  /// What sets it off.
  public var trigger: Trigger
  /// When it can happen, if the tester does not cause it.
  public var window: Window
  /// The states it starts from.
  public var from: Source
  /// Where it leads.
  public var to: Target
  /// The named effects before the state changes, in order.
  public var before: [String]
  /// The named effects after the state changed and before its entry actions, in order.
  public var after: [String]
  /// What is shown in place of the target's status: the output of a Mealy machine.
  public var shows: String?
  /// At least one of these conditions must hold, unless there are none.
  public var given: [String]
  /// None of these conditions may hold.
  public var unless: [String]
  /// The row is that of devices with one of these options of a choice, unless there are none.
  public var options: [String]
  /// Who wrote the row.
  public var origin: Origin

  /// Makes a row.
  public init(
    _ trigger: Trigger, from: Source, to: Target, window: Window = .any, before: [String] = [],
    after: [String] = [], shows: String? = nil, given: [String] = [], unless: [String] = [],
    options: [String] = [], origin: Origin = .seed
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
    self.origin = origin
  }
}

/// A condition in which a test can start.
public struct Start: Equatable, Sendable {
  /// A setting of the device that this start stands for.
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

  /// The state in which the machine is.
  public var state: String
  /// The settings that stand for it; a start without settings is always possible.
  public var conditions: [Condition]

  /// Makes a start.
  public init(_ state: String, when conditions: [Condition] = []) {
    self.state = state
    self.conditions = conditions
  }
}
