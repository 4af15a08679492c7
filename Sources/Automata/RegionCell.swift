/// A case of the conditions and options on which the rows of one event depend: in it, it is certain which rows apply.
struct RegionCell: Hashable {
  /// The conditions of which at least one holds; empty for no requirement.
  var given: [String]
  /// The conditions of which none holds.
  var unless: [String]
  /// The options of which the device has one; empty for every device.
  var options: [String]
}

extension RegionCell {
  /// A case before its requirements are joined.
  struct Split {
    /// The sets of conditions of each of which at least one holds.
    fileprivate var positive: [Set<String>] = []
    /// The conditions of which none holds.
    fileprivate var negative: Set<String> = []
    fileprivate var option: String?
    /// The conditions in the order of the machine.
    fileprivate let order: [String]

    /// Whether it fulfils the conditions and options of a row.
    func fulfils(_ row: Transition) -> Bool {
      (row.given.isEmpty || positive.contains(Set(row.given)))
        && (row.unless.isEmpty || Set(row.unless).isSubset(of: negative))
        && (row.options.isEmpty || option.map(row.options.contains) ?? true)
    }

    /// The requirements in one row, or `nil` if one row cannot say them: of two sets of conditions, it can say that one
    /// of each holds only if one set is part of the other.
    var joined: RegionCell? {
      let remaining = positive.map { $0.subtracting(negative) }
      let least = remaining.first { set in remaining.allSatisfy { set.isSubset(of: $0) } }
      guard let given = least ?? (remaining.isEmpty ? [] : nil) else { return nil }
      return RegionCell(
        given: order.filter(given.contains), unless: order.filter(negative.contains),
        options: option.map { [$0] } ?? [])
    }
  }

  /// The maximum number of sets of conditions on which the rows of one event may depend.
  private static let maximum = 12

  /// Returns the cases of some rows, or `nil` if their options belong to several choices.
  static func cells(of rows: [Transition], in machine: MachineDefinition) -> [Split]? {
    let options = Set(rows.flatMap(\.options))
    let choices = machine.choices.filter { !options.isDisjoint(with: $0.options) }
    guard choices.count < 2 else { return nil }
    var sets: [Set<String>] = []
    for names in rows.flatMap({ [$0.given, $0.unless] }) where !names.isEmpty {
      if !sets.contains(Set(names)) { sets.append(Set(names)) }
    }
    guard sets.count <= maximum else { return nil }
    let order = machine.conditions.map(\.name)
    var cells: [Split] = []
    for option in choices.first.map({ $0.options.map(Optional.some) }) ?? [nil] {
      for bits in 0..<(1 << sets.count) {
        var cell = Split(option: option, order: order)
        for (number, set) in sets.enumerated() {
          if bits >> number & 1 == 1 { cell.positive.append(set) } else { cell.negative.formUnion(set) }
        }
        // A set of conditions none of which holds has none that does.
        if cell.positive.allSatisfy({ !$0.isSubset(of: cell.negative) }) { cells.append(cell) }
      }
    }
    return cells
  }
}
