import Basics

// The options of choices as bits: which a device that is somewhere may have.

extension Machine {
  /// Every option of every choice.
  public var allOptions: UInt64 { choices.reduce(0) { $0 | $1 } }

  /// The options that a device still may have when it went along an edge; `nil` where its options do not let it.
  public func options(_ options: UInt64, along edge: Edge) -> UInt64? {
    guard edge.options != 0 else { return options }
    let common = options & edge.options
    return common == 0 ? nil : options & ~choice(of: edge.options) | common
  }

  /// All options of the choice that some options are of.
  private func choice(of options: UInt64) -> UInt64 { choices.first { $0 & options != 0 } ?? 0 }

  /// The options of those choices that matter in a state as soon as it is entered: there the device is told apart by what
  /// it does not do.
  ///
  /// Rows that only may be taken tell devices apart when they are. What has to be taken by a time, or a stimulus that is
  /// refused with one option and not with another, does so before.
  public func decidingOptions(in state: Int) -> UInt64 {
    choices.reduce(0) { $0 | (isDecided($1, in: state) ? $1 : 0) }
  }

  private func isDecided(_ choice: UInt64, in state: Int) -> Bool {
    if spontaneous[state].contains(where: { $0.options & choice != 0 && $0.latest != .forever }) {
      return true
    }
    return (0..<eventCount).contains { event in
      let edges = edges(from: state, on: event)
      guard edges.contains(where: { $0.options & choice != 0 }) else { return false }
      return bits(of: choice).contains { option in
        let own = edges.filter { $0.options == 0 || $0.options & option != 0 }
        return Guard.mayAllFail(own.map(\.guard), under: 0, open: .max)
      }
    }
  }

  /// Some options apart, wherever a choice of them matters: each has one option of those.
  public func variants(of options: UInt64, deciding: UInt64) -> [UInt64] {
    var variants = [options]
    for choice in choices where choice & deciding != 0 {
      variants = variants.flatMap { variant in
        bits(of: variant & choice).map { variant & ~choice | $0 }
      }
    }
    return variants
  }

  /// Every way in which a device can have chosen.
  public var variants: [UInt64] { variants(of: allOptions, deciding: .max) }

  /// Whether each state is reached by a device with the first option of each choice: the usual one. Without choices all
  /// states are usual.
  public var usualStates: [Bool] {
    guard !choices.isEmpty else { return [Bool](repeating: true, count: stateCount) }
    let usual = variants[0]
    let starts = definition.starts.compactMap { state(named: $0.state) }
    let reached = StateSpace<Int, Void>.reached(from: starts) { state in
      edges(from: state).filter { $0.options == 0 || $0.options & usual != 0 }.map(\.target)
    }
    return reached.reduce(into: [Bool](repeating: false, count: stateCount)) { $0[$1] = true }
  }

  private func bits(of options: UInt64) -> [UInt64] {
    (0..<UInt64(UInt64.bitWidth)).map { 1 << $0 }.filter { $0 & options != 0 }
  }
}
