public import Sesame
public import Basics

/// The options of an emulated lock: differences between locks, and behaviour that only the vendor knows.
///
/// Each has a name, its values and a sentence in ``LockOption/all``, by which it is set from text. By default a lock
/// behaves as most sources agree.
public struct LockOptions: Equatable, Sendable {
  // MARK: Mechanics

  /// The time from one position to the other.
  public var motor = Interval.seconds(1)
  /// How long the motor pushes against an obstacle.
  public var patience = Interval.seconds(3)
  /// What a lock does with `lock` and `unlock` while its motor runs.
  public var whileMoving = WhileMoving.turn
  /// The voltage of the battery.
  public var battery = 6.0
  /// What a start of the motor costs, in volts.
  public var sag = 0.0001
  /// The Unix time at the start of a test, in seconds.
  public var epoch: UInt32 = 1_700_000_000
  /// By how many millionths the clock runs fast.
  public var drift = 0
  /// What becomes of the clock without power.
  public var powerlessClock = PowerlessClock.kept
  /// How many history records the lock holds.
  public var historyCapacity = 100

  // MARK: Connection

  /// The time between advertisements.
  public var advertising = Interval.milliseconds(500)
  /// Where the name of an OS2 lock stands, which carries its identity.
  public var name = NamePlace.scanResponse
  /// How often the token comes when a connection opens.
  public var initial = Initial.once
  /// Whether an encrypted notification comes before the token.
  public var earlyCiphertext = false
  /// Whether the last frame of a message comes before the token.
  public var leftoverFrame = false
  /// How long a client may take to log in; zero is for ever.
  public var loginTimeout = Interval.seconds(10)
  /// The reason with which the lock ends a link.
  public var endReason = EndReason.remoteUser
  /// How long a lock is away after a reset.
  public var restart = Interval.seconds(1)
  /// What can be done with the lock's characteristics.
  public var gatt = GATTProperties.documented

  // MARK: Frames and messages

  /// The program whose way of joining frames the lock has.
  public var receiver = Reassembler.Policy.libsesame3bt
  /// What becomes of the counter when a message does not authenticate.
  public var failedMessage = FailedMessage.keepsCounter
  /// What a lock does with requests in clear that belong into a session.
  public var plaintext = Plaintext.ignored
  /// What a lock does with a request that does not decode.
  public var badRequest = BadRequest.answered

  // MARK: Registration and login

  /// The length of the secret part of an OS2 lock's identity, in bytes.
  public var erLength = ERLength.sixteen
  /// Whether an OS2 lock checks the signature of a registration.
  public var signature = Signature.checked
  /// Whether the answer to an OS2 registration is encrypted.
  public var registrationAnswer = RegistrationAnswer.clear
  /// When the login publish of an OS2 registration comes.
  public var loginPublish = LoginPublish.after
  /// How a lock with an owner answers a registration.
  public var alreadyRegistered = AlreadyRegistered.result
  /// Whether an OS3 registration may leave the time out.
  public var shortRegistration = Permission.accepted
  /// What an OS2 lock with an owner does with a request for its identity.
  public var ownedIdentity = Reply.answered
  /// What an OS2 lock does with a login on the connection of its registration.
  public var loginAfterRegistration = Reply.answered
  /// Whether an OS3 lock publishes its status at once when it was registered.
  public var publishAfterRegistration = false
  /// Whether times that a client gives must be plausible.
  public var appTime = AppTime.any
  /// Whether an OS2 client may use a token again.
  public var repeatedAppToken = Permission.accepted
  /// What a lock does with a false proof.
  public var wrongLogin = WrongLogin.disconnect
  /// The order of the two publishes after an OS3 login.
  public var loginOrder = LoginOrder.settingFirst
  /// The form of an OS2 login payload.
  public var loginPayload = LoginPayloadForm.bytes28
  /// What stands in the counts of an OS2 login payload.
  public var loginCounts = LoginCounts.recorded
  /// The firmware's generation that an OS2 lock tells.
  public var firmware = Firmware.current

  // MARK: Commands

  /// Whether a lock responds to a command before it publishes the resulting status.
  public var answerOrder = AnswerOrder.first
  /// From when on a new autolock delay counts that is set while the bolt rests unlocked.
  public var autolockStart = AutolockStart.atOnce
  /// What the byte of a history request means.
  public var historyByte = HistoryByte.documented
  /// What becomes of the positions at a reset.
  public var positions = Positions.forgotten
  /// Whether a lock or unlock without any tag is obeyed.
  public var emptyTag = Permission.accepted
  /// Whether an OS3 lock answers a request for its status.
  public var statusRead = StatusRead.silent
  /// The layout of the version that an OS3 lock tells.
  public var versionText = VersionText.text
  /// The bits of an OS2 status with unknown meaning.
  public var statusBits = StatusBits.none

