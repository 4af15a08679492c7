import Automata
public import Conformance
import Models

/// What must never happen on a machine's devices, whatever state the model is in.
///
/// Every test of the machine is watched by them, beside the model.
public func invariants(for machine: String) -> [any Invariant] {
  switch machine {
  case "sesame":
    let loss = MachineDefinition.sesame.circumstances.first { $0.name == "loss" }
    return [
      NoViolation(unless: ["loss"] + (loss?.faults ?? [])), NeverRises("battery"),
      NeedsStimulus(
        "unlocked", from: "locked", passing: ["moved"],
        after: ["unlock", "toggle", "handToUnlocked", "handToMoved"]),
    ]
  default:
    return []
  }
}
