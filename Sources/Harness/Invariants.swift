public import Conformance

/// What must never happen on a machine's devices, whatever state the model is in.
///
/// Every test of the machine is watched by them, beside the model.
public func invariants(for machine: String) -> [any Invariant] {
  []
}
