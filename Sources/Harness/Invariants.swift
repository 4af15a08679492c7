import Automata
public import Conformance
import Models
import Basics

/// What must never happen on a machine's devices, whatever state the model is in.
///
/// Every test of the machine is watched by them, beside the model.
public func invariants(for machine: String) -> [any Invariant] {
  switch machine {
  case "sesame":
    // A bolt does not turn because nobody looks, or because somebody else does.
    let away = ["moved", "noSignal", "receivedBle", "connecting", "waitingGatt", "logining"]
    let slow = ["tampering", "absent"]
    return [
      NoViolation(unless: ["tampering"]), NeverRises("battery"),
      NeedsStimulus(
        "unlocked", from: "locked", passing: away,
        after: ["unlock", "toggle", "handToUnlocked", "handToMoved"], slow: slow),
      NeedsStimulus(
        "locked", from: "unlocked", passing: away, after: ["lock", "toggle", "handToLocked", "handToMoved"],
        orStanding: ["setAutolock"], slow: slow),
      CommandsKeepTheirTags(unless: ["mutate", "reflect", "write", "inject"]),
    ]
  default:
    return []
  }
}
