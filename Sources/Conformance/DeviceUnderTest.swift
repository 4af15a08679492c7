public import Basics

/// The device under test: an emulated lock, a real one behind a dongle, another program.
///
/// A harness sees a device only through this protocol, so it cannot tell an emulator from a lock. Time passes
/// only in ``observe(until:)``; on an emulated device it is virtual, on a real one it is the clock's.
///
///     reset ──▶ perform / bring(about:) ──▶ observe … observe = nil ──▶ perform …
///
/// Any of the calls may throw a ``LabFault``, which means that there is no verdict: it is never a divergence.
///
/// The protocol has no default implementations. A device is a ``StandaloneDevice``, or a ``DeviceLayer`` around
/// another device.
public protocol DeviceUnderTest {
  /// What the device supports. Scenarios that need more are skipped, with the reason.
  var abilities: Abilities { get }

  /// The time since the last reset.
  var now: Instant { get }

  /// Adopts the model's vocabulary. Called before anything else.
  mutating func adopt(_ vocabulary: Vocabulary)

  /// Starts a test in a condition, at time zero. It does not reset a lock to factory settings; that is a stimulus.
  mutating func reset(to start: StartCondition) throws(LabFault)

  /// Returns the earliest time for a stimulus; `nil` if it may be given at once. A motor, for example, must rest.
  ///
  /// A harness lets time pass until then *before* it passes the stimulus to the model; ``perform(_:)`` refuses a
  /// stimulus that comes too early.
  func readyTime(for stimulus: Stimulus) -> Instant?

  /// Returns the earliest time for a fault, which a defective lock may obey; `nil` if it may be injected at once.
  func readyTime(for fault: Fault) -> Instant?

  /// Returns whether a stimulus, given now, would reach the device. A stimulus that the tester's own client refuses
  /// moves no motor and needs no wait.
  func reaches(_ stimulus: Stimulus) -> Bool

  /// Takes the sessions that prepared the device for the test, in order, even if preparation failed.
  ///
  /// Called once, after ``reset(to:)``.
  mutating func takePreparations() -> [Preparation]

  /// Performs a stimulus at once. Its effects are observed later.
  mutating func perform(_ stimulus: Stimulus) throws(LabFault)

  /// Injects a fault of the environment: a jam, a lost packet, an empty battery.
  mutating func bring(about fault: Fault) throws(LabFault)

  /// Lets time pass up to the next observation, or up to a limit if there is none before it.
  ///
  /// With the limit at ``now`` no time passes: an observation that is already available is returned. After `nil`,
  /// ``now`` is the limit, and everything up to and including the limit has been observed.
  ///
  /// A device in real time reacts to a stop request during any wait: it throws ``LabFault/Symptom/stopped``.
  mutating func observe(until limit: Instant) throws(LabFault) -> Observation?

  /// Returns the reason for the device's latest observation, if the device knows more than its status reports.
  ///
  /// Called when the model does not allow an observation, or a required one is missing; it changes nothing.
  ///
  /// - Parameter isSilent: whether the question is why nothing was shown.
  func explanation(ofSilence isSilent: Bool) -> Explanation?

  /// The actions that the tester injected in this test and to which the device may still react, in order of time.
  ///
  /// Called when model and device disagree, so that the report names the cause; it changes nothing.
  var injected: [InjectedAction] { get }

  /// The deadline of a response that the model does not await, such as a reading; `nil` if none is pending.
  var answerDue: Instant? { get }

  /// The time spent on the device's connection and on its motor's rest.
  var pace: DevicePace { get }

  /// Restarts the device after a lab fault, as far as possible.
  mutating func restart() throws(LabFault)

  /// Takes the lab's diagnostics since the last call, one line each: how a transport was recovered, why a motor had
  /// to wait. They are written to the journal and are no part of the comparison.
  mutating func takeDiagnostics() -> [String]
}

/// The time that a device with a radio link and a motor needs in addition to the test itself, in tests and in
/// preparation sessions.
public struct DevicePace: Equatable, Sendable {
  /// The time spent on the connection: listening, connecting, discovering.
  public var air = Interval.zero
  /// The time that preparation sessions waited for the motor's rest. Within a test the tester knows it:
  /// ``DeviceUnderTest/readyTime(for:)-(Stimulus)``.
  public var rest = Interval.zero
  /// How long the motor must still rest before it may move again.
  public var motorRest = Interval.zero
  /// How many movements the tester may still cause; `nil` for any number.
  public var movementsLeft: Int?

  /// Makes a pace in which no time was spent.
  public init() {}
}

/// The names that model and device share, with their numbers.
///
/// Names are compared by their characters as written: `e` with a combining accent differs from the precomposed
/// letter.
public struct Vocabulary: Equatable, Sendable {
  /// The events of the machine, by number.
  public let stimuli: [String]
  /// The statuses that the device can show.
  public let statuses: [String]
  /// The named effects of transitions.
  public let effects: [String]
  /// The name of each stimulus's only argument, which may be given without its name; `nil` if it has none or several.
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

