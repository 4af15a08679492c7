public import Basics

/// Where a test stands before a choice: what a generator may know of it.
public struct Situation: Equatable, Sendable {
  /// A number for the possible states and the circumstances: equal where they are, whatever led there.
  public var position: UInt64
  /// The node of the specification when only one is possible, else -1.
  public var node: Int
  /// The stimuli that every possible state allows, as bits.
  public var legal: UInt64
  /// The stimuli that no possible state allows, as bits.
  public var forbidden: UInt64
  /// Those of the legal ones that change nothing in any possible state, as bits: the machine says that it stays.
  public var idle: UInt64
  /// When time alone will change what the model allows, or never; see ``Tracker/deadline``.
  public var deadline: Instant
  /// How long something may take at the most that can happen by itself now, whatever the circumstances; zero where
  /// nothing is promised within any time.
  public var window: Interval
  /// Whether the device has something to do next; see ``Tracker/isAwaiting``.
  public var isAwaiting: Bool
  /// Whether time alone will change what the model allows: there is a deadline.
  public var hasDeadline: Bool { deadline != .never }
}

extension Tracker {
  /// Where the test stands; only for machines of up to 64 events.
  ///
  /// Mutating, because it is on the path of every event, and what only reads would be handed a copy.
  public var situation: Situation {
    @inline(__always) mutating get {
      let node = possible.single
      guard isUnconditional, node >= 0 else { return openSituation }
      let legal = legalStimuli
      return Situation(
        position: UInt64(truncatingIfNeeded: node), node: node, legal: legal, forbidden: stimuliMask & ~legal,
        idle: specification.hasIdle ? specification.idle[node] : 0, deadline: .never, window: .zero,
        isAwaiting: false)
    }
  }

  /// Several states, time, or circumstances.
  private var openSituation: Situation {
    @inline(never) mutating get {
      var legal = stimuliMask
      var somewhere: UInt64 = 0
      var idle = UInt64.max
      var window = Interval.zero
      // Over what is possible and under which circumstances.
      var position = Fingerprint()
      position.mix(circumstances)
      possible.forEach { node in
        let mask = allowed(in: node)
        legal &= mask
        somewhere |= mask
        idle &= specification.idle[node]
        window = max(window, specification.windows[node])
        position.mix(UInt64(truncatingIfNeeded: node + 1))
      }
      return Situation(
        position: position.value | 1 << 63, node: possible.single, legal: legal,
        forbidden: stimuliMask & ~somewhere, idle: legal & idle, deadline: deadline ?? .never, window: window,
        isAwaiting: isAwaiting)
    }
  }

  /// The stimuli that a node allows under the circumstances.
  private func allowed(in node: Int) -> UInt64 {
    var mask: UInt64 = 0
    var candidates = specification.legal[node]
    while candidates != 0 {
      let event = candidates.trailingZeroBitCount
      candidates &= candidates &- 1
      forEachStep(on: event, from: node) { _ in mask |= 1 << UInt64(event) }
    }
    return mask
  }
}
