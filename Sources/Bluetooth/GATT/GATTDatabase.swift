/// The attributes of a server, made from the definitions of its services (Core 5.4, Vol 3 Part G §3).
///
/// It contains what all links share: declarations and values. The subscriptions of each link are in its
/// ``ATTServer``, in the slots assigned here.
public struct GATTDatabase: Sendable {
  /// The longest value, in bytes (Vol 3 Part F §3.2.9).
  public static let valueLimit = 512

  struct Attribute: Sendable {
    enum Role: Sendable {
      /// A primary service's declaration, with the end of its group.
      case service(last: AttributeHandle)
      /// A characteristic's declaration, with the end of its group.
      case characteristic(last: AttributeHandle)
      /// A characteristic's value, with the slot of its subscription if it can be subscribed to.
      case value(CharacteristicProperties, slot: Int?)
      /// A client characteristic configuration.
      case configuration(of: AttributeHandle, allowed: Subscription, slot: Int)
    }

    let type: BluetoothUUID
    let role: Role
    /// Empty for a configuration: each link has its own.
    var value: [UInt8]
  }

  /// In the order of their handles, beginning with 1.
  private(set) var attributes: [Attribute] = []
  private var subscriptionCount = 0

  /// Lays out services in the given order.
  ///
  /// - Precondition: there is room for all of them, and no value is too long.
  public init(_ services: [ServiceDefinition]) {
    for service in services { append(service) }
    precondition(attributes.count <= Int(UInt16.max), "no more than 65535 attributes have a handle")
  }
}

extension GATTDatabase {
  /// The value handle of the first characteristic of a type in a service of a type.
  public func handle(of characteristic: BluetoothUUID, in service: BluetoothUUID) -> AttributeHandle? {
    let uuid = service.littleEndian
    for (index, attribute) in attributes.enumerated() {
      guard case .service(let last) = attribute.role, attribute.value == uuid else { continue }
      for inner in index..<Int(last.rawValue) {
        if case .value = attributes[inner].role, attributes[inner].type == characteristic {
          return AttributeHandle(index: inner)
        }
      }
    }
    return nil
  }

  /// The value at a handle, regardless of permissions; `nil` if it is not a characteristic's value.
  public func value(of handle: AttributeHandle) -> [UInt8]? {
    guard let index = index(of: handle), case .value = attributes[index].role else { return nil }
    return attributes[index].value
  }

  /// Changes the value of a characteristic. It sends nothing: notify or indicate for that.
  public mutating func set(_ value: [UInt8], of handle: AttributeHandle) {
    precondition(value.count <= GATTDatabase.valueLimit, "no value is longer than 512 bytes")
    guard let index = index(of: handle), case .value = attributes[index].role else {
      preconditionFailure("\(handle) is no characteristic's value")
    }
    attributes[index].value = value
  }

  /// The index of the attribute with a handle, if it exists.
  func index(of handle: AttributeHandle) -> Int? {
    let index = Int(handle.rawValue) - 1
    return attributes.indices.contains(index) ? index : nil
  }

  /// The indices of the existing attributes in a range.
  func indices(of range: AttributeRange) throws(ATTRefusal) -> Range<Int> {
    guard range.first.rawValue > 0, range.first <= range.last else {
      throw ATTRefusal(.invalidHandle, range.first)
    }
    let first = min(Int(range.first.rawValue) - 1, attributes.count)
    return first..<max(first, min(Int(range.last.rawValue), attributes.count))
  }

  /// Stores a value that a client has written.
  mutating func write(_ value: [UInt8], at index: Int) {
    attributes[index].value = value
  }
}

extension GATTDatabase {
  private mutating func append(_ service: ServiceDefinition) {
    let start = attributes.count
    let count = 1 + service.characteristics.reduce(0) { $0 + $1.attributeCount }
    precondition(start + count <= Int(UInt16.max), "no more than 65535 attributes have a handle")
    attributes.append(
      Attribute(
        type: .primaryService, role: .service(last: AttributeHandle(index: start + count - 1)),
        value: service.uuid.littleEndian))
    for characteristic in service.characteristics { append(characteristic) }
  }

  private mutating func append(_ characteristic: ServiceDefinition.Characteristic) {
    precondition(characteristic.value.count <= GATTDatabase.valueLimit, "no value is longer than 512 bytes")
    let start = attributes.count
    let handle = AttributeHandle(index: start + 1)
    let allowed = characteristic.allowedSubscription
    var declaration = [characteristic.properties.rawValue]
    declaration.append(littleEndian: handle.rawValue)
    declaration += characteristic.uuid.littleEndian
    let last = AttributeHandle(index: start + characteristic.attributeCount - 1)
    attributes.append(Attribute(type: .characteristic, role: .characteristic(last: last), value: declaration))
    let slot = allowed.isEmpty ? nil : subscriptionCount
    attributes.append(
      Attribute(
        type: characteristic.uuid, role: .value(characteristic.properties, slot: slot),
        value: characteristic.value))
    guard let slot else { return }
    subscriptionCount += 1
    attributes.append(
      Attribute(
        type: .clientConfiguration, role: .configuration(of: handle, allowed: allowed, slot: slot), value: [])
    )
  }
}

extension ServiceDefinition.Characteristic {
  fileprivate var allowedSubscription: Subscription {
    var allowed: Subscription = []
    if properties.contains(.notify) { allowed.insert(.notifications) }
    if properties.contains(.indicate) { allowed.insert(.indications) }
    return allowed
  }

  fileprivate var attributeCount: Int { allowedSubscription.isEmpty ? 2 : 3 }
}

extension AttributeHandle {
  /// The handle of the attribute at an index.
  init(index: Int) {
    self.init(rawValue: UInt16(index + 1))
  }
}

extension BluetoothUUID {
  /// «Primary Service».
  static let primaryService = BluetoothUUID(0x2800)
  /// «Secondary Service».
  static let secondaryService = BluetoothUUID(0x2801)
  /// «Characteristic».
  static let characteristic = BluetoothUUID(0x2803)
  /// «Client Characteristic Configuration», by which a client subscribes (Core 5.4, Vol 3 Part G §3.3.3.3).
  public static let clientConfiguration = BluetoothUUID(0x2902)
}

extension ServiceDefinition {
  /// The GAP service, which every device has: its name and its appearance (Core 5.4, Vol 3 Part C §12).
  ///
  /// - Parameters:
  ///   - name: at most 248 bytes of UTF-8.
  ///   - appearance: a category of the Assigned Numbers §2.6; 0 is unknown, 0x0708 is a door lock.
  public static func genericAccess(name: String, appearance: UInt16 = 0) -> ServiceDefinition {
    precondition(name.utf8.count <= 248, "no name is longer than 248 bytes")
    return ServiceDefinition(
      BluetoothUUID(0x1800),
      [
        Characteristic(BluetoothUUID(0x2A00), .read, value: Array(name.utf8)),
        Characteristic(
          BluetoothUUID(0x2A01), .read,
          value: [UInt8(truncatingIfNeeded: appearance), UInt8(truncatingIfNeeded: appearance >> 8)]),
      ])
  }

  /// The GATT service, which notifies clients of changed handles (Core 5.4, Vol 3 Part G §7).
  public static var genericAttribute: ServiceDefinition {
    ServiceDefinition(
      BluetoothUUID(0x1801),
      [Characteristic(BluetoothUUID(0x2A05), .indicate, value: [0x01, 0x00, 0xFF, 0xFF])])
  }
}
