import Basics
import Bluetooth
import Links
import TestSupport
import Testing

@testable import Controllers

private func handle(_ number: UInt16) -> AttributeHandle { LinkPair.handle(number) }
private let order = CentralOperation.Characteristic.uuid(BluetoothUUID(0xFFF1))

@Suite("A central session")
struct CentralSessionTests {
  @Test("from the first advertisement to the end of the link, each thing is one event")
  func whole() throws {
    var pair = LinkPair()
    let heard = pair.perform(.scan(true), for: .milliseconds(30))
    expect(heard.first, .scanning(true, status: .success))
    let report = try #require(
      heard.lazy.compactMap { if case .advertisement(let report) = $0 { report } else { nil } }.first)
    expect([report.address], [LinkPair.address])
    expect(report.data, LinkPair.advertisement.data)
    pair.central.perform(.scan(false), at: pair.now)
    pair.pass(.milliseconds(30))
    expect(pair.take().last, .scanning(false, status: .success))

    pair.central.perform(
      .connect(LinkPair.address, ProfileQuery(descriptors: false, exchangesMTU: true)), at: pair.now)
    pair.pass(.seconds(1))
    let opened = pair.take()
    expect(Array(opened.prefix(2)), [.connected(LinkPair.address), .mtu(247)])
    guard case .open(let profile, gaps: [])? = opened.last else { return #expect(Bool(false), "\(opened)") }
    expect(
      profile.characteristics(of: profile.services[2]).map(\.uuid.description),
      ["fff1", "fff2", "fff3", "fff3", "fff4", "fff5"])
    expect(opened.count, 3)

    expect(pair.perform(.subscribe(.uuid(BluetoothUUID(0xFFF2)))), [.subscribed(handle(14), .notifications)])
    guard case .subscribed(let link, _, _)? = pair.served.last else {
      return #expect(Bool(false), "\(pair.served)")
    }
    let isSent = pair.peripheral.notify(handle(14), [7, 8], on: link, at: pair.now)
    #expect(isSent)
    pair.pass(.milliseconds(50))
    expect(pair.take(), [.notified(handle(14), [7, 8])])
    expect(pair.perform(.unsubscribe(.uuid(BluetoothUUID(0xFFF2)))), [.subscribed(handle(14), [])])
    expect(pair.perform(.disconnect), [.disconnected(.localHostTerminated, unacknowledged: nil)])
    #expect(pair.central.isAtRest)
    expect(pair.served.last, .disconnected(link, .remoteUserTerminated))
  }

  // swift-format-ignore
  private static let operations: [(CentralOperation, CentralEvent)] = [
    (.write(order, [1]), .wrote(handle(12), withResponse: false)),
    (.write(order, [1], withResponse: true), .wrote(handle(12), withResponse: true)),
    (.write(.uuid(BluetoothUUID(0xFFF5)), [1]), .wrote(handle(24), withResponse: true)),
    (.read(.handle(handle(17))), .read(handle(17), [65])),
    (.subscribe(.uuid(BluetoothUUID(0xFFF4))), .subscribed(handle(21), .indications)),
    (.read(order), .failed(.read(order), .gatt(.refused(.readNotPermitted, handle(12))))),
    (.exchangeMTU, .mtu(247)),
    (.read(.uuid(BluetoothUUID(0xFFF3))), .failed(.read(.uuid(BluetoothUUID(0xFFF3))), .impossible("there are 2 characteristics fff3, with the handles 17, 19"))),
    (.read(.uuid(BluetoothUUID(0x2A19))), .failed(.read(.uuid(BluetoothUUID(0x2A19))), .impossible("no characteristic 2a19 was found"))),
    (.subscribe(order), .failed(.subscribe(order), .impossible("the characteristic supports neither notifications nor indications"))),
    (.subscribe(.handle(handle(99))), .failed(.subscribe(.handle(handle(99))), .impossible("no characteristic was found there"))),
    (.write(order, Array(repeating: 0, count: 21)), .failed(.write(order, Array(repeating: 0, count: 21)), .impossible("the value has 21 bytes; Write Without Response takes at most 20 at this ATT_MTU"))),
    (.connect(LinkPair.address, .nothing), .failed(.connect(LinkPair.address, .nothing), .impossible("already connected or connecting"))),
  ]

  @Test("each operation on a link ends with one event", arguments: operations.indices)
  func operation(index: Int) {
    let (operation, event) = Self.operations[index]
    var pair = LinkPair.open()
    expect(pair.perform(operation), [event])
    // Without a link there is nothing to do it on.
    guard operation.characteristic != nil else { return }
    var idle = LinkPair()
    expect(idle.perform(operation), [.failed(operation, .impossible("not connected"))])
  }

  @Test("operations are done in the order in which they are asked for")
  func sequence() {
    var pair = LinkPair.open()
    pair.central.perform(.read(.handle(LinkPair.handle(17))), at: pair.now)
    pair.central.perform(.write(.handle(LinkPair.handle(12)), [1]), at: pair.now)
    pair.central.perform(.read(.handle(LinkPair.handle(17))), at: pair.now)
    pair.pass(.milliseconds(200))
    expect(
      pair.take(),
      [.read(handle(17), [65]), .wrote(handle(12), withResponse: false), .read(handle(17), [65])])
  }

