import Bluetooth
import Basics
import TestSupport
import Testing

@Suite("The links of a host")
struct HostLinkTests {
  private static let link = HostFixture.link
  private static let disconnect = HCICommand.disconnect(HostFixture.handle, .remoteUserTerminated)

  private static func over(_ reason: HCIErrorCode, _ status: HCIErrorCode = .success) -> HCIPacket {
    HCIEvent.disconnectionComplete(status: status, HostFixture.handle, reason: reason).packet
  }

  private static func end(_ host: inout BluetoothHost) -> [HostAction] {
    host.disconnect(link, reason: .remoteUserTerminated, at: .zero)
  }

  @Test("a link that is ended is gone when the controller says so, and procedures fail before that")
  func disconnection() {
    var host = HostFixture.connected(.central)
    let (id, _) = host.start(.discoverAllServices, on: Self.link, at: .zero)
    let opening = Self.end(&host)
    expect(converse(&host, opening, [.status(Self.disconnect)]), [])
    expect(Self.end(&host), [])
    expect(
      host.receive(Self.over(.localHostTerminated), at: .zero),
      [
        .report(.gatt(Self.link, .finished(id, .failure(.linkLost)))),
        .report(.disconnected(Self.link, reason: .localHostTerminated, unacknowledged: 1)),
      ])
    expect(host.deadline, nil)
    expect(
      host.receive(Self.over(.localHostTerminated), at: .zero),
      [.report(.protocolViolation(nil, "the end of an unknown link 0x0040"))])
  }

  @Test("nothing is sent on a link that is being ended; what still arrives is heard")
  func ending() {
    var host = HostFixture.connected(.central, aclCount: 1)
    for value in 0...1 as ClosedRange<UInt8> {
      _ = host.writeCommand(HostFixture.commandHandle, [value], on: Self.link, at: .zero)
    }
    expect(Self.end(&host), [.transmit(Self.disconnect.packet)])
    expect(
      host.receive(
        HCIEvent.numberOfCompletedPackets([CompletedPackets(HostFixture.handle, 1)]).packet, at: .zero),
      [])
    expect(host.writeCommand(HostFixture.commandHandle, [2], on: Self.link, at: .zero), [])
    let read = frame(.att, ATTPacket.readRequest(AttributeHandle(rawValue: 3)))
    expect(host.receive(arriving(read), at: .zero), [])
    let told = frame(.att, ATTPacket.notification(AttributeHandle(rawValue: 3), [1]))
    expect(
      host.receive(arriving(told), at: .zero),
      [.report(.gatt(Self.link, .notification(AttributeHandle(rawValue: 3), [1])))])
    // The first was acknowledged, the second never left.
    expect(
      host.receive(Self.over(.localHostTerminated), at: .zero),
      [.report(.disconnected(Self.link, reason: .localHostTerminated, unacknowledged: 1))])
  }

  @Test("a controller that never says that the link is over has failed, once the link must be lost")
  func noEnd() {
    var host = HostFixture.connected(.central)
    let opening = Self.end(&host)
    expect(converse(&host, opening, [.status(Self.disconnect)]), [])
    // Two seconds of supervision and two of patience.
    expect(host.deadline, .zero + .seconds(4))
    expect(
      host.advance(to: .zero + .seconds(4)),
      [.report(.failed(.broken("no Disconnection Complete for link 0x0040")))])
  }

  @Test("a link that the controller does not know any more is over")
  func unknownToController() {
    var host = HostFixture.connected(.central)
    let opening = Self.end(&host)
    expect(
      converse(&host, opening, [.status(Self.disconnect, .unknownConnection)]),
      [.report(.disconnected(Self.link, reason: .unknownConnection, unacknowledged: 0))])
  }

  @Test("a refusal to disconnect is said, and the link's end awaited all the same")
  func refused() {
    var host = HostFixture.connected(.central)
    let opening = Self.end(&host)
    expect(
      converse(&host, opening, [.status(Self.disconnect, .commandDisallowed)]),
      [
        .report(
          .protocolViolation(Self.link, "the controller refuses to disconnect: 0x0c (command disallowed)"))
      ])
    expect(
      host.receive(Self.over(.success, .commandDisallowed), at: .zero),
      [
        .report(
          .protocolViolation(Self.link, "the controller could not disconnect: 0x0c (command disallowed)"))
      ])
    expect(
      host.receive(Self.over(.connectionTimeout), at: .zero),
      [.report(.disconnected(Self.link, reason: .connectionTimeout, unacknowledged: 0))])
  }

