import Basics

/// The handle of an attribute in a server, from 1 to 0xFFFF (Core 5.4, Vol 3 Part F §3.2.2).
public struct AttributeHandle: BinaryNumber, Hashable, Comparable, Sendable {
  /// The number.
  public var rawValue: UInt16

  /// Makes a handle from its number.
  @inlinable
  public init(rawValue: UInt16) {
    self.rawValue = rawValue
  }

  @inlinable
  public static func < (left: AttributeHandle, right: AttributeHandle) -> Bool {
    left.rawValue < right.rawValue
  }
}

extension AttributeHandle: CustomStringConvertible {
  /// The number in hexadecimal.
  public var description: String {
    "0x" + [UInt8(truncatingIfNeeded: rawValue >> 8), UInt8(truncatingIfNeeded: rawValue)].hex
  }
}

/// A procedure of a GATT client, as the user of a host starts it (Core 5.4, Vol 3 Part G §4).
///
/// Procedures of one link wait for each other: ATT has one request at a time.
public enum GATTProcedure: Hashable, Sendable {
  /// Exchange MTU, §4.3.1; once in a link's life.
  case exchangeMTU
  /// Discover Primary Service by Service UUID, §4.4.2.
  case discoverServices(BluetoothUUID)
  /// The same, ended at the first result, as §4.4.2 permits: it costs one exchange.
  case findService(BluetoothUUID)
  /// Discover All Primary Services, §4.4.1.
  case discoverAllServices
  /// Discover All Characteristics of a Service, §4.6.1. Ends early once every one of `wanted` was found, unless
  /// that is empty.
  case discoverCharacteristics(AttributeRange, wanted: [BluetoothUUID])
  /// Discover All Characteristic Descriptors, §4.7.1. Ends early once `wanted` was found.
  case discoverDescriptors(AttributeRange, wanted: BluetoothUUID?)
  /// Read Characteristic Value, or Read Long where the value fills a whole response, §4.8.1, §4.8.3.
  case read(AttributeHandle)
  /// Write Characteristic Value; a value longer than a packet is written with prepared writes, §4.9.3, §4.9.4.
  case write(AttributeHandle, [UInt8])
}

/// A number that identifies a procedure of a link.
public typealias GATTProcedureID = Int

/// The result of a procedure.
public enum GATTResult: Hashable, Sendable {
  /// The MTU that both ends use from now on.
  case mtu(UInt16)
  case services([DiscoveredService])
  case characteristics([DiscoveredCharacteristic])
  case descriptors([DiscoveredDescriptor])
  case value([UInt8])
  case written
}

/// Why a procedure failed.
public enum GATTFailure: Error, Hashable, Sendable {
  /// The server refused a request.
  case refused(ATTErrorCode, AttributeHandle)
  /// The server sent an invalid response, as described by the text.
  case badAnswer(String)
  /// The server did not respond for 30 s, after which no more requests may be sent (Vol 3 Part F §3.3.3).
  case timedOut
  /// The link ended.
  case linkLost
}

extension GATTFailure: CustomStringConvertible {
  /// The failure as text: `refused with 0x03 (write not permitted) at 0x0007`.
  public var description: String {
    switch self {
    case .refused(let code, let handle): "refused with \(code) at \(handle)"
    case .badAnswer(let sentence): "answered with \(sentence)"
    case .timedOut: "not answered for 30 s"
    case .linkLost: "the link was lost"
    }
  }
}

/// A discovered primary service.
public struct DiscoveredService: Hashable, Sendable {
  /// The type of the service.
  public var uuid: BluetoothUUID
  /// The handles of its declaration and its contents.
  public var range: AttributeRange
}

/// Handles from a first to a last.
public struct AttributeRange: Hashable, Sendable, FieldCodable {
  /// The first.
  public var first: AttributeHandle
  /// The last.
  public var last: AttributeHandle

  /// Makes a range.
  public init(_ first: AttributeHandle, _ last: AttributeHandle) {
    self.first = first
    self.last = last
  }

  /// The first handle and the last.
  public static let fields = FieldList(Self.init, \.first, \.last)

