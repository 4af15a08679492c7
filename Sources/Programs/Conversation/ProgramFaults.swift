import Basics
import Conformance

extension [Disturbance] {
  /// Checks whether a program accepts this value of a fault, by the values that it offers. Most languages treat an
  /// unknown word as true, and the model would consider the fault active.
  func check(_ fault: Fault) throws(LabFault) {
    guard let offered = first(where: { $0.fault == fault.name })?.values else { return }
    let value = fault.value
    if value.isYesOrNo || offered.contains(value) { return }
    // A fault that begins and ends may also have a duration.
    let isFlag = offered.allSatisfy(\.isYesOrNo)
    switch value {
    case .text: if offered.contains(where: \.isText) { return }
    case .duration: return
    default: if !isFlag { return }
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
