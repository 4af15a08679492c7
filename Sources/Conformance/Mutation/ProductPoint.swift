import Automata
import Basics

/// Where a model and a machine stand beside each other, with times counted back from the present.
///
/// Two moments with equal points have equal futures, so a search need look at one of them only.
struct ProductPoint: Hashable, Sendable {
  /// The machine, as of the present of every point.
  var configuration: ReferenceInterpreter.Configuration
  /// What the model thinks possible.
  var model: Tracker.Snapshot
  /// Whether the device has said that it has nothing more to show at this moment.
  var isSettled: Bool

  /// The state of the machine.
  var state: Int { configuration.state }
}

/// Model and machine side by side, brought to one point after another.
struct Product {
  /// The present of every point: far from the beginning, so that times before it can be told.
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

  /// Goes to a start of the machine, with some conditions and a device that has chosen some options.
  mutating func start(_ number: Int, _ settings: [Argument], _ options: UInt64) {
    now = Self.present
    let faults = settings.map { Fault($0.name, $0.value) }
    tracker.start(in: number, under: faults, at: now)
    configuration = interpreter.start(number, options)
    configuration.since = now
    for fault in faults { interpreter.apply(fault, to: &configuration, at: now) }
    interpreter.enter(&configuration)
  }

  /// Goes to a point.
  mutating func go(to point: ProductPoint) {
    now = Self.present
    configuration = point.configuration
    tracker.restore(point.model, at: now)
  }

  /// The point at which things stand now.
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

  /// How long nothing changes in what model and device may do; `nil` when it never does again by itself.
  ///
  /// Up to an end of a window; where there is none, until a condition that changed has had its effect. At the last
  /// moment of a window, what is due can still come in time.
  func nextEdge(_ options: [ReferenceInterpreter.Option]) -> Interval? {
    var next = tracker.nextEdge(after: now, isTimed: isTimed)
    for time in options.flatMap({ [$0.earliest, $0.latest] }) where time > now { next = min(next, time) }
    if next == .never { next = tracker.nextSettlement(after: now) }
    return next == .never ? nil : next - now
  }
}
