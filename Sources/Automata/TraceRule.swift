public import Documents

/// A rule that a device must never break, in any state of its machine: a small machine of its own, which watches the
/// same trace.
///
/// Everything that is seen is an event of the rule's machine, if it has an event of that name:
///
/// | event | what happened | arguments |
/// |---|---|---|
/// | `lock` | the stimulus `lock`, or an event that the device reports | those of the stimulus |
/// | `status locked` | the device showed the status | – |
/// | `reading battery` | the device showed a reading | `value`, or the fields of a record |
/// | `fault jam` | the tester injected a fault | `value` |
/// | `refused` | the device refused a stimulus | – |
///
/// An event without a row in the present state changes nothing. The rule is broken in a state with the status
/// ``broken``, whose name is the sentence of the report. A condition of the rule holds while the condition of the same
/// name holds, or may hold, in the device's machine. The last start is that of a new device, and the first one that of
/// any other.
public struct TraceRule: Equatable, Sendable {
  /// The machine of the rule.
  public var machine: MachineDefinition

  /// The status of the states in which the rule is broken.
  public static let broken = "broken"

  /// Makes a rule from a machine.
  public init(_ machine: MachineDefinition) { self.machine = machine }

  /// The name of the event for a status.
  public static func event(ofStatus name: String) -> String { "status " + name }
  /// The name of the event for a reading.
  public static func event(ofReading name: String) -> String { "reading " + name }
  /// The name of the event for a fault.
  public static func event(ofFault name: String) -> String { "fault " + name }
  /// The name of the event for a refusal.
  public static let refusal = "refused"
  /// The name of the only argument of a reading or a fault.
  public static let value = "value"

  /// Returns the event of a rule, with the arguments that it has in the machine of the device; `nil` if nothing of that
  /// name can be seen.
  static func event(named name: String, of device: MachineDefinition) -> Event? {
    if let event = device.events.first(where: { $0.name == name }) {
      return Event(name, arguments: event.arguments.map { ArgumentForms($0.forms) })
    }
    if let reading = device.readings.first(where: { event(ofReading: $0.name) == name }) {
      guard case .record(let fields) = reading.kind else {
        return Event(name, arguments: ArgumentForms([ValueForm(value, reading.kind)]))
      }
      return Event(name, arguments: ArgumentForms(fields))
    }
    let isSeen = events(of: device).contains(name) || name.hasPrefix(event(ofFault: ""))
    return isSeen ? Event(name) : nil
  }

  /// The names of all that can be seen of a device, except faults.
  static func events(of device: MachineDefinition) -> [String] {
    let statuses = device.states.map(\.status) + device.transitions.compactMap(\.shows)
    return device.events.map(\.name) + statuses.map(event(ofStatus:))
      + device.readings.map { event(ofReading: $0.name) } + [refusal]
  }

  /// Reads a list of rules in YAML.
  ///
  /// - Throws: all problems of the text.
  public static func rules(
    yaml text: String, name: String, of device: MachineDefinition
  ) throws(DocumentError) -> [TraceRule] {
    try Document.read(Array(text.utf8), name: name, limits: Limits(bytes: 1 << 20)) {
      MachineReader($0).rules($0, of: device)
    }
  }
}
