public import Sesame
public import Basics

/// The options of an emulated lock: differences between locks, and behaviour that only the vendor knows.
///
/// Each has a name, its values and a description in ``LockOption/all``, by which it is set from text. By
/// default a lock behaves as most sources agree.
public struct LockOptions: Equatable, Sendable {
  // MARK: Mechanics

  /// The time from one position to the other.
  public var motor = Interval.seconds(1)
  /// How long the motor pushes against an obstacle.
  public var patience = Interval.seconds(3)
  /// How a lock handles `lock` and `unlock` while its motor runs.
  public var whileMoving = WhileMoving.turn
  /// The voltage of the battery.
  public var battery = 6.0
  /// The voltage drop at each start of the motor, in volts.
  public var sag = 0.0001
  /// The Unix time at the start of a test, in seconds.
  public var epoch: UInt32 = 1_700_000_000
  /// The drift of the clock in millionths; positive if it runs fast.
  public var drift = 0
  /// The state of the clock after a power failure.
  public var powerlessClock = PowerlessClock.kept
  /// How many history records the lock holds.
  public var historyCapacity = 100

  // MARK: Connection

  /// The time between advertisements.
  public var advertising = Interval.milliseconds(500)
  /// The place of an OS2 lock's name, which contains its identity.
  public var name = NamePlace.scanResponse
  /// How often the token is sent when a connection opens.
  public var initial = Initial.once
  /// Whether an encrypted notification precedes the token.
  public var earlyCiphertext = false
  /// Whether the last frame of a message precedes the token.
  public var leftoverFrame = false
  /// The time limit for a login; zero for none.
  public var loginTimeout = Interval.seconds(10)
  /// The reason with which the lock ends a link.
  public var endReason = EndReason.remoteUser
  /// How long a lock is off the air after a reset.
  public var restart = Interval.seconds(1)
  /// The properties of the lock's characteristics.
  public var gatt = GATTProperties.documented

  // MARK: Frames and messages

  /// The program whose rules for joining frames the lock follows.
  public var receiver = Reassembler.Policy.libsesame3bt
  /// The counter after a message that does not authenticate.
  public var failedMessage = FailedMessage.keepsCounter
  /// How a lock handles requests in clear that are valid only in a session.
  public var plaintext = Plaintext.ignored
  /// How a lock handles a request that does not decode.
  public var badRequest = BadRequest.answered

  // MARK: Registration and login

  /// The length of the secret part of an OS2 lock's identity, in bytes.
  public var erLength = ERLength.sixteen
  /// Whether an OS2 lock checks the signature of a registration.
  public var signature = Signature.checked
  /// Whether the answer to an OS2 registration is encrypted.
  public var registrationAnswer = RegistrationAnswer.clear
  /// When the login publish of an OS2 registration is sent.
  public var loginPublish = LoginPublish.after
  /// How a lock with an owner answers a registration.
  public var alreadyRegistered = AlreadyRegistered.result
  /// Whether an OS3 registration may omit the time.
  public var shortRegistration = Permission.accepted
  /// How an OS2 lock with an owner handles a request for its identity.
  public var ownedIdentity = Reply.answered
  /// How an OS2 lock handles a login on the connection of its registration.
  public var loginAfterRegistration = Reply.answered
  /// Whether an OS3 lock publishes its status right after its registration.
  public var publishAfterRegistration = false
  /// Whether a client's times must be plausible.
  public var appTime = AppTime.any
  /// Whether an OS2 client may use a token again.
  public var repeatedAppToken = Permission.accepted
  /// How a lock handles a false proof.
  public var wrongLogin = WrongLogin.disconnect
  /// The order of the two publishes after an OS3 login.
  public var loginOrder = LoginOrder.settingFirst
  /// The form of an OS2 login payload.
  public var loginPayload = LoginPayloadForm.bytes28
  /// The counts in an OS2 login payload.
  public var loginCounts = LoginCounts.recorded
  /// The firmware generation that an OS2 lock reports.
  public var firmware = Firmware.current

  // MARK: Commands

