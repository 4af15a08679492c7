import Bluetooth
import Conformance

// Trouble on the way to the air is the lab's: it says nothing about a lock.

extension LabFault {
  /// What trouble on the way to a controller means for the lab.
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

  /// What a controller that cannot be used means for the lab.
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
