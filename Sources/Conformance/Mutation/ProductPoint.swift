import Automata
import Basics

/// A joint configuration of a model and a machine, with times relative to the present.
///
/// Two moments with equal points have equal futures, so a search visits only one of them.
struct ProductPoint: Hashable, Sendable {
  /// The configuration of the machine, with times relative to ``Product/present``.
  var configuration: ReferenceInterpreter.Configuration
  /// The set of possible states.
  var model: Tracker.Snapshot
  /// Whether the device has reported that it has nothing more to show at this moment.
  var isSettled: Bool

  /// The state of the machine.
  var state: Int { configuration.state }
}

/// A model and a machine that are moved together from one point to another.
struct Product {
  /// The present of every point: far from zero, so that earlier times can be represented.
  static let present = Instant(nanoseconds: 1 << 60)

  var tracker: Tracker
  var configuration: ReferenceInterpreter.Configuration
  var now = Product.present
  private let isTimed: [Bool]
  private let isTimedState: [Bool]
  private let interpreter: ReferenceInterpreter

  init(_ specification: Specification, _ interpreter: ReferenceInterpreter) {
    tracker = Tracker(specification)
    self.interpreter = interpreter
    configuration = interpreter.start(0, 0)
    isTimed = specification.timedNodes()
    var timed = [Bool](repeating: false, count: specification.machine.stateCount)
    for (number, node) in specification.nodes.enumerated() where isTimed[number] { timed[node.state] = true }
    isTimedState = timed
  }

  /// Moves to a start of the machine, with settings and the options that the device has chosen.
  mutating func start(_ number: Int, _ settings: [Argument], _ options: UInt64) {
    now = Self.present
    let faults = settings.map { Fault($0.name, $0.value) }
    tracker.start(in: number, under: faults, at: now)
    configuration = interpreter.start(number, options)
    configuration.since = now
    for fault in faults { interpreter.apply(fault, to: &configuration, at: now) }
    interpreter.enter(&configuration)
  }

  /// Moves to a point.
  mutating func move(to point: ProductPoint) {
    now = Self.present
    configuration = point.configuration
    tracker.restore(point.model, at: now)
  }

  /// Returns the current point.
  func point(isSettled: Bool) -> ProductPoint {
    var configuration = configuration
    if isTimedState[configuration.state] {
      configuration.since = Self.present - (now - configuration.since)
    } else {
      configuration.since = Self.present
      interpreter.enter(&configuration)
    }
    for index in configuration.ends.indices {
      configuration.ends[index].time = Self.present + (configuration.ends[index].time - now)
    }
    return ProductPoint(
      configuration: configuration, model: tracker.snapshot(at: now, isTimed: isTimed), isSettled: isSettled)
  }

  /// Returns how long the possible behaviour of model and device stays the same; `nil` if time alone never changes
  /// it.
  ///
  /// That is until an end of a window or, without one, until a changed condition has taken effect. At the last
  /// moment of a window, an observation that is due is still in time.
  func nextEdge(_ options: [ReferenceInterpreter.Option]) -> Interval? {
    var next = tracker.nextEdge(after: now, isTimed: isTimed)
    for time in options.flatMap({ [$0.earliest, $0.latest] }) where time > now { next = min(next, time) }
    if next == .never { next = tracker.nextSettlement(after: now) }
    return next == .never ? nil : next - now
  }
}
