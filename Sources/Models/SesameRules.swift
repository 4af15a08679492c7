import Automata

extension MachineDefinition {
  /// The rules that a Sesame lock must never break.
  static let sesameRules: [TraceRule] = {
    // A bolt does not turn because no client is connected, or because another one is.
    let between = ["moved", "noSignal", "receivedBle", "connecting", "waitingGatt", "logining"]
    let slow = ["tampering", "absent"]
    return [
      .noViolation(unless: ["tampering"]), .neverRises(reading: "battery"),
      .needsStimulus(
        TraceRule.Reason(
          "unlocked", from: "locked", passing: between,
          after: ["unlock", "toggle", "handToUnlocked", "handToMoved"], slow: slow)),
      .needsStimulus(
        TraceRule.Reason(
          "locked", from: "unlocked", passing: between,
          after: ["lock", "toggle", "handToLocked", "handToMoved"],
          orStanding: ["setAutolock"], slow: slow)),
      // A lock with OS2 stores 21 bytes of a tag, one with OS3 29; the client truncates a longer tag. What a lock
      // must ignore, such as a forgery, leaves no record.
      .keepsTags(
        TraceRule.Records(
          of: ["lock", "unlock", "toggle"], request: "readHistory", reading: "history", rest: "noSignal",
          capacities: [21, 29], unless: ["mutate", "reflect", "write", "inject"])),
    ]
  }()
}
