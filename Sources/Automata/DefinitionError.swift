public import Documents

public import Expressions

/// A fault in the definition of a machine.
public enum DefinitionFault: Equatable, Hashable, Sendable {
  case emptyMachineName
  case noStates
  case noEvents
  case noStart
  case emptyStateName
  case emptyEventName
  case duplicateState(String)
  /// Two distinct states share a name.
  case duplicateStateName(String)
  case duplicateEvent(String)
  /// Two distinct events share a name.
  case duplicateEventName(String)
  case duplicateCondition(String)
  case duplicateChoice(String)
  /// An option that the same choice or another one already has.
  case duplicateOption(choice: String, option: String)
  /// A choice with fewer than two options.
  case tooFewOptions(choice: String)
  /// The start state is not defined.
  case startNotDefined(String)
  /// A start gives a setting twice.
  case duplicateSetting(state: String, setting: String)
  /// An event without any row.
  case noTransitions(event: String)
  /// A row names an event that is not defined.
  case eventNotDefined(String)
  case fromNotDefined(event: String, state: String)
  case toNotDefined(event: String, state: String)
  /// A row without source states.
  case emptyFrom(event: String)
  case emptyTo(event: String, from: String)
  /// Two rows of one event share a source state, conditions and options.
  case duplicateFrom(event: String, state: String)
  /// A row names one target state twice.
  case duplicateTo(event: String, from: String, state: String)
  /// A shift leads to a state with another status.
  case shiftChangesStatus(event: String, from: String, to: String)
  case severalWildcards(event: String)
  /// A condition whose change takes effect before it happens.
  case negativeDelay(condition: String)
  case conditionNotDefined(event: String, condition: String)
  /// A row names an option that no choice has.
  case optionNotDefined(event: String, option: String)
  /// A row names options of more than one choice.
  case severalChoices(event: String)
  /// A window that closes before it opens.
  case emptyWindow(event: String)
  /// A window that opens before its state is entered.
  case negativeWindow(event: String)
  /// A row with a deadline that stays in its state, where it would be due again at once.
  case repeatedDeadline(event: String)
  /// A window on a stimulus, whose time the tester chooses.
  case windowOnStimulus(event: String)
  /// A timer without source states, which would fire in every state.
  case wildcardTimer
  /// Timers of zero length form a cycle through this state.
  case endlessTimers(state: String)
  /// A condition depends on a stimulus or an event that is not defined.
  case setterNotDefined(condition: String, stimulus: String)
  case statusNotDefined(condition: String, status: String)
  case duplicateVariable(String)
  /// A name that expressions could not use.
  case badVariableName(String)
  /// A list or a map within a list or a map.
  case badType(variable: String)
  /// An argument with the name of a variable.
  case ambiguousName(event: String, name: String)
  case variableNotDefined(String)
  /// A row or a start gives a variable two values.
  case duplicateAssignment(String)
  case readingNotDefined(String)
  /// A row shows a reading twice.
  case duplicateReading(String)
  /// A row uses a timer that no row starts.
  case timerNotStarted(String)
  case expression(Expression)
  case tooLarge(what: String, count: Int, limit: Int)
  case region(RegionFault)
}

extension DefinitionFault {
  /// A fault in an expression.
  public struct Expression: Hashable, Sendable {
    /// The key whose value it is: `when`, or the name of a variable.
    public var key: String
    /// The whole expression.
    public var text: String
    /// What is wrong with it, and where.
    public var fault: ExpressionFault
  }
}

