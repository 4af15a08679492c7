import Basics
import Devices
import Sesame
import SesameDevice
import TestSupport
import Testing

@testable import Bluetooth

@Suite("A visit to a GATT server")
struct GATTExplorerTests {
  private typealias Action = GATTExplorer.Action

  private static let peer = PeerAddress(.randomDevice, BluetoothAddress(0xC7E6_DA90_F5F9))
  private static let link = LinkID(rawValue: 1)
  private static let controller = ControllerDescription(
    publicAddress: BluetoothAddress(1), randomAddress: .staticRandom(2),
    hciVersion: VersionInformation(version: 9, company: 0, subversion: 0),
    leFeatures: 0, aclLength: 251, aclCount: 8)

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

  /// What the device says to each question of the discovery, in order.
  private static let answers: [GATTResult] = [
    .services([service]), .characteristics([name, order, silent, told, first, second]),
    .descriptors([configuration]), .descriptors([]),
  ]
  private static let questions: [GATTProcedure] = [
    .discoverAllServices, .discoverCharacteristics(service.range, wanted: []),
    .discoverDescriptors(AttributeRange(handle(10), handle(10)), wanted: nil),
    .discoverDescriptors(AttributeRange(handle(15), handle(0x20)), wanted: nil),
  ]

  private static func done(_ result: Result<GATTResult, GATTFailure>) -> HostEvent {
    .gatt(link, .finished(1, result))
  }

  private static func advertisement(
    from address: PeerAddress = peer, _ kind: AdvertisingReport.Kind = .connectable, _ data: [UInt8] = []
  ) -> HostEvent {
    .advertisement(AdvertisingReport(kind, from: address, data, rssi: -50))
  }

  private static var connected: HostEvent {
    .connected(
      link,
      ConnectionComplete(
        status: .success, handle: ConnectionHandle(rawValue: 1), role: .central, peer: peer,
        timing: ConnectionTiming(interval: 6, latency: 0, supervisionTimeout: 200)))
  }

  /// An explorer that is connected at 1 s and has found everything; and what its last answer led to.
  private func explored(
    _ operations: [GATTOperation], isInteractive: Bool = false
  ) -> (explorer: GATTExplorer, actions: [Action]) {
    var explorer = GATTExplorer(
      .init(to: .address(Self.peer), operations, isInteractive: isInteractive, duration: .seconds(4)))
    expect(explorer.receive(.ready(Self.controller), at: .zero), [.startScanning])
    expect(explorer.receive(.scanning(true, status: .success), at: .zero), [])
    expect(explorer.receive(Self.advertisement(), at: .zero), [.stopScanning])
    expect(
      explorer.receive(.scanning(false, status: .success), at: .zero), [.claim(["c7:e6:da:90:f5:f9"])])
    expect(explorer.claimed(at: .zero), [.connect(Self.peer, within: .seconds(10))])
    expect(explorer.receive(Self.connected, at: .zero + .seconds(1)), [.start(.exchangeMTU)])
    expect(explorer.receive(.gatt(Self.link, .mtu(50)), at: .zero + .seconds(1)), [])
    expect(
      explorer.receive(Self.done(.success(.mtu(50))), at: .zero + .seconds(1)),
      [.show(.connected(Self.peer, mtu: 50)), .start(Self.questions[0])])
    for index in 0..<3 {
      expect(
        explorer.receive(Self.done(.success(Self.answers[index])), at: .zero + .seconds(1)),
        [.start(Self.questions[index + 1])])
    }
    let actions = explorer.receive(Self.done(.success(Self.answers[3])), at: .zero + .seconds(1))
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
      all.map { .show(.attribute($0, value: nil)) } + [.disconnect])

    var (explorer, actions) = explored([.services(withValues: true)])
    expect(actions, [.show(.attribute(all[0], value: nil)), .start(.read(Self.handle(3)))])
    expect(
      explorer.receive(Self.done(.success(.value([65]))), at: .zero + .seconds(1)),
      [.show(.attribute(all[1], value: .success([65])))]
        + all[2...4].map { .show(.attribute($0, value: nil)) } + [.start(.read(Self.handle(10)))])
    let failure = GATTFailure.refused(.readNotPermitted, Self.handle(10))
    expect(
      explorer.receive(Self.done(.failure(failure)), at: .zero + .seconds(1)),
      [.show(.attribute(all[5], value: .failure(failure))), .start(.read(Self.handle(12)))])
    _ = explorer.receive(Self.done(.success(.value([]))), at: .zero + .seconds(1))
    expect(
      explorer.receive(Self.done(.success(.value([]))), at: .zero + .seconds(1)),
      [.show(.attribute(all[7], value: .success([]))), .disconnect])
    expect(
      explorer.receive(.disconnected(Self.link, reason: .localHostTerminated, unacknowledged: 0), at: .zero),
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
    expect(actions, [.start(.write(Self.handle(10), [1, 0]))])
    expect(
      explorer.receive(Self.done(.success(.written)), at: now),
      [.show(.subscription(told, .notifications)), .start(.write(Self.handle(5), [1, 2]))])
    expect(
      explorer.receive(.gatt(Self.link, .notification(Self.handle(9), [7])), at: now),
      [.show(.notification(.seconds(1), told, [7]))])
    expect(
      explorer.receive(Self.done(.success(.written)), at: now),
      [
        .show(.written(Self.attribute(Self.order), count: 2, isAcknowledged: true)),
        .command(Self.handle(7), [3]),
      ])
    expect(
      explorer.sent(at: now),
      [
        .show(.written(Self.attribute(Self.silent), count: 1, isAcknowledged: false)),
        .start(.read(Self.handle(3))),
      ])
    expect(
      explorer.receive(Self.done(.success(.value([65]))), at: now),
      [.show(.value(Self.attribute(Self.name), [65])), .show(.listening(.seconds(4)))])
    expect(explorer.deadline, now + .seconds(4))
    expect(explorer.advance(to: now + .milliseconds(3999)), [])
    expect(explorer.advance(to: now + .seconds(4)), [.disconnect])
  }

