import Basics

// How a request is given as often in a row as a byte counts.

extension Explorer {
  /// Whether what was just given, and has led to where it was given, is now given again as often as a byte counts: in a campaign in
  /// two positions, since in one of them it may not show; what is to be refused later and in one. Where nothing but events is
  /// spent, of which it takes no more than a part.
  mutating func wraps(in explorationState: ExplorationState) -> Bool {
    guard isFree, uses(.wrapping), insistence.left == 0, !isEnduring, let choice = lastChoice,
      events > (choice.isForbidden ? Self.wrappingRefusals : Self.wrappingBegins),
      explorationState.admits(choice, alphabet),
      wrapped[Int(choice.act)].count < (choice.isForbidden ? 1 : 2),
      !wrapped[Int(choice.act)].contains(explorationState.position),
      settings.isSimulated || explorationState.idle >> UInt64(choice.act) & 1 == 1,
      Double(spent.wrapping) <= Self.endured * Double(events),
      test.choices.count + Self.wrapping + Self.aftermath < settings.longest
    else { return false }
    wrapped[Int(choice.act)].append(explorationState.position)
    insistence = (choice, explorationState.position, Self.wrapping - 1, true)
    spent.wrapping += Self.wrapping
    plan.end = .max
    plan.length = max(plan.length, test.choices.count + Self.wrapping + Self.aftermath)
    return true
  }
}
