public import Documents

/// An unchecked machine of several regions side by side, as statecharts have them.
///
/// Each region is a small machine over the same events and variables: an event goes to all regions at once.
/// ``product()`` returns the machine of all regions together, in which each state stands for one state of each region.
public struct RegionMachine: Equatable, Sendable {
  /// What the regions share: the name, the events, the variables and so on. It has no states, rows and starts.
  public var shared: MachineDefinition
  /// The regions, in the order in which their effects are shown.
  public var regions: [Region]
  /// The states in which a test may start; if there is none, each region starts in its own ``Region/start``.
  public var starts: [RegionStart]

  /// Makes a machine of regions.
  public init(_ shared: MachineDefinition, regions: [Region], starts: [RegionStart] = []) {
    self.shared = shared
    self.regions = regions
    self.starts = starts
  }
}

/// A small machine beside others.
public struct Region: Equatable, Sendable {
  /// The states of another region.
  public struct Requirement: Equatable, Sendable {
    /// The name of the other region.
    public var region: String
    /// The states of which it must be in one.
    public var states: [String]

    /// Makes a requirement.
    public init(_ region: String, _ states: [String]) { (self.region, self.states) = (region, states) }
  }

  /// A row of a region.
  public struct Row: Equatable, Sendable {
    /// What the row does, with the names of the region's states.
    public var transition: Transition
    /// The states in which other regions must be.
    public var inside: [Requirement]

    /// Makes a row.
    public init(_ transition: Transition, in inside: [Requirement] = []) {
      (self.transition, self.inside) = (transition, inside)
    }
  }

  /// The unique name.
  public var name: String
  /// The states.
  public var states: [State]
  /// The names of the states that show no status: the status of the next region is seen through them.
  public var transparent: Set<String>
  /// The state in which the region starts.
  public var start: String
  /// The rows.
  public var rows: [Row]

  /// Makes a region.
  public init(
    _ name: String, states: [State], transparent: Set<String> = [], start: String, rows: [Row]
  ) {
    self.name = name
    self.states = states
    self.transparent = transparent
    self.start = start
    self.rows = rows
  }
}

/// A state of all regions in which a test can start.
public struct RegionStart: Equatable, Sendable {
  /// The regions that start in another state than their own start, each with that state.
  public var states: [(region: String, state: String)]
  /// The settings that select the start.
  public var conditions: [Start.Condition]
  /// The values of variables that differ from their first values.
  public var set: [Assignment]
  /// The named timers that run from the start of the test.
  public var start: [String]

  /// Makes a start.
  public init(
    _ states: [(region: String, state: String)] = [], when conditions: [Start.Condition] = [],
    set: [Assignment] = [], start: [String] = []
  ) {
    self.states = states
    self.conditions = conditions
    self.set = set
    self.start = start
  }

  public static func == (left: Self, right: Self) -> Bool {
    left.states.elementsEqual(right.states, by: ==) && left.conditions == right.conditions
      && left.set == right.set && left.start == right.start
  }
}

/// The machine of all regions together.
public struct RegionProduct: Equatable, Sendable {
  /// The machine: each state stands for one state of each region, and only states are there that a start reaches.
  public var definition: MachineDefinition
  /// For each state of the machine, the number of the state of each region.
  public var states: [[Int]]
  /// For each row of the machine, the row of each region, by number; -1 for a region that stays.
  public var rows: [[Int]]
}

/// A part of a machine of regions, by its number in its list.
public enum RegionPlace: Equatable, Hashable, Sendable {
  case regions
  case region(Int)
  case state(region: Int, Int)
  case row(region: Int, Int)
  case start(Int)
  case event(Int)
  case condition(Int)
  case choice(Int)
  case variable(Int)
  case machine
}

/// A fault of a machine of regions and its position.
public struct RegionFinding: Equatable, Sendable {
  /// The fault.
  public var fault: DefinitionFault
  /// The part that has it.
  public var place: RegionPlace
  /// What to do about it.
  public var hint: Advice?
}

