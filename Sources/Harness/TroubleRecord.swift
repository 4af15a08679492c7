public import Conformance
public import Journal

/// Lab faults as journals and workers write them.
extension Record.Trouble {
  /// Makes the record of a fault, without its detail.
  public init(_ fault: LabFault) {
    self.init(fault.symptom.rawValue)
    switch fault.origin {
    case .program(let trouble):
      (origin, happened, lastWords) = (trouble.program, trouble.kind.rawValue, trouble.lastWords)
    case .transport: origin = Self.transport
    case nil: break
    }
  }

  /// The fault of the record; `nil` for an unknown symptom.
  ///
  /// - Parameter detail: the fault's text for people.
  public func fault(_ detail: String = "") -> LabFault? {
    guard let symptom = LabFault.Symptom(rawValue: symptom) else { return nil }
    if let origin, let kind = happened.flatMap({ ProgramTrouble.Kind(rawValue: $0) }) {
      return LabFault(symptom, detail, from: .program(ProgramTrouble(origin, kind, lastWords: lastWords)))
    }
    return LabFault(symptom, detail, from: origin == Self.transport ? .transport : nil)
  }

  private static var transport: String { "transport" }
}
