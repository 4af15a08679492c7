@testable import Bluetooth
import Basics
import TestSupport
import Testing

@Suite("What a host says of a link's parameters and security")
struct HostSignallingTests {
  private static let link = HostFixture.link
  private static let slow = ConnectionParameters(
    minimumInterval: 24, maximumInterval: 40, latency: 4, supervisionTimeout: 600)
  private static let impossible = ConnectionParameters(
    minimumInterval: 6, maximumInterval: 6, latency: 499, supervisionTimeout: 10)
  private static let update = HCICommand.leConnectionUpdate(HostFixture.handle, slow)
  private static let slowed = ConnectionTiming(interval: 40, latency: 4, supervisionTimeout: 600)

  private static func said(_ sentence: String) -> HostAction { .report(.protocolViolation(link, sentence)) }

  private static func signal(_ packet: SignallingPacket) -> [UInt8] { frame(.signalling, packet) }

  private static func rejected(_ identifier: UInt8) -> HostAction {
    outgoing(signal(.commandReject(identifier: identifier, .commandNotUnderstood, data: [])))
  }

  struct Case: CustomTestStringConvertible {
    var testDescription: String
    var role: LinkRole
    var arriving: [UInt8]
    var actions: [HostAction]
  }

  static let cases: [Case] = [
    Case(
      testDescription: "a peripheral asks its central for another timing", role: .central,
      arriving: signal(.connectionParameterUpdateRequest(identifier: 7, slow)),
      actions: [
        outgoing(signal(.connectionParameterUpdateResponse(identifier: 7, isAccepted: true))),
        .transmit(update.packet),
      ]),
    Case(
      testDescription: "a peripheral asks for what does not fit", role: .central,
      arriving: signal(.connectionParameterUpdateRequest(identifier: 7, impossible)),
      actions: [
        outgoing(signal(.connectionParameterUpdateResponse(identifier: 7, isAccepted: false))),
        said("a request for connection parameters that cannot be had"),
      ]),
    Case(
      testDescription: "a central may not ask", role: .peripheral,
      arriving: signal(.connectionParameterUpdateRequest(identifier: 7, slow)),
      actions: [said("a connection parameter update request of a central"), rejected(7)]),
    Case(
      testDescription: "a response that nobody waits for", role: .peripheral,
      arriving: signal(.connectionParameterUpdateResponse(identifier: 7, isAccepted: true)),
      actions: [said("signalling command 0x13, which answers nothing")]),
    Case(
      testDescription: "a rejection of nothing", role: .peripheral,
      arriving: signal(.commandReject(identifier: 7, .commandNotUnderstood, data: [])),
      actions: [said("signalling command 0x01, which answers nothing")]),
    Case(
      testDescription: "a channel with credits is refused", role: .peripheral,
      arriving: signal(
        .creditBasedConnectionRequest(
          identifier: 9,
          SignallingPacket.CreditBasedConnectionRequest(
            service: 0x80, sourceChannel: 0x40, mtu: 64, mps: 64, credits: 1))),
      actions: [outgoing(signal(.creditBasedConnectionResponse(identifier: 9, .serviceNotSupported)))]),
    Case(
      testDescription: "an echo request, which LE does not have", role: .central,
      arriving: signal(.other(code: 0x08, identifier: 3, data: [])), actions: [rejected(3)]),
    Case(
      testDescription: "a command of the future", role: .central,
      arriving: signal(.other(code: 0x7E, identifier: 4, data: [1, 2, 3])), actions: [rejected(4)]),
    Case(
      testDescription: "credits for a channel that does not exist", role: .central,
      arriving: signal(.other(code: 0x16, identifier: 4, data: [0x40, 0, 1, 0])),
      actions: [said("signalling command 0x16, which answers nothing")]),
    Case(
      testDescription: "an identifier of zero", role: .central,
      arriving: L2CAPFrame(.signalling, [0x08, 0, 0, 0]).encoded,
      actions: [
        said("a signalling command that does not decode, at 1: 0 is not a valid signalling identifier")
      ]),
    Case(
      testDescription: "a torn request", role: .central,
      arriving: L2CAPFrame(.signalling, [0x12, 5, 8, 0, 1]).encoded,
      actions: [
        said("a signalling command that does not decode, at 5: 7 more bytes needed"), rejected(5),
      ]),
    Case(
      testDescription: "a request longer than must be understood", role: .central,
      arriving: L2CAPFrame(.signalling, [0x08, 5, 20, 0] + [UInt8](0..<20)).encoded,
      actions: [
        said("a signalling command of 24 bytes"),
        outgoing(signal(.commandReject(identifier: 5, .signallingMTUExceeded, data: [23, 0]))),
      ]),
    Case(
      testDescription: "a pairing request is declined", role: .peripheral,
      arriving: frame(
        .security,
        SecurityPacket.pairingRequest(SecurityPacket.PairingFeatures(capability: 3, authentication: 1))),
      actions: [outgoing(frame(.security, SecurityPacket.pairingFailed(.pairingNotSupported)))]),
    Case(
      testDescription: "a security request is declined", role: .central,
      arriving: frame(.security, SecurityPacket.securityRequest(authentication: 1)),
      actions: [outgoing(frame(.security, SecurityPacket.pairingFailed(.pairingNotSupported)))]),
    Case(
      testDescription: "a pairing that failed needs no answer", role: .central,
      arriving: frame(.security, SecurityPacket.pairingFailed(.pairingNotSupported)), actions: []),
    Case(
      testDescription: "the middle of a pairing that never began", role: .central,
      arriving: frame(.security, SecurityPacket.other(code: 3, data: [UInt8](0..<16))),
      actions: [said("security command 0x03 without pairing")]),
    Case(
      testDescription: "a security command that is reserved", role: .central,
      arriving: frame(.security, SecurityPacket.other(code: 0x0F, data: [1])),
      actions: [said("security command 0x0f, which does not exist")]),
    Case(
      testDescription: "a torn pairing request", role: .peripheral,
      arriving: L2CAPFrame(.security, [0x01, 3]).encoded,
      actions: [said("a security command that does not decode, at 2: 1 more byte needed")]),
  ]

