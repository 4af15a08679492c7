import Programs
public import Conformance
public import Basics

/// A request to the emulator of a lock over its control socket; see <doc:Control>.
public enum ControlRequest: Equatable, Sendable {
  /// Requests the abilities.
  case abilities
  /// Prepares a start condition, with the options that a test needs in addition to those of the emulator's start.
  case prepare(StartCondition, options: [Argument])
  /// Performs a stimulus of the lock's environment.
  case stimulus(String, [Argument])
  /// Injects a fault.
  case fault(Fault)
  /// Subscribes to the output of the lock's program.
  case watch
}

/// An answer of the emulator.
public enum ControlAnswer: Equatable, Sendable {
  case abilities(ControlAbilities)
  /// The lock is prepared. The value is its owner's key in the format of its family, if it has an owner.
  case prepared(JSON?)
  case done
  /// The request was refused; the text is the reason.
  case refused(String)
  /// Not an answer: a line of the lock's program, which is sent to each client that watches.
  case shown(JSON)
}

/// The requests that the environment of an emulated lock supports.
public struct ControlAbilities: Equatable, Sendable {
  /// The name of the lock, such as `sesame5`.
  public var lock: String
  /// The stimuli in addition to those of a client.
  public var stimuli: [String]
  /// The faults.
  public var faults: [String]
  /// The settings of start conditions.
  public var settings: [String]
  /// The options of the lock.
  public var options: [String]
  /// The conditions of the model that always hold.
  public var conditions: [String]
  /// The events of the model and the readings that the lock's program reports to a watching client, and whether it
  /// shows effects.
  public var reports: [String] = []
  public var readings: [String] = []
  public var showsEffects = false

  /// Creates a list of abilities.
  public init(
    lock: String, stimuli: [String], faults: [String], settings: [String], options: [String],
    conditions: [String]
  ) {
    self.lock = lock
    self.stimuli = stimuli
    self.faults = faults
    self.settings = settings
    self.options = options
    self.conditions = conditions
  }
}

extension ControlAbilities {
  /// Returns the abilities of the fixture. The emulator lists its faults without values, so each can be switched on
  /// and off.
  ///
  /// - Parameter conditions: The conditions of the model that always hold; by default those that the emulator lists.
  func abilities(under conditions: [String]?) -> Abilities {
    Abilities(
      stimuli: stimuli, faults: faults, settings: settings, conditions: conditions ?? self.conditions,
      reports: reports, showsEffects: showsEffects, disturbances: faults.map { Disturbance(.events, $0) })
  }

  /// Describes an emulated lock and its abilities.
  init(lock: String, options: [String], _ abilities: Abilities, readings: [String] = []) {
    self.init(
      lock: lock, stimuli: abilities.stimuli ?? [], faults: abilities.faults,
      settings: abilities.settings ?? [], options: options, conditions: abilities.conditions)
    reports = abilities.reports
    self.readings = readings
    showsEffects = abilities.showsEffects
  }
}

/// Why a line is not valid in the control protocol.
public struct ControlError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The error; it never contains a value, which may be a key.
  public var description: String

  init(_ description: String) { self.description = description }
}

// MARK: - Requests

extension ControlRequest {
  /// The request as a line without its terminator.
  public var line: String {
    let json: JSON =
      switch self {
      case .abilities: ["abilities": true]
      case .prepare(let start, let options):
        .omittingNil([
          "prepare": JSON(control: start.settings),
          "options": options.isEmpty ? nil : JSON(control: options),
        ])
      case .stimulus(let name, let arguments):
        .omittingNil([
          "stimulus": .text(name), "arguments": arguments.isEmpty ? nil : JSON(control: arguments),
        ])
      case .watch: ["watch": true]
      case .fault(let fault): ["fault": .text(fault.name), "value": JSON(control: fault.value)]
      }
    return json.line
  }

  /// Parses a line.
  public init(line: [UInt8]) throws(ControlError) {
    let members = try ControlError.members(of: line)
    let names = members.map(\.name)
    func value(_ name: String) -> JSON? { members.first { $0.name == name }?.value }
    func arguments(_ name: String) throws(ControlError) -> [Argument] {
      guard let json = value(name) else { return [] }
      return try ControlError.arguments(json)
    }
    switch (names.first, members.first?.value) {
    case ("abilities", _) where names.count == 1: self = .abilities
    case ("watch", .flag(true)) where names.count == 1: self = .watch
    case ("prepare", let settings?) where names.allSatisfy({ ["prepare", "options"].contains($0) }):
      self = .prepare(
        StartCondition(try ControlError.arguments(settings)), options: try arguments("options"))
    case ("stimulus", .text(let name)) where names.allSatisfy({ ["stimulus", "arguments"].contains($0) }):
      self = .stimulus(name, try arguments("arguments"))
    case ("fault", .text(let name)) where names.allSatisfy({ ["fault", "value"].contains($0) }):
      self = .fault(
        Fault(
          name,
          try value("value").map { json throws(ControlError) in try ControlError.value(json) } ?? .flag(true))
      )
    default:
      throw ControlError(
        #"expected {"abilities":true}, {"watch":true}, {"prepare":{…}}, {"stimulus":"…"} or {"fault":"…","value":…}"#
      )
    }
  }
}

