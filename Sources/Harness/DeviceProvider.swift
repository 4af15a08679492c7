import Automata
import Basics
public import Documents
public import Conformance

/// Makes devices from specifications.
///
/// The program injects a provider into the harness, which does not know the kinds of devices and sees each
/// only as a ``DeviceUnderTest``.
public protocol DeviceProvider {
  /// The names of the emulated devices.
  var emulators: [String] { get }

  /// Describes a device without starting it.
  ///
  /// - Throws: a problem with its name or its settings. A setting that is neither an option nor a start
  ///   condition of the device is a problem.
  func describe(_ spec: DeviceSpec) throws(DeviceProblem) -> DeviceDescription

  /// The default device of a machine.
  func usualDevice(of machine: String) -> DeviceSpec?

  /// Makes a device. Its settings are options of its own, without start conditions.
  ///
  /// Called for every case: a device in memory is new each time, and a program may keep running from case to case.
  func device(_ spec: DeviceSpec, seed: UInt64) throws(LabFault) -> any DeviceUnderTest

  /// Makes a device of the same kind without a history, for comparison with one that keeps its state from case to
  /// case or keeps running. A program that keeps running is restarted.
  ///
  /// - Returns: the device; `nil` if there is no other device, as for a real lock, or if each case has its own
  ///   anyway.
  func another(_ spec: DeviceSpec, seed: UInt64) throws(LabFault) -> (any DeviceUnderTest)?

  /// Leaves the devices at the end of a run, however it ended: a real lock is brought to its park position.
  ///
  /// - Returns: the result.
  func park() -> ParkReport
}

extension DeviceProvider {
  /// Returns `nil`: there is no other device.
  public func another(_ spec: DeviceSpec, seed: UInt64) throws(LabFault) -> (any DeviceUnderTest)? { nil }

  /// Does nothing: a device in memory can be left in any state.
  public func park() -> ParkReport { ParkReport() }
}

/// How devices were left at the end of a run.
public struct ParkReport: Sendable {
  /// The diagnostics, one line each.
  public var diagnostics: [String] = []
  /// How each real lock was left, by the run's name for it.
  public var locks: [(name: String, park: ParkState)] = []
  /// The fault, if a device could not be left as required.
  public var fault: LabFault?
  /// The diagnostics, if a device could not be left as required.
  var reasons: [String] { fault == nil ? [] : diagnostics }
  /// A scenario for each lock that is not known to be parked: a run of it parks the lock.
  public var parkScenarios: [ParkScenario] = []

  /// A scenario that only reads a lock's state; the end of its run parks the lock.
  public struct ParkScenario: Sendable {
    /// The run's name for the lock.
    public var lock: String
    /// The scenario, in YAML.
    public var text: String

    /// Makes the scenario of a lock.
    public init(lock: String, text: String) { (self.lock, self.text) = (lock, text) }
  }

  /// Makes an empty report.
  public init() {}

  /// Adds the report on other devices.
  public mutating func add(_ other: ParkReport) {
    diagnostics += other.diagnostics
    locks += other.locks
    parkScenarios += other.parkScenarios
    fault = fault ?? other.fault
  }
}

/// The description of a device that was not started.
public struct DeviceDescription: Sendable {
  /// The family of the device, such as the generation of a lock: a scenario written for one device can run on
  /// another one of its family. `nil` stands for any.
  public var family: String?
  /// The machines that it can be compared with, the default one first; `nil` stands for any.
  public var machines: [String]?
  /// The abilities of the device.
  public var abilities: Abilities
  /// Its firmware, if that is known without asking the device.
  public var firmware: String?
  /// The names of its own options, which are not start conditions of a test.
  public var options: [String]
  /// The names of the values that it reports in addition to statuses and effects.
  public var readings: [String]
  /// The stimuli that move something that wears; `nil` if it does not declare them.
  public var moving: [String]?
  /// The start conditions that are fixed on this device: a scenario that needs another value is skipped.
  public var given: [Argument]
  /// The stimuli that it supports but must not receive, each with the reason.
  public var withheld: [(stimulus: String, reason: String)]
  /// Why it must not receive a fault that it supports; `nil` if it may.
  public var reason: @Sendable (_ fault: Fault) -> String? = { _ in nil }
  /// The start settings that scenarios assume by default, although they are not the defaults of this device.
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
  /// The stimuli that count as wear for a device that does not declare any.
  public static var usuallyMoving: [String] { LockFamily.Request.turns }

