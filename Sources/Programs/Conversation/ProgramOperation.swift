import Basics
import Bluetooth
import Links
import Secrets

/// A Bluetooth operation that a driver or a peripheral requests, one line each.
///
///     {"scan":true}  {"connect":true}  {"disconnect":true}  {"exchangeMTU":true}
///     {"read":"2a19"}  {"write":{"to":"fff1","value":"0102","text":"unlock"}}  {"subscribe":"fff2"}
///     {"advertise":{"name":"Keypad","services":["fff0"]}}  {"notify":{"from":"fff2","value":"01"}}
///
/// A characteristic is named by its UUID, or by the handle of its value.
enum ProgramOperation: Equatable {
  /// The advertisements of a lock that a driver receives.
  enum Hearing: Equatable {
    case nothing
    /// The first one, and each with different data.
    case changes
    case everything
  }

  typealias Place = CentralOperation.Characteristic

  // For drivers.
  case scan(Hearing)
  /// With the services to discover; if empty, all services are discovered.
  case connect(services: [BluetoothUUID])
  /// An operation on the link; for a write, with a description of the packet.
  case central(CentralOperation, text: String? = nil)
  // For peripherals.
  /// `nil` to advertise nothing.
  case advertise(ProgramAdvertisement?)
  /// Sets the value that clients read.
  case set(Place, [UInt8])
  case notify(Place, [UInt8])
  case indicate(Place, [UInt8])
  /// Refuses the write that was just reported.
  case reject(ATTErrorCode)
  // For both.
  case disconnect
  /// The meaning of the packet that was just reported.
  case meaning(String)
  /// A value to hide in all further output.
  case secret(ProgramSecret)
}

extension ProgramOperation {
  /// Whether it refuses a write.
  var isReject: Bool { if case .reject = self { true } else { false } }
}

/// A secret that is compared without being shown.
struct ProgramSecret: Equatable {
  var value: Secret
  static func == (left: Self, right: Self) -> Bool { left.value.matches(right.value) }
}

/// The advertising data of a peripheral.
struct ProgramAdvertisement: Equatable {
  var name: String?
  var services: [BluetoothUUID] = []
  /// The two bytes of the company identifier, and the data after them.
  var manufacturer: [UInt8]?
  var interval = Interval.milliseconds(100)
  /// Whether the advertisement is connectable.
  var isConnectable = true

  /// The data of the advertisement, and of the scan response with the structures that do not fit into it.
  var data: (advertisement: [UInt8], scanResponse: [UInt8]) {
    var first = AdvertisingData([.flags([.generalDiscoverable, .noClassic])])
    var second = AdvertisingData()
    var more: [AdvertisingData.Structure] = []
    let short = services.compactMap(\.short)
    if !short.isEmpty { more.append(.completeUUIDs16(short)) }
    let long = services.filter { $0.short == nil }.flatMap(\.littleEndian)
    if !long.isEmpty { more.append(AdvertisingData.Structure(.completeUUIDs128, long)) }
    if let manufacturer { more.append(AdvertisingData.Structure(.manufacturerData, manufacturer)) }
    if let name { more.append(.completeName(name)) }
    for structure in more {
      let size = structure.data.count + 2
      if first.encoded.count + size <= AdvertisingData.legacyCapacity {
        first.structures.append(structure)
      } else {
        second.structures.append(structure)
      }
    }
    return (first.encoded, second.encoded)
  }
}

// MARK: - Reading

extension ProgramOperation {
  private typealias Malformed = ProgramAnswer.Malformed

  /// Creates an operation from a name and its value; `nil` if the role has no operation with this name.
  init?(
    _ name: String, _ value: JSON, of role: ProgramConversation.Role
  ) throws(ProgramAnswer.Malformed) {
    let item = ProgramItem(name: name, json: value)
    switch (role, name) {
    case (.driver, "scan"): self = .scan(try Self.hearing(item))
    case (.driver, "connect"):
      if value == .flag(true) {
        self = .connect(services: [])
      } else {
        self = .connect(services: try item.uuids)
      }
    case (.driver, "exchangeMTU") where value == .flag(true): self = .central(.exchangeMTU)
    case (.driver, "read"): self = .central(.read(try item.place))
    case (.driver, "subscribe"): self = .central(.subscribe(try item.place))
    case (.driver, "unsubscribe"): self = .central(.unsubscribe(try item.place))
    case (.driver, "write"):
      let fields = try item.fields(["to", "value", "response", "text"])
      self = .central(
        .write(
          try fields.needed("to").place, try fields.needed("value").bytes,
          withResponse: try fields.optional("response")?.flag),
        text: try fields.optional("text")?.text)
    case (.peripheral, "advertise"):
      self = .advertise(value == .flag(false) ? nil : try ProgramAdvertisement(item))
    case (.peripheral, "set"):
      let fields = try item.fields(["of", "value"])
      self = .set(try fields.needed("of").place, try fields.needed("value").bytes)
    case (.peripheral, "notify"), (.peripheral, "indicate"):
      let fields = try item.fields(["from", "value"])
      let (place, bytes) = (try fields.needed("from").place, try fields.needed("value").bytes)
      self = name == "notify" ? .notify(place, bytes) : .indicate(place, bytes)
    case (.peripheral, "reject"):
      guard let number = value.int, let code = UInt8(exactly: number), code > 0 else {
        throw item.isWrong("the number of an error of ATT, from 1 to 255")
      }
      self = .reject(ATTErrorCode(rawValue: code))
    case (.driver, "disconnect"), (.peripheral, "disconnect"):
      guard value == .flag(true) else { throw item.isWrong("true") }
      self = .disconnect
    case (.driver, "meaning"): self = .meaning(try item.text)
    case (.driver, "secret"), (.peripheral, "secret"):
      self = .secret(ProgramSecret(value: Secret(text: try item.text)))
    default: return nil
    }
  }

