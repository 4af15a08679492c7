import Basics

// How tests give one request so often in a row that a counter of one byte overflows.

extension Explorer {
  /// Returns whether to start a wrapping streak of the last stimulus, which has led back to the position in which it
  /// was given.
  ///
  /// Each stimulus has streaks in two positions of a campaign, since one of them may not show the fault. A forbidden
  /// stimulus has one streak, later. Streaks are made only if events are the only cost, and take a limited share of
  /// the events.
  mutating func wraps(in explorationState: ExplorationState) -> Bool {
    guard isFree, uses(.wrapping), streak.left == 0, !isEnduring, let choice = lastChoice,
      events > (choice.isForbidden ? Self.wrappingRefusals : Self.wrappingBegins),
      explorationState.admits(choice, alphabet),
      wrapped[Int(choice.act)].count < (choice.isForbidden ? 1 : 2),
      !wrapped[Int(choice.act)].contains(explorationState.position),
      settings.isSimulated || explorationState.idle >> UInt64(choice.act) & 1 == 1,
      Double(spent.wrapping) <= Self.enduranceShare * Double(events),
      test.choices.count + Self.streakLength + Self.aftermath < settings.longest
    else { return false }
    wrapped[Int(choice.act)].append(explorationState.position)
    streak = (choice, explorationState.position, Self.streakLength - 1, true)
    spent.wrapping += Self.streakLength
    plan.end = .max
    plan.length = max(plan.length, test.choices.count + Self.streakLength + Self.aftermath)
    return true
  }
}