  /// Makes the usual options.
  public init() {}
}

extension LockOptions {
  /// What a lock does with `lock` and `unlock` while its motor runs.
  public enum WhileMoving: String, CaseIterable, Sendable {
    /// The motor turns round where it has to.
    case turn
    /// The answer is *busy*, and the motor continues.
    case busy
  }

  /// What becomes of the clock without power.
  public enum PowerlessClock: String, CaseIterable, Sendable {
    /// It continues.
    case kept
    /// It begins again at zero, in 1970.
    case lost
  }

  /// Where the name of an OS2 lock stands.
  public enum NamePlace: String, CaseIterable, Sendable {
    /// In the scan response.
    case scanResponse = "scan-response"
    /// In the advertisement itself.
    case advertisement
    /// Nowhere.
    case absent
  }

  /// How often the token comes when a connection opens.
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

  /// What can be done with the characteristics of a lock on the air.
  public enum GATTProperties: String, CaseIterable, Sendable {
    /// Frames are written with and without response, and notified.
    case documented
    /// The notifying characteristic can be read too, as in libsesame3bt-server.
    case readable
    /// Frames are written without response only.
    case commandOnly = "command-only"
  }

  /// What becomes of the counter when a message does not authenticate.
  public enum FailedMessage: String, CaseIterable, Sendable {
    /// It stays, so that one bad message harms nothing.
    case keepsCounter = "keeps-counter"
    /// It moves on, so that one bad message loses the session.
    case advancesCounter = "advances-counter"

    /// The same for a cipher.
    var rule: SessionCipher.FailureRule { self == .keepsCounter ? .keepsCounter : .advancesCounter }
  }

  /// What a lock does with requests in clear that belong into a session.
  public enum Plaintext: String, CaseIterable, Sendable {
    /// Nothing.
    case ignored
    /// It ends the link.
    case disconnect
  }

  /// What a lock does with a request that does not decode.
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
    /// It does.
    case checked
    /// Any four bytes do.
    case unchecked
  }

  /// Whether the answer to an OS2 registration is encrypted.
  public enum RegistrationAnswer: String, CaseIterable, Sendable {
    /// In clear.
    case clear
    /// Encrypted with the new session's key.
    case encrypted
  }

  /// When the login publish of an OS2 registration comes.
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

  /// What a lock does with a request of which no source says that it is answered.
  public enum Reply: String, CaseIterable, Sendable {
    /// It answers.
    case answered
    /// Nothing.
    case ignored
  }

  /// Whether a lock responds to a command before it publishes the resulting status.
  public enum AnswerOrder: String, CaseIterable, Sendable {
    /// It answers first.
    case first
    /// It publishes first.
    case last
  }

  /// From when on a new autolock delay counts that is set while the bolt rests unlocked.
  public enum AutolockStart: String, CaseIterable, Sendable {
    /// From then on.
    case atOnce = "at-once"
    /// From the next unlocking on; a timer that is running continues.
    case nextUnlocking = "next-unlocking"
  }

  /// Whether something is taken or not.
  public enum Permission: String, CaseIterable, Sendable {
    /// It is.
    case accepted
    /// It is not.
    case refused
  }

  /// Whether times that a client gives must be plausible.
  public enum AppTime: String, CaseIterable, Sendable {
    /// Any time is taken.
    case any
    /// A time before 2015, or that is all ones, is an invalid parameter.
    case plausible
  }

  /// What a lock does with a false proof.
  public enum WrongLogin: String, CaseIterable, Sendable {
    /// It ends the link.
    case disconnect
    /// Nothing.
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

  /// What stands in the counts of an OS2 login payload.
  public enum LoginCounts: String, CaseIterable, Sendable {
    /// What recorded logins have: 0, 128 and 1.
    case recorded
    /// One user and the number of records.
    case counted
  }

  /// The firmware's generation that an OS2 lock tells.
  public enum Firmware: String, CaseIterable, Sendable {
    /// 1.
    case current = "1"
    /// 0: no unsigned time and no history.
    case old = "0"
  }

  /// What becomes of the positions at a reset.
  public enum Positions: String, CaseIterable, Sendable {
    /// The next owner has to set them.
    case forgotten
    /// They are the next owner's.
    case kept
  }

  /// What the byte of a history request means.
  public enum HistoryByte: String, CaseIterable, Sendable {
    /// What the latest documents say: in OS2 1 deletes what it reads, in OS3 it does not.
    case documented
    /// The contrary.
    case inverted
  }

  /// Whether an OS3 lock answers a request for its status.
  public enum StatusRead: String, CaseIterable, Sendable {
    /// It does not.
    case silent
    /// It does.
    case answered
  }

  /// The layout of the version that an OS3 lock tells.
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
