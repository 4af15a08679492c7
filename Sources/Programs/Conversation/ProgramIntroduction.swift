import Basics
import Bluetooth
import Conformance
import Emulator

/// The introduction of a program. For each omitted member, the program is treated like one without an introduction.
///
///     {"hello":{"protocol":2,"time":"virtual","stimuli":["lock","enter"],
///               "arguments":{"enter":[{"code":"1234"},{"code":"0000"}]},"faults":{"jam":[true,false]}}}
struct ProgramIntroduction: Equatable {
  /// The version of the protocol; a program that does not answer the greeting speaks version 1.
  static let spokenProtocol = 2

  /// The arguments of one stimulus for generated tests.
  struct OfferedArguments: Equatable {
    var stimulus: String
    var values: [[Argument]]
  }

  /// The advertising data that identify a lock.
  struct Advertised: Equatable {
    var name: String?
    var services: [BluetoothUUID]
  }

  /// A name of the program, and the word for it in a lock family.
  struct Word: Equatable {
    var name: String
    var word: String
  }

  /// The name of the program.
  var name: String?
  /// Whether it receives the time, and has no clock of its own.
  var isInVirtualTime = false
  /// The stimuli; `nil` if they are unknown until requested.
  var stimuli: [String]?
  var arguments: [OfferedArguments] = []
  /// The faults that it injects, with their values for generated tests.
  var faults: [Disturbance] = []
  /// The settings of start conditions; `nil` if they are unknown until requested.
  var settings: [String]?
  var conditions: [String] = []
  /// The events of the machine that it reports.
  var reports: [String] = []
  /// The values that it reports, and whether it shows effects.
  var readings: [String] = []
  var showsEffects = false
  /// The stimuli that move a part subject to wear.
  var moving: [String]?
  // For drivers.
  /// The advertising data of its lock, which identify it if no address is given.
  var advertises: Advertised?
  /// The requests behind its stimuli, and the meanings of its statuses, in the words of a lock family.
  var requests: [Word]?
  var meanings: [Word]?
  /// The built-in link faults that its machine models.
  var linkFaults: [String] = []
  /// The secrets that it needs.
  var secrets: [String] = []
  // For peripherals.
  var services: [ServiceDefinition] = []
  var advertisement: ProgramAdvertisement?
}

extension ProgramIntroduction {
  private typealias Malformed = ProgramAnswer.Malformed

  /// Creates an introduction from the value of `hello`.
  init(_ json: JSON, of role: ProgramConversation.Role = .device) throws(ProgramAnswer.Malformed) {
    guard case .mapping(let members) = json else { throw Malformed(reason: "`hello` is no object") }
    var known = Self.members
    switch role {
    case .device: break
    case .driver: known += Self.driverMembers
    case .peripheral: known += Self.peripheralMembers
    }
    for member in members {
      guard known.contains(member.name) else {
        let nearest = nearestName(to: member.name, in: known).map { "; did you mean `\($0)`?" } ?? ""
        throw Malformed(reason: "`hello` has an unknown member `\(member.name)`\(nearest)")
      }
      try take(member.name, member.value)
    }
    if role != .device, members.contains(where: { $0.name == "time" && $0.value == .text("real") }) {
      throw Malformed(reason: "a \(role) has no clock: `time` is virtual")
    }
    guard members.contains(where: { $0.name == "protocol" }) else {
      throw Malformed(reason: "`hello` says no `protocol`; this one is \(Self.spokenProtocol)")
    }
    guard let stimuli else { return }
    for name in arguments.map(\.stimulus) + (moving ?? []) where !stimuli.contains(name) {
      throw Malformed(reason: "`\(name)` is not among its `stimuli`")
    }
  }

  private static let members = [
    "protocol", "name", "time", "stimuli", "arguments", "faults", "settings", "conditions", "reports",
    "readings",
    "effects", "moves",
  ]
  private static let driverMembers = ["secrets", "advertises", "requests", "meanings", "linkFaults"]
  private static let peripheralMembers = ["secrets", "services", "advertise"]

