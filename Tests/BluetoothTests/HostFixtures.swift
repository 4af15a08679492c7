@testable import Bluetooth
import Basics
import TestSupport
import Testing

/// One exchange between a host and a controller of a script: what the host must send, alone, and what it gets.
struct Exchange {
  var command: HCICommand
  var answer: HCIEvent

  init(_ command: HCICommand, _ answer: HCIEvent) {
    self.command = command
    self.answer = answer
  }

  /// The command succeeds and returns nothing more.
  static func done(_ command: HCICommand, credits: UInt8 = 1) -> Exchange {
    refused(command, .success, credits: credits)
  }

  /// The command succeeds and returns something.
  static func done(_ command: HCICommand, returning value: some BinaryCodable) -> Exchange {
    Exchange(
      command,
      .commandComplete(credits: 1, opcode: command.opcode, returnParameters: [0] + value.encoded))
  }

  /// The command is refused with Command Complete.
  static func refused(_ command: HCICommand, _ status: HCIErrorCode, credits: UInt8 = 1) -> Exchange {
    Exchange(
      command,
      .commandComplete(credits: credits, opcode: command.opcode, returnParameters: [status.rawValue]))
  }

  /// The command is answered with Command Status: accepted, unless refused.
  static func status(_ command: HCICommand, _ status: HCIErrorCode = .success) -> Exchange {
    Exchange(command, .commandStatus(status: status, credits: 1, opcode: command.opcode))
  }
}

/// Lets a host speak its part of a script, checks every word, and returns what it says to the last answer.
func converse(
  _ host: inout BluetoothHost, _ opening: [HostAction], _ script: [Exchange], at now: Instant = .zero,
  sourceLocation: SourceLocation = #_sourceLocation
) -> [HostAction] {
  var actions = opening
  for exchange in script {
    expect(actions, [.transmit(exchange.command.packet)], sourceLocation: sourceLocation)
    actions = host.receive(exchange.answer.packet, at: now)
  }
  return actions
}

/// What the hosts of these tests have in common.
enum HostFixture {
  static let settings = HostSettings(address: .staticRandom(0x11_2233_4455), queueLimit: 4)
  static let publicAddress = BluetoothAddress(0x00_1A7D_DA71_13)
  static let peer = PeerAddress(.randomDevice, .staticRandom(0x99_8877_6655))
  static let handle = ConnectionHandle(rawValue: 0x0040)
  static let link = LinkID(rawValue: 1)
  static let timing = ConnectionTiming(interval: 6, latency: 0, supervisionTimeout: 200)
  static let service = BluetoothUUID(0xFD81)
  static let command = BluetoothUUID(0x0001)
  static let publish = BluetoothUUID(0x0002)
  static let services = [
    ServiceDefinition(
      service,
      [
        ServiceDefinition.Characteristic(command, [.write, .writeWithoutResponse, .read]),
        ServiceDefinition.Characteristic(publish, [.notify, .indicate]),
      ])
  ]
  /// Behind GAP (5 attributes) and GATT (4): the service, then declaration and value, then the same with its
  /// configuration.
  static let commandHandle = AttributeHandle(rawValue: 12)
  static let publishHandle = AttributeHandle(rawValue: 14)
  static let configurationHandle = AttributeHandle(rawValue: 15)

  static func description(
    aclLength: Int = 27, aclCount: Int = 4, features: UInt64 = 0x21
  ) -> ControllerDescription {
    ControllerDescription(
      publicAddress: publicAddress, randomAddress: settings.address,
      hciVersion: VersionInformation(version: 0x0D, company: 0x05F1, subversion: 7), leFeatures: features,
      aclLength: aclLength, aclCount: aclCount)
  }

  /// The set-up of a controller that has everything.
  static func setUp(aclLength: Int = 27, aclCount: Int = 4, features: UInt64 = 0x21) -> [Exchange] {
    [
      .done(.reset()),
      .done(
        .readLocalVersionInformation(),
        returning: CommandReturn.LocalVersion(
          hciVersion: 0x0D, hciSubversion: 7, lmpVersion: 0x0D, company: 0x05F1, lmpSubversion: 8)),
      Exchange(
        .readLocalSupportedCommands(),
        .commandComplete(
          credits: 1, opcode: HCICommand.readLocalSupportedCommands.opcode,
          returnParameters: [0] + [UInt8](repeating: 0xFF, count: 64))),
      .done(.readLocalSupportedFeatures(), returning: UInt64(1 << 38)),
      .done(.readBDADDR(), returning: publicAddress),
      .done(
        .leReadBufferSize(),
        returning: CommandReturn.LEReadBufferSize(aclLength: UInt16(aclLength), aclCount: UInt8(aclCount))),
      .done(.leReadLocalSupportedFeatures(), returning: UInt64(features)),
      .done(.setEventMask(0x2000_0000_0200_8890)),
      .done(.leSetEventMask(0x107F)),
      .done(.leSetRandomAddress(settings.address)),
    ]
  }

  /// A host that is ready.
  static func ready(
    aclLength: Int = 27, aclCount: Int = 4, features: UInt64 = 0x21
  ) -> BluetoothHost {
    var host = BluetoothHost(settings, services: services)
    let opening = host.start(at: .zero)
    let last = converse(
      &host, opening, setUp(aclLength: aclLength, aclCount: aclCount, features: features))
    expect(
      last, [.report(.ready(description(aclLength: aclLength, aclCount: aclCount, features: features)))])
    return host
  }

  static func connection(
    _ role: LinkRole, _ handle: ConnectionHandle = handle, _ status: HCIErrorCode = .success
  ) -> ConnectionComplete {
    ConnectionComplete(status: status, handle: handle, role: role, peer: peer, timing: timing)
  }

  /// A host with one link.
  static func connected(
    _ role: LinkRole, aclLength: Int = 27, aclCount: Int = 4, features: UInt64 = 0x21
  ) -> BluetoothHost {
    var host = ready(aclLength: aclLength, aclCount: aclCount, features: features)
    add(role, handle, link, to: &host)
    return host
  }

  /// Lets a link come up at a host.
  static func add(
    _ role: LinkRole, _ handle: ConnectionHandle, _ link: LinkID, to host: inout BluetoothHost
  ) {
    if role == .central {
      let opening = host.connect(to: peer, ConnectionParameters(), timeout: .seconds(10), at: .zero)
      expect(converse(&host, opening, [.status(.leCreateConnection(ConnectionRequest(peer: peer)))]), [])
    }
    let connection = connection(role, handle)
    expect(
      host.receive(HCIEvent.leConnectionComplete(connection).packet, at: .zero),
      [.report(.connected(link, connection))])
  }
}

/// A frame on a channel, as it stands in data.
func frame(_ channel: L2CAPChannel, _ packet: some BinaryCodable) -> [UInt8] {
  L2CAPFrame(channel, packet.encoded).encoded
}

/// Data on its way to a host.
func arriving(
  _ data: [UInt8], _ boundary: ACLPacket.Boundary = .firstFlushable,
  on handle: ConnectionHandle = HostFixture.handle
) -> HCIPacket {
  .acl(ACLPacket(handle: handle, boundary: boundary, data: data))
}

/// What a host sends when it sends data.
func outgoing(
  _ data: [UInt8], _ boundary: ACLPacket.Boundary = .first, on handle: ConnectionHandle = HostFixture.handle
) -> HostAction {
  .transmit(.acl(ACLPacket(handle: handle, boundary: boundary, data: data)))
}
