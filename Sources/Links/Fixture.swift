public import Conformance

/// What stands around a lock on the air: it brings the lock into a start condition, turns its bolt, takes its power, or its
/// link away.
///
/// Around an emulated lock that is its emulator, in this process or, over a socket, in another. A real lock has none: it
/// starts in the condition it is in. See ``NoFixture``.
public protocol Fixture: AnyObject {
  /// What can be done to the lock, and what is shown there; its conditions always hold.
  var abilities: Abilities { get }
  /// The values that it reports.
  var readings: [String] { get }
  /// Whether ``takeTampering()`` says when a fault has hit a frame. Where faults are brought about in another program, it is
  /// not known when they do.
  var reportsTampering: Bool { get }
  /// What is wrong with it.
  var fault: LabFault? { get }

  /// Takes over the numbers under which the model knows names.
  func adopt(_ vocabulary: Vocabulary)
  /// Brings the lock into a start condition, out of any connection.
  func prepare(_ start: StartCondition) throws(LabFault)
  /// Does one of its stimuli to the lock.
  ///
  /// - Returns: why it is refused, if it is.
  func perform(_ stimulus: String, _ arguments: [Argument]) throws(LabFault) -> String?
  /// Brings about one of its faults.
  func bring(about fault: Fault) throws(LabFault)
  /// Says whether the client needs every advertisement. Unless it does, those that repeat the last one may be skipped.
  func require(everyAdvertisement isRequired: Bool)
  /// Whether a frame was tampered with, or the link cut, by one of its faults, since this was last asked.
  func takeTampering() -> Bool
  /// Takes what was shown there since this was last asked, up to now. Time stops at the first moment at which there is something.
  func takeObservations() -> [Observation]
  /// Takes what the lab has to say of it since this was last asked, one line each.
  func takeDiagnostics() -> [String]
  /// Makes it usable again after a fault.
  func restart() throws(LabFault)
}

/// What is so of most fixtures.
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

/// No fixture: a real lock, which starts as it is and lives on from test to test.
public final class NoFixture: Fixture {
  public let abilities: Abilities

  /// - Parameters:
  ///   - conditions: the conditions of the model that always hold.
  ///   - settings: what of a start condition its client can bring about before a test.
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
