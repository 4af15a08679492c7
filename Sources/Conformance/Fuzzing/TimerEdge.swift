import Automata
public import Basics

/// A moment at a bound of a timer of the device: where locks have their races.
///
/// A timer that may end between 6.9 s and 7.1 s after its state was entered has two bounds by the model, and one moment at which
/// this device ends it. What is given just before or just after that moment crosses what the device does by itself.
public struct TimerEdge: Hashable, Sendable {
  /// What it is counted from.
  public enum Anchor: Hashable, Sendable {
    /// When the device ended the timer the last time, counted from the entry of the state; before it was seen, the middle between
    /// the two bounds.
    case expected
    /// When the timer may end at the earliest.
    case opening
    /// When it ends at the latest: the model's next deadline.
    case closing
  }

  /// What it is counted from.
  public var anchor: Anchor
  /// How much later; less than zero is before.
  public var offset: Interval
  /// How much later beside that, in hundredths of the time from the entry of the state to the anchor.
  public var portion: Int

  /// Makes an edge.
  public init(_ anchor: Anchor, _ offset: Interval = .zero, portion: Int = 0) {
    self.anchor = anchor
    self.offset = offset
    self.portion = portion
  }

  /// Just past the model's next deadline.
  public static let past = TimerEdge(.closing, .milliseconds(1))

  /// Whether it can be told from its anchor.
  ///
  /// - Parameter slack: how far an observation's time may lie from when it happened.
  func isDistinct(within slack: Interval) -> Bool {
    offset == .zero || max(offset, .zero - offset) > slack || self == .past
  }

  /// How often it is gone to: most races are lost just before a timer ends, as the device ends it.
  var weight: Double {
    guard anchor == .expected else { return 0.5 }
    return offset < .zero || portion < 0 ? 3 : 1
  }

  /// The moments around a timer that are worth trying with a machine, the simplest first.
  static func worthTrying(in definition: MachineDefinition) -> [TimerEdge] {
    var edges = [past, TimerEdge(.closing), TimerEdge(.closing, .milliseconds(-1)), TimerEdge(.expected)]
    let offsets: [Int64] = [1, 10, 50, 200, 500]
    for offset in offsets.map({ Interval.milliseconds($0) }) {
      edges += [TimerEdge(.expected, .zero - offset), TimerEdge(.expected, offset)]
    }
    for portion in [10, 25] {
      edges += [TimerEdge(.expected, portion: -portion), TimerEdge(.expected, portion: portion)]
    }
    let hasWindows = definition.transitions.contains {
      $0.window.earliest > .zero && $0.window.earliest != $0.window.latest
    }
    guard hasWindows else { return edges }
    return edges + [-1, 0, 1].map { TimerEdge(.opening, .milliseconds($0)) }
  }
}

/// The bounds of what the device does by itself next.
struct TimerBounds: Equatable, Sendable {
  /// When its state was entered at the latest.
  var entry: Instant
  /// When it may happen at the earliest.
  var opening: Instant
  /// When the device was seen to do it, or the middle between the bounds.
  var expected: Instant
  /// When the model must have seen it: how far observations may be late included.
  var closing: Instant

  /// The moment that an edge stands for.
  func moment(of edge: TimerEdge) -> Instant {
    let anchor =
      switch edge.anchor {
      case .expected: expected
      case .opening: opening
      case .closing: closing
      }
    let portion = Interval(nanoseconds: (anchor - entry).nanoseconds / 100 * Int64(edge.portion))
    return anchor + edge.offset + portion
  }
}
