import Basics

// The options of choices as bit masks: the options that a device in some state may have.

extension Machine {
  /// Every option of every choice.
  public var allOptions: UInt64 { choices.reduce(0) { $0 | $1 } }

  /// Returns the options that a device may still have after it took an edge, or `nil` if its options exclude the
  /// edge.
  public func options(_ options: UInt64, along edge: Edge) -> UInt64? {
    guard edge.options != 0 else { return options }
    let common = options & edge.options
    return common == 0 ? nil : options & ~choice(of: edge.options) | common
  }

  /// Returns all options of the choice to which some options belong.
  private func choice(of options: UInt64) -> UInt64 { choices.first { $0 & options != 0 } ?? 0 }

  /// Returns the options of those choices that matter as soon as a state is entered: what a device does *not* do
  /// there distinguishes it.
  ///
  /// A row that only may be taken distinguishes devices when it is taken. A row that must be taken by a deadline
  /// distinguishes them earlier, and so does a stimulus that is refused with one option but not with another.
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
        // A row that asks for data may not be taken.
        let own = edges.filter { edge in
          (edge.options == 0 || edge.options & option != 0)
            && definition.transitions[edge.transition].data.when == nil
        }
        return Guard.mayAllFail(own.map(\.guard), under: 0, open: .max)
      }
    }
  }

  /// Splits options into variants, each with a single option of every choice in `deciding`.
  public func variants(of options: UInt64, deciding: UInt64) -> [UInt64] {
    var variants = [options]
    for choice in choices where choice & deciding != 0 {
      variants = variants.flatMap { variant in
        bits(of: variant & choice).map { variant & ~choice | $0 }
      }
    }
    return variants
  }

  /// All combinations of options that a device can have.
  public var variants: [UInt64] { variants(of: allOptions, deciding: .max) }

  /// Whether the usual device, which has the first option of each choice, can reach each state. Without choices, all
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
