import Basics
import Conformance
import SesameDevice

/// Who stands around a driver's lock that another program plays, asked over its control socket.
final class ControlledDriverEnvironment: DriverEnvironment {
  private let environment: ControlledEnvironment
  let conditions: [String]
  private var vocabulary = Vocabulary(stimuli: [], statuses: [])
  private(set) var fault: LabFault?

  init(_ environment: ControlledEnvironment, conditions: [String]) {
    self.environment = environment
    self.conditions = conditions
  }

  var stimuli: [String] { environment.stimuli }
  var arguments: [ProgramIntroduction.OfferedArguments] { [] }
  /// The other program says which there are, and not with which values: on and off.
  var disturbances: [Disturbance] { environment.faults.map { Disturbance(.events, $0) } }
  var settings: [String]? { environment.settings }
  var reports: [String] { environment.abilities.reports }
  var readings: [String] { environment.abilities.readings }
  var showsEffects: Bool { environment.abilities.showsEffects }

  func adopt(_ vocabulary: Vocabulary) { self.vocabulary = vocabulary }

  func prepare(_ start: StartCondition) throws(LabFault) {
    fault = nil
    try environment.watch()
    _ = try environment.prepare(start)
  }

  func takeObservations() -> [Observation] {
    guard fault == nil else { return [] }
    do throws(LabFault) {
      var observations: [Observation] = []
      for json in try environment.takeShown() {
        let line = Array(json.line.utf8)
        do throws(ProgramAnswer.Malformed) {
          let answer = try ProgramLine(parsing: line, of: .peripheral).answer
          if let observation = vocabulary.observation(of: answer) { observations.append(observation) }
        } catch {
          throw LabFault(.transportLost, "the emulator of the lock shows what is none: \(error.reason)")
        }
      }
      return observations
    } catch {
      fault = error
      return []
    }
  }

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
