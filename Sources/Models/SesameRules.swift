import Automata

extension MachineDefinition {
  /// What must never happen on a Sesame lock.
  static let sesameRules: [TraceRule] = {
    // A bolt does not turn because nobody looks, or because somebody else does.
    let away = ["moved", "noSignal", "receivedBle", "connecting", "waitingGatt", "logining"]
    let slow = ["tampering", "absent"]
    return [
      .noViolation(unless: ["tampering"]), .neverRises(reading: "battery"),
      .needsStimulus(
        TraceRule.Reason(
          "unlocked", from: "locked", passing: away,
          after: ["unlock", "toggle", "handToUnlocked", "handToMoved"], slow: slow)),
      .needsStimulus(
        TraceRule.Reason(
          "locked", from: "unlocked", passing: away,
          after: ["lock", "toggle", "handToLocked", "handToMoved"],
          orStanding: ["setAutolock"], slow: slow)),
      // A lock of OS2 holds 21 bytes of a tag, one of OS3 29: what is longer is cut there by the client. What a lock must
      // pass over, such as a forgery, leaves no record.
      .keepsTags(
        TraceRule.Records(
          of: ["lock", "unlock", "toggle"], request: "readHistory", reading: "history", rest: "noSignal",
          capacities: [21, 29], unless: ["mutate", "reflect", "write", "inject"])),
    ]
  }()
}