  /// Returns whether it contains all names of another vocabulary.
  public func has(_ other: Vocabulary) -> Bool {
    other.stimuli.allSatisfy(stimuli.contains) && other.statuses.allSatisfy(statuses.contains)
      && other.effects.allSatisfy(effects.contains)
  }

  /// Returns the number of a stimulus; `nil` if the vocabulary does not have it.
  public func stimulus(_ name: String) -> Int? { stimuli.firstIndex { $0.isWritten(as: name) } }
  /// Returns the number of a status; `nil` if the vocabulary does not have it.
  public func status(_ name: String) -> Int? { statuses.firstIndex { $0.isWritten(as: name) } }
  /// Returns the number of an effect; `nil` if the vocabulary does not have it.
  public func effect(_ name: String) -> Int? { effects.firstIndex { $0.isWritten(as: name) } }

  /// Returns the observation of a status by name: an unknown status is a divergence, not a trap.
  public func observation(ofStatus name: String) -> Observation {
    status(name).map { .status($0) } ?? .unknown(name)
  }

  /// Returns the observation of an effect by name: an unknown effect is a divergence, not a trap.
  public func observation(ofEffect name: String) -> Observation {
    effect(name).map { .effect($0) } ?? .unknown(name)
  }
}

/// An action of the tester.
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

  /// Returns the value of the argument with a name.
  public func argument(_ name: String) -> Value? { arguments.first { $0.name == name }?.value }
}

/// A named value of a stimulus.
public struct Argument: Equatable, Sendable {
  /// The name.
  public var name: String
  /// The value.
  public var value: Value

  /// The name of an argument that is given without one.
  public static let only = "value"

  /// Makes an argument.
  public init(_ name: String, _ value: Value) {
    self.name = name
    self.value = value
  }
}

extension Value {
  /// Whether the value switches something off: `no`, `off`, `false`, zero.
  public var isNothing: Bool {
    switch self {
    case .flag(let value): !value
    case .integer(let value): value == 0
    case .number(let value): value == 0
    case .duration(let value): value == .zero
    case .text(let value): truth(ofWord: value) == false || value == "none" || value == "0"
    case .instant, .bytes, .list, .map, .record, .unknown, .absent: false
    }
  }

  /// Whether the value is a flag: `yes`, `on`, `true`, or ``isNothing``.
  public var isYesOrNo: Bool {
    switch self {
    case .flag: true
    case .text(let value) where truth(ofWord: value) == true: true
    case .integer, .number, .duration, .text: isNothing
    case .instant, .bytes, .list, .map, .record, .unknown, .absent: false
    }
  }
}

/// A disturbance that the tester injects.
public struct Fault: Equatable, Sendable {
  /// The fault's name, such as `jam` or `drop`.
  public var name: String
  /// Its value, such as `next-notification`; ``Value/isNothing`` ends a lasting fault.
  public var value: Value

  /// Makes a fault.
  public init(_ name: String, _ value: Value = .flag(true)) {
    self.name = name
    self.value = value
  }
}

/// An observation of the device.
///
/// Rare cases are indirect, so that a status, the most common one, takes two words.
public enum Observation: Equatable, Sendable {
  /// A status, by its number in the ``Vocabulary``.
  case status(Int)
  /// An effect, by its number in the ``Vocabulary``.
  case effect(Int)
  /// A status or effect that the vocabulary does not have.
  indirect case unknown(String)
  /// The stimulus was refused, with the reason.
  indirect case refused(String)
  /// A value read or reported: a battery's voltage, a history record.
  indirect case reading(Reading)
  /// An event that the device did not cause and that the tester's own client saw: evidence for the model.
  indirect case event(SeenEvent)
  /// The device broke a rule of its protocol, whatever the status: a status sent before login, a false tag. A known
  /// quirk of its kind (``Violation/quirk``) is a diagnostic.
  indirect case violation(Violation)
}

/// An event on the transport to a device, as the tester's own client saw it: a lost link, a frame that the tester
/// dropped.
///
/// It is no behaviour of the device. The model receives it, and excuses only what it explains.
public struct SeenEvent: Equatable, Sendable {
  /// The number of the machine's event in the ``Vocabulary``.
  public var number: Int
  /// Its details as text, such as the reason of a disconnection; may be empty.
  public var detail: String

  /// Makes the record of an event.
  public init(_ number: Int, _ detail: String = "") {
    self.number = number
    self.detail = detail
  }
}

/// A named value that a device shows.
public struct Reading: Equatable, Sendable {
  /// The name of the reading, such as `battery`.
  public var name: String
  /// The value read.
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

