import Bluetooth
import Conformance

// A transport failure is a lab fault: it reveals nothing about the lock.

extension LabFault {
  /// Creates the lab fault for a transport failure.
  init(_ fault: TransportFault) {
    let symptom: Symptom =
      switch fault.symptom {
      case .unavailable, .busy: .noDevice
      case .lost: .transportLost
      case .silent: .noAnswer
      case .malformed: .badAnswer
      }
    self.init(symptom, fault.description, from: .transport)
  }

  /// Creates the lab fault for a controller failure.
  init(_ failure: HostFailure) {
    let symptom: Symptom =
      switch failure {
      case .noAnswer: .noAnswer
      case .hardwareError: .transportLost
      case .refused, .undecodable, .broken: .badAnswer
      }
    self.init(symptom, failure.description, from: .transport)
  }
}
