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
  case recordNumbersRestart
  case recordTimeLost
  case recordsExchanged
  case tagOfCommandBefore
  case recordTwice
  case historyOutlivesReset
  case framesOfMTU
  case clockNeverSetBack
  case batteryOfFailedRequest

  /// The user-visible name, such as `deaf-unlock`: that of the case, with hyphens.
  public var name: String {
    if self == .framesOfMTU { return "frames-of-mtu" }
    return String(describing: self).reduce(into: "") {
      $0 += $1.isUppercase ? "-" + $1.lowercased() : String($1)
    }
  }

  /// A description in one sentence.
  public var sentence: String {
    switch self {
    case .deafUnlock:
      "Only if the lock was reset since its power came on: after a login or a setting of the positions "
        + "and then a lock, the next unlock is answered, but the motor does not move."
    case .jamAfterAbortedLogins:
      "At least four connections in a row end before a login, or before its answer can have been "
        + "received. In the next session, after two commands that turn the bolt there and back, a lock "
        + "leaves the bolt between its positions."
    case .jamReportedAsLocked: "When the motor stops at an obstacle, the lock reports the bolt as locked."
    case .plaintextCommandObeyed: "The lock obeys a clear-text lock or unlock, with or without a session."
    case .loginProofUnchecked: "Any proof opens a session."
    case .loginProofReplayed: "The proof of any earlier session since the power came on opens a session."
    case .replayedCommandObeyed: "The lock obeys an encrypted message that it has already received."
    case .tokenRepeated: "Every connection has the same token."
    case .counterKeptAcrossSessions:
      "The message counters continue from the last session instead of starting at zero."
    case .staleStatusAfterHandTurn:
      "When a hand turns the resting bolt, the status does not change until the motor runs again."
    case .movedReportedAsUnlocked: "The lock reports a bolt that rests in neither range as unlocked."
    case .statusLagsOneBehind: "Each status publish contains the status of the previous publish."
    case .restUnpublishedAfterTurnabout:
      "If the motor was reversed on its way, the lock does not publish the status at rest."
    case .publishBeforeLogin: "The lock publishes its status in clear text right after the token."
    case .resetKeepsKey: "The lock answers a reset with success, but keeps the owner's key."
    case .registrationBusyAfterReset:
      "After a reset, the lock answers registrations with busy until its power is cycled."
    case .settingsLostOnReconnect: "The end of a connection clears the positions."
    case .autolockChangeIgnored: "The lock answers a new autolock delay with success, but keeps the old one."
    case .autolockOutlivesOff: "Switching autolock off does not stop a running autolock timer."
    case .autolockForgottenOnDisconnect: "The end of a connection stops the autolock timer."
    case .autolockEarly: "The lock locks itself after half of the autolock delay."
    case .autolockLate: "The lock locks itself after twice the autolock delay."
    case .autolockFromLogin:
      "The autolock timer starts at the login of a session instead of when the bolt reaches the "
        + "unlocked position."
    case .autolockOutlivesReset: "A reset keeps the autolock delay for the next owner."
    case .autolockStartVaries:
      "A new autolock delay of up to ten seconds takes effect at once, a longer one at the next unlock."
    case .historyNeverEmpties: "A deleted history record remains in the history."
    case .historyTagMissing: "History records of commands have no tag."
    case .deadUntilPowerCycle:
      "If the link is lost during a session, the lock stays silent until its power is cycled."
    case .tokenMissingEverySecondTime: "Every second connection since the power came on receives no token."
    case .answersStopAfterIdling: "A session that was idle for ten minutes receives no more answers."
    case .calibrationDrifts: "Each run of the motor ends two degrees further, up to 45 degrees."
    case .batteryWrapsAtZero: "When the battery falls below zero, the lock reports it as full."
    case .oldKeyAcceptedAfterReset:
      "The key of the owner before a reset still opens a session, with or without a new owner."
    case .ownerReplaced: "A registration of a lock that has an owner succeeds and replaces the owner."
    case .shortProofAccepted:
      "A login with a truncated proof opens a session if the bytes that remain are correct."
    case .secondLoginRestartsSession:
      "Repeating the login of a session in that session opens it again, with its counters at zero."
    case .olderMessageReplayed:
      "The lock obeys an encrypted message a second time after it has received another one."
    case .earlierSessionReplayed:
      "The lock obeys an encrypted message of any earlier session since the power came on again."
    case .longMessageLost:
      "The lock ignores an encrypted message of more than two frames, and does not advance the counter."
    case .longTagCut: "The history keeps only the first 16 bytes of a tag."
    case .answerNamesAnotherRequest:
      "An answer in a session names the previous request instead of the one that it answers."
    case .movingAfterRest:
      "A status with a running motor follows the status in which the bolt rests."
    case .recordNumbersRestart: "After each connection, the numbers of history records start again at 1."
    case .recordTimeLost:
      "The clock is an hour fast. Once it was set back, history records have the time 0, which is in 1970."
    case .recordsExchanged:
      "Of two history records of the same second, the later one has the number of the earlier one."
    case .tagOfCommandBefore: "The history record of a command has the tag of the command before it."
    case .recordTwice: "A command leaves two history records."
    case .historyOutlivesReset: "A reset keeps the history for the next owner."
    case .framesOfMTU:
      "On a connection with a larger MTU, the frames of the lock fill the MTU instead of ending at 20 bytes."
    case .clockNeverSetBack:
      "The clock is an hour fast. The lock answers an earlier time with success, but keeps its own."
    case .batteryOfFailedRequest: "The status after a request that the lock refuses has a battery of 0 V."
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
