import Basics
import Devices
import Links
import Sesame
import SesameDevice
import TestSupport
import Testing

@testable import Bluetooth

@Suite("A visit to a GATT server")
struct GATTExplorerTests {
  private typealias Action = GATTExplorer.Action

  private static let peer = PeerAddress(.randomDevice, BluetoothAddress(0xC7E6_DA90_F5F9))
  private static func handle(_ number: UInt16) -> AttributeHandle { AttributeHandle(rawValue: number) }

  // A door: a name that is read, a value that is written either way, one that is told, and two of a kind.
  private static let service = DiscoveredService(
    uuid: BluetoothUUID(0xFFF0), range: AttributeRange(handle(1), handle(0x20)))
  private static func characteristic(
    _ uuid: UInt16, _ properties: CharacteristicProperties, at value: UInt16
  ) -> DiscoveredCharacteristic {
    DiscoveredCharacteristic(
      uuid: BluetoothUUID(uuid), properties: properties, declaration: handle(value - 1), value: handle(value))
  }
  private static let name = characteristic(0x2A00, .read, at: 3)
  private static let order = characteristic(0xFFF1, [.write, .writeWithoutResponse], at: 5)
  private static let silent = characteristic(0xFFF2, .writeWithoutResponse, at: 7)
  private static let told = characteristic(0xFFF3, [.notify, .indicate], at: 9)
  private static let configuration = DiscoveredDescriptor(uuid: .clientConfiguration, handle: handle(10))
  private static let first = characteristic(0xFFF4, .read, at: 12)
  private static let second = characteristic(0xFFF4, .read, at: 14)
  private static func attribute(_ it: DiscoveredCharacteristic) -> DiscoveredAttribute {
    .characteristic(it, in: service.uuid)
  }

  /// All that the device has.
  private static let profile = DiscoveredProfile([
    .service(service), attribute(name), attribute(order), attribute(silent), attribute(told),
    .descriptor(configuration, of: told), attribute(first), attribute(second),
  ])

  private static func connect(within time: Interval) -> Action {
    .perform(.connect(peer, ProfileQuery(exchangesMTU: true), within: time))
  }
  private static let stopScanning = Action.perform(.scan(false))
  private static let disconnect = Action.perform(.disconnect)
  private static func read(_ number: UInt16) -> Action { .perform(.read(.handle(handle(number)))) }
  private static func write(_ number: UInt16, _ value: [UInt8], withResponse: Bool = true) -> Action {
    .perform(.write(.handle(handle(number)), value, withResponse: withResponse))
  }
  private static func subscribe(_ number: UInt16) -> Action { .perform(.subscribe(.handle(handle(number)))) }
  private static func refused(_ number: UInt16, _ failure: GATTFailure) -> CentralEvent {
    .failed(.read(.handle(handle(number))), .gatt(failure))
  }
  private static let ended = CentralEvent.disconnected(.localHostTerminated, unacknowledged: nil)

  private static func advertisement(
    from address: PeerAddress = peer, _ kind: AdvertisingReport.Kind = .connectable, _ data: [UInt8] = []
  ) -> CentralEvent {
    .advertisement(AdvertisingReport(kind, from: address, data, rssi: -50))
  }

  private static let connected = CentralEvent.connected(peer)

  /// An explorer that is connected at 1 s and has found everything; and what its last answer led to.
  private func explored(
    _ operations: [GATTOperation], isInteractive: Bool = false
  ) -> (explorer: GATTExplorer, actions: [Action]) {
    var explorer = GATTExplorer(
      .init(to: .address(Self.peer), operations, isInteractive: isInteractive, duration: .seconds(4)))
    expect(explorer.begin(), [.perform(.scan(true))])
    expect(explorer.receive(.scanning(true, status: .success), at: .zero), [])
    expect(explorer.receive(Self.advertisement(), at: .zero), [Self.stopScanning])
    expect(
      explorer.receive(.scanning(false, status: .success), at: .zero), [.claim(["c7:e6:da:90:f5:f9"])])
    expect(explorer.claimed(at: .zero), [Self.connect(within: .seconds(10))])
    expect(explorer.receive(Self.connected, at: .zero + .seconds(1)), [])
    expect(
      explorer.receive(.mtu(50), at: .zero + .seconds(1)), [.show(.connected(Self.peer, mtu: 50))])
    let actions = explorer.receive(.open(Self.profile, gaps: []), at: .zero + .seconds(1))
    return (explorer, actions)
  }

