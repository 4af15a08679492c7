import Conformance
import SesameDevice

/// Who stands around a driver's lock that another program plays, asked over its control socket.
final class ControlledDriverEnvironment: DriverEnvironment {
  private let environment: ControlledEnvironment
  let conditions: [String]

  init(_ environment: ControlledEnvironment, conditions: [String]) {
    self.environment = environment
    self.conditions = conditions
  }

  var stimuli: [String] { environment.stimuli }
  var arguments: [ProgramIntroduction.OfferedArguments] { [] }
  /// The other program says which there are, and not with which values: on and off.
  var disturbances: [Disturbance] { environment.faults.map { Disturbance(.events, $0) } }
  var settings: [String]? { environment.settings }
  var fault: LabFault? { nil }

  func prepare(_ start: StartCondition) throws(LabFault) { _ = try environment.prepare(start) }

  func perform(_ stimulus: String, _ arguments: [Argument]) throws(LabFault) -> String? {
    do {
      try environment.perform(stimulus, arguments)
      return nil
    } catch  where error.symptom == .notPossible {
      return error.detail
    }
  }

  func bring(about fault: Fault) throws(LabFault) { try environment.bring(about: fault) }

  /// Nothing: the other program is not ours, and is called up again where it hung up.
  func restart() {}

  /// Nothing, as above.
  func shutDown() {}
}
