public import Conformance
public import Journal

/// Trouble of the lab as journals and workers have it.
extension Record.Trouble {
  /// What is written of a fault, beside its words for people.
  public init(_ fault: LabFault) {
    self.init(fault.symptom.rawValue)
    switch fault.origin {
    case .program(let trouble):
      (origin, happened, lastWords) = (trouble.program, trouble.kind.rawValue, trouble.lastWords)
    case .transport: origin = Self.transport
    case nil: break
    }
  }

  /// The fault of which this is written; `nil` for a symptom that is not known here.
  ///
  /// - Parameter detail: its words for people.
  public func fault(_ detail: String = "") -> LabFault? {
    guard let symptom = LabFault.Symptom(rawValue: symptom) else { return nil }
    if let origin, let kind = happened.flatMap({ ProgramTrouble.Kind(rawValue: $0) }) {
      return LabFault(symptom, detail, from: .program(ProgramTrouble(origin, kind, lastWords: lastWords)))
    }
    return LabFault(symptom, detail, from: origin == Self.transport ? .transport : nil)
  }

  private static var transport: String { "transport" }
}
