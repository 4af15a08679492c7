import Conformance
import Documents
public import Sesame
import Basics

/// One option of an emulated lock.
public struct LockOption: Sendable {
  /// The name, such as `wrong-login`.
  public let name: String
  /// The allowed values, as text or as a list.
  public let values: String
  /// The default value.
  public let usual: String
  /// A description in one sentence.
  public let sentence: String
  /// The generation of locks to which it applies; `nil` for all.
  public let generation: Generation?
  /// The allowed values, if they form a list.
  public let choices: [String]

  private let set: @Sendable (inout LockOptions, String) -> Bool

  /// Every option, in the order of the documentation.
  public static let all: [LockOption] = mechanics + connection + messages + opening + commands

  /// The option with a name.
  public static func named(_ name: String) -> LockOption? { all.first { $0.name == name } }

  /// Sets the option to the value of a text; false if the text is no valid value.
  func apply(_ text: String, to options: inout LockOptions) -> Bool { set(&options, text) }
}

/// Why a setting of an emulated device is invalid, with a suggestion.
public enum LockOptionError: Error, Equatable, Sendable, CustomStringConvertible {
  /// There is no device with this name.
  case unknownDevice(String, nearest: String?)
  /// There is no setting with this name.
  case unknownName(String, nearest: String?)
  /// The setting does not have this value.
  case unknownValue(String, of: String, values: String, nearest: String?)
  /// The setting applies to locks of another generation.
  case otherGeneration(String, of: Generation)
  /// The setting has no effect without another one.
  case missing(String, for: String)

  public var description: String {
    switch self {
    case .unknownDevice(let name, let nearest):
      "there is no emulated lock '\(name)'" + Self.hint(nearest)
    case .unknownName(let name, let nearest):
      "there is no setting '\(name)'" + Self.hint(nearest)
    case .unknownValue(let value, let name, let values, let nearest):
      "'\(value)' is not a value of '\(name)', which takes \(values)" + Self.hint(nearest)
    case .otherGeneration(let name, let generation):
      "'\(name)' has no effect: it is a setting of \(generation) locks"
    case .missing(let other, let name):
      "'\(name)' has no effect without '\(other)'"
    }
  }

  private static func hint(_ nearest: String?) -> String {
    nearest.map { "; did you mean '\($0)'?" } ?? ""
  }
}

extension LockOptions {
  /// Sets one option from text.
  public mutating func set(_ name: String, to value: String) throws(LockOptionError) {
    guard let option = LockOption.named(name) else {
      throw .unknownName(name, nearest: nearestName(to: name, in: LockOption.all.map(\.name)))
    }
    guard option.apply(value, to: &self) else {
      throw .unknownValue(
        value, of: name, values: option.values, nearest: nearestName(to: value, in: option.choices))
    }
  }
}

extension LockOption {
  private init<Value>(
    _ name: String, _ path: any WritableKeyPath<LockOptions, Value> & Sendable, _ sentence: String,
    of generation: Generation? = nil, values: String, choices: [String] = [], write: (Value) -> String,
    read: @escaping @Sendable (String) -> Value?
  ) {
    self.name = name
    self.values = values
    self.choices = choices
    self.sentence = sentence
    self.generation = generation
    usual = write(LockOptions()[keyPath: path])
    set = { options, text in
      guard let value = read(text) else { return false }
      options[keyPath: path] = value
      return true
    }
  }

  /// Makes an option with a list of values.
  private init<Value>(
    _ name: String, _ path: any WritableKeyPath<LockOptions, Value> & Sendable,
    of generation: Generation? = nil,
    _ sentence: String
  ) where Value: RawRepresentable & CaseIterable & SendableMetatype, Value.RawValue == String {
    let choices = Value.allCases.map(\.rawValue)
    self.init(
      name, path, sentence, of: generation, values: choices.joined(separator: ", "), choices: choices,
      write: { $0.rawValue },
      read: { Value(rawValue: $0) })
  }

