public import Conformance

/// The fixture of a lock on the air: it brings the lock into a start condition, turns its bolt, and cuts its power
/// or its link.
///
/// The fixture of an emulated lock is its emulator, in this process or, over a socket, in another. A real lock has
/// no fixture: it starts in its current condition. See ``NoFixture``.
public protocol Fixture: AnyObject {
  /// The stimuli and faults that the fixture offers, its observations, and the conditions that always hold.
  var abilities: Abilities { get }
  /// The names of the values that the fixture reports.
  var readings: [String] { get }
  /// Whether ``takeTampering()`` reports that a fault has hit a frame. When another program injects the faults, the
  /// time of their effect is unknown.
  var reportsTampering: Bool { get }
  /// The fault that makes the fixture unusable, if any.
  var fault: LabFault? { get }

  /// Adopts the model's numbering of names.
  func adopt(_ vocabulary: Vocabulary)
  /// Disconnects the lock and brings it into a start condition.
  func prepare(_ start: StartCondition) throws(LabFault)
  /// Applies one of the fixture's stimuli to the lock.
  ///
  /// - Returns: the reason if the fixture refuses it.
  func perform(_ stimulus: String, _ arguments: [Argument]) throws(LabFault) -> String?
  /// Injects one of the fixture's faults.
  func bring(about fault: Fault) throws(LabFault)
  /// Tells the fixture whether the client needs every advertisement. If not, the fixture may skip repetitions of
  /// the last one.
  func require(everyAdvertisement isRequired: Bool)
  /// Returns whether one of the fixture's faults changed a frame or cut the link since the last call.
  func takeTampering() -> Bool
  /// Takes the observations since the last call. Virtual time stops at the first moment with an observation.
  func takeObservations() -> [Observation]
  /// Takes the diagnostics since the last call, one line each.
  func takeDiagnostics() -> [String]
  /// Makes the fixture usable again after a fault.
  func restart() throws(LabFault)
}

/// The defaults that suit most fixtures.
extension Fixture {
  public var readings: [String] { [] }
  public var reportsTampering: Bool { true }
  public var fault: LabFault? { nil }
  public func adopt(_ vocabulary: Vocabulary) {}
  public func require(everyAdvertisement isRequired: Bool) {}
  public func takeTampering() -> Bool { false }
  public func takeObservations() -> [Observation] { [] }
  public func takeDiagnostics() -> [String] { [] }
  public func restart() throws(LabFault) {}
}

/// No fixture: a real lock, which starts in its current condition and keeps its state from test to test.
public final class NoFixture: Fixture {
  public let abilities: Abilities

  /// - Parameters:
  ///   - conditions: the conditions of the model that always hold.
  ///   - settings: the parts of a start condition that the client can establish before a test.
  public init(conditions: [String], settings: [String] = []) {
    var abilities = Abilities(stimuli: [], settings: settings, conditions: conditions)
    abilities.keepsState = true
    self.abilities = abilities
  }

  public func prepare(_ start: StartCondition) {}

  public func perform(_ stimulus: String, _ arguments: [Argument]) throws(LabFault) -> String? {
    throw LabFault(.notPossible, "'\(stimulus)' needs a person at the lock")
  }

  public func bring(about fault: Fault) throws(LabFault) {
    throw LabFault(.notPossible, "the fault '\(fault.name)' needs a person at the lock")
  }
}
