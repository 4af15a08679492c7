import Bluetooth
import Basics
import TestSupport
import Testing

@Suite("A host's commands")
struct HostCommandTests {
  private static let scan = HCICommand.leSetScanParameters(ScanParameters())
  private static let advertise = HCICommand.leSetAdvertisingParameters(AdvertisingParameters())

  /// A host that has sent its first scan command, with advertising waiting behind it.
  private static func busy() -> BluetoothHost {
    var host = HostFixture.ready()
    expect(
      host.startScanning(ScanParameters(), filterDuplicates: true, at: .zero), [.transmit(scan.packet)])
    expect(host.startAdvertising(AdvertisingParameters(), data: [1], scanResponse: [2], at: .zero), [])
    return host
  }

  @Test("one command is unanswered at a time, whatever the controller takes")
  func oneAtATime() {
    var host = Self.busy()
    let enable = HCICommand.leSetScanEnable(true, true)
    expect(
      host.receive(Exchange.done(Self.scan, credits: 5).answer.packet, at: .zero),
      [.transmit(Self.advertise.packet)])
    expect(
      host.receive(Exchange.done(Self.advertise).answer.packet, at: .zero), [.transmit(enable.packet)])
  }

  @Test("without credits commands wait, until the controller grants some")
  func credits() {
    var host = Self.busy()
    expect(host.receive(Exchange.done(Self.scan, credits: 0).answer.packet, at: .zero + .seconds(1)), [])
    expect(host.deadline, .zero + .seconds(3))
    let grant = HCIEvent.commandComplete(credits: 1, opcode: 0, returnParameters: []).packet
    expect(host.receive(grant, at: .zero + .seconds(2)), [.transmit(Self.advertise.packet)])
    expect(host.receive(grant, at: .zero + .seconds(2)), [])
    expect(host.deadline, .zero + .seconds(4))
    let refusal = HCIEvent.commandStatus(status: .success, credits: 0, opcode: 0).packet
    expect(host.receive(refusal, at: .zero + .seconds(2)), [])
  }

  @Test("a controller that never takes anything again has failed")
  func stalled() {
    var host = Self.busy()
    expect(host.receive(Exchange.done(Self.scan, credits: 0).answer.packet, at: .zero), [])
    expect(
      host.advance(to: .zero + .seconds(2)),
      [.report(.failed(.noAnswer(opcode: HCICommand.leSetAdvertisingParameters.opcode)))])
  }

  @Test("a controller is asked for a sign of life, unless it owes an answer anyway")
  func signOfLife() {
    var host = HostFixture.ready()
    let opening = host.checkController(at: .zero)
    expect(host.checkController(at: .zero), [])
    let answer = Exchange.done(.readBDADDR(), returning: HostFixture.publicAddress)
    expect(converse(&host, opening, [answer]), [])
    expect(host.deadline, nil)
    expect(host.checkController(at: .zero), [.transmit(HCICommand.readBDADDR().packet)])
    expect(
      host.advance(to: .zero + .seconds(2)),
      [.report(.failed(.noAnswer(opcode: HCICommand.readBDADDR.opcode)))])
    expect(host.checkController(at: .zero + .seconds(2)), [])
  }

  @Test("a Command Status that only says that it has begun is no answer")
  func begun() {
    var host = Self.busy()
    expect(host.receive(Exchange.status(Self.scan).answer.packet, at: .zero), [])
    expect(
      host.receive(Exchange.done(Self.scan).answer.packet, at: .zero), [.transmit(Self.advertise.packet)])
  }

  @Test(
    "what a controller may not say",
    arguments: [
      (
        HCIEvent.commandComplete(credits: 1, opcode: HCICommand.leRand.opcode, returnParameters: [0]),
        HostFailure.broken("an answer to 0x2018, which was not sent")
      ),
      (
        .commandStatus(status: .success, credits: 1, opcode: HCICommand.disconnect.opcode),
        .broken("an answer to 0x0406, which was not sent")
      ),
      (
        .commandComplete(credits: 1, opcode: HCICommand.reset.opcode, returnParameters: [0]),
        .broken("an answer to 0x0c03, which was not sent")
      ),
      (.hardwareError(code: 7), .hardwareError(7)),
      (.dataBufferOverflow(linkType: 1), .broken("the controller says that it was sent more than it takes")),
      (.other(code: 0x05, parameters: [0]), .undecodable("event 0x05", .truncated(at: 1, missing: 2))),
      (
        .otherLE(subevent: 0x03, parameters: [0]),
        .undecodable("LE event 0x03", .truncated(at: 2, missing: 2))
      ),
      (.other(code: 0x3E, parameters: []), .undecodable("event 0x3e", .truncated(at: 0))),
    ] as [(HCIEvent, HostFailure)])
  func broken(_ event: HCIEvent, _ failure: HostFailure) {
    var host = Self.busy()
    expect(host.receive(event.packet, at: .zero), [.report(.failed(failure))])
    expect(host.receive(event.packet, at: .zero), [])
    expect(host.deadline, nil)
  }

  @Test("a command from the controller is nonsense; voice and isochronous data are passed over")
  func otherPackets() {
    var host = Self.busy()
    expect(host.receive(.synchronous([0, 0, 0]), at: .zero), [])
    expect(host.receive(.isochronous([0, 0, 0, 0]), at: .zero), [])
    expect(
      host.receive(.command(opcode: 0x0C03, parameters: []), at: .zero),
      [.report(.failed(.broken("a command, 0x0c03, from the controller")))])
  }

  @Test("what is reserved in an event is ignored and said once, and the event counts")
  func reserved() {
    var host = HostFixture.connected(.central, aclLength: 27, aclCount: 1)
    func check(_ value: UInt8, _ completed: HCIPacket, _ complaint: String?) {
      let sent = host.writeCommand(HostFixture.commandHandle, [value], on: HostFixture.link, at: .zero)
      expect(sent, [outgoing(frame(.att, ATTPacket.writeCommand(HostFixture.commandHandle, [value])))])
      let said = complaint.map { HostAction.report(.protocolViolation(nil, $0)) }
      expect(host.receive(completed, at: .zero), [said].compactMap(\.self))
    }
    // Number Of Completed Packets, with bits above the handle: the one buffer is free again.
    let bits = HCIPacket.event(code: 0x13, parameters: [1, 0x40, 0x10, 1, 0])
    check(1, bits, "reserved bits above a connection handle; ignored, from now on without a word")
    check(2, bits, nil)
    // Another kind beside it.
    let longer = HCIPacket.event(code: 0x13, parameters: [1, 0x40, 0x10, 1, 0, 9])
    check(3, longer, "bytes behind the last known field; ignored, from now on without a word")
    check(4, longer, nil)
  }

  @Test("what does no harm is only said")
  func odd() {
    var host = Self.busy()
    expect(
      host.receive(
        HCIEvent.commandComplete(credits: 1, opcode: 0xFC20, returnParameters: [0]).packet, at: .zero),
      [.report(.protocolViolation(nil, "an answer to 0xfc20, a command of the maker's that was not sent"))])
    expect(
      host.receive(.event(code: 0x3E, parameters: [0x02, 1, 0]), at: .zero),
      [
        .report(
          .protocolViolation(nil, "an advertising report that does not decode, at 3: 1 more byte needed"))
      ])
    expect(host.receive(.event(code: 0xFF, parameters: [1, 2, 3]), at: .zero), [])
    expect(host.receive(.event(code: 0x3E, parameters: [0x55, 1]), at: .zero), [])
  }
}