  /// Makes an option that is on or off.
  private init(
    _ name: String, _ path: any WritableKeyPath<LockOptions, Bool> & Sendable,
    of generation: Generation? = nil,
    _ sentence: String
  ) {
    self.init(
      name, path, sentence, of: generation, values: "no, yes", choices: ["no", "yes"],
      write: { $0 ? "yes" : "no" },
      read: truth(ofWord:))
  }

  /// Makes an option with a range of times.
  private init(
    _ name: String, _ path: any WritableKeyPath<LockOptions, Interval> & Sendable,
    _ range: ClosedRange<Interval>,
    _ sentence: String
  ) {
    self.init(
      name, path, sentence,
      values: "a time from \(range.lowerBound) to \(range.upperBound), such as 250 ms",
      write: \.description, read: { Interval(text: $0).flatMap { range.contains($0) ? $0 : nil } })
  }

  /// Makes an option with a range of numbers.
  private init<Number>(
    _ name: String, _ path: any WritableKeyPath<LockOptions, Number> & Sendable, _ range: ClosedRange<Number>,
    _ unit: String, _ sentence: String
  ) where Number: LosslessStringConvertible & Comparable & SendableMetatype & Sendable {
    self.init(
      name, path, sentence, values: "a number of \(unit) from \(range.lowerBound) to \(range.upperBound)",
      write: \.description, read: { Number($0).flatMap { range.contains($0) ? $0 : nil } })
  }
}

extension LockOption {
  private static let mechanics = [
    LockOption(
      "motor", \.motor, .milliseconds(1) ... .seconds(60),
      "How long the bolt takes to move from one position to the other, whatever their angles."),
    LockOption(
      "patience", \.patience, .milliseconds(1) ... .seconds(60),
      "How long the motor pushes against an obstacle before it stops."),
    LockOption(
      "while-moving", \.whileMoving,
      "What the lock does with a lock or unlock while the motor runs: reverse the motor, or answer that "
        + "it is busy."),
    LockOption("battery", \.battery, 0...7.2, "volts", "The voltage of the battery at the start of a test."),
    LockOption(
      "sag", \.sag, 0...7.2, "volts", "The voltage that the battery loses with each start of the motor."),
    LockOption(
      "epoch", \.epoch, 0...UInt32.max, "seconds",
      "The time of the lock's clock at the start of a test, in seconds since 1970."),
    LockOption(
      "drift", \.drift, -100_000...100_000, "millionths",
      "The rate error of the lock's clock; with a positive value it runs fast."),
    LockOption(
      "powerless-clock", \.powerlessClock,
      "Whether the clock continues without power, or restarts in 1970."),
    LockOption(
      "history-capacity", \.historyCapacity, 1...10_000, "records",
      "How many history records the lock holds. A full history drops the oldest record."),
  ]

  private static let connection = [
    LockOption(
      "advertising", \.advertising, .milliseconds(20) ... .milliseconds(10_240),
      "The interval between advertisements."),
    LockOption(
      "name", \.name, of: .os2,
      "Which packet contains the name of an OS2 lock. The name carries its identity; without it, "
        + "clients cannot find the lock."),
    LockOption("initial", \.initial, "How often the lock sends the token when a connection opens."),
    LockOption(
      "early-ciphertext", \.earlyCiphertext,
      "Whether the lock sends an encrypted notification before the token, as has been seen of real locks."),
    LockOption(
      "leftover-frame", \.leftoverFrame,
      "Whether the lock sends, before the token, the last frame of a message from the previous connection."),
    LockOption(
      "login-timeout", \.loginTimeout, .zero ... .seconds(3600),
      "How long a client of a registered lock may take to log in before the lock ends the link; 0 s "
        + "means no limit."
    ),
    LockOption(
      "end-reason", \.endReason, "The reason code with which the lock ends a link."),
    LockOption(
      "restart", \.restart, .zero ... .seconds(60),
      "How long the lock is unreachable while it restarts after a reset."),
    LockOption(
      "gatt", \.gatt,
      "The properties of the lock's characteristics on the air: as documented, with a notifying "
        + "characteristic that can also be read, or with write commands only."
    ),
  ]