  /// Whether a lock responds to a command before it publishes the resulting status.
  public var answerOrder = AnswerOrder.first
  /// When a new autolock delay takes effect that is set while the bolt rests unlocked.
  public var autolockStart = AutolockStart.atOnce
  /// The meaning of the byte in a history request.
  public var historyByte = HistoryByte.documented
  /// The positions after a reset.
  public var positions = Positions.forgotten
  /// Whether a lock or unlock without a tag is obeyed.
  public var emptyTag = Permission.accepted
  /// Whether an OS3 lock answers a request for its status.
  public var statusRead = StatusRead.silent
  /// The layout of the version that an OS3 lock reports.
  public var versionText = VersionText.text
  /// The bits of an OS2 status with unknown meaning.
  public var statusBits = StatusBits.none

  /// Makes the default options.
  public init() {}
}

extension LockOptions {
  /// How a lock handles `lock` and `unlock` while its motor runs.
  public enum WhileMoving: String, CaseIterable, Sendable {
    /// The motor reverses if necessary.
    case turn
    /// The response is *busy*, and the motor continues.
    case busy
  }

  /// The state of the clock after a power failure.
  public enum PowerlessClock: String, CaseIterable, Sendable {
    /// It continues.
    case kept
    /// It restarts at zero, in 1970.
    case lost
  }

  /// The place of an OS2 lock's name.
  public enum NamePlace: String, CaseIterable, Sendable {
    /// In the scan response.
    case scanResponse = "scan-response"
    /// In the advertisement itself.
    case advertisement
    /// Nowhere.
    case absent
  }

  /// How often the token is sent when a connection opens.
  public enum Initial: String, CaseIterable, Sendable {
    /// Once.
    case once
    /// Twice, the same token.
    case twice
  }

  /// The reason with which the lock ends a link: an error code of the Core Specification, Vol 1 Part F.
  public enum EndReason: String, CaseIterable, Sendable {
    /// Remote user terminated connection; a Touch forgets such a lock.
    case remoteUser = "0x13"
    /// Remote device terminated connection due to low resources.
    case lowResources = "0x14"
    /// Remote device terminated connection due to power off.
    case powerOff = "0x15"

    /// The code.
    public var code: UInt8 {
      switch self {
      case .remoteUser: 0x13
      case .lowResources: 0x14
      case .powerOff: 0x15
      }
    }
  }

  /// The properties of the characteristics of a lock on the air.
  public enum GATTProperties: String, CaseIterable, Sendable {
    /// Frames are written with and without response, and notified.
    case documented
    /// The notifying characteristic can also be read, as in libsesame3bt-server.
    case readable
    /// Frames are written without response only.
    case commandOnly = "command-only"
  }

  /// The counter after a message that does not authenticate.
  public enum FailedMessage: String, CaseIterable, Sendable {
    /// It stays the same: a bad message has no effect.
    case keepsCounter = "keeps-counter"
    /// It advances: a bad message breaks the session.
    case advancesCounter = "advances-counter"

    /// The same rule for a cipher.
    var rule: SessionCipher.FailureRule { self == .keepsCounter ? .keepsCounter : .advancesCounter }
  }

  /// How a lock handles requests in clear that are valid only in a session.
  public enum Plaintext: String, CaseIterable, Sendable {
    /// It ignores them.
    case ignored
    /// It ends the link.
    case disconnect
  }

  /// How a lock handles a request that does not decode.
  public enum BadRequest: String, CaseIterable, Sendable {
    /// It answers *invalid format*.
    case answered
    /// It ends the link.
    case disconnect
  }

  /// The length of the secret part of an OS2 lock's identity, in bytes.
  public enum ERLength: String, CaseIterable, Sendable {
    /// Sixteen.
    case sixteen = "16"
    /// Thirty-two.
    case thirtyTwo = "32"
  }

  /// Whether an OS2 lock checks the signature of a registration.
  public enum Signature: String, CaseIterable, Sendable {
    /// It checks it.
    case checked
    /// Any four bytes are accepted.
    case unchecked
  }

  /// Whether the answer to an OS2 registration is encrypted.
  public enum RegistrationAnswer: String, CaseIterable, Sendable {
    /// In clear.
    case clear
    /// Encrypted with the new session's key.
    case encrypted
  }