  @Test("what the other end signals is answered as the specification has it", arguments: cases)
  func answers(_ test: Case) {
    var host = HostFixture.connected(test.role, aclLength: 64)
    expect(host.receive(arriving(test.arriving), at: .zero), test.actions)
  }

  @Test("a central changes the timing of a link, or hears that it cannot")
  func central() {
    var host = HostFixture.connected(.central)
    let opening = host.updateParameters(Self.link, Self.slow, at: .zero)
    expect(converse(&host, opening, [.status(Self.update)]), [])
    let done = HCIEvent.leConnectionUpdateComplete(status: .success, HostFixture.handle, Self.slowed)
    expect(
      host.receive(done.packet, at: .zero),
      [.report(.timing(Self.link, status: .success, Self.slowed))])
    let again = host.updateParameters(Self.link, Self.slow, at: .zero)
    expect(
      converse(&host, again, [.status(Self.update, .commandDisallowed)]),
      [.report(.timing(Self.link, status: .commandDisallowed, Self.slowed))])
    let failed = HCIEvent.leConnectionUpdateComplete(
      status: .unsupportedRemoteFeature, HostFixture.handle, HostFixture.timing)
    expect(
      host.receive(failed.packet, at: .zero),
      [.report(.timing(Self.link, status: .unsupportedRemoteFeature, Self.slowed))])
  }

  @Test(
    "a peripheral asks its central once at a time, and then for the latest wish",
    arguments: [
      (SignallingPacket.connectionParameterUpdateResponse(identifier: 1, isAccepted: true), nil),
      (
        .connectionParameterUpdateResponse(identifier: 1, isAccepted: false),
        .unacceptableConnectionParameters
      ), (.commandReject(identifier: 1, .commandNotUnderstood, data: []), .unsupportedRemoteFeature),
    ] as [(SignallingPacket, HCIErrorCode?)])
  func peripheral(_ response: SignallingPacket, _ refusal: HCIErrorCode?) {
    var host = HostFixture.connected(.peripheral)
    func request(_ identifier: UInt8, _ parameters: ConnectionParameters) -> HostAction {
      outgoing(Self.signal(.connectionParameterUpdateRequest(identifier: identifier, parameters)))
    }
    expect(host.updateParameters(Self.link, Self.slow, at: .zero), [request(1, Self.slow)])
    expect(host.updateParameters(Self.link, ConnectionParameters(latency: 1), at: .zero), [])
    expect(host.updateParameters(Self.link, ConnectionParameters(), at: .zero), [])
    let stranger = SignallingPacket.connectionParameterUpdateResponse(identifier: 2, isAccepted: true)
    expect(
      host.receive(arriving(Self.signal(stranger)), at: .zero),
      [Self.said("signalling command 0x13, which answers nothing")])
    let refused = refusal.map { [HostAction.report(.timing(Self.link, status: $0, HostFixture.timing))] }
    expect(
      host.receive(arriving(Self.signal(response)), at: .zero),
      (refused ?? []) + [request(2, ConnectionParameters())])
  }

