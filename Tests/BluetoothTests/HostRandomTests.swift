import Bluetooth
import Basics
import TestSupport
import Testing

@Suite("A host under random treatment")
struct HostRandomTests {
  @Test(
    "whatever a controller says and a user wants, a host keeps its rules",
    arguments: 1...4 as ClosedRange<UInt64>)
  func rules(_ seed: UInt64) {
    var storm = HostStorm(seed: seed)
    for _ in 0..<25_000 where storm.violation == nil { storm.step() }
    expect(storm.violation, nil)
    // A storm in which little happens would prove nothing.
    #expect(storm.linkCount > 50 && storm.fragmentCount > 500 && storm.failureCount > 20)
  }

  @Test("a host fed with bytes at random never traps", arguments: 1...4 as ClosedRange<UInt64>)
  func bytes(_ seed: UInt64) {
    var generator = SeededGenerator(seed: seed, for: "bytes")
    let fresh = [HostFixture.connected(.central), HostFixture.connected(.peripheral)]
    var host = fresh[0]
    for _ in 0..<25_000 {
      if !host.isReady { host = fresh[generator.below(2)] }
      let bytes = generator.bytes(generator.below(24))
      let packet: HCIPacket =
        switch generator.below(4) {
        case 0: .event(code: UInt8(generator.below(0x40)), parameters: bytes)
        case 1: .event(code: 0x3E, parameters: [UInt8(generator.below(0x10))] + bytes)
        case 2: arriving(L2CAPFrame(channel: UInt16(4 + generator.below(3)), payload: bytes).encoded)
        default: arriving(bytes, ACLPacket.Boundary(rawValue: UInt8(generator.below(4)))!)
        }
      _ = host.receive(packet, at: .zero)
    }
  }
}

/// A host between a controller and a user who both do what they like, and the rules that it keeps all the same: one
/// command unanswered at a time, no more data than the controller has room for, in fragments no longer than it
/// takes, numbers of links that only rise, few actions at once, and deadlines that pass.
struct HostStorm {
  private static let aclLength = 27
  private static let aclCount = 3

  private let fresh = HostFixture.ready(aclLength: aclLength, aclCount: aclCount)
  private var host: BluetoothHost
  private var generator: SeededGenerator
  private var now = Instant.zero
  private var unanswered: HCICommand?
  private var free = aclCount
  private var links: [(id: LinkID, handle: ConnectionHandle, unsent: Int)] = []
  private var lastLink = 0
  private(set) var linkCount = 0
  private(set) var fragmentCount = 0
  private(set) var failureCount = 0
  /// The first rule that was broken.
  private(set) var violation: String?

  init(seed: UInt64) {
    generator = SeededGenerator(seed: seed, for: "storm")
    host = fresh
  }

  mutating func step() {
    switch generator.below(16) {
    case 0..<6: answer()
    case 6..<9: happen()
    case 9..<13: wish()
    case 13: pass()
    case 14: arrive()
    default: complete()
    }
    guard host.isReady else { return again() }
  }

  private mutating func again() {
    failureCount += 1
    host = fresh
    (unanswered, free, links, lastLink) = (nil, Self.aclCount, [], 0)
  }

  private mutating func check(_ actions: [HostAction]) {
    if actions.count > 64 { violation = "\(actions.count) actions at once" }
    for action in actions {
      switch action {
      case .transmit(.command(let opcode, let parameters)):
        if let unanswered { violation = "0x\(opcode) sent while \(unanswered) is unanswered" }
        unanswered = try? HCICommand(opcode: opcode, parameters: parameters)
      case .transmit(.acl(let fragment)): sent(fragment)
      case .transmit: violation = "what no host sends"
      case .report(.connected(let id, let connection)):
        if id.rawValue <= lastLink { violation = "link \(id.rawValue) again" }
        lastLink = id.rawValue
        linkCount += 1
        links.append((id, connection.handle, 0))
      case .report(.disconnected(let id, _, _)):
        guard let index = links.firstIndex(where: { $0.id == id }) else {
          return violation = "a link ended twice"
        }
        free += links.remove(at: index).unsent
      case .report: break
      }
    }
  }

  private mutating func sent(_ fragment: ACLPacket) {
    guard let index = links.firstIndex(where: { $0.handle == fragment.handle }) else {
      return violation = "data for a link that is gone"
    }
    links[index].unsent += 1
    free -= 1
    fragmentCount += 1
    if free < 0 { violation = "more fragments than buffers" }
    if fragment.data.count > Self.aclLength { violation = "a fragment of \(fragment.data.count) bytes" }
  }
}

extension HostStorm {
  private static let statuses: [HCIErrorCode] = [
    .success, .success, .success, .success, .commandDisallowed, .unknownConnection, .invalidParameters,
  ]

  private mutating func draw<Value>(_ values: [Value]) -> Value { values[generator.below(values.count)] }

  private mutating func handle() -> ConnectionHandle {
    ConnectionHandle(rawValue: UInt16(generator.below(4)))
  }

  private mutating func feed(_ packet: HCIPacket) { check(host.receive(packet, at: now)) }

