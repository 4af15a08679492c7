import Basics
import Documents

/// A defect that an emulated lock can have, to measure test suites by the defects that they find.
///
/// Each is one fault at one place of the lock; a lock without it never shows it.
public enum LockDefect: UInt64, CaseIterable, Sendable {
  case deafUnlock
  case jamAfterAbortedLogins
  case jamReportedAsLocked
  case plaintextCommandObeyed
  case loginProofUnchecked
  case loginProofReplayed
  case replayedCommandObeyed
  case tokenRepeated
  case counterKeptAcrossSessions
  case staleStatusAfterHandTurn
  case movedReportedAsUnlocked
  case statusLagsOneBehind
  case restUnpublishedAfterTurnabout
  case publishBeforeLogin
  case resetKeepsKey
  case registrationBusyAfterReset
  case settingsLostOnReconnect
  case autolockChangeIgnored
  case autolockOutlivesOff
  case autolockForgottenOnDisconnect
  case autolockEarly
  case autolockLate
  case autolockFromLogin
  case autolockOutlivesReset
  case autolockStartVaries
  case historyNeverEmpties
  case historyTagMissing
  case deadUntilPowerCycle
  case tokenMissingEverySecondTime
  case answersStopAfterIdling
  case calibrationDrifts
  case batteryWrapsAtZero
  case oldKeyAcceptedAfterReset
  case ownerReplaced
  case shortProofAccepted
  case secondLoginRestartsSession
  case olderMessageReplayed
  case earlierSessionReplayed
  case longMessageLost
  case longTagCut
  case answerNamesAnotherRequest
  case movingAfterRest

  /// The user-visible name, such as `deaf-unlock`: that of the case, with hyphens.
  public var name: String {
    String(describing: self).reduce(into: "") { $0 += $1.isUppercase ? "-" + $1.lowercased() : String($1) }
  }

  /// A description in one sentence.
  public var sentence: String {
    switch self {
    case .deafUnlock:
      "Once a reset was accepted in this power-up, an unlock that follows a lock that follows a login or a "
        + "setting of the positions is answered, but the motor stays."
    case .jamAfterAbortedLogins:
      "After four or more connections in a row that ended before a login, or before its answer can have been "
        + "heard, the login, two commands that turn the bolt there and back, and a lock leave the bolt between "
        + "its positions."
    case .jamReportedAsLocked: "A motor that gave up is reported as a bolt that is locked."
    case .plaintextCommandObeyed: "A lock or unlock in clear is obeyed, with or without a session."
    case .loginProofUnchecked: "Any proof opens a session."
    case .loginProofReplayed: "The proof of any earlier session of this power-up opens a session."
    case .replayedCommandObeyed: "An encrypted message that was received before is obeyed a second time."
    case .tokenRepeated: "Every connection gets the same token."
    case .counterKeptAcrossSessions:
      "The message counters go on from the last session instead of beginning at zero."
    case .staleStatusAfterHandTurn:
      "When a hand turns the resting bolt, the status stays as it was until the motor runs again."
    case .movedReportedAsUnlocked: "A bolt that rests in neither range is reported as unlocked."
    case .statusLagsOneBehind: "Each status publish carries the status of the publish before."
    case .restUnpublishedAfterTurnabout:
      "When the motor was turned round on its way, the status at rest is not published."
    case .publishBeforeLogin: "The status is published in clear right after the token."
    case .resetKeepsKey: "A reset is answered with success, but the owner's key stays."
    case .registrationBusyAfterReset:
      "After a reset, registrations are answered with busy until the power was cycled."
    case .settingsLostOnReconnect: "The end of a connection clears the positions."
    case .autolockChangeIgnored: "A new autolock delay is answered with success, and the old one stays."
    case .autolockOutlivesOff: "Turning autolock off does not stop the count that has begun."
    case .autolockForgottenOnDisconnect: "The end of a connection stops the autolock count."
    case .autolockEarly: "Autolock comes after half of its time."
    case .autolockLate: "Autolock comes after twice its time."
    case .autolockFromLogin:
      "Autolock counts from the login of a session, and not from when the bolt came to where it is unlocked."
    case .autolockOutlivesReset: "A reset leaves the autolock delay as it is, for the next owner."
    case .autolockStartVaries:
      "A new autolock delay of up to ten seconds counts at once, and a longer one from the next unlocking."
    case .historyNeverEmpties: "A history record that is deleted stays."
    case .historyTagMissing: "History records of commands have no tag."
    case .deadUntilPowerCycle:
      "A link that is lost in the middle of a session leaves the lock silent until its power is cycled."
    case .tokenMissingEverySecondTime: "Every second connection of a power-up gets no token."
    case .answersStopAfterIdling: "A session that was idle for ten minutes gets no more answers."
    case .calibrationDrifts: "Each run of the motor ends two degrees further on, up to 45."
    case .batteryWrapsAtZero: "A battery that falls below zero reads as full."
    case .oldKeyAcceptedAfterReset:
      "The owner's key from before a reset opens a session, with or without a new owner."
    case .ownerReplaced: "A registration of a lock that has an owner succeeds, and the owner is another one."
    case .shortProofAccepted:
      "A login whose proof is cut short opens a session if what there is of the proof is right."
    case .secondLoginRestartsSession:
      "The login of a session, repeated in it, opens the session again, with its counters at zero."
    case .olderMessageReplayed: "An encrypted message is obeyed a second time once another has come after it."
    case .earlierSessionReplayed:
      "An encrypted message of any earlier session of this power-up is obeyed again."
    case .longMessageLost:
      "An encrypted message of more than two frames is passed over, and its counter is not counted."
    case .longTagCut: "The history keeps the first 16 bytes of a longer tag."
    case .answerNamesAnotherRequest:
      "An answer in a session names the request before the one that it answers."
    case .movingAfterRest:
      "A status in which the motor runs follows the one in which the bolt rests."
    }
  }

  /// Finds a defect by its name.
  ///
  /// - Throws: an error that suggests the most similar name.
  public init(named name: String) throws(LockOptionError) {
    guard let defect = Self.allCases.first(where: { $0.name == name }) else {
      let names = Self.allCases.map(\.name)
      throw .unknownValue(
        name, of: "defect", values: names.joined(separator: ", "), nearest: nearestName(to: name, in: names))
    }
    self = defect
  }
}

/// A set of defects.
public struct LockDefects: Equatable, Sendable, ExpressibleByArrayLiteral {
  private var bits: UInt64 = 0

  /// Makes a set.
  public init(_ defects: some Sequence<LockDefect>) {
    for defect in defects { insert(defect) }
  }

  public init(arrayLiteral defects: LockDefect...) {
    self.init(defects)
  }

  /// Whether the set contains a defect.
  @inline(__always)
  public func contains(_ defect: LockDefect) -> Bool { bits >> defect.rawValue & 1 == 1 }

  /// Adds a defect.
  public mutating func insert(_ defect: LockDefect) { bits |= 1 << defect.rawValue }
}
