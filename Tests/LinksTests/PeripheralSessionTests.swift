import Basics
import Bluetooth
import Links
import TestSupport
import Testing

@testable import Controllers

@Suite("A peripheral session")
struct PeripheralSessionTests {
  private static func isHeard(_ events: [CentralEvent]) -> Bool {
    events.contains { if case .advertisement = $0 { true } else { false } }
  }

  @Test("a controller that refuses to advertise is asked again a second later")
  func refusal() {
    var pair = LinkPair()
    pair.peripheral.advertise(nil, at: pair.now)
    pair.pass(.milliseconds(50))
    pair.radio.setHook(of: LinkPair.there) { packet, _, _ in
      guard case .command(HCICommand.leSetAdvertisingEnable.opcode, _) = packet else { return .pass }
      return .refuse(.commandDisallowed)
    }
    pair.peripheral.advertise(LinkPair.advertisement, at: pair.now)
    pair.pass(.milliseconds(50))
    expect(pair.served, [.notAdvertising(.commandDisallowed)])
    pair.radio.setHook(of: LinkPair.there, nil)
    expect(Self.isHeard(pair.perform(.scan(true), for: .milliseconds(900))), false)
    pair.pass(.milliseconds(200))
    expect(Self.isHeard(pair.take()), true)
  }

  @Test("with a link the controller stops to advertise, and its user says what is advertised after it")
  func advertising() {
    var pair = LinkPair.open()
    expect(Self.isHeard(pair.perform(.scan(true))), false)
    pair.peripheral.advertise(LinkPair.advertisement, at: pair.now)
    pair.pass(.milliseconds(200))
    expect(Self.isHeard(pair.take()), true)
  }

  @Test("links beyond the greatest number are ended at once", arguments: [1, 2])
  func links(maximum: Int) throws {
    var pair = LinkPair(maximumLinks: maximum)
    pair.central.perform(.connect(LinkPair.address, .nothing), at: pair.now)
    pair.pass(.milliseconds(200))
    // Another central takes the place of the first on its controller: the first link is still there for the peripheral.
    pair.radio.setReachable(LinkPair.here, false, at: pair.now)
    var other = CentralSession(HostSettings(address: .staticRandom(3)))
    swap(&pair.central, &other)
    pair.peripheral.advertise(LinkPair.advertisement, at: pair.now)
    pair.central.start(at: pair.now)
    pair.radio.setReachable(LinkPair.here, true, at: pair.now)
    pair.pass(.milliseconds(100))
    pair.served = []
    pair.central.perform(.connect(LinkPair.address, .nothing), at: pair.now)
    pair.pass(.milliseconds(500))
    let connections = pair.served.count { if case .connected = $0 { true } else { false } }
    expect(connections, maximum - 1)
  }

  @Test("a controller that is lost takes its links with it, and a new one serves again")
  func lostController() {
    var pair = LinkPair.open()
    pair.peripheral.loseController()
    expect(pair.peripheral.deadline, nil)
    expect(pair.peripheral.isReady, false)
    pair.peripheral.start(at: pair.now)
    pair.pass(.seconds(3))
    expect(pair.take(), [.disconnected(.connectionTimeout, unacknowledged: 0)])
    expect(pair.peripheral.isReady, true)
    pair.peripheral.advertise(LinkPair.advertisement, at: pair.now)
    let events = pair.perform(.connect(LinkPair.address, .nothing))
    expect(events, [.connected(LinkPair.address), .open(DiscoveredProfile(), gaps: [])])
  }
}

@Suite("What a peripheral serves")
struct PeripheralServiceTests {
  private static func handle(_ number: UInt16) -> AttributeHandle { LinkPair.handle(number) }

  /// The link of a pair, on which its client asked for what a characteristic indicates or notifies.
  private static func subscribed(_ pair: inout LinkPair, _ characteristic: UInt16) throws -> LinkID {
    _ = pair.perform(.subscribe(.uuid(BluetoothUUID(characteristic))))
    guard case .subscribed(let link, _, _)? = pair.served.last else {
      throw LinkPair.Failure.notSubscribed
    }
    pair.served = []
    return link
  }

  @Test("what a client does is an event each, in its order")
  func events() throws {
    var pair = LinkPair.open()
    let link = try Self.subscribed(&pair, 0xFFF4)
    _ = pair.perform(.write(.handle(Self.handle(12)), [1, 2]))
    _ = pair.perform(.exchangeMTU)
    pair.peripheral.indicate(Self.handle(21), [7], on: link, at: pair.now)
    pair.pass(.milliseconds(100))
    expect(pair.take(), [.notified(Self.handle(21), [7])])
    _ = pair.perform(.unsubscribe(.uuid(BluetoothUUID(0xFFF4))))
    expect(
      pair.served,
      [
        .written(link, Self.handle(12), [1, 2]), .mtu(link, 247), .confirmed(link, Self.handle(21)),
        .subscribed(link, Self.handle(21), []),
      ])
    expect(pair.peripheral.mtu(of: link), 247)
  }

