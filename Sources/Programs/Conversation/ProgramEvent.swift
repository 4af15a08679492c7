import Basics
import Bluetooth
import Links

/// An event on the air, as reported to the program at an end of a link: one line, with the time.
///
///     {"heard":{"address":"c7:e6:da:90:f5:f9","name":"Keypad","services":["fff0"],"rssi":-60},"at":0.4}
///     {"link":"connected","at":0.5}  {"link":"ready","services":[…],"at":0.6}
///     {"link":"disconnected","reason":8,"text":"connection timeout","at":9.2}
///     {"notified":{"characteristic":"fff2","handle":12,"value":"01"},"at":0.9}
///     {"failed":{"operation":"write","characteristic":"fff1","error":"refused with …","code":3},"at":1.2}
enum ProgramEvent {
  /// A characteristic with its UUID, if known, and its handle.
  struct Place {
    var uuid: BluetoothUUID?
    var handle: AttributeHandle
  }

  // For drivers.
  case heard(PeerAddress, AdvertisingData, rssi: Int8?)
  case ready(DiscoveredProfile)
  case notified(Place, [UInt8])
  case read(Place, [UInt8])
  case wrote(Place)
  case subscribed(Place)
  case unsubscribed(Place)
  case failed(_ operation: String, ProgramOperation.Place?, CentralEvent.Failure)
  // For peripherals.
  case written(Place, [UInt8])
  case subscription(Place, Subscription)
  case confirmed(Place)
  // For both.
  case connected(PeerAddress?)
  /// The link ended; with the number of packets that may not have arrived, if known.
  case disconnected(HCIErrorCode, unacknowledged: Int? = nil)
  case mtu(Int)

  /// The line, without its time.
  var line: [UInt8] { ProgramConversation.bytes(of: json) }

  private var json: JSON {
    switch self {
    case .heard(let address, let data, let rssi):
      return [
        "heard": .omittingNil([
          "address": .text("\(address)"), "name": data.localName.map { .text($0) },
          "services": .list(data.services.map { .text("\($0)") }),
          "manufacturer": data.manufacturerData.map { .text($0.hex) }, "data": .text(data.encoded.hex),
          "rssi": rssi.map { .integer(Int($0)) },
        ])
      ]
    case .ready(let profile):
      let services = profile.services.map { Self.json($0, profile.characteristics(of: $0)) }
      return ["link": "ready", "services": .list(services)]
    case .notified(let place, let value): return ["notified": place.json(value)]
    case .read(let place, let value): return ["read": place.json(value)]
    case .wrote(let place): return ["wrote": place.json()]
    case .subscribed(let place): return ["subscribed": place.json()]
    case .unsubscribed(let place): return ["unsubscribed": place.json()]
    case .failed(let operation, let place, let failure):
      var uuid: JSON?
      var handle: JSON?
      switch place {
      case .uuid(let it): uuid = .text("\(it)")
      case .handle(let it): handle = .integer(Int(it.rawValue))
      case nil: break
      }
      return [
        "failed": .omittingNil([
          "operation": .text(operation), "characteristic": uuid, "handle": handle,
          "error": .text("\(failure)"),
          "code": failure.code.map { .integer(Int($0.rawValue)) },
        ])
      ]
    case .written(let place, let value): return ["written": place.json(value)]
    case .subscription(let place, let subscription):
      return [
        "subscription": place.json(
          more: [
            JSON.Member("notifications", .flag(subscription.contains(.notifications))),
            JSON.Member("indications", .flag(subscription.contains(.indications))),
          ])
      ]
    case .confirmed(let place): return ["confirmed": place.json()]
    case .connected(let peer):
      return .omittingNil(["link": "connected", "address": peer.map { .text("\($0)") }])
    case .disconnected(let reason, let unacknowledged):
      return .omittingNil([
        "link": "disconnected", "reason": .integer(Int(reason.rawValue)), "text": .text(reason.description),
        "unacknowledged": unacknowledged.flatMap { $0 > 0 ? .integer($0) : nil },
      ])
    case .mtu(let mtu): return ["mtu": .integer(mtu)]
    }
  }

  private static func json(
    _ service: DiscoveredService, _ characteristics: [DiscoveredCharacteristic]
  ) -> JSON {
    [
      "uuid": .text("\(service.uuid)"),
      "characteristics": .list(
        characteristics.map { characteristic in
          [
            "uuid": .text("\(characteristic.uuid)"), "handle": .integer(Int(characteristic.value.rawValue)),
            "properties": .list(characteristic.properties.names.map { .text($0) }),
          ]
        }),
    ]
  }
}

extension ProgramEvent.Place {
  fileprivate func json(_ value: [UInt8]? = nil, more: [JSON.Member] = []) -> JSON {
    var members: [JSON.Member] = []
    if let uuid { members.append(JSON.Member("characteristic", .text("\(uuid)"))) }
    members.append(JSON.Member("handle", .integer(Int(handle.rawValue))))
    if let value { members.append(JSON.Member("value", .text(value.hex))) }
    return .mapping(members + more)
  }
}

extension CharacteristicProperties {
  /// The names of the properties in a program's lines.
  static let known: [(name: String, property: CharacteristicProperties)] = [
    ("broadcast", .broadcast), ("read", .read), ("write-without-response", .writeWithoutResponse),
    ("write", .write), ("notify", .notify), ("indicate", .indicate), ("signed-write", .signedWrite),
    ("extended", .extended),
  ]

  var names: [String] { Self.known.filter { contains($0.property) }.map(\.name) }
}
