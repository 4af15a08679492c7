public import Basics

/// Whatever is tested: an emulated lock, a real one behind a dongle, another program.
///
/// A harness sees a device only through this protocol, so it cannot tell an emulator from a lock. Time passes
/// only in ``observe(until:)``; on an emulated device it is virtual, on a real one it is the clock's.
///
///     reset ──▶ perform / bring(about:) ──▶ observe … observe = nil ──▶ perform …
///
/// Any of the calls may throw a ``LabFault``, which says that there is no verdict: it is never a divergence.
///
/// Nothing is answered in a device's place: it is a ``StandaloneDevice``, to which nothing but itself belongs, or a
/// ``DeviceLayer`` around another one.
public protocol DeviceUnderTest {
  /// What the device can serve. Scenarios that need more are skipped, with the reason.
  var abilities: Abilities { get }

  /// The time since the last reset.
  var now: Instant { get }

  /// Takes over the numbers under which the model knows names. Called before anything else.
  mutating func adopt(_ vocabulary: Vocabulary)

  /// Starts a test in a condition, at time zero. Not a factory reset of a lock, which is a stimulus.
  mutating func reset(to start: StartCondition) throws(LabFault)

  /// When a stimulus may be given at the earliest, where that is not at once: a motor is given its rest.
  ///
  /// A harness lets time pass until then *before* it tells the model of the stimulus; ``perform(_:)`` refuses
  /// what comes too early.
  func readyTime(for stimulus: Stimulus) -> Instant?

  /// When a fault may be brought about at the earliest, where that is not at once: a lock with a bug may obey it.
  func readyTime(for fault: Fault) -> Instant?

  /// Whether a stimulus, given now, would go any further than the tester's own end: what a client refuses by itself
  /// never comes to its lock, moves no motor, and is given at once.
  func reaches(_ stimulus: Stimulus) -> Bool

  /// The sessions in which the device was made ready for the test, in their order, also where that failed.
  ///
  /// Asked once, after ``reset(to:)``.
  mutating func takePreparations() -> [Preparation]

  /// Does at once what the tester wants done. What comes of it is observed.
  mutating func perform(_ stimulus: Stimulus) throws(LabFault)

  /// Brings about a fault of the environment: a jam, a lost packet, an empty battery.
  mutating func bring(about fault: Fault) throws(LabFault)

  /// Lets time pass up to the next observation, or up to a limit when there is none before.
  ///
  /// With the limit at ``now`` no time passes: what is already there is returned. After `nil`, ``now`` is the
  /// limit, and everything up to and including the limit has been observed.
  ///
  /// A device whose time is the clock's does not keep who asks for the end waiting: it throws ``LabFault/Symptom/stopped``
  /// then, in the middle of whatever is waited for.
  mutating func observe(until limit: Instant) throws(LabFault) -> Observation?

  /// Why the device shows what it showed last, where it knows more than the status says.
  ///
  /// Asked when the model does not allow it, or when nothing was shown that should have been; it changes nothing.
  ///
  /// - Parameter isSilent: whether it is asked why nothing was shown.
  func explanation(ofSilence isSilent: Bool) -> Explanation?

  /// What the tester's own end has sent in this test that no client sends, and to which the device may still react, the
  /// latest last.
  ///
  /// Asked when model and device disagree, so that what is said of it names the cause; it changes nothing.
  var injected: [InjectedAction] { get }

  /// By when the device must have answered what it was asked for, where the model awaits nothing of it, such as a value
  /// that is read; `nil` where every answer is there.
  var answerDue: Instant? { get }

  /// What of the device's time was not its own, and how long its motor rests from now on.
  var pace: DevicePace { get }

  /// Starts the device afresh after a lab fault, as far as that can be done.
  mutating func restart() throws(LabFault)

  /// What the lab has to say since it was last asked, one line each: how a transport was brought back, why a motor
  /// was spared. It goes into the journal and is no part of the comparison.
  mutating func takeDiagnostics() -> [String]
}

