import Simulation

/// What a campaign has spent on a device whose time passes and whose motor wears, and what it may spend on waiting.
///
/// Time passes in every test, mostly because something was asked of the device. Waits are another matter: a test draws
/// them because something might come of silence. They get a share of the time and no more, so the longer a wait is,
/// the rarer; and what nothing in the machine asks for, such as ten minutes of silence, is planned: it comes when
/// its share has gathered, and then where the device could be asked for most.
struct ExplorerCosts: Sendable {
  /// The part of the time that waits may take which are no longer than the machine's own windows, edges included.
  private static let usualShare = 0.15
  /// The part that each longer wait may take.
  private static let longShare = 0.15

  /// Every time that passed, in seconds.
  private(set) var spent = 0.0
  /// What was waited, in waits within the machine's windows.
  private var usual = 0.0
  /// What was waited in each of the longer waits.
  private var long: [Double]
  /// How long each variant of waiting is, and from which on none of the machine's windows is as long.
  private let lengths: [Double]
  private let firstLong: Int
  /// The most stimuli that a situation was seen to allow.
  private var mostLegal = 0

  /// - Parameters:
  ///   - waits: the variants of waiting, the shortest first.
  ///   - longestWindow: how long the longest window of the machine is.
  init(waits: [TestAction], longestWindow: Interval) {
    lengths = waits.map { if case .wait(let length) = $0 { length.seconds } else { 0 } }
    firstLong = lengths.firstIndex { $0 > longestWindow.seconds } ?? lengths.count
    long = [Double](repeating: 0, count: lengths.count)
  }

  /// Time has passed, which one of the waits was, or an edge, or neither.
  mutating func pass(_ time: Interval, asWait variant: Int?, isEdge: Bool) {
    spent += time.seconds
    if let variant, variant >= firstLong {
      long[variant] += time.seconds
    } else if variant != nil || isEdge {
      usual += time.seconds
    }
  }

  /// Whether an edge, or a wait within the machine's windows, may be drawn now.
  var allowsUsual: Bool { usual <= Self.usualShare * spent }

  /// The waits that may be drawn at any place now.
  var usualWaits: Range<Int> {
    let limit = Self.usualShare * spent - usual
    let count = lengths[..<firstLong].firstIndex { $0 > limit } ?? firstLong
    return 0..<max(count, min(1, lengths.count))
  }

  /// The long wait whose share has gathered, where a situation is worth it: the longest of them.
  mutating func dueWait(in situation: Situation) -> Int? {
    let legal = situation.legal.nonzeroBitCount
    mostLegal = max(mostLegal, legal)
    guard 4 * legal >= 3 * mostLegal else { return nil }
    return (firstLong..<max(lengths.count, firstLong)).last { lengths[$0] + long[$0] <= Self.longShare * spent }
  }
}
