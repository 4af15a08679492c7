import Conformance
public import Testing

/// Compares a value with what was expected and points at the caller when they differ.
///
/// One function for whole action lists and traces: cheaper to compile than `#expect` at every place.
public func expect<Value: Equatable>(
  _ actual: Value, _ expected: Value, sourceLocation: SourceLocation = #_sourceLocation
) {
  #expect(actual == expected, sourceLocation: sourceLocation)
}