  /// The controller answers what it was asked, one way or the other.
  private mutating func answer() {
    guard let command = unanswered else { return }
    unanswered = nil
    let status = draw(Self.statuses)
    switch command.answer {
    case .status:
      feed(HCIEvent.commandStatus(status: status, credits: 1, opcode: command.opcode).packet)
    case .complete:
      feed(
        HCIEvent.commandComplete(
          credits: 1, opcode: command.opcode, returnParameters: [status.rawValue]
        ).packet)
    }
  }

  /// Something happens on the air, now and then impossible.
  private mutating func happen() {
    let status = draw(Self.statuses)
    let timing = HostFixture.timing
    let event: HCIEvent =
      switch generator.below(12) {
      case 0..<4:
        .leConnectionComplete(HostFixture.connection(draw([.central, .peripheral]), handle(), status))
      case 4, 5: .disconnectionComplete(status: status, handle(), reason: .connectionTimeout)
      case 6: .leConnectionUpdateComplete(status: status, handle(), timing)
      case 7: .leRemoteConnectionParameterRequest(handle(), parameters())
      case 8: .leLongTermKeyRequest(handle(), random: 0, diversifier: 0)
      case 9: .leDataLengthChange(handle(), DataLength())
      case 10: .commandComplete(credits: UInt8(generator.below(2)), opcode: 0, returnParameters: [])
      default: generator.below(40) == 0 ? .hardwareError(code: 1) : .leAdvertisingReport([])
      }
    feed(event.packet)
  }

  private mutating func parameters() -> ConnectionParameters {
    ConnectionParameters(latency: UInt16(generator.below(3) * 100), supervisionTimeout: 600)
  }

  /// The user wants something.
  private mutating func wish() {
    let link = LinkID(rawValue: max(1, lastLink - generator.below(3)))
    let value = generator.bytes(generator.below(host.mtu(of: link) - 2))
    switch generator.below(15) {
    case 0: check(host.startScanning(ScanParameters(), filterDuplicates: true, at: now))
    case 1: check(host.stopScanning(at: now))
    case 2: check(host.startAdvertising(AdvertisingParameters(), data: [], scanResponse: [], at: now))
    case 3: check(host.stopAdvertising(at: now))
    case 4 where !host.isConnecting:
      check(host.connect(to: HostFixture.peer, ConnectionParameters(), timeout: .seconds(1), at: now))
    case 5: check(host.cancelConnecting(at: now))
    case 6 where generator.below(4) == 0:
      check(host.disconnect(link, reason: .remoteUserTerminated, at: now))
    case 7: check(host.updateParameters(link, ConnectionParameters(), at: now))
    case 8: check(host.start(.exchangeMTU, on: link, at: now).actions)
    case 9: check(host.start(.read(AttributeHandle(rawValue: 3)), on: link, at: now).actions)
    case 10: check(host.checkController(at: now))
    case 11: check(host.notify(HostFixture.publishHandle, value, on: link, at: now) ?? [])
    default: check(host.writeCommand(HostFixture.commandHandle, value, on: link, at: now) ?? [])
    }
  }

  /// Time passes: mostly a little, sometimes up to the deadline, which then is another.
  private mutating func pass() {
    guard generator.below(20) == 0, let deadline = host.deadline else {
      now = now + .microseconds(Int64(generator.below(2000)))
      return check(host.advance(to: now))
    }
    now = max(now, deadline)
    check(host.advance(to: now))
    if let next = host.deadline, next <= now { violation = "a deadline that does not pass" }
  }

  /// Data arrives: a frame that makes sense, whole, torn or spoilt.
  private mutating func arrive() {
    let some = AttributeHandle(rawValue: UInt16(generator.below(18)))
    let packets: [ATTPacket] = [
      .readRequest(some), .writeRequest(HostFixture.configurationHandle, [1, 0]), .notification(some, [1]),
      .indication(some, [2]), .exchangeMTURequest(247), .exchangeMTUResponse(185), .readResponse([1]),
      .writeCommand(some, [1]), .confirmation, .readByGroupTypeRequest(.all, type: BluetoothUUID(0x2800)),
    ]
    let request = SignallingPacket.connectionParameterUpdateRequest(identifier: 1, parameters())
    let response = SignallingPacket.connectionParameterUpdateResponse(identifier: 1, isAccepted: true)
    var data =
      switch generator.below(6) {
      case 0: frame(.signalling, request)
      case 1: frame(.signalling, response)
      default: frame(.att, draw(packets))
      }
    if generator.below(6) == 0 { data[generator.below(data.count)] ^= 1 << UInt8(generator.below(8)) }
    let cut = generator.below(4) == 0 ? generator.below(data.count) : data.count
    let handle = handle()
    feed(arriving(Array(data[..<cut]), on: handle))
    if cut < data.count, generator.below(4) > 0 {
      feed(arriving(Array(data[cut...]), .continuing, on: handle))
    }
  }

  /// The controller says that it has sent something, at times more than it had.
  private mutating func complete() {
    let packets = CompletedPackets(handle(), UInt16(generator.below(4)))
    if let index = links.firstIndex(where: { $0.handle == packets.handle }) {
      let count = min(Int(packets.count), links[index].unsent)
      links[index].unsent -= count
      free += count
    }
    feed(HCIEvent.numberOfCompletedPackets([packets]).packet)
  }
}