  @Test("a query for the first service of a kind, with two characteristics, finds no more than these need")
  func fewestExchanges() throws {
    var pair = LinkPair()
    let query = ProfileQuery(
      services: [LinkPair.service], characteristics: [BluetoothUUID(0xFFF1)], firstOfEach: true,
      descriptors: false)
    let events = pair.perform(.connect(LinkPair.address, query), for: .seconds(1))
    guard case .open(let profile, gaps: [])? = events.last else { return #expect(Bool(false), "\(events)") }
    expect(profile.services.map(\.uuid), [LinkPair.service])
    #expect(profile.characteristics.contains { $0.uuid == BluetoothUUID(0xFFF1) })
    let all = LinkPair.open().central.profile
    #expect(profile.characteristics.count < all.characteristics.count)
  }

  @Test("an attempt that is given up is over at once, and the next begins when the first is")
  func givingUp() {
    var pair = LinkPair()
    pair.peripheral.advertise(nil, at: pair.now)
    pair.pass(.milliseconds(50))
    expect(pair.perform(.connect(LinkPair.address, .nothing)), [])
    pair.central.perform(.disconnect, at: pair.now)
    pair.central.perform(.connect(LinkPair.address, .nothing, within: .seconds(1)), at: pair.now)
    pair.pass(.milliseconds(500))
    expect(pair.take(), [.disconnected(.unknownConnection, unacknowledged: nil)])
    pair.pass(.seconds(1))
    expect(pair.take(), [.disconnected(.failedToEstablish, unacknowledged: 0)])
    #expect(pair.central.isAtRest)
  }

  @Test("a link that is lost says how much may not have arrived")
  func unacknowledged() {
    var pair = LinkPair.open()
    pair.radio.setReachable(LinkPair.there, false, at: pair.now)
    for _ in 0..<3 {
      pair.central.perform(.write(.handle(LinkPair.handle(12)), [1], withResponse: false), at: pair.now)
    }
    pair.pass(.seconds(3))
    let written = CentralEvent.wrote(handle(12), withResponse: false)
    expect(pair.take(), [written, written, written, .disconnected(.connectionTimeout, unacknowledged: 3)])
    expect(
      pair.perform(.read(.handle(LinkPair.handle(17)))),
      [.failed(.read(.handle(handle(17))), .impossible("not connected"))])
  }

  @Test(
    "what is written last goes out before the link is left; where it is lost meanwhile, that is uncertain")
  func leaving() {
    for isReachable in [true, false] {
      var pair = LinkPair.open()
      if !isReachable { pair.radio.setReachable(LinkPair.there, false, at: pair.now) }
      pair.central.perform(.write(.handle(LinkPair.handle(12)), [9], withResponse: false), at: pair.now)
      pair.central.perform(.disconnect, at: pair.now)
      pair.pass(.seconds(3))
      expect(
        pair.take(),
        [.wrote(handle(12), withResponse: false), .disconnected(.localHostTerminated, unacknowledged: nil)]
          + (isReachable ? [] : [.lastPacketsUncertain]))
      let arrived = pair.served.contains { if case .written(_, _, [9]) = $0 { true } else { false } }
      expect(arrived, isReachable)
    }
  }

  @Test(
    "behind what makes no sense no request is begun for a tenth of a second, and no rule is said to be broken"
  )
  func provoked() {
    var pair = LinkPair.open()
    pair.central.provoke([(channel: 4, payload: [0xFF, 0xFF])], at: pair.now)
    let begin = pair.now
    pair.central.perform(.read(.handle(LinkPair.handle(17))), at: pair.now)
    pair.pass(.milliseconds(99))
    expect(pair.take(), [])
    expect(pair.central.deadline, begin + .milliseconds(100))
    pair.pass(.milliseconds(100))
    expect(pair.take(), [.read(handle(17), [65])])
  }

  @Test("a controller that fails ends everything until it is started again")
  func failure() {
    var pair = LinkPair.open()
    pair.central.receive(HCIEvent.hardwareError(code: 1).packet, at: pair.now)
    expect(pair.central.failure, .hardwareError(1))
    pair.central.start(at: pair.now)
    pair.pass(.seconds(3))
    expect(pair.central.failure, nil)
    expect(pair.take(), [.ready])
  }
}

@Suite("The end of a link")
struct LinkEndTests {
  /// How far a central is when it disconnects, and what that is then.
  private static let stages: [(name: String, time: Interval, event: CentralEvent)] = [
    ("connecting", .zero, .disconnected(.unknownConnection, unacknowledged: nil)),
    ("open", .seconds(1), .disconnected(.localHostTerminated, unacknowledged: nil)),
  ]