  @Test(
    "without values everything is shown at once; with them each that can be read is, and a refusal is part of it"
  )
  func listing() {
    let all = [
      .service(Self.service), Self.attribute(Self.name), Self.attribute(Self.order),
      Self.attribute(Self.silent),
      Self.attribute(Self.told), .descriptor(Self.configuration, of: Self.told), Self.attribute(Self.first),
      Self.attribute(Self.second),
    ]
    expect(
      explored([.services(withValues: false)]).actions,
      all.map { .show(.attribute($0, value: nil)) } + [Self.disconnect])

    var (explorer, actions) = explored([.services(withValues: true)])
    expect(actions, [.show(.attribute(all[0], value: nil)), Self.read(3)])
    expect(
      explorer.receive(.read(Self.handle(3), [65]), at: .zero + .seconds(1)),
      [.show(.attribute(all[1], value: .success([65])))]
        + all[2...4].map { .show(.attribute($0, value: nil)) } + [Self.read(10)])
    let failure = GATTFailure.refused(.readNotPermitted, Self.handle(10))
    expect(
      explorer.receive(Self.refused(10, failure), at: .zero + .seconds(1)),
      [.show(.attribute(all[5], value: .failure(failure))), Self.read(12)])
    _ = explorer.receive(.read(Self.handle(12), []), at: .zero + .seconds(1))
    expect(
      explorer.receive(.read(Self.handle(14), []), at: .zero + .seconds(1)),
      [.show(.attribute(all[7], value: .success([]))), Self.disconnect])
    expect(
      explorer.receive(Self.ended, at: .zero),
      [.finish(.done)])
  }

  @Test("operations come in their order, and what was subscribed to for as long as was asked for")
  func order() {
    let told = Self.attribute(Self.told)
    var (explorer, actions) = explored([
      .subscribe(.uuid(BluetoothUUID(0xFFF3))),
      .write(AttributeWrite(.uuid(BluetoothUUID(0xFFF1)), [1, 2]), isCommand: false),
      .write(AttributeWrite(.handle(Self.handle(7)), [3]), isCommand: false),
      .read(.handle(Self.handle(3))),
    ])
    let now = Instant.zero + .seconds(2)
    expect(actions, [Self.subscribe(9)])
    expect(
      explorer.receive(.subscribed(Self.handle(9), .notifications), at: now),
      [.show(.subscription(told, .notifications)), Self.write(5, [1, 2])])
    expect(
      explorer.receive(.notified(Self.handle(9), [7]), at: now),
      [.show(.notification(.seconds(1), told, [7]))])
    expect(
      explorer.receive(.wrote(Self.handle(5), withResponse: true), at: now),
      [
        .show(.written(Self.attribute(Self.order), count: 2, isAcknowledged: true)),
        Self.write(7, [3], withResponse: false),
      ])
    expect(
      explorer.receive(.wrote(Self.handle(7), withResponse: false), at: now),
      [.show(.written(Self.attribute(Self.silent), count: 1, isAcknowledged: false)), Self.read(3)])
    expect(
      explorer.receive(.read(Self.handle(3), [65]), at: now),
      [.show(.value(Self.attribute(Self.name), [65])), .show(.listening(.seconds(4)))])
    expect(explorer.deadline, now + .seconds(4))
    expect(explorer.advance(to: now + .milliseconds(3999)), [])
    expect(explorer.advance(to: now + .seconds(4)), [Self.disconnect])
  }

  // swift-format-ignore
  private static let mistakes: [(GATTOperation, String)] = [
    (.read(.uuid(BluetoothUUID(0xFFF4))), "fff4 exists 2 times: name one by its handle, 0x000c, 0x000e"),
    (.read(.uuid(BluetoothUUID(0xFFF0))), "fff0 is a service: name what is in it, 0x0003 (2a00, Device Name), 0x0005 (fff1), 0x0007 (fff2), 0x0009 (fff3), 0x000c (fff4), 0x000e (fff4)"),
    (.read(.uuid(BluetoothUUID(0x2A09))), "the device has no 2a09: did you mean 2a00?"),
    (.subscribe(.uuid(BluetoothUUID(0x2A00))), "0x0003 (2a00, Device Name) offers neither notify nor indicate; those that do are 0x0009 (fff3)"),
    (.subscribe(.handle(handle(0x99))), "the device has no 0x0099; there is 0x0009 (fff3)"),
    (.write(AttributeWrite(.handle(handle(5)), Array(repeating: 0, count: 48)), isCommand: true), "a write without response carries 47 bytes at most with an MTU of 50, and the value has 48: write it with response"),
    (.write(AttributeWrite(.handle(handle(7)), Array(repeating: 0, count: 48)), isCommand: false), "a write without response carries 47 bytes at most with an MTU of 50, and the value has 48"),
  ]