  /// Makes a condition; one without settings is the device's default.
  public init(_ settings: [Argument] = []) {
    self.settings = settings
  }

  /// Returns the value of a setting, if present.
  public func setting(_ name: String) -> Value? { settings.first { $0.name == name }?.value }

  /// Returns the value of an on-off setting, if present.
  public func flag(_ name: String) -> Bool? {
    guard let value = setting(name) else { return nil }
    return !value.isNothing
  }
}

/// What a device supports.
public struct Abilities: Sendable {
  /// The stimuli that it supports, by name; `nil` if the device must be asked each time.
  public var stimuli: [String]?
  /// The faults that it can inject.
  public var faults: [String]
  /// The settings of start conditions that it can establish; `nil` if the device must be asked each time.
  public var settings: [String]?
  /// The conditions of the model that always hold with this device, such as `loss` on a real radio.
  public var conditions: [String]
  /// The events of the model, by name, that the device reports when its client sees them: without a report they did
  /// not happen.
  public var reports: [String]
  /// Whether a test finds the device as the previous one left it, except for what its start requires.
  public var keepsState = false
  /// Whether the device's process keeps running between tests, so that only its own reset separates them: state that
  /// it fails to reset affects later tests. It can be replaced by a new one.
  public var keepsRunning = false
  /// Whether it shows the effects of transitions in addition to statuses.
  public var showsEffects: Bool
  /// By how much an observation may be early or late; zero for a device without delays.
  public var slack: Interval
  /// Whether the device's time is virtual: it advances only on request, and costs nothing.
  public var isInVirtualTime: Bool
  /// Whether a user's program emulates the device in virtual time: only its events then count as cost. An emulated
  /// lock of ours is searched like the real one, which costs time and wear.
  public var isSimulated = false
  /// Whether the device failed to report its abilities: missing ones are then no reason to skip a test, and each test
  /// ends with the fault.
  public var areUnknown = false

  /// The stimuli and faults, by name, that must wait for the motor's rest.
  public var resting: [String] = []
  /// Whether its motor accepts a command during or right after another motion, without a rest.
  public var takesCommandsInMotion = false

  /// The arguments that generated tests may give to stimuli, the simplest first; a stimulus without an entry gets
  /// none.
  public var arguments: [(stimulus: String, values: [[Argument]])]
  /// The disturbances that generated tests may inject.
  public var disturbances: [Disturbance]
  /// The checks of its arguments, faults and settings.
  public var particulars = Particulars()

  /// Makes a list of abilities.
  ///
  /// - Parameter isInVirtualTime: by default true for a device whose slack is zero.
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

  /// Returns the abilities for tests on a reference device: what both devices support, at the pace of the other.
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
    both.isSimulated = isSimulated && other.isSimulated
    return both
  }
}

/// A failure of the lab: no device, a lost transport, a program that ended. There is no verdict then.
public struct LabFault: Error, Equatable, Sendable, CustomStringConvertible {
  /// The kind of failure: two equal ones in a row mean more than two different ones.
  public enum Symptom: String, Equatable, Sendable {
    case noDevice = "no device"
    case noAnswer = "no answer"
    case badAnswer = "an answer of no known form"
    case ended = "the device's program ended"
    case transportLost = "transport lost"
    /// The program that emulates the device, or connects us to it, failed: that is never the device's fault, however
    /// often it happens.
    case programFailed = "a program of the lab failed"
    case notPossible = "not possible with this device"
    /// The link was lost on the air: the observation proves nothing about the device.
    case linkLost = "link lost"
    /// An observation could not be reproduced: there is no verdict on it.
    case notReproduced = "not reproduced"
    /// Too much is possible for a verdict, since the device has shown too little of what it chose.
    case undecided = "not decided"
    /// Tests of a campaign reached no verdict because of other failures.
    case noVerdict = "no verdict"
    /// Nothing failed, but a limit forbids to continue: a budget is used up.
    case safetyLimit = "stopped by a safety limit"
    /// Nothing failed: a stop was requested while the device was awaited.
    case stopped
  }

  /// The kind of failure.
  public var symptom: Symptom
  /// One sentence on what happened and, if possible, the remedy.
  public var detail: String
  /// The origin, if known.
  public var origin: Origin?

  /// The origin of a failure.
  public enum Origin: Hashable, Sendable {
    /// A user's program.
    case program(ProgramTrouble)
    /// The controller, or the transport to it.
    case transport
  }

  /// Makes a lab fault.
  public init(_ symptom: Symptom, _ detail: String, from origin: Origin? = nil) {
    self.symptom = symptom
    self.detail = detail
    self.origin = origin
  }

  /// Whether the symptom and the text are equal.
  public static func == (one: Self, other: Self) -> Bool {
    (one.symptom, one.detail) == (other.symptom, other.detail)
  }

  public var description: String { "\(symptom.rawValue): \(detail)" }
}
