public import Conformance

/// The lab fault that something ends with.
public func fault(_ body: () throws(LabFault) -> Void) -> LabFault? {
  do throws(LabFault) {
    try body()
    return nil
  } catch {
    return error
  }
}