  /// All handles.
  public static let all = AttributeRange(AttributeHandle(rawValue: 1), AttributeHandle(rawValue: 0xFFFF))
}

/// A discovered characteristic.
public struct DiscoveredCharacteristic: Hashable, Sendable {
  /// The type of the characteristic.
  public var uuid: BluetoothUUID
  /// The properties.
  public var properties: CharacteristicProperties
  /// The handle of its declaration.
  public var declaration: AttributeHandle
  /// The handle of its value.
  public var value: AttributeHandle
}

/// A discovered descriptor.
public struct DiscoveredDescriptor: Hashable, Sendable {
  /// The type of the descriptor.
  public var uuid: BluetoothUUID
  /// The handle.
  public var handle: AttributeHandle
}

/// The properties of a characteristic (Core 5.4, Vol 3 Part G §3.3.1.1).
public struct CharacteristicProperties: OptionSet, Hashable, Sendable {
  /// The bits as sent.
  public var rawValue: UInt8

  /// Makes properties from their bits.
  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  public static let broadcast = CharacteristicProperties(rawValue: 0x01)
  public static let read = CharacteristicProperties(rawValue: 0x02)
  public static let writeWithoutResponse = CharacteristicProperties(rawValue: 0x04)
  public static let write = CharacteristicProperties(rawValue: 0x08)
  public static let notify = CharacteristicProperties(rawValue: 0x10)
  public static let indicate = CharacteristicProperties(rawValue: 0x20)
  public static let signedWrite = CharacteristicProperties(rawValue: 0x40)
  public static let extended = CharacteristicProperties(rawValue: 0x80)
}

/// A client's subscription to a characteristic (Core 5.4, Vol 3 Part G §3.3.3.3).
public struct Subscription: OptionSet, Hashable, Sendable {
  /// The bits as written.
  public var rawValue: UInt16

  /// Makes a subscription from its bits.
  public init(rawValue: UInt16) {
    self.rawValue = rawValue
  }

  public static let notifications = Subscription(rawValue: 0x0001)
  public static let indications = Subscription(rawValue: 0x0002)
}

/// A GATT event of a link, for the user of the host.
public enum GATTEvent: Hashable, Sendable {
  /// A procedure of our client has ended.
  case finished(GATTProcedureID, Result<GATTResult, GATTFailure>)
  /// The other end's server notified or indicated a value; indications are confirmed automatically.
  case notification(AttributeHandle, [UInt8])
  /// The other end's client wrote a value of our server, with or without response.
  case written(AttributeHandle, [UInt8])
  /// The other end's client changed its subscription to a characteristic of our server; the handle is the value's.
  case subscribed(AttributeHandle, Subscription)
  /// The other end's client has confirmed an indication of ours.
  case confirmed(AttributeHandle)
  /// The MTU changed, at the request of either end.
  case mtu(UInt16)
}

/// The services that a server offers, the same for every link.
///
/// Handles are assigned in the order of the definitions, from 1 on, without gaps: a declaration for the
/// service, then for each characteristic its declaration, its value and, if it notifies or indicates, its
/// client characteristic configuration (Core 5.4, Vol 3 Part G §3).
public struct ServiceDefinition: Hashable, Sendable {
  /// A characteristic and its first value.
  public struct Characteristic: Hashable, Sendable {
    /// The type of the characteristic.
    public var uuid: BluetoothUUID
    /// The properties.
    public var properties: CharacteristicProperties
    /// The value that is read until it is changed; at most 512 bytes.
    public var value: [UInt8]

    /// Makes a definition.
    public init(_ uuid: BluetoothUUID, _ properties: CharacteristicProperties, value: [UInt8] = []) {
      self.uuid = uuid
      self.properties = properties
      self.value = value
    }
  }

  /// The type of the service.
  public var uuid: BluetoothUUID
  /// Its characteristics.
  public var characteristics: [Characteristic]

  /// Makes a definition.
  public init(_ uuid: BluetoothUUID, _ characteristics: [Characteristic]) {
    self.uuid = uuid
    self.characteristics = characteristics
  }
}