  @Test("it is one event at each stage, and nothing comes behind it")
  func leaving() {
    for stage in Self.stages {
      var pair = LinkPair()
      _ = pair.perform(.connect(LinkPair.address, ProfileQuery(descriptors: false)), for: stage.time)
      expect(pair.perform(.disconnect, for: .seconds(3)), [stage.event])
      #expect(pair.central.isAtRest)
      // One that is idle has nothing to leave.
      expect(pair.perform(.disconnect), [])
    }
    var pair = LinkPair.discovering()
    expect(pair.perform(.disconnect, for: .seconds(3)), [Self.stages[1].event])
    #expect(pair.central.isAtRest)
  }

  @Test("a link that is lost while it is discovered was connected, and was never open")
  func lostInDiscovery() {
    var pair = LinkPair.discovering()
    pair.radio.setReachable(LinkPair.there, false, at: pair.now)
    pair.pass(.seconds(3))
    let events = pair.take()
    guard events.count == 1, case .disconnected(.connectionTimeout, unacknowledged: _?) = events[0] else {
      return #expect(Bool(false), "\(events)")
    }
    #expect(pair.central.isAtRest)
  }

  @Test("what waits for its turn ends with the link, and without an event of its own")
  func waiting() {
    var pair = LinkPair.open()
    for _ in 0..<3 { pair.central.perform(.read(.handle(handle(17))), at: pair.now) }
    expect(
      pair.perform(.disconnect, for: .seconds(1)), [.disconnected(.localHostTerminated, unacknowledged: nil)])
    expect(
      pair.perform(.read(.handle(handle(17)))),
      [.failed(.read(.handle(handle(17))), .impossible("not connected"))])
  }

  @Test(
    "a link that never came about is asked for again, and its user hears of one", arguments: [true, false])
  func repeated(isBack: Bool) {
    var pair = LinkPair()
    pair.central.perform(.connect(LinkPair.address, ProfileQuery(descriptors: false)), at: pair.now)
    var events: [CentralEvent] = []
    while events.isEmpty {
      pair.pass(.microseconds(500))
      events += pair.take()
    }
    expect(events, [.connected(LinkPair.address)])
    pair.radio.setReachable(LinkPair.there, false, at: pair.now)
    pair.pass(.milliseconds(100))
    expect(pair.take(), [])
    if isBack {
      pair.radio.setReachable(LinkPair.there, true, at: pair.now)
      pair.peripheral.advertise(LinkPair.advertisement, at: pair.now)
    }
    pair.pass(.seconds(5))
    events = pair.take()
    if isBack {
      guard events.count == 1, case .open(_, gaps: []) = events[0] else {
        return #expect(Bool(false), "\(events)")
      }
    } else {
      expect(events, [.disconnected(.failedToEstablish, unacknowledged: 0)])
    }
  }

  @Test("a server that answers nothing is left after thirty seconds, and what was looked for is said")
  func notDiscovered() {
    var pair = LinkPair.discovering()
    pair.radio.setHook(of: LinkPair.there) { packet, direction, _ in
      if case .acl = packet, direction == .toHost { .drop } else { .pass }
    }
    pair.pass(.seconds(40))
    let events = pair.take()
    guard events.count == 2, case .notDiscovered(_, .timedOut) = events[0] else {
      return #expect(Bool(false), "\(events)")
    }
    expect(events[1], .disconnected(.localHostTerminated, unacknowledged: nil))
  }

  @Test("malformed packets wait for the operation that is under way, and what is asked for next for them")
  func heldBack() {
    var pair = LinkPair.open()
    let read = CentralOperation.read(.handle(handle(17)))
    pair.central.perform(read, at: pair.now)
    pair.central.provoke([(channel: 4, payload: [0xFF])], at: pair.now)
    pair.central.perform(read, at: pair.now)
    var events: [CentralEvent] = []
    while events.isEmpty {
      pair.pass(.milliseconds(1))
      events = pair.take()
    }
    expect(events, [.read(handle(17), [65])])
    // The packets go out with the answer, and a tenth of a second is kept free behind them.
    pair.pass(.milliseconds(98))
    expect(pair.take(), [])
    pair.pass(.milliseconds(200))
    expect(pair.take(), [.read(handle(17), [65])])
  }

  // swift-format-ignore
  private static let failures: [(CentralEvent.Failure, String, ATTErrorCode?)] = [
    (.gatt(.refused(.readNotPermitted, handle(12))), "\(GATTFailure.refused(.readNotPermitted, handle(12)))", .readNotPermitted),
    (.gatt(.linkLost), "\(GATTFailure.linkLost)", nil), (.impossible("not connected"), "not connected", nil),
  ]

  @Test("a failure is a sentence, with the code of a server that refused")
  func text() {
    for (failure, text, code) in Self.failures {
      expect(failure.description, text)
      expect(failure.code, code)
    }
    let events: [CentralEvent] = [.controllerAnomaly("a credit too many"), .peerViolation("no MTU"), .ready]
    expect(
      events.map(\.diagnostic),
      ["odd, of the controller: a credit too many", "the lock's Bluetooth broke a rule: no MTU", nil])
  }
}
