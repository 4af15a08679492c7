import Automata
import Basics
public import Documents
public import Conformance

/// Makes devices from specifications.
///
/// The program injects a provider into the harness, which does not know the kinds of devices, and sees each only as a
/// ``DeviceUnderTest``.
public protocol DeviceProvider {
  /// The names of the emulated devices.
  var emulators: [String] { get }

  /// What is known of a device without starting it.
  ///
  /// - Throws: what is wrong with its name or its settings. Settings that are neither options nor start
  ///   conditions of the device are wrong.
  func describe(_ spec: DeviceSpec) throws(DeviceProblem) -> DeviceDescription

  /// The device that a machine is driven on when none is named.
  func usualDevice(of machine: String) -> DeviceSpec?

  /// Makes a device; its settings are options of its own only, without start conditions.
  ///
  /// Called for every case: devices in memory are made afresh, a program may go on from case to case.
  func device(_ spec: DeviceSpec, seed: UInt64) throws(LabFault) -> any DeviceUnderTest

  /// Another device of the same kind as one that lives on from case to case, or that keeps running, of which nothing was
  /// asked yet; `nil` where there is no other, as of a real lock, or where each case has another anyway. A program that keeps
  /// running is started afresh for it.
  func another(_ spec: DeviceSpec, seed: UInt64) throws(LabFault) -> (any DeviceUnderTest)?

  /// Leaves the devices at the end of a run, however it ended: a real lock is brought to its park position.
  ///
  /// - Returns: the result.
  func park() -> ParkReport
}

extension DeviceProvider {
  /// None.
  public func another(_ spec: DeviceSpec, seed: UInt64) throws(LabFault) -> (any DeviceUnderTest)? { nil }

  /// Nothing: what is in memory can be left as it is.
  public func park() -> ParkReport { ParkReport() }
}

/// How devices were left at the end of a run.
public struct ParkReport: Sendable {
  /// The diagnostics, one line each.
  public var diagnostics: [String] = []
  /// How each real lock was left that was used, by what the run calls it.
  public var locks: [(name: String, park: ParkState)] = []
  /// The fault, if a device could not be left as required.
  public var fault: LabFault?
  /// A scenario for each lock that is not where it is to be left, or may not be: a run of it brings the lock there.
  public var parkScenarios: [ParkScenario] = []

  /// A scenario that looks at a lock, for whom the end of a run is to park it.
  public struct ParkScenario: Sendable {
    /// What the run calls the lock.
    public var lock: String
    /// The scenario, in YAML.
    public var text: String

    /// Says what brings a lock to where it is to be left.
    public init(lock: String, text: String) { (self.lock, self.text) = (lock, text) }
  }

  /// Makes a report without any device to leave.
  public init() {}

  /// Adds how others were left.
  public mutating func add(_ other: ParkReport) {
    diagnostics += other.diagnostics
    locks += other.locks
    parkScenarios += other.parkScenarios
    fault = fault ?? other.fault
  }
}

/// What is known of a device without starting it.
public struct DeviceDescription: Sendable {
  /// What the device stands for, such as the generation of a lock: a scenario written for one device can be
  /// driven on another of the same family. `nil` stands for any.
  public var family: String?
  /// The machines that it can be compared with, the usual one first; `nil` stands for any.
  public var machines: [String]?
  /// What it can serve.
  public var abilities: Abilities
  /// What it runs, where that is known without asking it.
  public var firmware: String?
  /// The names of the options that are the device's own and no condition of a test.
  public var options: [String]
  /// What values it reports beside statuses and effects.
  public var readings: [String]
  /// The stimuli that set something in motion that wears; `nil` where it does not say.
  public var moving: [String]?
  /// The settings of start conditions that are as they are: a scenario that starts otherwise is skipped.
  public var given: [Argument]
  /// The stimuli that it could serve and does not, with the reason.
  public var withheld: [(stimulus: String, reason: String)]
  /// Why it is not given a fault that it could serve; `nil` where it is.
  public var reason: @Sendable (_ fault: Fault) -> String? = { _ in nil }
  /// How a scenario that says nothing of it takes a device to start, where the device does not start so by itself.
  public var usual: [UsualSetting] = []

  /// Makes a description.
  public init(
    family: String?, machines: [String]?, abilities: Abilities, options: [String] = [],
    readings: [String] = [], given: [Argument] = [], withheld: [(stimulus: String, reason: String)] = []
  ) {
    self.family = family
    self.machines = machines
    self.abilities = abilities
    self.options = options
    self.readings = readings
    self.given = given
    self.withheld = withheld
  }
}

extension DeviceDescription {
  /// The stimuli that wear what they set in motion, with a device that does not say.
  public static var usuallyMoving: [String] { LockFamily.Request.turns }