  // swift-format-ignore
  private static let mistakes: [(GATTOperation, String)] = [
    (.read(.uuid(BluetoothUUID(0xFFF4))), "fff4 stands in 2 places: name one by its handle, 0x000c, 0x000e"),
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
    expect(actions, [.disconnect])
    expect(
      explorer.receive(.disconnected(Self.link, reason: .localHostTerminated, unacknowledged: 0), at: .zero),
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
        explored([.subscribe(.handle(Self.handle(number)))]).actions,
        [.start(.write(Self.handle(10), [1, 0]))])
    }
  }

  @Test("the first that is refused ends it; who types goes on, unless the device does not answer at all")
  func refusals() {
    let failure = GATTFailure.refused(.readNotPermitted, Self.handle(3))
    let shown = Action.show(.refused(.reading(Self.attribute(Self.name)), failure))
    let read = GATTOperation.read(.uuid(BluetoothUUID(0x2A00)))
    var (explorer, _) = explored([read, read])
    expect(explorer.receive(Self.done(.failure(failure)), at: .zero), [shown, .disconnect])
    expect(
      explorer.receive(.disconnected(Self.link, reason: .localHostTerminated, unacknowledged: 0), at: .zero),
      [.finish(.refused)])

    var (typed, _) = explored([read, read], isInteractive: true)
    expect(typed.receive(Self.done(.failure(failure)), at: .zero), [shown, .start(.read(Self.handle(3)))])
    expect(
      typed.receive(Self.done(.failure(.timedOut)), at: .zero),
      [.show(.refused(.reading(Self.attribute(Self.name)), .timedOut)), .disconnect])
  }

  @Test("who types is waited for until there is no more, and what he subscribed to is listened to after that")
  func interactive() {
    var (explorer, actions) = explored([], isInteractive: true)
    expect(actions, [])
    #expect(explorer.isIdle)
    expect(explorer.perform(.mtu, at: .zero), [.show(.mtu(50))])
    expect(
      explorer.perform(.subscribe(.uuid(BluetoothUUID(0xFFF3))), at: .zero),
      [.start(.write(Self.handle(10), [1, 0]))])
    expect(explorer.perform(.mtu, at: .zero), [])
    expect(
      explorer.receive(Self.done(.success(.written)), at: .zero),
      [.show(.subscription(Self.attribute(Self.told), .notifications)), .show(.mtu(50))])
    var leaving = explorer
    expect(explorer.endOperations(at: .zero), [.show(.listening(.seconds(4)))])
    expect(explorer.interrupt(at: .zero), [.disconnect])
    expect(
      leaving.perform(.unsubscribe(.uuid(BluetoothUUID(0xFFF3))), at: .zero),
      [.start(.write(Self.handle(10), [0, 0]))])
    expect(leaving.endOperations(at: .zero), [])
    expect(
      leaving.receive(Self.done(.success(.written)), at: .zero),
      [.show(.subscription(Self.attribute(Self.told), [])), .disconnect])
  }

  @Test("a link that is lost is said with its reason; one that never came about is asked for again")
  func lost() {
    var (explorer, _) = explored([.read(.uuid(BluetoothUUID(0x2A00)))])
    expect(explorer.receive(Self.done(.failure(.linkLost)), at: .zero + .seconds(2)), [])
    expect(
      explorer.receive(
        .disconnected(Self.link, reason: .connectionTimeout, unacknowledged: 0), at: .zero + .seconds(2)),
      [
        .finish(
          .fault(
            "the link was lost after 1 s, 0x08 (connection timeout); is it still in range, and has it power?")
        )
      ])

    var again = searching()
    _ = again.receive(Self.advertisement(), at: .zero)
    _ = again.receive(.scanning(false, status: .success), at: .zero)
    _ = again.claimed(at: .zero)
    for _ in 0..<3 {
      _ = again.receive(Self.connected, at: .zero)
      expect(
        again.receive(.disconnected(Self.link, reason: .failedToEstablish, unacknowledged: 0), at: .zero),
        [.connect(Self.peer, within: .seconds(2))])
    }
    _ = again.receive(Self.connected, at: .zero)
    let actions = again.receive(
      .disconnected(Self.link, reason: .failedToEstablish, unacknowledged: 0), at: .zero)
    #expect(actions.count == 1 && "\(actions)".contains("0x3e"), "\(actions)")
  }

  /// An explorer whose controller scans.
  private func searching(for target: LockTarget = .address(peer)) -> GATTExplorer {
    var explorer = GATTExplorer(.init(to: target))
    _ = explorer.receive(.ready(Self.controller), at: .zero)
    _ = explorer.receive(.scanning(true, status: .success), at: .zero)
    return explorer
  }

  // swift-format-ignore
  private static let absent: [([HostEvent], String)] = [
    ([], "no c7:e6:da:90:f5:f9 in range within 10 s: nothing at all was heard, and --timeout waits longer"),
    ([advertisement(from: PeerAddress(.publicDevice, peer.address))], "no c7:e6:da:90:f5:f9 in range within 10 s, but c7:e6:da:90:f5:f9/P is: a public address has /P behind it, and another has not"),
    ([advertisement(from: PeerAddress(.randomDevice, BluetoothAddress(7)))], "no c7:e6:da:90:f5:f9 in range within 10 s: 'lockstep scan --all' lists the 1 other device, and --timeout waits longer"),
    ([advertisement(.nonconnectable)], "c7:e6:da:90:f5:f9 advertises, but takes no connections: somebody else may be connected to it; try again"),
  ]

  @Test(
    "a device that is not found in time is said, with what was heard in its place", arguments: absent.indices)
  func notFound(index: Int) {
    var explorer = searching()
    for event in Self.absent[index].0 { expect(explorer.receive(event, at: .zero), []) }
    expect(explorer.deadline, .zero + .seconds(10))
    expect(explorer.advance(to: .zero + .seconds(10)), [.stopScanning])
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
    for target in [LockTarget.deviceID(deviceID), .address(Self.peer)] {
      var explorer = searching(for: target)
      expect(explorer.receive(Self.advertisement(.connectable, data), at: .zero), [])
      var late = explorer
      expect(explorer.receive(Self.advertisement(.scanResponse, response), at: .zero), [.stopScanning])
      expect(
        explorer.receive(.scanning(false, status: .success), at: .zero),
        [.claim(["\(deviceID)", "c7:e6:da:90:f5:f9"])])
      guard case .address = target else { continue }
      expect(late.advance(to: .zero + .seconds(1)), [.stopScanning])
      expect(late.receive(.scanning(false, status: .success), at: .zero), [.claim(["c7:e6:da:90:f5:f9"])])
    }
  }

  @Test("whoever wants it to end is heard at any time, and what was begun is ended first")
  func interrupted() {
    var starting = GATTExplorer(.init(to: .address(Self.peer)))
    expect(starting.interrupt(at: .zero), [.finish(.interrupted)])
    expect(starting.interrupt(at: .zero), [])

    var looking = searching()
    expect(looking.interrupt(at: .zero), [.stopScanning])
    expect(looking.receive(Self.advertisement(), at: .zero), [])
    expect(looking.receive(.scanning(false, status: .success), at: .zero), [.finish(.interrupted)])

    var connecting = searching()
    _ = connecting.receive(Self.advertisement(), at: .zero)
    _ = connecting.receive(.scanning(false, status: .success), at: .zero)
    var refused = connecting
    _ = connecting.claimed(at: .zero)
    expect(connecting.interrupt(at: .zero), [.cancelConnecting])
    expect(connecting.receive(.connectionFailed(.cancelledByHost), at: .zero), [.finish(.interrupted)])
    expect(refused.leave(.fault("it is in use"), at: .zero), [.finish(.fault("it is in use"))])

    var (working, _) = explored([.read(.uuid(BluetoothUUID(0x2A00)))])
    expect(working.interrupt(at: .zero), [.disconnect])
    expect(working.receive(Self.done(.success(.value([]))), at: .zero), [])
    // A controller that never says that the link is over is not waited for.
    expect(working.deadline, .zero + .seconds(10))
    expect(working.advance(to: .zero + .seconds(10)), [.finish(.interrupted)])
    expect(working.receive(.failed(.noAnswer(opcode: 1)), at: .zero), [])
  }

  @Test("a controller that does not scan, or fails, is the end")
  func controllers() {
    var explorer = GATTExplorer(.init(to: .address(Self.peer)))
    _ = explorer.receive(.ready(Self.controller), at: .zero)
    expect(
      explorer.receive(.scanning(false, status: .commandDisallowed), at: .zero),
      [
        .finish(
          .fault(
            "the controller does not scan: 0x0c (command disallowed); 'lockstep doctor' looks at this machine"
          ))
      ])
    var (failing, _) = explored([.read(.uuid(BluetoothUUID(0x2A00)))])
    expect(
      failing.receive(.failed(.hardwareError(1)), at: .zero),
      [
        .finish(
          .fault("the controller reports the hardware error 0x01; 'lockstep doctor' looks at this machine"))
      ])
  }
}