/// Where the time of a device goes that is reached over the air and has a motor: in all tests, and in the sessions before
/// them.
public struct DevicePace: Equatable, Sendable {
  /// What the way to it has taken: listening, connecting, finding out what it offers.
  public var air = Interval.zero
  /// What the motor's rest has taken in the sessions before tests. In a test the tester sees it:
  /// ``DeviceUnderTest/readyTime(for:)-(Stimulus)``.
  public var rest = Interval.zero
  /// How long the motor rests from now on: what moves it waits for so long.
  public var motorRest = Interval.zero
  /// How many movements the tester may still cause; `nil` for any number.
  public var movementsLeft: Int?

  /// Nothing went anywhere else.
  public init() {}
}

/// The names that model and device share, with their numbers.
///
/// Names are the same when they are written with the same characters: a device that shows `e` with an accent behind it,
/// where the model has the one letter, shows something else, however alike they look.
public struct Vocabulary: Equatable, Sendable {
  /// The events of the machine; a stimulus is known by its number here.
  public let stimuli: [String]
  /// What the device can show.
  public let statuses: [String]
  /// The named effects of transitions.
  public let effects: [String]
  /// The argument of each stimulus, by its name, where there is exactly one: it may be given without.
  public let soleArguments: [String?]

  /// Makes a vocabulary.
  public init(
    stimuli: [String], statuses: [String], effects: [String] = [], soleArguments: [String?] = []
  ) {
    self.stimuli = stimuli
    self.soleArguments = soleArguments + stimuli.dropFirst(soleArguments.count).map { _ in nil }
    self.statuses = statuses
    self.effects = effects
  }

  /// Whether it has all names of another one.
  public func has(_ other: Vocabulary) -> Bool {
    other.stimuli.allSatisfy(stimuli.contains) && other.statuses.allSatisfy(statuses.contains)
      && other.effects.allSatisfy(effects.contains)
  }

  /// The number of a stimulus.
  public func stimulus(_ name: String) -> Int? { stimuli.firstIndex { $0.isWritten(as: name) } }
  /// The number of a status.
  public func status(_ name: String) -> Int? { statuses.firstIndex { $0.isWritten(as: name) } }
  /// The number of an effect.
  public func effect(_ name: String) -> Int? { effects.firstIndex { $0.isWritten(as: name) } }

  /// The observation of a status by name: one that the model does not know is a divergence, not a trap.
  public func observation(ofStatus name: String) -> Observation {
    status(name).map { .status($0) } ?? .unknown(name)
  }

  /// The observation of an effect by name.
  public func observation(ofEffect name: String) -> Observation {
    effect(name).map { .effect($0) } ?? .unknown(name)
  }
}

/// What the tester does.
public struct Stimulus: Equatable, Sendable {
  /// The number in the ``Vocabulary``.
  public var number: Int
  /// Named arguments, in the order given.
  public var arguments: [Argument]

  /// Makes a stimulus.
  @inlinable
  public init(_ number: Int, _ arguments: [Argument] = []) {
    self.number = number
    self.arguments = arguments
  }

  /// The argument of a name.
  public func argument(_ name: String) -> Value? { arguments.first { $0.name == name }?.value }
}

/// A named value that goes with a stimulus.
public struct Argument: Equatable, Sendable {
  /// The name.
  public var name: String
  /// The value.
  public var value: Value

  /// The name of an argument that stands alone.
  public static let only = "value"

  /// Makes an argument.
  public init(_ name: String, _ value: Value) {
    self.name = name
    self.value = value
  }
}

/// A value in an argument, a fault or a reading.
public enum Value: Equatable, Sendable {
  case flag(Bool)
  case integer(Int)
  case number(Double)
  case duration(Interval)
  case text(String)
}

extension Value: CustomStringConvertible {
  public var description: String {
    switch self {
    case .flag(let value): value ? "yes" : "no"
    case .integer(let value): String(value)
    case .number(let value): String(value)
    case .duration(let value): value.description
    case .text(let value): value
    }
  }

  /// Whether the value takes something away: `no`, `off`, `false`, zero.
  public var isNothing: Bool {
    switch self {
    case .flag(let value): !value
    case .integer(let value): value == 0
    case .number(let value): value == 0
    case .duration(let value): value == .zero
    case .text(let value): truth(ofWord: value) == false || value == "none" || value == "0"
    }
  }

  /// Whether the value says only that something is so, or is not: `yes`, `on`, `true`, or ``isNothing``.
  public var isYesOrNo: Bool {
    switch self {
    case .flag: true
    case .text(let value) where truth(ofWord: value) == true: true
    case .integer, .number, .duration, .text: isNothing
    }
  }
}