extension DefinitionFault: CustomStringConvertible {
  /// The fault in one sentence, without a full stop.
  public var description: String {
    switch self {
    case .emptyMachineName: "the machine has no name"
    case .noStates: "no states are defined"
    case .noEvents: "no events are defined"
    case .noStart: "no start is defined"
    case .emptyStateName: "a state has an empty name"
    case .emptyEventName: "an event has an empty name"
    case .duplicateState(let name): "state '\(name)' is defined twice"
    case .duplicateStateName(let name): "two states are named '\(name)'"
    case .duplicateEvent(let name): "event '\(name)' is defined twice"
    case .duplicateEventName(let name): "two events are named '\(name)'"
    case .duplicateCondition(let name): "condition '\(name)' is defined twice"
    case .duplicateChoice(let name): "choice '\(name)' is defined twice"
    case .duplicateOption(let choice, let option):
      "option '\(option)' of choice '\(choice)' is defined twice"
    case .tooFewOptions(let choice): "choice '\(choice)' has fewer than two options"
    case .startNotDefined(let name): "the machine starts in '\(name)', which is not defined"
    case .duplicateSetting(let state, let setting): "the start in '\(state)' sets '\(setting)' twice"
    case .noTransitions(let event): "event '\(event)' has no transitions"
    case .eventNotDefined(let name): "a row names event '\(name)', which is not defined"
    case .fromNotDefined(let event, let state): "'\(event)' starts from '\(state)', which is not defined"
    case .toNotDefined(let event, let state): "'\(event)' leads to '\(state)', which is not defined"
    case .emptyFrom(let event): "a row of '\(event)' starts from no state"
    case .emptyTo(let event, let from): "'\(event)' from '\(from)' leads to no state"
    case .duplicateFrom(let event, let state): "'\(event)' has two rows from '\(state)'"
    case .duplicateTo(let event, let from, let state): "'\(event)' from '\(from)' leads to '\(state)' twice"
    case .shiftChangesStatus(let event, let from, let to):
      "'\(event)' shifts from '\(from)' to '\(to)', which shows another status"
    case .severalWildcards(let event): "'\(event)' has more than one row from any state"
    case .conditionNotDefined(let event, let name):
      "'\(event)' depends on condition '\(name)', which is not defined"
    case .optionNotDefined(let event, let name): "'\(event)' has option '\(name)', which no choice has"
    case .severalChoices(let event): "a row of '\(event)' has options of several choices"
    case .negativeDelay(let name): "condition '\(name)' has a negative delay"
    case .emptyWindow(let event): "the window of '\(event)' closes before it opens"
    case .negativeWindow(let event): "the window of '\(event)' opens before its state is entered"
    case .repeatedDeadline(let event):
      "'\(event)' must happen by a time and stays in its state, where it would be due again at once"
    case .windowOnStimulus(let event): "'\(event)' is a stimulus, so it cannot have a window"
    case .wildcardTimer: "a timer must name the states in which it counts"
    case .endlessTimers(let state): "timers without length lead from '\(state)' back to it"
    case .setterNotDefined(let condition, let stimulus):
      "condition '\(condition)' is set by '\(stimulus)', which is not defined"
    case .statusNotDefined(let condition, let status):
      "condition '\(condition)' ends with the status '\(status)', which no state has"
    case .duplicateVariable(let name): "variable '\(name)' is defined twice"
    case .badVariableName(let name): "'\(name)' cannot be the name of a variable"
    case .badType(let name): "variable '\(name)' has a list or a map within a list or a map"
    case .ambiguousName(let event, let name): "'\(event)' has an argument '\(name)', which is also a variable"
    case .variableNotDefined(let name): "variable '\(name)' is not defined"
    case .duplicateAssignment(let name): "variable '\(name)' is set twice"
    case .readingNotDefined(let name): "reading '\(name)' is not defined"
    case .duplicateReading(let name): "the reading '\(name)' is shown twice"
    case .timerNotStarted(let name): "no row starts the timer '\(name)'"
    case .expression(let expression): "`\(expression.key)`: \(expression.fault.message)"
    case .tooLarge(let what, let count, let limit): "\(count) \(what) are more than the \(limit) allowed"
    case .region(let fault): fault.description
    }
  }
}

