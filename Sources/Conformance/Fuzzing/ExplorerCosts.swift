import Basics

/// What a campaign has spent on a device whose time passes and whose motor wears, and what it may spend on waiting.
///
/// Time passes in every test, mostly because something was asked of the device. Waits are another matter: a test draws
/// them because something might come of silence. Each purpose of waiting gets a share of the time and no more, so
/// the longer a wait is, the rarer; and what nothing in the machine asks for, such as ten minutes of silence, is
/// planned: it comes when its share has gathered, and then where the device could be asked for most.
struct ExplorerCosts: Sendable {
  /// What is waited for.
  enum Purpose: Int, CaseIterable, Sendable {
    /// For the machine's windows to open and close, and for their edges.
    case window
    /// For what the model does not promise, or has called off.
    case doubt
    /// For what nothing in the machine asks for.
    case silence
    /// For the answer to a request that changes nothing.
    case answer
    /// For the end of what a disturbance excuses.
    case aftermath

    /// The part of the time that it may take; silence takes it once for each length.
    var share: Double {
      switch self {
      case .window: 0.08
      case .doubt, .silence: 0.12
      case .answer, .aftermath: 0.06
      }
    }
  }

  /// How many seconds a motor has for each movement: with fewer it wears out before much was found.
  private static let rest = 15.0
  /// The longest wait that is worth while where the machine has no window: what is on its way is on its way no longer.
  private static let moment = Interval.seconds(1)
  /// The part of the time that repetitions may take.
  private static let repeating = 0.45
  /// The shortest wait in which an answer comes over a radio.
  private static let reply = Interval.milliseconds(100)

  /// How long the slowest answer takes that is still one.
  private static let slowest = Interval.seconds(5)

  /// What is soon enough, in seconds, for what the device has to do to be let do.
  private static let soon = 2.0

  var hasShares = true
  /// The time that passed in all tests, in seconds.
  private(set) var spent = 0.0
  /// What was waited for each purpose.
  private var waited = [Double](repeating: 0, count: Purpose.allCases.count)
  /// How long each variant of waiting is, and what was waited so in silence.
  private let lengths: [Interval]
  private var silences: [Double]
  /// The variants in which an answer comes.
  private let replies: Range<Int>
  /// The first variant that no window of the machine is as long as.
  private let firstSilence: Int
  /// The most stimuli that a situation was seen to allow.
  private var mostLegal = 0
  /// How long the device took for what it had to do, in seconds, by position: a mean that forgets.
  private var means = [Float](repeating: 0, count: 1 << 12)
  /// How often the motor was set in motion: in passing, and where tests were about that.
  private var movements = (passing: 0, planned: 0)
  /// What the choice that was made last waits for.
  private var purpose: Purpose?
  /// Whether a cycle was being repeated when the last choice was made; and how much time that took in all.
  var isRepeating = false
  private var repeated = 0.0

  /// Whether there is time to repeat another cycle.
  var mayRepeat: Bool { !hasShares || repeated <= Self.repeating * spent }

  /// - Parameters:
  ///   - waits: the variants of waiting, the shortest first.
  ///   - longestWindow: how long the longest window of the machine is.
  init(waits: [TestAction], longestWindow: Interval) {
    lengths = waits.map { if case .wait(let length) = $0 { length } else { .zero } }
    let firstReply = lengths.firstIndex { $0 >= Self.reply } ?? lengths.count
    replies = firstReply..<(lengths.firstIndex { $0 > Self.moment } ?? lengths.count)
    firstSilence = lengths.firstIndex { $0 > longestWindow } ?? lengths.count
    silences = [Double](repeating: 0, count: lengths.count)
  }

  /// The motor was set in motion.
  mutating func move(isPlanned: Bool) {
    if isPlanned { movements.planned += 1 } else { movements.passing += 1 }
  }

  /// Whether the motor has worked as much as it should by now: once for so much time, half of that planned, and a few
  /// times at once.
  func isWorn(isPlanned: Bool) -> Bool {
    Double(isPlanned ? movements.planned : movements.passing) > 5 + spent / (2 * Self.rest)
  }

  /// Time has passed since the last choice, which waited for something or for nothing.
  mutating func pass(_ time: Interval, waiting variant: Int?, isEdge: Bool) {
    spent += time.seconds
    if isRepeating { repeated += time.seconds }
    if isEdge { purpose = .window }
    guard let purpose else { return }
    waited[purpose.rawValue] += time.seconds
    if purpose == .silence, let variant { silences[variant] += time.seconds }
    self.purpose = nil
  }

  /// The device was let do what it had to do at a position.
  mutating func settle(_ time: Interval, at position: UInt64) {
    let place = Int(mix(position) >> 52)
    means[place] += (Float(time.seconds) - means[place]) / 4
  }

  /// How readily time is given for what the device has to do at a position: 1 where that takes no time worth speaking of.
  func ease(ofSettlingAt position: UInt64) -> Double {
    min(Self.soon / max(Double(means[Int(mix(position) >> 52)]), Self.soon), 1)
  }

  /// Whether there is time for an edge, or for another wait, whatever it takes.
  func allows(_ purpose: Purpose) -> Bool { !hasShares || waited[purpose.rawValue] <= purpose.share * spent }

  /// The waits that have a meaning in a situation and that there is time for.
  mutating func waits(in situation: Situation) -> Range<Int> {
    purpose = .window
    let longest = max(situation.window, Self.moment)
    let budget = Purpose.window.share * spent - waited[Purpose.window.rawValue]
    let count = lengths.firstIndex { $0 > longest || $0.seconds > budget } ?? lengths.count
    return 0..<max(count, 1)
  }

  /// The wait that is just longer than what might still happen, if there is time for it.
  mutating func doubt(for time: Interval) -> Int? {
    guard allows(.doubt), let variant = lengths[..<firstSilence].firstIndex(where: { $0 > time }) else {
      return nil
    }
    purpose = .doubt
    return variant
  }

  /// The waits in which an answer comes, if there is time for one.
  mutating func answers() -> Range<Int>? {
    guard allows(.answer), !replies.isEmpty else { return nil }
    purpose = .answer
    return replies
  }

  /// A wait in which the slowest answer comes.
  mutating func reply() -> Int? {
    guard let variant = lengths.firstIndex(where: { $0 > Self.slowest }) else { return nil }
    purpose = .silence
    return variant
  }

  /// The wait that is just longer than something is excused, if there is time for it.
  mutating func aftermath(of time: Interval) -> Int? {
    guard time > .zero, allows(.aftermath), let variant = lengths.firstIndex(where: { $0 > time }) else {
      return nil
    }
    purpose = .aftermath
    return variant
  }

  /// The silence whose share has gathered, where a situation is worth it: the longest of them.
  mutating func silence(in situation: Situation) -> Int? {
    let legal = situation.legal.nonzeroBitCount
    mostLegal = max(mostLegal, legal)
    guard 4 * legal >= 3 * mostLegal else { return nil }
    let share = Purpose.silence.share * spent
    return (firstSilence..<lengths.count).last { lengths[$0].seconds + silences[$0] <= share }
  }

  /// Whether a variant of waiting is longer than all that the machine knows.
  func isSilence(_ variant: Int) -> Bool { variant >= firstSilence }

  /// A silence was chosen.
  mutating func beginSilence() { purpose = .silence }
}