/// A disturbance that the tester brings about.
public struct Fault: Equatable, Sendable {
  /// What it is, such as `jam` or `drop`.
  public var name: String
  /// Its particulars, such as `next-notification`; ``Value/isNothing`` ends a lasting fault.
  public var value: Value

  /// Makes a fault.
  public init(_ name: String, _ value: Value = .flag(true)) {
    self.name = name
    self.value = value
  }
}

/// What a device shows.
///
/// What is rare stands behind a reference, so that a status, which every event brings, is two words to pass on.
public enum Observation: Equatable, Sendable {
  /// A status, by its number in the ``Vocabulary``.
  case status(Int)
  /// An effect, by its number in the ``Vocabulary``.
  case effect(Int)
  /// A status or effect that the vocabulary does not have.
  indirect case unknown(String)
  /// The stimulus was not obeyed, and why.
  indirect case refused(String)
  /// A value read or reported: a battery's voltage, a history record.
  indirect case reading(Reading)
  /// An event that the device does not do, and that the tester's own end saw happen: evidence for the model.
  indirect case event(SeenEvent)
  /// The device broke a rule of its protocol, whatever the status: a status sent before login, a false tag. One that
  /// is known of its kind (``Violation/quirk``) is a diagnostic.
  indirect case violation(Violation)
}

/// Something that happened on the way to a device, as the tester's own end saw it: a link that was lost, a frame that
/// the tester took away.
///
/// It is no behaviour of the device. The model is told, and excuses what it explains and nothing else.
public struct SeenEvent: Equatable, Sendable {
  /// The number of the machine's event in the ``Vocabulary``.
  public var number: Int
  /// Its particulars in words, such as the reason of a disconnection; empty where there are none.
  public var detail: String

  /// Makes the record of an event.
  public init(_ number: Int, _ detail: String = "") {
    self.number = number
    self.detail = detail
  }
}

/// A named value that a device shows.
public struct Reading: Equatable, Sendable {
  /// What was read, such as `battery`.
  public var name: String
  /// What it was.
  public var value: Value

  /// Makes a reading.
  public init(_ name: String, _ value: Value) {
    self.name = name
    self.value = value
  }
}

/// The condition in which a test starts: settings such as `registered`, in the order given.
public struct StartCondition: Equatable, Sendable {
  /// The settings and their values.
  public var settings: [Argument]

  /// Makes a condition; one without settings is the device's usual one.
  public init(_ settings: [Argument] = []) {
    self.settings = settings
  }

  /// The value of a setting, if it is given.
  public func setting(_ name: String) -> Value? { settings.first { $0.name == name }?.value }

  /// A setting that is on or off, if it is given.
  public func flag(_ name: String) -> Bool? {
    guard let value = setting(name) else { return nil }
    return !value.isNothing
  }
}

/// What a device can serve.
public struct Abilities: Sendable {
  /// The stimuli it understands, by name; `nil` when it has to be asked each time.
  public var stimuli: [String]?
  /// The faults it can bring about.
  public var faults: [String]
  /// The settings of start conditions that it can make true; `nil` when it has to be asked each time.
  public var settings: [String]?
  /// The conditions of the model that always hold with this device, such as `loss` on a real radio.
  public var conditions: [String]
  /// The events of the model, by name, that the device reports when its own end sees them: without the report they
  /// did not happen.
  public var reports: [String]
  /// Whether a test finds the device as the one before has left it, but for what its start asks for.
  public var livesOn = false
  /// Whether what it is goes on running from one test to the next, so that nothing but its own reset parts them: a program that
  /// leaves something behind shows in a test what those before it have done. Another one can be had: it is started afresh.
  public var keepsRunning = false
  /// Whether it shows the effects of transitions, beside statuses.
  public var showsEffects: Bool
  /// How much later or earlier than it happened something may be observed; zero where nothing is held up.
  public var slack: Interval
  /// Whether time passes only as it is let pass, and costs nothing.
  public var isInVirtualTime: Bool
  /// Whether a program of the user's plays it in virtual time: then nothing of it is spent but the events. An emulated lock of
  /// ours is searched as the real one is, whose time and wear are.
  public var isPlayed = false
  /// Whether it has not said what it can serve when it was asked: nothing is held against what it lacks, and each test ends with
  /// the trouble.
  public var areUnknown = false