// MARK: - Answers

extension ControlAnswer {
  /// The answer as a line without its terminator. The line of ``prepared(_:)`` contains the key.
  public var line: String {
    let json: JSON =
      switch self {
      case .done: ["done": true]
      case .refused(let why): ["refused": .text(why)]
      case .prepared(nil): ["prepared": ["registered": false]]
      case .prepared(let key?):
        ["prepared": ["registered": true, "key": key]]
      case .shown(let line): ["shown": line]
      case .abilities(let abilities):
        [
          "abilities": .omittingNil([
            "lock": .text(abilities.lock), "stimuli": JSON(names: abilities.stimuli),
            "faults": JSON(names: abilities.faults), "settings": JSON(names: abilities.settings),
            "options": JSON(names: abilities.options), "conditions": JSON(names: abilities.conditions),
            "reports": abilities.reports.isEmpty ? nil : JSON(names: abilities.reports),
            "readings": abilities.readings.isEmpty ? nil : JSON(names: abilities.readings),
            "effects": abilities.showsEffects ? true : nil,
          ])
        ]
      }
    return json.line
  }

  /// Parses a line.
  public init(line: [UInt8]) throws(ControlError) {
    let members = try ControlError.members(of: line)
    guard members.count == 1 else { throw ControlError(Self.expectation) }
    switch (members[0].name, members[0].value) {
    case ("done", .flag(true)): self = .done
    case ("refused", .text(let why)): self = .refused(why)
    case ("shown", let line): self = .shown(line)
    case ("prepared", let value): self = .prepared(try ControlError.key(in: value))
    case ("abilities", let value): self = .abilities(try ControlAbilities(value))
    default: throw ControlError(Self.expectation)
    }
  }

  private static let expectation =
    #"expected {"done":true}, {"prepared":{…}}, {"abilities":{…}} or {"refused":"…"}"#
}

extension ControlAbilities {
  fileprivate init(_ json: JSON) throws(ControlError) {
    func names(_ name: String) throws(ControlError) -> [String] {
      guard let items = json[name]?.elements else { throw ControlError("abilities without \(name)") }
      return items.compactMap(\.string)
    }
    guard case .text(let lock)? = json["lock"] else { throw ControlError("abilities without the lock") }
    self.init(
      lock: lock, stimuli: try names("stimuli"), faults: try names("faults"),
      settings: try names("settings"), options: try names("options"),
      conditions: try names("conditions"))
    if json["reports"] != nil { reports = try names("reports") }
    if json["readings"] != nil { readings = try names("readings") }
    showsEffects = json["effects"] == .flag(true)
  }
}

// MARK: - Values

extension JSON {
  fileprivate init(names: [String]) { self = .list(names.map(JSON.text)) }

  fileprivate init(control arguments: [Argument]) {
    self = .mapping(arguments.map { Member($0.name, JSON(control: $0.value)) })
  }

  /// Text stays text, so a time has its own form.
  fileprivate init(control value: Basics.Value) {
    self.init(value) { ["duration": .text($0.description)] }
  }
}

extension ControlError {
  fileprivate static func members(of line: [UInt8]) throws(ControlError) -> [JSON.Member] {
    let value: JSON
    do {
      value = try JSON(parsing: line)
    } catch {
      throw ControlError(error.description)
    }
    guard case .mapping(let members) = value else { throw ControlError("expected an object") }
    return members
  }

  fileprivate static func arguments(_ json: JSON) throws(ControlError) -> [Argument] {
    guard case .mapping(let members) = json else { throw ControlError("expected names and values") }
    var arguments: [Argument] = []
    for member in members { arguments.append(Argument(member.name, try value(member.value))) }
    return arguments
  }

  fileprivate static func value(_ json: JSON) throws(ControlError) -> Value {
    guard let value = Value(json) else { throw ControlError("expected \(Value.expectation)") }
    return value
  }

  fileprivate static func key(in json: JSON) throws(ControlError) -> JSON? {
    guard case .flag(let isRegistered)? = json["registered"] else {
      throw ControlError("the answer does not say whether the lock is registered")
    }
    guard isRegistered else { return nil }
    guard let key = json["key"] else { throw ControlError("a registered lock without its key") }
    return key
  }
}