  private static let messages = [
    LockOption(
      "receiver", \.receiver,
      "The program whose reassembly of frames the lock copies. Where that program would crash, the lock "
        + "restarts."
    ),
    LockOption(
      "failed-message", \.failedMessage,
      "What happens to the decrypt counter when a message fails authentication."),
    LockOption(
      "plaintext", \.plaintext,
      "What the lock does with a clear-text request that is only allowed encrypted in a session."),
    LockOption(
      "bad-request", \.badRequest, "What the lock does with a request whose data cannot be decoded."),
  ]

  private static let opening = [
    LockOption(
      "er-length", \.erLength, of: .os2, "The length of the secret part of an OS2 lock's identity, in bytes."),
    LockOption(
      "signature", \.signature, of: .os2, "Whether an OS2 lock checks the signature of a registration."),
    LockOption(
      "registration-answer", \.registrationAnswer, of: .os2,
      "Whether an OS2 lock answers a registration in clear text or encrypted."),
    LockOption(
      "login-publish", \.loginPublish, of: .os2,
      "Whether an OS2 lock sends the login publish of a registration after the answer or before it."),
    LockOption(
      "already-registered", \.alreadyRegistered,
      "How a lock with an owner answers a registration: with result 9, with result 9 and four bytes, or "
        + "by ending the link."
    ),
    LockOption(
      "owned-identity", \.ownedIdentity, of: .os2,
      "What an OS2 lock with an owner does with the identity request that begins a registration."),
    LockOption(
      "login-after-registration", \.loginAfterRegistration, of: .os2,
      "What an OS2 lock does with a login on the connection over which it was registered."),
    LockOption(
      "short-registration", \.shortRegistration, of: .os3,
      "Whether an OS3 lock accepts a registration without the time, which has 65 bytes."),
    LockOption(
      "publish-after-registration", \.publishAfterRegistration, of: .os3,
      "Whether an OS3 lock publishes its setting and its status immediately after a registration."),
    LockOption(
      "app-time", \.appTime, "Whether the lock accepts any time from a client, or only a plausible one."),
    LockOption(
      "repeated-app-token", \.repeatedAppToken, of: .os2,
      "Whether an OS2 lock accepts the app token of the previous session again."),
    LockOption("wrong-login", \.wrongLogin, "What the lock does with a login whose proof is wrong."),
    LockOption(
      "login-order", \.loginOrder, of: .os3,
      "Which of its two publishes an OS3 lock sends first after a login."),
    LockOption(
      "login-payload", \.loginPayload, of: .os2, "The length of an OS2 lock's login payload, in bytes."),
    LockOption(
      "login-counts", \.loginCounts, of: .os2,
      "Whether the login payload of an OS2 lock contains the counts of recorded logins, or the actual "
        + "counts."),
    LockOption(
      "firmware", \.firmware, of: .os2,
      "The firmware generation that an OS2 lock reports. Generation 0 supports no unsigned time and no "
        + "history."),
  ]

  private static let commands = [
    LockOption(
      "answer-order", \.answerOrder,
      "Whether the lock answers a lock, an unlock or a setting of the positions before or after it "
        + "publishes the result."
    ),
    LockOption(
      "autolock-start", \.autolockStart,
      "When a new autolock delay takes effect if it is set while the bolt rests unlocked. Switching "
        + "autolock off takes effect at once."
    ),
    LockOption(
      "history-byte", \.historyByte,
      "The meaning of the byte in a history request: as documented (1 deletes in OS2 and keeps in OS3), "
        + "or inverted."
    ),
    LockOption(
      "positions", \.positions, "Whether a reset deletes the positions, or keeps them for the next owner."),
    LockOption(
      "empty-tag", \.emptyTag, of: .os3,
      "Whether an OS3 lock obeys a lock or unlock without any tag, or ends the link."),
    LockOption(
      "status-read", \.statusRead, of: .os3, "Whether an OS3 lock answers a request for its status."),
    LockOption(
      "version-text", \.versionText, of: .os3,
      "Whether an OS3 lock reports its version as twelve characters, or in the layout of OS2."),
    LockOption(
      "status-bits", \.statusBits, of: .os2, "Which bits of unknown meaning an OS2 lock sets in its status."),
  ]
}