  @Test("where an operation cannot be begun, none is", arguments: mistakes.indices)
  func mistake(index: Int) {
    let (operation, words) = Self.mistakes[index]
    var (explorer, actions) = explored([.read(.handle(Self.handle(3))), operation])
    expect(actions, [Self.disconnect])
    expect(
      explorer.receive(Self.ended, at: .zero),
      [.finish(.mistake(words))])
    // Who types is told, and goes on.
    var (typed, begun) = explored([], isInteractive: true)
    expect(begun, [])
    expect(typed.perform(operation, at: .zero), [.show(.mistake(words))])
    #expect(typed.isIdle)
  }

  @Test("a subscription is named by the value, its declaration or what turns it on")
  func subscriptions() {
    for number: UInt16 in [8, 9, 10] {
      expect(
        explored([.subscribe(.handle(Self.handle(number)))]).actions, [Self.subscribe(9)])
    }
  }

  @Test("the first that is refused ends it; who types goes on, unless the device does not answer at all")
  func refusals() {
    let failure = GATTFailure.refused(.readNotPermitted, Self.handle(3))
    let shown = Action.show(.refused(.reading(Self.attribute(Self.name)), failure))
    let read = GATTOperation.read(.uuid(BluetoothUUID(0x2A00)))
    var (explorer, _) = explored([read, read])
    expect(explorer.receive(Self.refused(3, failure), at: .zero), [shown, Self.disconnect])
    expect(
      explorer.receive(Self.ended, at: .zero),
      [.finish(.refused)])

    var (typed, _) = explored([read, read], isInteractive: true)
    expect(typed.receive(Self.refused(3, failure), at: .zero), [shown, Self.read(3)])
    expect(
      typed.receive(Self.refused(3, .timedOut), at: .zero),
      [.show(.refused(.reading(Self.attribute(Self.name)), .timedOut)), Self.disconnect])
  }

  @Test("who types is waited for until there is no more, and what he subscribed to is listened to after that")
  func interactive() {
    var (explorer, actions) = explored([], isInteractive: true)
    expect(actions, [])
    #expect(explorer.isIdle)
    expect(explorer.perform(.mtu, at: .zero), [.show(.mtu(50))])
    expect(
      explorer.perform(.subscribe(.uuid(BluetoothUUID(0xFFF3))), at: .zero), [Self.subscribe(9)])
    expect(explorer.perform(.mtu, at: .zero), [])
    expect(
      explorer.receive(.subscribed(Self.handle(9), .notifications), at: .zero),
      [.show(.subscription(Self.attribute(Self.told), .notifications)), .show(.mtu(50))])
    var leaving = explorer
    expect(explorer.endOperations(at: .zero), [.show(.listening(.seconds(4)))])
    expect(explorer.interrupt(at: .zero), [Self.disconnect])
    expect(
      leaving.perform(.unsubscribe(.uuid(BluetoothUUID(0xFFF3))), at: .zero),
      [.perform(.unsubscribe(.handle(Self.handle(9))))])
    expect(leaving.endOperations(at: .zero), [])
    expect(
      leaving.receive(.subscribed(Self.handle(9), []), at: .zero),
      [.show(.subscription(Self.attribute(Self.told), [])), Self.disconnect])
  }

  @Test(
    "a link that is lost is reported with its reason, and one that never came up with what may be the cause")
  func lost() {
    var (explorer, _) = explored([.read(.uuid(BluetoothUUID(0x2A00)))])
    expect(
      explorer.receive(
        .disconnected(.connectionTimeout, unacknowledged: 0), at: .zero + .seconds(2)),
      [
        .finish(
          .fault(
            "the link was lost after 1 s, 0x08 (connection timeout); is it still in range, and has it power?")
        )
      ])

    var never = searching()
    _ = never.receive(Self.advertisement(), at: .zero)
    _ = never.receive(.scanning(false, status: .success), at: .zero)
    _ = never.claimed(at: .zero)
    expect(
      never.receive(.disconnected(.failedToEstablish, unacknowledged: 0), at: .zero),
      [
        .finish(
          .fault(
            "no link to c7:e6:da:90:f5:f9: 0x3e (connection failed to be established); it was heard, so it may have another client now, or be too far away"
          ))
      ])
  }

  @Test("what cannot be discovered is shown, and ends the visit")
  func undiscovered() {
    for (procedure, attempt) in [
      (GATTProcedure.exchangeMTU, GATTFinding.Attempt.agreeing), (.discoverAllServices, .discovering),
    ] {
      var explorer = searching()
      _ = explorer.receive(Self.advertisement(), at: .zero)
      _ = explorer.receive(.scanning(false, status: .success), at: .zero)
      _ = explorer.claimed(at: .zero)
      _ = explorer.receive(Self.connected, at: .zero)
      expect(
        explorer.receive(.notDiscovered(procedure, .timedOut), at: .zero),
        [.show(.refused(attempt, .timedOut)), Self.disconnect])
      expect(explorer.receive(Self.ended, at: .zero), [.finish(.refused)])
    }
  }

