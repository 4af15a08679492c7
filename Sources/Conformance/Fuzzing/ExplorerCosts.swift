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
    /// For the machine's windows to open and close.
    case window
    /// For what the model does not promise, or has called off.
    case doubt
    /// For what nothing in the machine asks for.
    case silence
    /// For the device to do what it was seen to take long for, such as an answer that comes by its timeout alone.
    case settling

    /// The part of the time that it may take; silence takes it once for each length. About a half in all where one
    /// length is silence: the rest is left for what is asked of the device. Doubts have most of it: what a device does
    /// that it must not shows by them alone, and with half their part one such fault in ten is not found in eight hours.
    var share: Double {
      switch self {
      case .window: 0.08
      case .doubt: 0.24
      case .silence: 0.12
      case .settling: 0.08
      }
    }
  }

  /// The longest wait that is worth while where the machine has no window: what is on its way is on its way no longer.
  private static let moment = Interval.seconds(1)

  /// Whether the shares are kept.
  var hasShares = true
  /// Whether neither the device's time nor its wear costs anything.
  var isFree = false
  /// The time that passed in all tests, in seconds.
  private(set) var spent = 0.0
  /// The choices that were made, and how much of ``spent`` was not waited.
  private var choices = 0
  private var own = 0.0
  /// What was waited for each purpose.
  private var waited = [Double](repeating: 0, count: Purpose.allCases.count)
  /// How long each variant of waiting is, and what was waited so in silence.
  private let lengths: [Interval]
  private var silences: [Double]
  /// How long settling took where the device was let settle last, by a hash of the position, in seconds.
  private var settling = [Double](repeating: 0, count: 1 << settlingBits)
  /// The first variant that no window of the machine is as long as.
  private let firstSilence: Int
  /// The most stimuli that a situation was seen to allow.
  private var maximumLegal = 0
  /// What the choice that was made last waits for.
  private var purpose: Purpose?

  /// - Parameters:
  ///   - waits: the variants of waiting, the shortest first.
  ///   - longestWindow: how long the longest window of the machine is.
  init(waits: [TestAction], longestWindow: Interval) {
    lengths = waits.map { if case .wait(let length) = $0 { length } else { .zero } }
    firstSilence = lengths.firstIndex { $0 > longestWindow } ?? lengths.count
    silences = [Double](repeating: 0, count: lengths.count)
  }

  /// Time has passed since the last choice, which waited for something or for nothing.
  mutating func pass(_ time: Interval, waiting variant: Int?) {
    spent += time.seconds
    choices += 1
    guard let purpose else {
      if variant == nil { own += time.seconds }
      return
    }
    waited[purpose.rawValue] += time.seconds
    if purpose == .silence, let variant { silences[variant] += time.seconds }
    self.purpose = nil
  }

  private static let settlingBits = 14
  /// What takes longer to settle than any motion and any answer does is waiting, in seconds.
  private static let slow = 3.0

  private func slot(of position: UInt64) -> Int { Int(mix(position) >> UInt64(64 - Self.settlingBits)) }

  /// Records that the device settled at a position.
  mutating func recordSettling(at position: UInt64, in time: Interval) {
    settling[slot(of: position)] = time.seconds
    guard time.seconds > Self.slow else { return }
    waited[Purpose.settling.rawValue] += time.seconds
    own -= time.seconds
  }

  /// Whether there is time to let the device settle at a position, by what that took there before.
  func maySettle(at position: UInt64) -> Bool {
    settling[slot(of: position)] <= Self.slow || allows(.settling)
  }

  /// A device whose answers take less than this, each, in seconds, takes no time of its own. It takes some choices to tell.
  private static let quickest = 0.01
  /// What silence may take for each choice with such a device: of what passes there nothing would be left for it.
  private static let grant = 0.25

  /// Whether nothing but waiting lets time pass: then it costs nothing that is not for waiting.
  private var isQuick: Bool { isFree || choices >= 100 && own < Self.quickest * Double(choices) }

  /// Whether there is time for another wait, whatever it takes.
  private func allows(_ purpose: Purpose) -> Bool {
    !hasShares || isQuick || waited[purpose.rawValue] <= purpose.share * spent
  }

  /// The waits that have a meaning in a situation and that there is time for.
  mutating func waits(in explorationState: ExplorationState) -> Range<Int> {
    purpose = .window
    let longest = max(explorationState.window, Self.moment)
    let budget =
      isQuick ? .infinity : Purpose.window.share * spent - waited[Purpose.window.rawValue]
    let count = lengths.firstIndex { $0 > longest || $0.seconds > budget } ?? lengths.count
    return 0..<max(count, 1)
  }

  /// Whether there is time to wait for a window of the machine so long; it is counted as that.
  mutating func mayWait(_ time: Interval) -> Bool {
    guard isQuick || time.seconds <= Purpose.window.share * spent - waited[Purpose.window.rawValue] else {
      return false
    }
    purpose = .window
    return true
  }

  /// The wait that is just longer than what might still happen, if there is time for it.
  mutating func doubt(for time: Interval) -> Int? {
    guard allows(.doubt),
      let variant = lengths[..<(isFree ? lengths.count : firstSilence)].firstIndex(where: { $0 > time })
    else { return nil }
    purpose = .doubt
    return variant
  }

  /// The silence whose share has gathered, where a situation is worth it: the longest of them.
  mutating func silence(in explorationState: ExplorationState) -> Int? {
    guard isRich(explorationState) else { return nil }
    let share = Purpose.silence.share * (isQuick ? max(spent, Self.grant * Double(choices)) : spent)
    return (firstSilence..<lengths.count).last { lengths[$0].seconds + silences[$0] <= share }
  }

  /// Whether nearly all is legal that ever was, so that what was broken would show.
  mutating func isRich(_ explorationState: ExplorationState) -> Bool {
    let legal = explorationState.legal.nonzeroBitCount
    maximumLegal = max(maximumLegal, legal)
    return 4 * legal >= 3 * maximumLegal
  }

  /// Whether a variant of waiting is longer than all that the machine knows.
  func isSilence(_ variant: Int) -> Bool { variant >= firstSilence }

  /// A silence was chosen.
  mutating func beginSilence() { purpose = .silence }
}