  private mutating func take(_ name: String, _ json: JSON) throws(Malformed) {
    func isWrong(_ expected: String) -> Malformed {
      Malformed(reason: "`\(name)` is \(json.line.prefix(60)), and not \(expected)")
    }
    func names() throws(Malformed) -> [String] {
      guard let names = json.strings else { throw isWrong("a list of names") }
      if let (index, twice) = names.enumerated().first(where: { names[..<$0].contains($1) }) {
        throw Malformed(reason: "`\(name)` has `\(twice)` twice, the second time as number \(index + 1)")
      }
      return names
    }
    switch name {
    case "protocol":
      guard json.int == Self.spokenProtocol else { throw isWrong("\(Self.spokenProtocol)") }
    case "name":
      guard let text = json.string else { throw isWrong("a text") }
      self.name = text
    case "time":
      guard let text = json.string, ["real", "virtual"].contains(text) else {
        throw isWrong("real or virtual")
      }
      isInVirtualTime = text == "virtual"
    case "stimuli": stimuli = try names()
    case "settings": settings = try names()
    case "conditions": conditions = try names()
    case "reports": reports = try names()
    case "readings": readings = try names()
    case "moves": moving = try names()
    case "effects":
      guard let flag = json.bool else { throw isWrong("true or false") }
      showsEffects = flag
    case "arguments":
      guard case .mapping(let members) = json else { throw isWrong("an object of lists") }
      for member in members {
        guard let choices = member.value.elements else { throw isWrong("an object of lists") }
        var values: [[Argument]] = []
        for choice in choices {
          guard let arguments = [Argument](choice) else {
            throw isWrong(#"a list of objects for each stimulus, such as [{"code":"1234"}]"#)
          }
          values.append(arguments)
        }
        arguments.append(OfferedArguments(stimulus: member.name, values: values))
      }
    case "faults":
      guard case .mapping(let members) = json else { throw isWrong("an object of lists") }
      for member in members { faults.append(try Self.fault(member)) }
    case "secrets": secrets = try names()
    case "linkFaults":
      linkFaults = try names()
      let known = LinkFault.names
      if let unknown = linkFaults.first(where: { !known.contains($0) }) {
        let nearest = nearestName(to: unknown, in: known).map { "did you mean `\($0)`?" }
        throw Malformed(
          reason: "there is no fault of the link `\(unknown)`; " + (nearest ?? known.joined(separator: ", ")))
      }
    case "advertises":
      let fields = try ProgramItem(name: name, json: json).fields(["name", "services"])
      let found = Advertised(
        name: try fields.optional("name")?.text, services: try fields.optional("services")?.uuids ?? [])
      guard found.name != nil || !found.services.isEmpty else { throw isWrong("a name, or services") }
      advertises = found
    case "requests", "meanings":
      guard case .mapping(let members) = json else { throw isWrong("an object of texts") }
      var words: [Word] = []
      for member in members {
        words.append(Word(name: member.name, word: try ProgramItem(name: name, json: member.value).text))
      }
      if name == "requests" { requests = words } else { meanings = words }
    case "services":
      guard let elements = json.elements else { throw isWrong("a list of services") }
      for element in elements {
        services.append(try Self.service(ProgramItem(name: "service", json: element)))
      }
    case "advertise": advertisement = try ProgramAdvertisement(ProgramItem(name: name, json: json))
    default: preconditionFailure("all known members are read")
    }
  }

  private static func service(_ item: ProgramItem) throws(Malformed) -> ServiceDefinition {
    let fields = try item.fields(["uuid", "characteristics"])
    let list = try fields.needed("characteristics")
    guard let elements = list.json.elements else { throw list.isWrong("a list of characteristics") }
    var characteristics: [ServiceDefinition.Characteristic] = []
    for element in elements {
      let fields = try ProgramItem(name: "characteristic", json: element).fields([
        "uuid", "properties", "value",
      ])
      let place = try fields.needed("properties")
      guard let names = place.json.strings else { throw place.isWrong("a list of names") }
      var properties: CharacteristicProperties = []
      for name in names {
        guard let known = CharacteristicProperties.known.first(where: { $0.name == name }) else {
          let all = CharacteristicProperties.known.map(\.name)
          let nearest = nearestName(to: name, in: all).map { "; did you mean `\($0)`?" } ?? ""
          throw Malformed(reason: "there is no property `\(name)` of a characteristic\(nearest)")
        }
        properties.insert(known.property)
      }
      let value = try fields.optional("value")?.bytes ?? []
      guard value.count <= GATTDatabase.valueLimit else {
        throw Malformed(
          reason: "the value has \(value.count) bytes; the maximum is \(GATTDatabase.valueLimit)")
      }
      characteristics.append(.init(try fields.needed("uuid").uuid, properties, value: value))
    }
    return ServiceDefinition(try fields.needed("uuid").uuid, characteristics)
  }

  private static func fault(_ member: JSON.Member) throws(Malformed) -> Disturbance {
    var fault = Disturbance(.events, member.name, [])
    let wrong = Malformed(
      reason:
        "the fault `\(member.name)` is \(member.value.line.prefix(60)), and not a list of values, or an "
        + "object of a `level` and `values`")
    var values = member.value
    if case .mapping(let members) = values {
      guard members.allSatisfy({ ["level", "values"].contains($0.name) }) else { throw wrong }
      if let level = values["level"] {
        guard let level = level.string.flatMap(TestLevel.init) else {
          let levels = TestLevel.allCases.map(\.rawValue).joined(separator: ", ")
          throw Malformed(reason: "the fault `\(member.name)` has a level that is not one of \(levels)")
        }
        fault.level = level
      }
      values = values["values"] ?? [true, false]
    }
    guard let elements = values.elements else { throw wrong }
    fault.values = elements.compactMap { Value(offered: $0) }
    guard fault.values.count == elements.count, !elements.isEmpty else { throw wrong }
    return fault
  }

  /// The abilities of the program. In real time, observations are delayed by a pipe and a busy machine.
  var abilities: Abilities {
    var abilities = Abilities(
      stimuli: stimuli, faults: faults.map(\.fault), settings: settings, conditions: conditions,
      reports: reports,
      showsEffects: showsEffects, slack: isInVirtualTime ? .zero : .milliseconds(100),
      isInVirtualTime: isInVirtualTime, arguments: arguments.map { ($0.stimulus, $0.values) },
      disturbances: faults)
    abilities.particulars.fault = { [faults] fault throws(LabFault) in try faults.check(fault) }
    abilities.isSimulated = isInVirtualTime
    abilities.keepsRunning = true
    return abilities
  }
}

extension Value {
  /// Creates a value of generated tests: `2 s` is a duration, as in a scenario.
  fileprivate init?(offered json: JSON) {
    guard let value = Value(json) else { return nil }
    if case .text(let text) = value, let interval = Interval(text: text) {
      self = .duration(interval)
    } else {
      self = value
    }
  }
}

extension [Argument] {
  /// Creates arguments from an object; `nil` if the value is not an object of values.
  init?(_ json: JSON) {
    guard case .mapping(let members) = json else { return nil }
    let arguments = members.compactMap { member in
      Value(offered: member.value).map { Argument(member.name, $0) }
    }
    guard arguments.count == members.count else { return nil }
    self = arguments
  }
}