  /// Throws if a device that works with any machine refers to a name that the machine lacks: a misspelt name
  /// would be ignored.
  ///
  /// The device may have stimuli that the machine lacks, unless one resembles a stimulus of the machine that the
  /// device lacks.
  public func checkNames(in machine: MachineLibrary.Entry) throws(DeviceProblem) {
    guard machines == nil else { return }
    let definition = machine.machine.definition
    let (events, conditions) = (definition.events.map(\.name), definition.conditions.map(\.name))
    let named = [
      ("condition", abilities.conditions, conditions), ("event", abilities.reports, events),
    ]
    for (kind, names, known) in named {
      // A radio link loses packets even if the machine has no condition `loss`.
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

  /// Throws if the device offers a stimulus with a value that the machine does not accept: the lock would be
  /// judged by requests that no client sends.
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

  /// Throws if a start condition has a value that the device cannot start with.
  func check(_ setting: DeviceSpec.Setting) throws(DeviceProblem) {
    let setting = Argument(setting.name, Value(plain: setting.value))
    if let problem = abilities.particulars.problem(with: setting) {
      throw DeviceProblem(.value(of: setting.name), problem)
    }
  }
}

extension Machine {
  /// Whether the machine uses an event that a device reports: in a row that the tester does not cause, or in a
  /// condition.
  fileprivate func takes(_ event: String) -> Bool {
    let number = self.event(named: event)
    return number == nil || definition.conditions.contains { $0.events.contains(event) }
      || spontaneous.contains { $0.contains { $0.event == number } }
  }
}

/// A start setting that scenarios assume by default.
public struct UsualSetting: Sendable {
  /// The setting.
  public var setting: Argument
  /// The stimulus whose scenarios assume it; `nil` if all scenarios do.
  public var stimulus: String?

  /// Makes one.
  public init(_ setting: Argument, with stimulus: String? = nil) {
    self.setting = setting
    self.stimulus = stimulus
  }
}

/// A problem with a device specification.
public struct DeviceProblem: Error, Equatable, Sendable {
  /// The wrong part.
  public enum Part: Equatable, Sendable {
    /// In the kind or the name of the device.
    case name
    /// In the name of a setting.
    case setting(String)
    /// In the value of a setting.
    case value(of: String)
  }

  /// The wrong part.
  public var part: Part
  /// What kind of problem it is.
  public var code: Problem.Code
  /// What is wrong, in one line.
  public var message: String
  /// A correction; `nil` if none is known.
  public var advice: Advice?

  /// The correction as one line of text.
  public var hint: String? { advice?.text }

  /// Makes a problem.
  public init(_ part: Part, code: Problem.Code = .wrongDevice, _ message: String, hint: Advice? = nil) {
    self.part = part
    self.code = code
    self.message = message
    advice = hint
  }

  /// A problem with an unknown name: suggests the most similar name, or lists all of them.
  public static func unknown(
    _ part: Part, _ kind: String, _ name: String, of names: [String]
  ) -> DeviceProblem {
    DeviceProblem(
      part, code: Problem.Code(unknown: kind), "unknown \(kind) `\(name)`",
      hint: .nearest(to: name, of: names, or: allOf))
  }

  /// The list of all choices, as text.
  static func allOf(_ names: [String]) -> String { "expected one of \(names.joined(separator: ", "))" }
}

extension DeviceProblem: CustomStringConvertible {
  /// The message and the hint in one line.
  public var description: String { message + (hint.map { ": \($0)" } ?? "") }
}
