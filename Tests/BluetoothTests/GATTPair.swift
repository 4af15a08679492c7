import Bluetooth
import Basics
import TestSupport
import Testing

/// A client and a server that hand each other their packets, as bytes, until both are silent.
struct GATTPair {
  var client: GATTLink
  var server: GATTLink
  var database: GATTDatabase
  private var none = GATTDatabase([])
  /// What the client was told, and what the server was.
  var events: [GATTEvent] = []
  var served: [GATTEvent] = []
  /// The packets of both.
  private(set) var packets: [ATTPacket] = []

  init(_ services: [ServiceDefinition], clientMTU: UInt16 = 23, serverMTU: UInt16 = 23) {
    client = GATTLink(offering: clientMTU)
    server = GATTLink(offering: serverMTU)
    database = GATTDatabase(services)
  }

  /// Runs a procedure to its end.
  mutating func run(_ procedure: GATTProcedure) -> Result<GATTResult, GATTFailure>? {
    packets = []
    events = []
    served = []
    let (id, actions) = client.start(procedure, at: .zero)
    carry(actions, isClients: true)
    for case .finished(id, let result) in events { return result }
    return nil
  }

  /// Carries out actions of one end, and whatever follows from them.
  mutating func carry(_ actions: [GATTLink.Action], isClients: Bool) {
    var queue = actions.map { ($0, isClients) }
    while !queue.isEmpty {
      let (action, isClients) = queue.removeFirst()
      switch action {
      case .transmit(let packet):
        queue += deliver(packet, toServer: isClients).map { ($0, !isClients) }
        guard packets.count < 10_000 else {
          Issue.record("they go on for ever")
          return
        }
      case .report(let event):
        if isClients { events.append(event) } else { served.append(event) }
      case .reportViolation(let sentence):
        Issue.record("\(sentence)")
      case .disconnect(let reason):
        Issue.record("disconnected, \(reason)")
      }
    }
  }

  private mutating func deliver(_ packet: ATTPacket, toServer: Bool) -> [GATTLink.Action] {
    packets.append(packet)
    let bytes = packet.encoded
    let room = Int(toServer ? client.mtu : server.mtu)
    // The response to the exchange is the last packet of the old MTU, which the server has left behind already.
    if bytes.count > room { Issue.record("\(bytes.count) bytes in a packet of \(room): \(packet)") }
    guard let decoded = try? ATTPacket(decoding: bytes), decoded == packet else {
      Issue.record("\(packet) does not survive the air")
      return []
    }
    return toServer
      ? server.receive(decoded, &database, at: .zero) : client.receive(decoded, &none, at: .zero)
  }
}