/// A fault of regions.
public enum RegionFault: Equatable, Hashable, Sendable {
  /// A name that no region has.
  case notDefined(String)
  case stateNotDefined(region: String, state: String)
  /// A row requires a state of its own region.
  case ownState(region: String)
  case duplicateRegion(String)
  /// All regions are in transparent states.
  case noStatus(state: String)
  /// A named timer has the name of a region.
  case timerName(String)
  /// A row uses the time since the entry of the state of all regions, which is not that of its own.
  case elapsed(event: String)
  /// A row without the tester depends on a condition that counts from the entry of the state.
  case fromEntry(event: String, condition: String)
  /// Two regions set one variable, or start or stop one timer, in one step.
  case conflict(event: String, what: String, regions: [String])
  /// Two regions show an output in place of the status.
  case severalOutputs(event: String, regions: [String])
  /// Two regions have a row of one spontaneous event, and one of them has a time.
  case severalTimes(event: String, regions: [String])
  /// A row leads to states with different effects on entry, or with and without a timer.
  case severalEntries(event: String)
  /// The conditions of the rows of two regions cannot be joined in one row.
  case conditions(event: String, regions: [String])
  /// The options of the rows of several regions belong to several choices.
  case choices(event: String)
  /// A region may take one of several rows, and another region also has a row.
  case alternatives(event: String, regions: [String])
  case tooManyStates(limit: Int)
}

extension RegionFault: CustomStringConvertible {
  /// The fault in one sentence, without a full stop.
  public var description: String {
    func both(_ regions: [String]) -> String { regions.map { "'\($0)'" }.joined(separator: " and ") }
    return switch self {
    case .notDefined(let name): "region '\(name)' is not defined"
    case .stateNotDefined(let region, let state): "region '\(region)' has no state '\(state)'"
    case .ownState(let region): "`in` names the row's own region '\(region)'"
    case .duplicateRegion(let name): "region '\(name)' is defined twice"
    case .noStatus(let state): "no region shows a status in '\(state)'"
    case .timerName(let name): "timer '\(name)' has the name of a region"
    case .elapsed(let event): "'\(event)' uses `elapsed`, which rows of regions do not have"
    case .fromEntry(let event, let condition):
      "'\(event)' depends on condition '\(condition)', which counts from the entry of a state"
    case .conflict(let event, let what, let regions):
      "one step of '\(event)' gives \(what) two values, in the regions \(both(regions))"
    case .severalOutputs(let event, let regions):
      "one step of '\(event)' has two outputs, in the regions \(both(regions))"
    case .severalTimes(let event, let regions):
      "'\(event)' has rows with a time beside others, in the regions \(both(regions))"
    case .severalEntries(let event): "'\(event)' leads to states with different effects on entry"
    case .conditions(let event, let regions):
      "the conditions of '\(event)' cannot be joined, in the regions \(both(regions))"
    case .choices(let event): "the rows of '\(event)' have options of several choices, in several regions"
    case .alternatives(let event, let regions):
      "the device chooses among rows of '\(event)', in the regions \(both(regions))"
    case .tooManyStates(let limit): "the regions together have more than the \(limit) states allowed"
    }
  }
}

extension RegionFault {
  /// The code of the problem.
  var code: Problem.Code {
    switch self {
    case .notDefined: .unknownName
    case .stateNotDefined: .unknownState
    case .duplicateRegion: .duplicateName
    case .noStatus: .missingPart
    case .tooManyStates: .tooLarge
    case .elapsed: .wrongExpression
    case .ownState, .timerName, .fromEntry, .conflict, .severalOutputs, .severalTimes, .severalEntries,
      .conditions,
      .choices, .alternatives:
      .wrongRow
    }
  }

  /// The name that is not defined, or that is wrong, if that is the fault.
  var name: String? {
    switch self {
    case .notDefined(let name), .stateNotDefined(_, let name), .ownState(let name), .timerName(let name): name
    default: nil
    }
  }

  /// What to do about it, in words.
  var advice: String? {
    switch self {
    case .notDefined, .stateNotDefined, .duplicateRegion, .tooManyStates: nil
    case .ownState: "use `from` for it"
    case .noStatus: "a state of the last region must show a status if all others are transparent"
    case .timerName: "give the timer another name"
    case .elapsed: "set a variable to `now` on entry, and subtract it"
    case .fromEntry: "use a condition without `from-entry`"
    case .conflict: "set it in one region, or limit one of the rows with `in`"
    case .severalOutputs: "give one of the rows `first` or `then` in place of `shows`"
    case .severalTimes, .conditions, .choices, .alternatives:
      "limit the rows with `in`, so that one region has rows at a time"
    case .severalEntries: "show the effects with `then`, in a row for each state"
    }
  }
}
