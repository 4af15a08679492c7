import Basics

/// The nodes that are possible, each with when it can have been entered, in rising order.
///
/// What it costs depends on how many there are, and not on how many a machine has.
struct PossibleNodes: Sendable {
  /// A node, and the earliest and the latest moment at which it can have been entered.
  struct Member: Hashable, Sendable {
    private let number: Int32
    /// After which change of ``EntryConditions`` it was entered; less than zero where its times alone tell.
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

  /// The only node, or -1 when there is none or more than one.
  @inline(__always) var single: Int { members.count == 1 ? members[0].node : -1 }

  /// Forgets all, and keeps the room for as many.
  @inline(__always)
  mutating func removeAll() { members.removeAll(keepingCapacity: true) }

  /// Takes over what another has; the room of each stays its own.
  mutating func copy(_ other: PossibleNodes) {
    members.removeAll(keepingCapacity: true)
    members.append(contentsOf: other.members)
  }

  /// The place of a node, or where it would be.
  private func place(of node: Int) -> Int {
    var low = 0
    var high = members.count
    while low < high {
      let middle = (low + high) / 2
      if members[middle].node < node { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// A node with its times, if it is possible.
  func member(_ node: Int) -> Member? {
    let place = place(of: node)
    return place < members.count && members[place].node == node ? members[place] : nil
  }

  /// Lets the times alone tell when each was entered.
  mutating func forgetOrder() { for place in members.indices { members[place].order = -1 } }

  func contains(_ node: Int) -> Bool { member(node) != nil }

  /// Adds a node; one that is there already may have been entered at either time.
  ///
  /// - Returns: whether that is news.
  @discardableResult
  mutating func insert(_ member: Member) -> Bool {
    assert(member.earliest <= member.latest, "a node that was entered before it was entered")
    if members.isEmpty || members[members.count - 1].node < member.node {
      members.append(member)
      return true
    }
    let place = place(of: member.node)
    guard members[place].node == member.node else {
      members.insert(member, at: place)
      return true
    }
    let old = members[place]
    members[place].earliest = min(old.earliest, member.earliest)
    members[place].latest = max(old.latest, member.latest)
    if member.order != old.order { members[place].order = -1 }
    return members[place] != old
  }
}
