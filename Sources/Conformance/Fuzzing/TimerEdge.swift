import Automata
public import Basics

/// A moment relative to a bound of a timer of the device: locks have their race conditions there.
///
/// A timer that may end between 6.9 s and 7.1 s after its state was entered has two bounds by the model, and one
/// moment at which this device ends it. A stimulus just before or just after that moment crosses what the device does
/// by itself.
public struct TimerEdge: Hashable, Sendable {
  /// The moment that the offset refers to.
  public enum Anchor: Hashable, Sendable {
    /// When the device last ended the timer, counted from the entry of the state. Until that was seen, it is the
    /// middle between the two bounds.
    case expected
    /// When the timer may end at the earliest.
    case opening
    /// When the timer must end at the latest: the model's next deadline.
    case closing
  }

  /// The moment that the offset refers to.
  public var anchor: Anchor
  /// The offset from the anchor; negative if it is before.
  public var offset: Interval
  /// A further offset, in hundredths of the time from the entry of the state to the anchor.
  public var portion: Int

  /// Makes an edge.
  public init(_ anchor: Anchor, _ offset: Interval = .zero, portion: Int = 0) {
    self.anchor = anchor
    self.offset = offset
    self.portion = portion
  }

  /// Just past the model's next deadline.
  public static let past = TimerEdge(.closing, .milliseconds(1))

  /// Returns whether this moment can be distinguished from its anchor.
  ///
  /// - Parameter slack: by how much an observation may be early or late.
  func isDistinct(within slack: Interval) -> Bool {
    offset == .zero || max(offset, .zero - offset) > slack || self == .past
  }

  /// The relative frequency of waits up to this edge: most races are lost just before the device ends a timer.
  var weight: Double {
    guard anchor == .expected else { return 0.5 }
    return offset < .zero || portion < 0 ? 3 : 1
  }

  /// Returns the moments around a timer that are worth trying with a machine, the simplest first.
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

/// The bounds of the next event that the device causes by itself.
struct TimerBounds: Equatable, Sendable {
  /// When its state was entered, at the latest.
  var entry: Instant
  /// When the event may happen, at the earliest.
  var opening: Instant
  /// When the device was last seen to cause it, or the middle between the bounds.
  var expected: Instant
  /// When the model must have seen the event, including the delay of observations.
  var closing: Instant

  /// Returns the moment that an edge stands for.
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