  /// When the login publish of an OS2 registration is sent.
  public enum LoginPublish: String, CaseIterable, Sendable {
    /// After the answer.
    case after
    /// Before the answer.
    case before
  }

  /// How a lock with an owner answers a registration.
  public enum AlreadyRegistered: String, CaseIterable, Sendable {
    /// With result 9 and nothing else.
    case result
    /// With result 9 and four bytes, the last of which is 9.
    case fourBytes = "four-bytes"
    /// It ends the link.
    case disconnect
  }

  /// How a lock handles a request whose response no source documents.
  public enum Reply: String, CaseIterable, Sendable {
    /// It answers.
    case answered
    /// It ignores the request.
    case ignored
  }

  /// Whether a lock responds to a command before it publishes the resulting status.
  public enum AnswerOrder: String, CaseIterable, Sendable {
    /// It answers first.
    case first
    /// It publishes first.
    case last
  }

  /// When a new autolock delay takes effect that is set while the bolt rests unlocked.
  public enum AutolockStart: String, CaseIterable, Sendable {
    /// At once.
    case atOnce = "at-once"
    /// At the next unlocking; a running timer continues.
    case nextUnlocking = "next-unlocking"
  }

  /// Whether an input is accepted.
  public enum Permission: String, CaseIterable, Sendable {
    /// It is accepted.
    case accepted
    /// It is refused.
    case refused
  }

  /// Whether a client's times must be plausible.
  public enum AppTime: String, CaseIterable, Sendable {
    /// Any time is accepted.
    case any
    /// A time before 2015, or with all bits set, is an invalid parameter.
    case plausible
  }

  /// How a lock handles a false proof.
  public enum WrongLogin: String, CaseIterable, Sendable {
    /// It ends the link.
    case disconnect
    /// It ignores it.
    case silent
    /// It answers *invalid signature* in clear.
    case result
  }

  /// The order of the two publishes after an OS3 login.
  public enum LoginOrder: String, CaseIterable, Sendable {
    /// The setting, then the status.
    case settingFirst = "setting-first"
    /// The status, then the setting.
    case statusFirst = "status-first"
  }

  /// The form of an OS2 login payload.
  public enum LoginPayloadForm: String, CaseIterable, Sendable {
    /// 28 bytes.
    case bytes28 = "28"
    /// 30 bytes, with the autolock delay.
    case bytes30 = "30"
  }

  /// The counts in an OS2 login payload.
  public enum LoginCounts: String, CaseIterable, Sendable {
    /// Those of recorded logins: 0, 128 and 1.
    case recorded
    /// One user and the number of records.
    case counted
  }

  /// The firmware generation that an OS2 lock reports.
  public enum Firmware: String, CaseIterable, Sendable {
    /// 1.
    case current = "1"
    /// 0: no unsigned time and no history.
    case old = "0"
  }

  /// The positions after a reset.
  public enum Positions: String, CaseIterable, Sendable {
    /// They are deleted: the next owner must set them.
    case forgotten
    /// They are kept for the next owner.
    case kept
  }

  /// The meaning of the byte in a history request.
  public enum HistoryByte: String, CaseIterable, Sendable {
    /// The meaning in the latest documents: in OS2 1 deletes the record that is read, in OS3 it does not.
    case documented
    /// The opposite meaning.
    case inverted
  }

  /// Whether an OS3 lock answers a request for its status.
  public enum StatusRead: String, CaseIterable, Sendable {
    /// It does not answer.
    case silent
    /// It answers.
    case answered
  }

  /// The layout of the version that an OS3 lock reports.
  public enum VersionText: String, CaseIterable, Sendable {
    /// Twelve characters.
    case text
    /// A build time and the text in 32 bytes, as in OS2.
    case detailed
  }

  /// The bits of an OS2 status with unknown meaning.
  public enum StatusBits: String, CaseIterable, Sendable {
    /// Clear.
    case none
    /// Bit 4 is set, as in some recorded statuses.
    case bit4
    /// Bits 4 and 7 are set, as in one recorded status.
    case bits4and7 = "bits-4-7"

    /// The bits.
    var bits: UInt8 {
      switch self {
      case .none: 0
      case .bit4: 0x10
      case .bits4and7: 0x90
      }
    }
  }
}
