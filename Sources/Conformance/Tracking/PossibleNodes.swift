import Basics

/// The possible nodes in ascending order, each with the time at which it can have been entered.
///
/// The cost depends on the number of possible nodes, not on the size of the machine.
struct PossibleNodes: Sendable {
  /// A node, and the earliest and the latest moment at which it can have been entered.
  struct Member: Hashable, Sendable {
    private let number: Int32
    /// The number of the valuation of the machine's variables; zero in a machine without data.
    var valuation: Int32
    /// The change of ``EntryConditions`` after which it was entered; negative if its times alone decide.
    var order: Int32
    var earliest: Instant
    var latest: Instant

    init(
      node: Int, valuation: Int32 = 0, earliest: Instant = .zero, latest: Instant = .zero, order: Int32 = -1
    ) {
      number = Int32(truncatingIfNeeded: node)
      self.valuation = valuation
      self.order = order
      self.earliest = earliest
      self.latest = latest
    }

    @inline(__always) var node: Int { Int(number) }

    /// What distinguishes it from other members: the node, and then the valuation.
    @inline(__always) var key: Int64 { Int64(number) << 32 | Int64(valuation) }
  }

  private(set) var members: [Member] = []

  var isEmpty: Bool { members.isEmpty }

  /// The only node, or -1 if there are none or several.
  @inline(__always) var single: Int { members.count == 1 ? members[0].node : -1 }

  /// Removes all nodes, and keeps the capacity.
  @inline(__always)
  mutating func removeAll() { members.removeAll(keepingCapacity: true) }

  /// Copies another set; each keeps its own storage.
  mutating func copy(_ other: PossibleNodes) {
    members.removeAll(keepingCapacity: true)
    members.append(contentsOf: other.members)
  }

  /// Returns the index of a node, or the index at which to insert it.
  private func index(of key: Int64) -> Int {
    var low = 0
    var high = members.count
    while low < high {
      let middle = (low + high) / 2
      if members[middle].key < key { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The entry of a node with a valuation, if it is possible.
  func member(_ node: Int, _ valuation: Int32) -> Member? {
    let key = Member(node: node, valuation: valuation).key
    let index = index(of: key)
    return index < members.count && members[index].key == key ? members[index] : nil
  }

  /// Makes the times alone decide when each node was entered.
  mutating func forgetOrder() { for index in members.indices { members[index].order = -1 } }

  func contains(_ member: Member) -> Bool { self.member(member.node, member.valuation) != nil }

  /// Changes the number of each valuation.
  mutating func renumber(_ number: (Int32) -> Int32) {
    for index in members.indices { members[index].valuation = number(members[index].valuation) }
    members.sort { $0.key < $1.key }
  }

  /// Adds a node; one that is present may have been entered at either time.
  ///
  /// - Returns: whether the set has changed.
  @discardableResult
  mutating func insert(_ member: Member) -> Bool {
    assert(member.earliest <= member.latest, "a node that was entered before it was entered")
    if members.isEmpty || members[members.count - 1].key < member.key {
      members.append(member)
      return true
    }
    let index = index(of: member.key)
    guard members[index].key == member.key else {
      members.insert(member, at: index)
      return true
    }
    let old = members[index]
    members[index].earliest = min(old.earliest, member.earliest)
    members[index].latest = max(old.latest, member.latest)
    if member.order != old.order { members[index].order = -1 }
    return members[index] != old
  }
}