extension DefinitionFault {
  /// The code of the problem.
  public var code: Problem.Code {
    switch self {
    case .emptyMachineName, .noStates, .noEvents, .noStart, .emptyStateName, .emptyEventName, .noTransitions,
      .emptyFrom, .emptyTo, .tooFewOptions:
      .missingPart
    case .duplicateState, .duplicateStateName, .duplicateEvent, .duplicateEventName, .duplicateCondition,
      .duplicateSetting, .duplicateTo, .duplicateChoice, .duplicateOption:
      .duplicateName
    case .startNotDefined, .fromNotDefined, .toNotDefined: .unknownState
    case .eventNotDefined, .setterNotDefined: .unknownEvent
    case .conditionNotDefined: .unknownCondition
    case .optionNotDefined: .unknownOption
    case .statusNotDefined: .unknownStatus
    case .variableNotDefined: .unknownVariable
    case .readingNotDefined: .unknownReading
    case .timerNotStarted: .unknownTimer
    case .duplicateVariable, .ambiguousName, .duplicateAssignment, .duplicateReading: .duplicateName
    case .badVariableName, .badType, .expression: .wrongExpression
    case .duplicateFrom, .severalWildcards: .duplicateRow
    case .shiftChangesStatus, .negativeDelay, .emptyWindow, .negativeWindow, .repeatedDeadline,
      .windowOnStimulus,
      .wildcardTimer, .endlessTimers, .severalChoices:
      .wrongRow
    case .tooLarge: .tooLarge
    case .region(let fault): fault.code
    }
  }

  /// The name that is not defined, if that is the fault.
  var name: String? {
    switch self {
    case .startNotDefined(let name), .fromNotDefined(_, let name), .toNotDefined(_, let name),
      .eventNotDefined(let name), .setterNotDefined(_, let name), .conditionNotDefined(_, let name),
      .statusNotDefined(_, let name), .optionNotDefined(_, let name), .variableNotDefined(let name),
      .readingNotDefined(let name),
      .timerNotStarted(let name):
      name
    case .region(let fault): fault.name
    default: nil
    }
  }
}

extension MachineDefinition {
  /// Suggests defined names in place of the undefined name of a fault.
  func hint(for fault: DefinitionFault) -> Advice? {
    if case .expression(let expression) = fault {
      return switch expression.fault.hint {
      case nil: nil
      case .words(let words): .words(words)
      case .name(let name, let wrong): .nearest(to: wrong, of: [name])
      }
    }
    guard let name = fault.name else { return nil }
    let names: [String] =
      switch fault.code {
      case .unknownState: states.map(\.name)
      case .unknownEvent: events.map(\.name)
      case .unknownCondition: conditions.map(\.name)
      case .unknownOption: choices.flatMap(\.options)
      case .unknownStatus: statuses
      case .unknownVariable: variables.map(\.name)
      case .unknownReading: readings.map(\.name)
      case .unknownTimer: startedTimers
      default: []
      }
    return .nearest(to: name, of: names)
  }
}

/// A fault and its position in the definition.
public struct DefinitionFinding: Equatable, Sendable {
  /// A part of a definition, by its number in its list.
  public enum Place: Equatable, Sendable {
    case machine
    case state(Int)
    case event(Int)
    case condition(Int)
    case variable(Int)
    case choice(Int)
    case start(Int)
    case row(Int)
  }

  /// The fault.
  public var fault: DefinitionFault
  /// The part of the definition that has the fault.
  public var place: Place

  /// Makes a finding.
  public init(_ fault: DefinitionFault, at place: Place) {
    self.fault = fault
    self.place = place
  }
}

/// The error of a definition that cannot become a machine, with all its faults.
public struct DefinitionError: Error, Equatable, Sendable, CustomStringConvertible {
  /// Every fault, in the order of the definition.
  public var faults: [DefinitionFault]

  /// Makes an error from faults.
  public init(_ faults: [DefinitionFault]) {
    self.faults = faults
  }

  /// Every fault, one per line.
  public var description: String {
    faults.map(\.description).joined(separator: "\n")
  }
}
