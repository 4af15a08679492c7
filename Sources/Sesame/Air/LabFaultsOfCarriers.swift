import Bluetooth
import Conformance

// Trouble on the way to the air is the lab's: it says nothing about a lock.

extension LabFault {
  /// What trouble on the way to a controller means for the lab.
  init(_ fault: CarrierFault) {
    let symptom: Symptom =
      switch fault.symptom {
      case .unavailable, .busy: .noDevice
      case .lost: .carrierLost
      case .silent: .noAnswer
      case .nonsense: .badAnswer
      }
    self.init(symptom, fault.description)
  }

  /// What a controller that cannot be used means for the lab.
  init(_ failure: HostFailure) {
    switch failure {
    case .noAnswer(let opcode):
      self.init(.noAnswer, "the controller does not answer the command \(Self.text(opcode))")
    case .refused(let opcode, let code):
      self.init(.badAnswer, "the controller refuses the command \(Self.text(opcode)): \(code)")
    case .hardwareError(let code):
      self.init(.carrierLost, "the controller reports the hardware error 0x\([code].hex)")
    case .undecodable(let what, let error):
      self.init(.badAnswer, "the controller sent \(what) that does not decode, \(error)")
    case .broken(let rule):
      self.init(.badAnswer, "the controller broke a rule: \(rule)")
    }
  }

  private static func text(_ opcode: UInt16) -> String {
    "0x" + [UInt8(truncatingIfNeeded: opcode >> 8), UInt8(truncatingIfNeeded: opcode)].hex
  }
}