  @Test("commands for a link that is gone do not reach the next of its handle")
  func reusedHandle() {
    var host = HostFixture.connected(.peripheral)
    // One unanswered, one waiting behind it.
    let sent = host.setDataLength(Self.link, octets: 251, time: 2120, at: .zero)
    expect(Self.end(&host), [])
    expect(
      host.receive(Self.over(.remoteUserTerminated), at: .zero),
      [.report(.disconnected(Self.link, reason: .remoteUserTerminated, unacknowledged: 0))])
    HostFixture.add(.peripheral, HostFixture.handle, LinkID(rawValue: 2), to: &host)
    let length = HCICommand.leSetDataLength(HostFixture.handle, 251, 2120)
    expect(sent, [.transmit(length.packet)])
    expect(host.receive(Exchange.refused(length, .unknownConnection).answer.packet, at: .zero), [])
    expect(host.deadline, nil)
  }

  @Test("a second link of a handle in use is not believed")
  func twice() {
    var host = HostFixture.connected(.peripheral)
    expect(
      host.receive(HCIEvent.leConnectionComplete(HostFixture.connection(.central)).packet, at: .zero),
      [.report(.protocolViolation(nil, "a second link of handle 0x0040"))])
  }

  @Test("an ATT request without an answer for thirty seconds ends the link")
  func attTimeout() {
    var host = HostFixture.connected(.central)
    let (id, _) = host.start(.read(AttributeHandle(rawValue: 3)), on: Self.link, at: .zero)
    expect(host.deadline, .zero + .seconds(30))
    expect(
      host.advance(to: .zero + .seconds(30)),
      [
        .report(.gatt(Self.link, .finished(id, .failure(.timedOut)))), .transmit(Self.disconnect.packet),
      ])
  }

  @Test("who asks without end while nothing can be sent is cut off")
  func flood() {
    var host = HostFixture.connected(.peripheral, aclCount: 1)
    let read = frame(.att, ATTPacket.readRequest(AttributeHandle(rawValue: 3)))
    let answer = frame(.att, ATTPacket.readResponse(Array("Lockstep".utf8)))
    expect(host.receive(arriving(read), at: .zero), [outgoing(answer)])
    for _ in 0..<HostFixture.settings.queueLimit + 32 {
      expect(host.receive(arriving(read), at: .zero), [])
    }
    expect(
      host.receive(arriving(read), at: .zero),
      [
        .report(.protocolViolation(Self.link, "more requests than answers can be sent")),
        .transmit(HCICommand.disconnect(HostFixture.handle, .remoteLowResources).packet),
      ])
  }

  @Test("the data length of a link is asked for, told, or refused")
  func dataLength() {
    var host = HostFixture.connected(.central)
    let command = HCICommand.leSetDataLength(HostFixture.handle, 251, 2120)
    let opening = host.setDataLength(Self.link, octets: 251, time: 2120, at: .zero)
    expect(converse(&host, opening, [.done(command)]), [])
    let length = DataLength(
      transmitOctets: 251, transmitTime: 2120, receiveOctets: 251, receiveTime: 2120)
    expect(
      host.receive(HCIEvent.leDataLengthChange(HostFixture.handle, length).packet, at: .zero),
      [.report(.dataLength(Self.link, length))])
    let again = host.setDataLength(Self.link, octets: 251, time: 2120, at: .zero)
    expect(
      converse(&host, again, [.refused(command, .unknownCommand)]),
      [
        .report(
          .protocolViolation(
            Self.link, "the controller refuses to set the data length: 0x01 (unknown command)"))
      ])
  }

  @Test("only some reasons may be given for ending a link")
  func reasons() async {
    await #expect(processExitsWith: .failure) {
      var host = HostFixture.connected(.central)
      _ = host.disconnect(HostFixture.link, reason: .localHostTerminated, at: .zero)
    }
  }
}