  /// The stimuli and faults, by name, before which a motor is given its rest.
  public var resting: [String] = []
  /// Whether its motor takes a command during another motion or right after it, without any rest.
  public var takesCommandsInMotion = false

  /// Arguments of stimuli that tests which are generated may give, the simplest first; without any, none.
  public var arguments: [(stimulus: String, values: [[Argument]])]
  /// The disturbances that tests which are generated may bring about.
  public var disturbances: [Disturbance]
  /// What goes with its stimuli and faults.
  public var particulars = Particulars()

  /// Makes a list of abilities.
  ///
  /// - Parameter isInVirtualTime: unless given, what is held up by nothing.
  public init(
    stimuli: [String]?, faults: [String] = [], settings: [String]? = [], conditions: [String] = [],
    reports: [String] = [], showsEffects: Bool = false, slack: Interval = .zero, isInVirtualTime: Bool? = nil,
    arguments: [(stimulus: String, values: [[Argument]])] = [], disturbances: [Disturbance] = []
  ) {
    self.stimuli = stimuli
    self.faults = faults
    self.settings = settings
    self.conditions = conditions
    self.reports = reports
    self.showsEffects = showsEffects
    self.slack = slack
    self.isInVirtualTime = isInVirtualTime ?? (slack == .zero)
    self.arguments = arguments
    self.disturbances = disturbances
  }

  /// What tests may ask of a device that stands in for another one: only what both can do, at the other's pace.
  public func limited(to other: Abilities) -> Abilities {
    var both = self
    if let wanted = other.stimuli { both.stimuli = stimuli?.filter(wanted.contains) ?? wanted }
    both.faults = faults.filter(other.faults.contains)
    both.arguments = other.arguments
    both.disturbances = disturbances.compactMap { own in
      guard let its = other.disturbances.first(where: { $0.fault == own.fault }) else { return nil }
      let values = own.values.filter(its.values.contains)
      return values.isEmpty ? nil : Disturbance(own.level, own.fault, values)
    }
    both.slack = max(slack, other.slack)
    both.isInVirtualTime = isInVirtualTime && other.isInVirtualTime
    both.isPlayed = isPlayed && other.isPlayed
    return both
  }
}

/// Trouble of the lab: no device, a lost transport, a program that ended. There is no verdict then.
public struct LabFault: Error, Equatable, Sendable, CustomStringConvertible {
  /// What kind of trouble: the same twice in a row means more than two different ones.
  public enum Symptom: String, Equatable, Sendable {
    case noDevice = "no device"
    case noAnswer = "no answer"
    case badAnswer = "an answer of no known form"
    case ended = "the device's program ended"
    case transportLost = "transport lost"
    /// What speaks to the device for us, or plays it, failed: that says nothing of the device, however often it happens.
    case programFailed = "a program of the lab failed"
    case notPossible = "not possible with this device"
    /// The air lost the link to the device: what was seen then says nothing of the device.
    case linkLost = "link lost"
    /// What was seen once did not show again: there is no verdict on it.
    case notReproduced = "not reproduced"
    /// Tests of a campaign came to no verdict, because of other trouble.
    case noVerdict = "no verdict"
    /// Nothing is wrong, and yet nothing more may be done: a budget is used up.
    case safetyLimit = "stopped by a safety limit"
    /// Nothing is wrong: the end was asked for while the device was waited for.
    case stopped
  }

  /// What kind of trouble.
  public var symptom: Symptom
  /// One sentence on what happened and, where there is something, what to do.
  public var detail: String
  /// Where it comes from, where that is known.
  public var origin: Origin?

  /// Where trouble comes from.
  public enum Origin: Hashable, Sendable {
    /// A program of the user's.
    case program(ProgramTrouble)
    /// The controller, or the way to it.
    case transport
  }

  /// Makes a lab fault.
  public init(_ symptom: Symptom, _ detail: String, from origin: Origin? = nil) {
    self.symptom = symptom
    self.detail = detail
    self.origin = origin
  }

  /// The same trouble, told in the same words.
  public static func == (one: Self, other: Self) -> Bool {
    (one.symptom, one.detail) == (other.symptom, other.detail)
  }

  public var description: String { "\(symptom.rawValue): \(detail)" }
}