  @Test("a value that is set is read, and the handle of a characteristic is found by its service")
  func values() {
    var pair = LinkPair.open()
    pair.peripheral.setValue([9, 9], of: Self.handle(17))
    expect(pair.perform(.read(.handle(Self.handle(17)))), [.read(Self.handle(17), [9, 9])])
    expect(pair.peripheral.handle(of: BluetoothUUID(0xFFF2), in: LinkPair.service), Self.handle(14))
    expect(pair.peripheral.handle(of: BluetoothUUID(0xFFF2), in: BluetoothUUID(0x180F)), nil)
  }

  @Test("notifications that there is no room for are refused, and there is word when there is room again")
  func room() throws {
    var pair = LinkPair.open()
    let link = try Self.subscribed(&pair, 0xFFF2)
    var count = 0
    while pair.peripheral.notify(Self.handle(14), [UInt8(count)], on: link, at: pair.now) { count += 1 }
    #expect(count >= 64)
    expect(pair.peripheral.hasSentEverything(on: link), false)
    pair.pass(.seconds(1))
    expect(pair.served, [.readyToNotify(link)])
    expect(pair.take(), (0..<count).map { .notified(Self.handle(14), [UInt8($0)]) })
    expect(pair.peripheral.hasSentEverything(on: link), true)
  }

  @Test("a controller that fails takes the links with it, until it is started again")
  func failure() {
    var pair = LinkPair.open()
    pair.peripheral.receive(HCIEvent.hardwareError(code: 1).packet, at: pair.now)
    pair.pass(.milliseconds(1))
    expect(pair.served, [.failed(.hardwareError(1))])
    expect(pair.peripheral.failure, .hardwareError(1))
    expect(pair.peripheral.isReady, false)
    pair.peripheral.advertise(LinkPair.advertisement, at: pair.now)
    expect(pair.peripheral.takePackets(), [])
    pair.peripheral.start(at: pair.now)
    expect(pair.peripheral.failure, nil)
    pair.pass(.milliseconds(100))
    guard pair.served.count == 2, case .ready = pair.served[1] else {
      return #expect(Bool(false), "\(pair.served)")
    }
  }

  @Test("the controller is asked to advertise once, however often its user says the same")
  func same() {
    var pair = LinkPair()
    pair.peripheral.advertise(LinkPair.advertisement, at: pair.now)
    expect(pair.peripheral.takePackets(), [])
    pair.peripheral.advertise(nil, at: pair.now)
    expect(pair.peripheral.takePackets(), [HCICommand.leSetAdvertisingEnable(false).packet])
  }

  @Test("a link that the peripheral ends is over at both ends, each with its reason")
  func disconnecting() throws {
    var pair = LinkPair.open()
    let link = try Self.subscribed(&pair, 0xFFF2)
    pair.peripheral.disconnect(link, reason: .remoteLowResources, at: pair.now)
    pair.pass(.milliseconds(500))
    expect(pair.served, [.disconnected(link, .localHostTerminated)])
    expect(pair.take(), [.disconnected(.remoteLowResources, unacknowledged: 0)])
  }
}

@Suite("The table of advertisers")
struct AdvertisersTests {
  private static func report(
    _ number: UInt64, _ data: [UInt8], _ kind: AdvertisingReport.Kind = .connectable
  ) -> AdvertisingReport {
    AdvertisingReport(kind, from: PeerAddress(.publicDevice, BluetoothAddress(number)), data, rssi: -40)
  }

  @Test("a device is its advertisement with the scan response that goes with it")
  func joined() {
    var table = Advertisers<Nothing>(capacity: 2)
    #expect(table.hear(Self.report(1, [9], .scanResponse)) == nil)
    for (report, isNew, data) in [
      (Self.report(1, []), true, []), (Self.report(1, []), false, []), (Self.report(1, [1]), true, [1]),
      (Self.report(1, [9], .scanResponse), true, [1, 9]), (Self.report(1, [1]), false, [1, 9]),
      (Self.report(1, [2], .nonconnectable), true, [2, 9]),
    ] as [(AdvertisingReport, Bool, [UInt8])] {
      let change = table.hear(report)
      expect(change?.isNew, isNew)
      expect(change?.isResponse, report.kind == .scanResponse)
      expect(table[0].data, data)
    }
    expect(table[0].isConnectable, false)
    expect(table[0].rssi, -40)
  }

  @Test("where there are too many, the one that was heard first makes room")
  func crowd() {
    var table = Advertisers(capacity: 2, note: 0)
    for number in 1...3 { _ = table.hear(Self.report(UInt64(number), [UInt8(number)])) }
    expect(table.devices.map(\.data), [[3], [2]])
    table[0].note = 7
    table.forgetHeard()
    _ = table.hear(Self.report(3, [3]))
    expect(table.devices.map(\.isHeard), [true, false])
    expect(table.devices.map(\.note), [7, 0])
  }
}
