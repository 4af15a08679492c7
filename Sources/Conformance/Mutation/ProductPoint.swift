import Automata
import Basics

/// Where a model and a machine stand beside each other, with times counted back from the present.
///
/// Two moments with equal points have equal futures, so a search need look at one of them only.
struct ProductPoint: Hashable, Sendable {
  /// A node that the model thinks possible, and how long ago it was entered: at the most and at the least.
  struct Node: Hashable, Sendable {
    var number: Int
    var longest: Interval
    var shortest: Interval
  }

  /// A circumstance that changed, and how long ago.
  struct Change: Hashable, Sendable {
    var number: Int
    var age: Interval
  }

  var state: Int
  var shown: Int
  var age: Interval
  var circumstances: UInt64
  var values: [Interval]
  var nodes: [Node]
  var holders: [UInt64]
  var modelCircumstances: UInt64
  var uncertain: UInt64
  var unfelt: UInt64
  var modelValues: [Interval]
  var changes: [Change]
  /// Whether the device has said that it has nothing more to show at this moment.
  var isSettled: Bool
}

/// Model and machine side by side, brought to one point after another.
struct Product {
  /// The present of every point: far from the beginning, so that times before it can be told.
  static let present = Instant(nanoseconds: 1 << 60)

  var tracker: Tracker
  var standing: Conduct.Standing
  var now = Product.present
  private let isTimed: [Bool]
  private let isTimedState: [Bool]

  init(_ specification: Specification, _ conduct: Conduct) {
    tracker = Tracker(specification)
    standing = conduct.start(0)
    isTimed = specification.timedNodes()
    var timed = [Bool](repeating: false, count: specification.machine.stateCount)
    for (number, node) in specification.nodes.enumerated() where isTimed[number] { timed[node.state] = true }
    isTimedState = timed
  }

  /// Goes to a start of the machine, with some circumstances.
  mutating func start(_ number: Int, _ settings: [Argument], _ conduct: Conduct) {
    now = Self.present
    tracker.start(in: number)
    standing = conduct.start(number)
    standing.since = now
    for index in tracker.entries.indices {
      tracker.entries[index] = Tracker.Entry(earliest: now, latest: now)
    }
    for setting in settings {
      let fault = Fault(setting.name, setting.value)
      tracker.apply(fault, at: now)
      conduct.apply(fault, to: &standing)
    }
    tracker.settleCircumstances()
  }

  /// Goes to a point.
  mutating func go(to point: ProductPoint) {
    now = Self.present
    standing = Conduct.Standing(
      state: point.state, shown: point.shown, since: now - point.age, circumstances: point.circumstances,
      holders: point.holders, values: point.values)
    tracker.possible.removeAll()
    tracker.refusing.removeAll()
    for node in point.nodes {
      tracker.possible.insert(node.number)
      if !tracker.entries.isEmpty {
        tracker.entries[node.number] = Tracker.Entry(
          earliest: now - node.longest, latest: now - node.shortest)
      }
    }
    tracker.circumstances = point.modelCircumstances
    tracker.uncertain = point.uncertain
    tracker.holders = point.holders
    tracker.values = point.modelValues
    tracker.settleCircumstances()
    for change in point.changes {
      tracker.changing |= 1 << UInt64(change.number)
      tracker.changed[change.number] = now - change.age
    }
    tracker.unfelt = point.unfelt
    tracker.findUnsettled()
  }

  /// The point at which things stand now.
  func point(isSettled: Bool) -> ProductPoint {
    var nodes: [ProductPoint.Node] = []
    tracker.possible.forEach { number in
      guard isTimed[number] else {
        nodes.append(ProductPoint.Node(number: number, longest: .zero, shortest: .zero))
        return
      }
      let entry = tracker.entries[number]
      nodes.append(
        ProductPoint.Node(number: number, longest: now - entry.earliest, shortest: now - entry.latest))
    }
    var changes: [ProductPoint.Change] = []
    for (number, item) in tracker.specification.machine.definition.circumstances.enumerated()
    where tracker.changing >> UInt64(number) & 1 == 1 {
      let age = now - tracker.changed[number]
      // Time counts anew in the nodes that were entered before.
      let counts = nodes.contains { isTimed[$0.number] && $0.shortest > age }
      if age <= item.delay || counts { changes.append(ProductPoint.Change(number: number, age: age)) }
    }
    return ProductPoint(
      state: standing.state, shown: standing.shown,
      age: isTimedState[standing.state] ? now - standing.since : .zero,
      circumstances: standing.circumstances, values: standing.values, nodes: nodes,
      holders: standing.holders, modelCircumstances: tracker.circumstances, uncertain: tracker.uncertain,
      unfelt: tracker.unfelt & tracker.recent(at: now), modelValues: tracker.values, changes: changes,
      isSettled: isSettled)
  }

  /// How long nothing changes in what model and device may do; `nil` when it never does again by itself.
  ///
  /// Up to an end of a window; where there is none, until a circumstance that changed has had its effect. At the last
  /// moment of a window, what is due can still come in time.
  func nextEdge(_ options: [Conduct.Option]) -> Interval? {
    var next = Interval.forever
    func consider(_ time: Instant) {
      if time != .never, time > now { next = min(next, time - now) }
    }
    for option in options {
      consider(option.earliest)
      consider(option.latest)
    }
    let specification = tracker.specification
    tracker.possible.forEach { node in
      guard isTimed[node] else { return }
      let entry = tracker.entries[node]
      let shown = Int(specification.visibleStart[node])..<Int(specification.visibleStart[node + 1])
      let silent = Int(specification.silentStart[node])..<Int(specification.silentStart[node + 1])
      for step in Array(specification.visible[shown]) + Array(specification.silent[silent]) {
        if step.earliest > .zero { consider(entry.earliest + step.earliest) }
        if step.latest != .forever { consider(tracker.end(of: step, from: node)) }
      }
    }
    if next != .forever { return next }
    for (number, item) in specification.machine.definition.circumstances.enumerated()
    where tracker.changing >> UInt64(number) & 1 == 1 {
      consider(tracker.changed[number] + item.delay + .milliseconds(1))
    }
    return next == .forever ? nil : next
  }
}

extension Specification {
  /// The nodes in which it matters when they were entered.
  fileprivate func timedNodes() -> [Bool] {
    var isTimed = [Bool](repeating: false, count: nodes.count)
    func steps(of node: Int) -> [Step] {
      let shown = visible[Int(visibleStart[node])..<Int(visibleStart[node + 1])]
      let quiet = silent[Int(silentStart[node])..<Int(silentStart[node + 1])]
      return Array(shown) + Array(quiet)
    }
    for node in nodes.indices where nodes[node].pending.isEmpty {
      isTimed[node] = steps(of: node).contains { $0.earliest > .zero || $0.latest != .forever }
    }
    var hasChanged = true
    while hasChanged {
      hasChanged = false
      for node in nodes.indices where !isTimed[node] {
        let range = Int(causedStart[node * eventCount])..<Int(causedStart[(node + 1) * eventCount])
        // Times go on along what is silent, what stays, and what is still to be shown.
        var next = caused[range].filter { !$0.enters }
        next += steps(of: node).filter { $0.symbol < 0 || $0.transition < 0 || !$0.enters }
        if next.contains(where: { isTimed[Int($0.node)] }) {
          isTimed[node] = true
          hasChanged = true
        }
      }
    }
    return isTimed
  }
}