  /// An explorer whose controller scans.
  private func searching(for target: DeviceTarget = .address(peer)) -> GATTExplorer {
    var explorer = GATTExplorer(.init(to: target))
    _ = explorer.begin()
    _ = explorer.receive(.scanning(true, status: .success), at: .zero)
    return explorer
  }

  // swift-format-ignore
  private static let absent: [([CentralEvent], String)] = [
    ([], "no c7:e6:da:90:f5:f9 in range within 10 s: nothing at all was heard, and --timeout waits longer"),
    ([advertisement(from: PeerAddress(.publicDevice, peer.address))], "no c7:e6:da:90:f5:f9 in range within 10 s, but c7:e6:da:90:f5:f9/P is: a public address has /P behind it, and another has not"),
    ([advertisement(from: PeerAddress(.randomDevice, BluetoothAddress(7)))], "no c7:e6:da:90:f5:f9 in range within 10 s: 'lockstep scan --all' lists the 1 other device, and --timeout waits longer"),
    ([advertisement(.nonconnectable)], "c7:e6:da:90:f5:f9 advertises, but accepts no connections: another client may be connected to it; "
      + "try again"),
  ]

  @Test(
    "a device that is not found in time is said, with what was heard in its place", arguments: absent.indices)
  func notFound(index: Int) {
    var explorer = searching()
    for event in Self.absent[index].0 { expect(explorer.receive(event, at: .zero), []) }
    expect(explorer.deadline, .zero + .seconds(10))
    expect(explorer.advance(to: .zero + .seconds(10)), [Self.stopScanning])
    expect(
      explorer.receive(.scanning(false, status: .success), at: .zero), [.finish(.fault(Self.absent[index].1))]
    )
  }

  @Test(
    "a lock is found by what it advertises, and leased by it; one that may say so in its scan response is waited for"
  )
  func identity() throws {
    let deviceID = try UUID128(text: "5c2a2f49-3b0e-4b7a-9f51-0d1f4d6c7e10")
    let lock = Advertisement(model: .sesame3, isRegistered: true, deviceID: deviceID)
    let (data, response) = (lock.advertisingData.encoded, lock.scanResponse.encoded)
    for target in [DeviceTarget.id("\(deviceID)"), .address(Self.peer)] {
      var explorer = searching(for: target)
      expect(explorer.receive(Self.advertisement(.connectable, data), at: .zero), [])
      var late = explorer
      expect(explorer.receive(Self.advertisement(.scanResponse, response), at: .zero), [Self.stopScanning])
      expect(
        explorer.receive(.scanning(false, status: .success), at: .zero),
        [.claim(["\(deviceID)", "c7:e6:da:90:f5:f9"])])
      guard case .address = target else { continue }
      expect(late.advance(to: .zero + .seconds(1)), [Self.stopScanning])
      expect(late.receive(.scanning(false, status: .success), at: .zero), [.claim(["c7:e6:da:90:f5:f9"])])
    }
  }

  @Test("whoever wants it to end is heard at any time, and what was begun is ended first")
  func interrupted() {
    var starting = GATTExplorer(.init(to: .address(Self.peer)))
    expect(starting.interrupt(at: .zero), [.finish(.interrupted)])
    expect(starting.interrupt(at: .zero), [])

    var looking = searching()
    expect(looking.interrupt(at: .zero), [Self.stopScanning])
    expect(looking.receive(Self.advertisement(), at: .zero), [])
    expect(looking.receive(.scanning(false, status: .success), at: .zero), [.finish(.interrupted)])

    var connecting = searching()
    _ = connecting.receive(Self.advertisement(), at: .zero)
    _ = connecting.receive(.scanning(false, status: .success), at: .zero)
    var refused = connecting
    _ = connecting.claimed(at: .zero)
    expect(connecting.interrupt(at: .zero), [Self.disconnect])
    expect(
      connecting.receive(.disconnected(.unknownConnection, unacknowledged: nil), at: .zero),
      [.finish(.interrupted)])
    expect(refused.leave(.fault("it is in use"), at: .zero), [.finish(.fault("it is in use"))])

    var (working, _) = explored([.read(.uuid(BluetoothUUID(0x2A00)))])
    expect(working.interrupt(at: .zero), [Self.disconnect])
    expect(working.receive(.read(Self.handle(3), []), at: .zero), [])
    // What never ends is not waited for.
    expect(working.deadline, .zero + .seconds(10))
    expect(working.advance(to: .zero + .seconds(10)), [.finish(.interrupted)])
    expect(working.receive(Self.ended, at: .zero), [])
  }
}
