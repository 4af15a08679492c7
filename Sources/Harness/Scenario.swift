public import Conformance
public import Basics

/// A scenario: the steps to perform with a lock, and the expectations.
///
/// The model checks every step of it whether or not the scenario expects anything.
public struct Scenario: Sendable {
  /// The title, one sentence.
  public var title: String
  /// The machine's name, or the path of its file relative to the scenario's.
  public var machine: String
  /// The device, with its options.
  public var device: DeviceSpec?
  /// The condition in which the test starts.
  public var start: StartCondition = StartCondition()
  /// The seed, where the scenario insists on one.
  public var seed: UInt64?
  /// Words to select it by.
  public var tags: [String] = []
  /// The options of permanent choices that the device showed earlier and is held to.
  public var assumed: [String] = []
  /// What is done, in order.
  public var steps: [Step]
  /// The line of the file on which it is named.
  public var line: Int = 1
}

extension Scenario: Equatable {
  /// Whether two scenarios say the same, wherever they stand.
  public static func == (left: Scenario, right: Scenario) -> Bool {
    (left.title, left.machine, left.device, left.start, left.seed)
      == (right.title, right.machine, right.device, right.start, right.seed)
      && (left.tags, left.assumed, left.steps) == (right.tags, right.assumed, right.steps)
  }
}

/// One step of a scenario.
public struct Step: Sendable {
  /// What is done.
  public indirect enum Action: Equatable, Sendable {
    /// The stimulus is given as soon as the model allows it.
    case perform(Call)
    /// The stimulus is given at once, whether the model allows it or not.
    case performNow(Call)
    /// The stimulus is given at once; the model must not allow it, and the device must not obey it.
    case refuse(Call)
    /// A fault of the environment is brought about.
    case fault(Fault)
    /// Time passes.
    case wait(Interval)
    /// Time passes until the model awaits nothing of the device.
    case settle
    /// Time passes until the device shows something, where the model awaits that.
    case next
    /// Something must be shown, at once or in time.
    case expect(Expectation)
    /// Time passes until a status is shown, which must be in time.
    case until(Expectation)
    /// Random events are made, from wherever the device is.
    case fuzz(RandomEvents)
    /// The steps are done several times.
    case repeated(Int, [Step])
    /// A note for the reader.
    case note(String)
  }

  /// How random events are drawn.
  public struct RandomEvents: Equatable, Sendable {
    /// How often something is chosen, where 1 is usual.
    public struct Weight: Equatable, Sendable {
      /// The stimulus or the fault.
      public var name: String
      /// Its weight; 0 leaves it out.
      public var weight: Double
    }

    /// How many events there are.
    public var count: Int
    /// What is chosen more or less often than usual.
    public var weights: [Weight] = []
    /// Where they may interfere.
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

  /// What is done.
  public var action: Action
  /// The line of the file on which the step stands, or 0 when it stands in none.
  public var line: Int

  /// Makes a step.
  public init(_ action: Action, line: Int = 0) {
    self.action = action
    self.line = line
  }
}

extension Step {
  /// How often the same may stand there in a row before it is written as a repetition, and how many steps one has at most.
  fileprivate static let (maximumTimes, longestCycle) = (5, 3)
}

extension Step: Equatable {
  /// Whether two steps do the same, wherever they stand.
  public static func == (left: Step, right: Step) -> Bool { left.action == right.action }
}

extension [Step] {
  /// How many steps are written here: those that are repeated count once, and the repetition itself too.
  var writtenCount: Int {
    reduce(0) { count, step in
      guard case .repeated(_, let steps) = step.action else { return count + 1 }
      return count + 1 + steps.writtenCount
    }
  }

  /// Every step as often as it is done, each with its number and line as it is written.
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

  /// The same steps, where many are the same in a row as a repetition.
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

  /// Every step, those inside repetitions too.
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
    /// A refusal, whose reason has this text in it; any reason when it is empty.
    case refusal(String)
    /// A value that is read.
    case reading(String, Comparison)
    /// Nothing at all.
    case quiet(Interval)
  }

  /// What a value must be like.
  public struct Comparison: Equatable, Sendable {
    /// What it must be.
    public var value: Value?
    /// What it must be greater than.
    public var above: Double?
    /// What it must be less than.
    public var below: Double?
  }

  /// When it must be so.
  public enum Time: Equatable, Sendable {
    /// At this moment.
    case now
    /// At some moment up to then.
    case within(Interval)
    /// All the time up to then.
    case lasting(Interval)
  }

  /// What must be shown: all of it.
  public var conditions: [Condition]
  /// When it must be so.
  public var time: Time

  /// Makes an expectation.
  public init(_ conditions: [Condition], _ time: Time = .now) {
    self.conditions = conditions
    self.time = time
  }
}
