public import Conformance
public import System

extension LabFault {
  /// Makes the fault of a program that could not be started.
  public init(_ fault: ProcessFault) { self.init(.noDevice, fault.description) }
}
