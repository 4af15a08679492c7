import Conformance

extension [Disturbance] {
  /// Whether a program can be told of a fault with this value, by the values that it offers: a word that stands for none of them
  /// would be taken for true by most languages, and the model would take the fault for begun.
  func check(_ fault: Fault) throws(LabFault) {
    guard let offered = first(where: { $0.fault == fault.name })?.values else { return }
    let value = fault.value
    if value.isYesOrNo || offered.contains(value) { return }
    // What begins and ends may also last for a time.
    let isFlag = offered.allSatisfy(\.isYesOrNo)
    switch value {
    case .text: if offered.contains(where: \.isText) { return }
    case .duration: return
    case .flag, .integer, .number: if !isFlag { return }
    }
    let name = fault.name
    guard isFlag else {
      let values = offered.map { "`\($0)`" }.joined(separator: ", ")
      throw fault.problem(expecting: "values such as \(values)")
    }
    throw LabFault(
      .notPossible,
      "\(fault.problem(expecting: "yes or no").detail): `fault: \(name)` begins it, `fault: { \(name): off }` ends it"
    )
  }
}

extension Value {
  fileprivate var isText: Bool { if case .text = self { true } else { false } }
}