  @Test("a peripheral's controller asks where it knows how, and L2CAP only where the central's does not")
  func linkLayerFirst() {
    var host = HostFixture.connected(.peripheral, features: 0x23)
    let usual = HCICommand.leConnectionUpdate(HostFixture.handle, ConnectionParameters())
    let opening = host.updateParameters(Self.link, Self.slow, at: .zero)
    expect(converse(&host, opening, [.status(Self.update)]), [])
    expect(host.deadline, nil)
    expect(host.updateParameters(Self.link, ConnectionParameters(latency: 1), at: .zero), [])
    expect(host.updateParameters(Self.link, ConnectionParameters(), at: .zero), [])
    let done = HCIEvent.leConnectionUpdateComplete(status: .success, HostFixture.handle, Self.slowed)
    let next = host.receive(done.packet, at: .zero)
    expect(
      next, [.report(.timing(Self.link, status: .success, Self.slowed)), .transmit(usual.packet)])
    expect(converse(&host, [.transmit(usual.packet)], [.status(usual)]), [])
    let unknown = HCIEvent.leConnectionUpdateComplete(
      status: .unsupportedRemoteFeature, HostFixture.handle, Self.slowed)
    func request(_ identifier: UInt8, _ parameters: ConnectionParameters) -> HostAction {
      outgoing(Self.signal(.connectionParameterUpdateRequest(identifier: identifier, parameters)))
    }
    expect(host.receive(unknown.packet, at: .zero), [request(1, ConnectionParameters())])
    let response = SignallingPacket.connectionParameterUpdateResponse(identifier: 1, isAccepted: true)
    expect(host.receive(arriving(Self.signal(response)), at: .zero), [])
    // What is known of this central is not asked again.
    expect(host.updateParameters(Self.link, Self.slow, at: .zero), [request(2, Self.slow)])
  }

  @Test(
    "what the controller answers to a peripheral's wish is told, unless L2CAP can still be tried",
    arguments: [HCIErrorCode.unacceptableConnectionParameters, .unsupportedRemoteFeature])
  func linkLayerRefusal(_ status: HCIErrorCode) {
    var host = HostFixture.connected(.peripheral, features: 0x23)
    let opening = host.updateParameters(Self.link, Self.slow, at: .zero)
    let request = SignallingPacket.connectionParameterUpdateRequest(identifier: 1, Self.slow)
    expect(
      converse(&host, opening, [.status(Self.update, status)]),
      status == .unsupportedRemoteFeature
        ? [outgoing(Self.signal(request))]
        : [.report(.timing(Self.link, status: status, HostFixture.timing))])
  }

  @Test("a central that says nothing for thirty seconds to a request has refused it")
  func noResponse() {
    var host = HostFixture.connected(.peripheral)
    _ = host.updateParameters(Self.link, Self.slow, at: .zero)
    expect(host.deadline, .zero + .seconds(30))
    expect(
      host.advance(to: .zero + .seconds(30)),
      [
        Self.said("no response to a connection parameter update request"),
        .report(.timing(Self.link, status: .llResponseTimeout, HostFixture.timing)),
      ])
    expect(host.deadline, nil)
  }

  @Test("requests of the other end's link layer and for keys are answered through the controller")
  func linkLayer() {
    var host = HostFixture.connected(.peripheral)
    let asks: [(HCIEvent, HCICommand?)] = [
      (
        .leRemoteConnectionParameterRequest(HostFixture.handle, Self.slow),
        .leRemoteConnectionParameterRequestReply(HostFixture.handle, Self.slow)
      ),
      (
        .leLongTermKeyRequest(HostFixture.handle, random: 1, diversifier: 2),
        .leLongTermKeyRequestNegativeReply(HostFixture.handle)
      ),
    ]
    for (event, command) in asks {
      let opening = host.receive(event.packet, at: .zero)
      expect(converse(&host, opening, command.map { [.done($0)] } ?? []), [])
    }
    let negative = HCICommand.leRemoteConnectionParameterRequestNegativeReply(
      HostFixture.handle, .unacceptableConnectionParameters)
    expect(
      host.receive(
        HCIEvent.leRemoteConnectionParameterRequest(HostFixture.handle, Self.impossible).packet, at: .zero),
      [Self.said("a request for connection parameters that cannot be had"), .transmit(negative.packet)])
    let stranger = ConnectionHandle(rawValue: 0x77)
    expect(
      host.receive(HCIEvent.leLongTermKeyRequest(stranger, random: 1, diversifier: 2).packet, at: .zero),
      [.report(.protocolViolation(nil, "a request on an unknown link 0x0077"))])
  }

  @Test("whoever asks for keys without end fills no queue")
  func flood() {
    var host = HostFixture.connected(.peripheral)
    let ask = HCIEvent.leLongTermKeyRequest(HostFixture.handle, random: 1, diversifier: 2).packet
    for _ in 0..<65 { _ = host.receive(ask, at: .zero) }
    expect(host.receive(ask, at: .zero), [Self.said("more requests than can be answered")])
  }
}
