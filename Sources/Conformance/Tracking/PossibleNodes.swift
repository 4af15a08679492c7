import Basics

/// The possible nodes in ascending order, each with the time at which it can have been entered.
///
/// The cost depends on the number of possible nodes, not on the size of the machine.
struct PossibleNodes: Sendable {
  /// A node, and the earliest and the latest moment at which it can have been entered.
  struct Member: Hashable, Sendable {
    private let number: Int32
    /// The change of ``EntryConditions`` after which it was entered; negative if its times alone decide.
    var order: Int32
    var earliest: Instant
    var latest: Instant

    init(node: Int, earliest: Instant = .zero, latest: Instant = .zero, order: Int32 = -1) {
      number = Int32(truncatingIfNeeded: node)
      self.order = order
      self.earliest = earliest
      self.latest = latest
    }

    @inline(__always) var node: Int { Int(number) }
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
  private func index(of node: Int) -> Int {
    var low = 0
    var high = members.count
    while low < high {
      let middle = (low + high) / 2
      if members[middle].node < node { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The entry of a node, if it is possible.
  func member(_ node: Int) -> Member? {
    let index = index(of: node)
    return index < members.count && members[index].node == node ? members[index] : nil
  }

  /// Makes the times alone decide when each node was entered.
  mutating func forgetOrder() { for index in members.indices { members[index].order = -1 } }

  func contains(_ node: Int) -> Bool { member(node) != nil }

  /// Adds a node; one that is present may have been entered at either time.
  ///
  /// - Returns: whether the set has changed.
  @discardableResult
  mutating func insert(_ member: Member) -> Bool {
    assert(member.earliest <= member.latest, "a node that was entered before it was entered")
    if members.isEmpty || members[members.count - 1].node < member.node {
      members.append(member)
      return true
    }
    let index = index(of: member.node)
    guard members[index].node == member.node else {
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
