import Basics

/// The time and wear that a campaign has spent on a device, and the time that it may spend on waits.
///
/// Time passes in every test, mostly because the device works on a request. A test draws a wait only because silence
/// might show something. Each purpose of waiting gets a share of the time, so the longer a wait is, the rarer. A wait
/// that nothing in the machine requires, such as ten minutes of silence, is planned. It comes when its share has
/// accumulated, in a state in which the device accepts many requests.
struct ExplorerCosts: Sendable {
  /// The purpose of a wait.
  enum Purpose: Int, CaseIterable, Sendable {
    /// To reach the beginning or the end of a window of the machine.
    case window
    /// To see an event that the model does not promise, or that was cancelled.
    case doubt
    /// To pass a time that nothing in the machine requires.
    case silence
    /// To let the device finish something that was seen to take long, such as a response that only its timeout ends.
    case settling

    /// The share of the time for this purpose; silence gets it once for each length. With one length of silence, the
    /// shares add up to about a half; the rest is left for requests. Doubts get most: only they show that a device
    /// acts when it must not. With half their share, a tenth of such faults is not found in eight hours.
    var share: Double {
      switch self {
      case .window: 0.08
      case .doubt: 0.24
      case .silence: 0.12
      case .settling: 0.08
      }
    }
  }

  /// The longest useful wait if the machine has no window: whatever is in transit arrives within it.
  private static let minimumHorizon = Interval.seconds(1)

  /// Whether the shares limit the waits.
  var hasShares = true
  /// Whether neither time nor wear costs anything.
  var isFree = false
  /// The time that passed in all tests, in seconds.
  private(set) var spent = 0.0
  /// The number of choices made, and the part of ``spent`` that was not spent waiting.
  private var choices = 0
  private var busyTime = 0.0
  /// The time waited for each purpose, in seconds.
  private var waited = [Double](repeating: 0, count: Purpose.allCases.count)
  /// The length of each variant of waiting, and the time waited in silence with it, in seconds.
  private let lengths: [Interval]
  private var silences: [Double]
  /// How long settling last took in a position, by a hash of the position, in seconds.
  private var settling = [Double](repeating: 0, count: 1 << settlingBits)
  /// The first variant that is longer than every window of the machine.
  private let firstSilence: Int
  /// The largest number of stimuli that were legal at once.
  private var maximumLegal = 0
  /// The purpose of the wait that was chosen last; `nil` if that was not a wait for a purpose.
  private var purpose: Purpose?

  /// - Parameters:
  ///   - waits: the variants of waiting, the shortest first.
  ///   - longestWindow: the length of the longest window of the machine.
  init(waits: [TestAction], longestWindow: Interval) {
    lengths = waits.map { if case .wait(let length) = $0 { length } else { .zero } }
    firstSilence = lengths.firstIndex { $0 > longestWindow } ?? lengths.count
    silences = [Double](repeating: 0, count: lengths.count)
  }

  /// Accounts for the time that the last choice took.
  ///
  /// - Parameters:
  ///   - time: the device's time that has passed.
  ///   - variant: the variant of waiting, if the choice was a wait.
  mutating func pass(_ time: Interval, waiting variant: Int?) {
    spent += time.seconds
    choices += 1
    guard let purpose else {
      if variant == nil { busyTime += time.seconds }
      return
    }
    waited[purpose.rawValue] += time.seconds
    if purpose == .silence, let variant { silences[variant] += time.seconds }
    self.purpose = nil
  }

  private static let settlingBits = 14
  /// The limit from which settling counts as waiting, in seconds: no motion and no response takes longer.
  private static let settlingLimit = 3.0

  private func slot(of position: UInt64) -> Int { Int(mix(position) >> UInt64(64 - Self.settlingBits)) }

  /// Records how long the device took to settle in a position.
  mutating func recordSettling(at position: UInt64, in time: Interval) {
    settling[slot(of: position)] = time.seconds
    guard time.seconds > Self.settlingLimit else { return }
    waited[Purpose.settling.rawValue] += time.seconds
    busyTime -= time.seconds
  }

  /// Returns whether there is time to let the device settle in a position, considering how long it took there before.
  func maySettle(at position: UInt64) -> Bool {
    settling[slot(of: position)] <= Self.settlingLimit || allows(.settling)
  }

  /// The average time per choice, in seconds, below which a device takes no time of its own. It takes some choices to
  /// tell.
  private static let quickest = 0.01
  /// The time for silence per choice with such a device, in seconds: a share of its own time would be next to
  /// nothing.
  private static let silencePerChoice = 0.25

  /// Whether time passes only in waits: then waits need no limit.
  private var isQuick: Bool { isFree || choices >= 100 && busyTime < Self.quickest * Double(choices) }

  /// Returns whether there is time for another wait for a purpose, however long it is.
  private func allows(_ purpose: Purpose) -> Bool {
    !hasShares || isQuick || waited[purpose.rawValue] <= purpose.share * spent
  }

  /// Returns the variants of waiting that are useful in the current situation and within the budget.
  mutating func waits(in explorationState: ExplorationState) -> Range<Int> {
    purpose = .window
    let longest = max(explorationState.window, Self.minimumHorizon)
    let budget =
      isQuick ? .infinity : Purpose.window.share * spent - waited[Purpose.window.rawValue]
    let count = lengths.firstIndex { $0 > longest || $0.seconds > budget } ?? lengths.count
    return 0..<max(count, 1)
  }

  /// Returns whether there is time to wait this long for a window of the machine, and if so counts the next wait as
  /// such.
  mutating func mayWait(_ time: Interval) -> Bool {
    guard isQuick || time.seconds <= Purpose.window.share * spent - waited[Purpose.window.rawValue] else {
      return false
    }
    purpose = .window
    return true
  }

  /// Returns the shortest wait that outlasts a pending event, if there is time for it.
  mutating func doubt(for time: Interval) -> Int? {
    guard allows(.doubt),
      let variant = lengths[..<(isFree ? lengths.count : firstSilence)].firstIndex(where: { $0 > time })
    else { return nil }
    purpose = .doubt
    return variant
  }

  /// Returns the longest silence whose share has accumulated, if the situation is worth it.
  mutating func silence(in explorationState: ExplorationState) -> Int? {
    guard isRich(explorationState) else { return nil }
    let share =
      Purpose.silence.share * (isQuick ? max(spent, Self.silencePerChoice * Double(choices)) : spent)
    return (firstSilence..<lengths.count).last { lengths[$0].seconds + silences[$0] <= share }
  }

  /// Returns whether nearly as many stimuli are legal as ever were, so that a fault would show.
  mutating func isRich(_ explorationState: ExplorationState) -> Bool {
    let legal = explorationState.legal.nonzeroBitCount
    maximumLegal = max(maximumLegal, legal)
    return 4 * legal >= 3 * maximumLegal
  }

  /// Returns whether a variant of waiting is longer than every window of the machine.
  func isSilence(_ variant: Int) -> Bool { variant >= firstSilence }

  /// Counts the next wait as silence.
  mutating func beginSilence() { purpose = .silence }
}