  private static func hearing(_ item: ProgramItem) throws(ProgramAnswer.Malformed) -> Hearing {
    switch item.json {
    case .flag(false): .nothing
    case .flag(true), .text("changes"): .changes
    case .text("everything"): .everything
    default: throw item.isWrong("true, false, changes or everything")
    }
  }
}

extension ProgramAdvertisement {
  /// Parses `{"name":"Keypad","services":["fff0"],"manufacturer":"ffff01","interval":0.1,"connectable":true}`.
  init(_ item: ProgramItem) throws(ProgramAnswer.Malformed) {
    let fields = try item.fields(["name", "services", "manufacturer", "interval", "connectable"])
    name = try fields.optional("name")?.text
    services = try fields.optional("services")?.uuids ?? []
    manufacturer = try fields.optional("manufacturer")?.bytes
    if let place = fields.optional("interval") {
      guard let seconds = place.json.seconds,
        (Interval.milliseconds(20)...Interval.seconds(10)).contains(seconds)
      else { throw place.isWrong("from 0.02 to 10 seconds") }
      interval = seconds
    }
    isConnectable = try fields.optional("connectable")?.flag ?? true
    let room = AdvertisingData.legacyCapacity - 2
    if let name, name.utf8.count > room {
      throw ProgramAnswer.Malformed(
        reason: "the name to advertise has \(name.utf8.count) bytes, and at most \(room) fit")
    }
    if let manufacturer, manufacturer.count > room || manufacturer.count < 2 {
      throw ProgramAnswer.Malformed(
        reason: "the manufacturer's data has \(manufacturer.count) bytes, and not from 2 to \(room)")
    }
    guard services.count <= 20 else {
      throw ProgramAnswer.Malformed(reason: "\(services.count) services do not fit an advertisement")
    }
    let data = data
    if data.advertisement.count > AdvertisingData.legacyCapacity
      || data.scanResponse.count > AdvertisingData.legacyCapacity
    {
      throw ProgramAnswer.Malformed(
        reason: "what is to be advertised does not fit into 31 bytes and 31 of a scan response")
    }
  }
}

/// A named value in a program's line.
struct ProgramItem {
  var name: String
  var json: JSON

  func isWrong(_ expected: String) -> ProgramAnswer.Malformed {
    ProgramAnswer.Malformed(reason: "`\(name)` is \(json.line.prefix(60)), and not \(expected)")
  }

  var text: String {
    get throws(ProgramAnswer.Malformed) {
      guard let text = json.string else { throw isWrong("a text") }
      return text
    }
  }

  var flag: Bool {
    get throws(ProgramAnswer.Malformed) {
      guard let flag = json.bool else { throw isWrong("true or false") }
      return flag
    }
  }

  var bytes: [UInt8] {
    get throws(ProgramAnswer.Malformed) {
      guard let text = json.string, let bytes = try? [UInt8](hex: text) else {
        throw isWrong("bytes in hexadecimal")
      }
      return bytes
    }
  }

  var uuids: [BluetoothUUID] {
    get throws(ProgramAnswer.Malformed) {
      guard let texts = json.strings else { throw isWrong("a list of UUIDs") }
      var uuids: [BluetoothUUID] = []
      for text in texts {
        guard let uuid = BluetoothUUID(text: text) else { throw isWrong("a list of UUIDs") }
        uuids.append(uuid)
      }
      return uuids
    }
  }

  var uuid: BluetoothUUID {
    get throws(ProgramAnswer.Malformed) {
      guard let text = json.string, let uuid = BluetoothUUID(text: text) else {
        throw isWrong("a UUID, of 4, 8 or 32 digits")
      }
      return uuid
    }
  }

  /// The characteristic, named by its UUID or by its handle.
  var place: ProgramOperation.Place {
    get throws(ProgramAnswer.Malformed) {
      if let number = json.int, let handle = UInt16(exactly: number), handle > 0 {
        return .handle(AttributeHandle(rawValue: handle))
      }
      guard let text = json.string, let uuid = BluetoothUUID(text: text) else {
        throw isWrong("a UUID, of 4, 8 or 32 digits, or the number of a handle")
      }
      return .uuid(uuid)
    }
  }

  /// Returns the members of an object, all of which must be known.
  func fields(_ names: [String]) throws(ProgramAnswer.Malformed) -> ProgramFields {
    guard case .mapping(let members) = json else { throw isWrong("an object") }
    if let unknown = members.first(where: { !names.contains($0.name) }) {
      let nearest = nearestName(to: unknown.name, in: names).map { "; did you mean `\($0)`?" } ?? ""
      throw ProgramAnswer.Malformed(reason: "`\(name)` has an unknown member `\(unknown.name)`\(nearest)")
    }
    return ProgramFields(name: name, members: members)
  }
}

/// The members of an object in a program's output.
struct ProgramFields {
  var name: String
  var members: [JSON.Member]

  func optional(_ key: String) -> ProgramItem? {
    members.first { $0.name == key }.map { ProgramItem(name: key, json: $0.value) }
  }

  func needed(_ key: String) throws(ProgramAnswer.Malformed) -> ProgramItem {
    guard let item = optional(key) else {
      throw ProgramAnswer.Malformed(reason: "`\(name)` lacks its `\(key)`")
    }
    return item
  }
}
