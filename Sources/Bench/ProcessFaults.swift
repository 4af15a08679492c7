public import Conformance
public import System

extension LabFault {
  /// A program that could not be started: there is no device.
  public init(_ fault: ProcessFault) { self.init(.noDevice, fault.description) }
}
