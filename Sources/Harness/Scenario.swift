public import Conformance
public import Basics

/// A scenario: the steps to perform with a lock, and the expectations.
///
/// The model checks every step, whether or not the scenario expects anything.
public struct Scenario: Sendable {
  /// The title, one sentence.
  public var title: String
  /// The machine's name, or the path of its file relative to the scenario's.
  public var machine: String
  /// The device, with its options.
  public var device: DeviceSpec?
  /// The condition in which the test starts.
  public var start: StartCondition = StartCondition()
  /// The seed, if the scenario fixes one.
  public var seed: UInt64?
  /// Tags to select it by.
  public var tags: [String] = []
  /// The options of permanent choices that the device showed earlier: if it shows another one, it diverges.
  public var assumed: [String] = []
  /// The steps, in order.
  public var steps: [Step]
  /// The line of its name in the file.
  public var line: Int = 1
}

extension Scenario: Equatable {
  /// Whether two scenarios are the same apart from their location.
  public static func == (left: Scenario, right: Scenario) -> Bool {
    (left.title, left.machine, left.device, left.start, left.seed)
      == (right.title, right.machine, right.device, right.start, right.seed)
      && (left.tags, left.assumed, left.steps) == (right.tags, right.assumed, right.steps)
  }
}

/// One step of a scenario.
public struct Step: Sendable {
  /// The action.
  public indirect enum Action: Equatable, Sendable {
    /// Sends the stimulus as soon as the model allows it.
    case perform(Call)
    /// Sends the stimulus at once, whether or not the model allows it.
    case performNow(Call)
    /// Sends the stimulus at once; the model must forbid it, and the device must not obey it.
    case refuse(Call)
    /// Injects a fault of the environment.
    case fault(Fault)
    /// Lets time pass.
    case wait(Interval)
    /// Lets time pass until the model awaits nothing of the device.
    case settle
    /// Lets time pass until the device shows something that the model awaits.
    case next
    /// The device must show something, by now or within a time.
    case expect(Expectation)
    /// Lets time pass until the device shows a status, which it must do within a time.
    case until(Expectation)
    /// Draws random events from the current state.
    case fuzz(RandomEvents)
    /// Repeats steps.
    case repeated(Int, [Step])
    /// A note for the reader.
    case note(String)
  }

  /// How random events are drawn.
  public struct RandomEvents: Equatable, Sendable {
    /// How often a stimulus or fault is drawn, relative to others; 1 is the default.
    public struct Weight: Equatable, Sendable {
      /// The stimulus or the fault.
      public var name: String
      /// Its weight; 0 leaves it out.
      public var weight: Double
    }

    /// The number of events.
    public var count: Int
    /// The stimuli and faults that are drawn more or less often than by default.
    public var weights: [Weight] = []
    /// The levels of interference.
    public var levels: [TestLevel] = [.events]
  }

  /// A stimulus by name, with its arguments.
  public struct Call: Equatable, Sendable {
    /// The stimulus.
    public var name: String
    /// Its arguments; one without a name of its own is called `value`.
    public var arguments: [Argument]

    /// Makes a call.
    public init(_ name: String, _ arguments: [Argument] = []) {
      self.name = name
      self.arguments = arguments
    }
  }

  /// The action.
  public var action: Action
  /// The line of the step in the file; 0 if it is in no file.
  public var line: Int

  /// Makes a step.
  public init(_ action: Action, line: Int = 0) {
    self.action = action
    self.line = line
  }
}

extension Step {
  /// The maximum number of equal cycles of steps in a row that are written without a repetition, and the maximum
  /// number of steps of a cycle.
  fileprivate static let (maximumTimes, longestCycle) = (5, 3)
}

extension Step: Equatable {
  /// Whether two steps do the same, whatever their lines.
  public static func == (left: Step, right: Step) -> Bool { left.action == right.action }
}

extension [Step] {
  /// The number of written steps: repeated ones count once, and the repetition itself counts too.
  var writtenCount: Int {
    reduce(0) { count, step in
      guard case .repeated(_, let steps) = step.action else { return count + 1 }
      return count + 1 + steps.writtenCount
    }
  }

  /// Every step as often as it is performed, each with the number and line of the written one.
  ///
  /// - Parameter number: the number of the first step.
  func unfolded(from number: Int = 1) -> [(mark: StepMark, step: Step)] {
    var (number, all) = (number, [(mark: StepMark, step: Step)]())
    for step in self {
      if case .repeated(let times, let steps) = step.action {
        let round = steps.unfolded(from: number + 1)
        for _ in 0..<times { all += round }
      } else {
        all.append((StepMark(number, line: step.line), step))
      }
      number += [step].writtenCount
    }
    return all
  }

  /// The same steps, with equal ones in a row folded into repetitions.
  var folded: [Step] {
    repetitions(of: Step.longestCycle).flatMap { repetition -> [Step] in
      guard repetition.times > Step.maximumTimes else {
        return (0..<repetition.times).flatMap { _ in repetition.elements }
      }
      let rounds = ScenarioGrammar.rounds.upperBound
      return stride(from: 0, to: repetition.times, by: rounds).map { done in
        Step(.repeated(Swift.min(rounds, repetition.times - done), Array(repetition.elements)))
      }
    }
  }

  /// Every step, including those inside repetitions.
  var flattened: [Step] {
    flatMap { step in
      guard case .repeated(_, let steps) = step.action else { return [step] }
      return [step] + steps.flattened
    }
  }
}

/// What must be shown, and when.
public struct Expectation: Equatable, Sendable {
  /// What the device must show.
  public enum Condition: Equatable, Sendable {
    /// One of these statuses.
    case status([String])
    /// An effect.
    case effect(String)
    /// A refusal whose reason contains this text; any reason if it is empty.
    case refusal(String)
    /// A value that the device reports.
    case reading(String, Comparison)
    /// Nothing at all, for a time.
    case quiet(Interval)
  }

  /// The required value.
  public struct Comparison: Equatable, Sendable {
    /// The value that it must equal.
    public var value: Value?
    /// The value that it must exceed.
    public var above: Double?
    /// The value that it must stay below.
    public var below: Double?
  }

  /// When it must hold.
  public enum Time: Equatable, Sendable {
    /// At this moment.
    case now
    /// At some moment within the interval.
    case within(Interval)
    /// Throughout the interval.
    case lasting(Interval)
  }

  /// The conditions, all of which must hold.
  public var conditions: [Condition]
  /// When they must hold.
  public var time: Time

  /// Makes an expectation.
  public init(_ conditions: [Condition], _ time: Time = .now) {
    self.conditions = conditions
    self.time = time
  }
}