  /// Throws if a device that works with any machine refers to a name that the machine lacks: a misspelt name would be
  /// ignored.
  ///
  /// It may support additional stimuli, unless one resembles a stimulus that it lacks.
  public func checkNames(in machine: MachineLibrary.Entry) throws(DeviceProblem) {
    guard machines == nil else { return }
    let definition = machine.machine.definition
    let (events, conditions) = (definition.events.map(\.name), definition.conditions.map(\.name))
    let named = [
      ("condition", abilities.conditions, conditions), ("event", abilities.reports, events),
    ]
    for (kind, names, known) in named {
      // What gets lost on the air is the air's, whether or not the machine has a word for it.
      guard let name = names.first(where: { $0 != "loss" && !known.contains($0) }) else { continue }
      throw .unknown(.name, "\(kind) of the device", name, of: known)
    }
    if let name = abilities.reports.first(where: { !machine.machine.takes($0) }) {
      throw DeviceProblem(
        .name, code: .impossible,
        "the device reports the event `\(name)`, which only the tester brings about in `\(machine.label)`",
        hint: "leave it out of `reports`, or give the machine a row in which it happens by itself")
    }
    try checkArguments(in: definition)
    let served = abilities.stimuli ?? []
    let lacking = events.filter { !served.contains($0) }
    for name in served where !events.contains(name) {
      guard let nearest = nearestName(to: name, in: lacking) else { continue }
      throw DeviceProblem(
        .name, code: .unknownStimulus, "unknown stimulus of the device `\(name)`",
        hint: .name(nearest, insteadOf: name))
    }
  }

  /// Throws when a device offers a stimulus with a value that the machine does not take: the lock would be judged by what no client
  /// asks of it.
  private func checkArguments(in definition: MachineDefinition) throws(DeviceProblem) {
    for (stimulus, values) in abilities.arguments {
      guard let forms = definition.events.first(where: { $0.name == stimulus })?.arguments else { continue }
      for argument in values.joined() {
        guard let form = forms.forms.first(where: { $0.name == argument.name }) else {
          throw .unknown(
            .name, "argument of `\(stimulus)` of the device", argument.name, of: forms.forms.map(\.name))
        }
        guard argument.value.read(as: form.kind) == nil else { continue }
        throw DeviceProblem(
          .name, code: .impossible,
          "the device offers `\(stimulus)` with `\(argument.name)` = \(argument.value), and the machine takes \(form.kind.expectation)",
          hint: "offer what the machine takes in `arguments`, or declare it in the machine")
      }
    }
  }

  /// Throws when a setting that is a start condition, and no option, has a value that the device cannot start with.
  func check(_ setting: DeviceSpec.Setting) throws(DeviceProblem) {
    let setting = Argument(setting.name, Value(plain: setting.value))
    if let problem = abilities.particulars.problem(with: setting) {
      throw DeviceProblem(.value(of: setting.name), problem)
    }
  }
}

extension Machine {
  /// Whether something follows from an event that a device reports: a row that the tester does not cause, or a condition.
  fileprivate func takes(_ event: String) -> Bool {
    let number = self.event(named: event)
    return number == nil || definition.conditions.contains { $0.events.contains(event) }
      || spontaneous.contains { $0.contains { $0.event == number } }
  }
}

/// A setting of a start condition that scenarios rely on without saying so.
public struct UsualSetting: Sendable {
  /// The setting.
  public var setting: Argument
  /// The stimulus with which a scenario uses it; `nil` for any.
  public var stimulus: String?

  /// Makes one.
  public init(_ setting: Argument, with stimulus: String? = nil) {
    self.setting = setting
    self.stimulus = stimulus
  }
}

/// What is wrong with a device specification.
public struct DeviceProblem: Error, Equatable, Sendable {
  /// Where it is wrong.
  public enum Part: Equatable, Sendable {
    /// In the kind or the name of the device.
    case name
    /// In the name of a setting.
    case setting(String)
    /// In the value of a setting.
    case value(of: String)
  }

  /// Where it is wrong.
  public var part: Part
  /// What kind of problem it is.
  public var code: Problem.Code
  /// What is wrong, in one line.
  public var message: String
  /// What would put it right, or `nil`.
  public var advice: Advice?

  /// What would put it right, in one line, for a person.
  public var hint: String? { advice?.text }

  /// Makes a problem.
  public init(_ part: Part, code: Problem.Code = .wrongDevice, _ message: String, hint: Advice? = nil) {
    self.part = part
    self.code = code
    self.message = message
    advice = hint
  }

  /// A name that is not among those there are, with the nearest one or with all of them.
  public static func unknown(
    _ part: Part, _ kind: String, _ name: String, of names: [String]
  ) -> DeviceProblem {
    DeviceProblem(
      part, code: Problem.Code(unknown: kind), "unknown \(kind) `\(name)`",
      hint: .nearest(to: name, of: names, or: allOf))
  }

  /// All that there is to choose from.
  static func allOf(_ names: [String]) -> String { "expected one of \(names.joined(separator: ", "))" }
}

extension DeviceProblem: CustomStringConvertible {
  /// The message and the hint in one line.
  public var description: String { message + (hint.map { ": \($0)" } ?? "") }
}
