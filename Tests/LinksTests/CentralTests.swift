import Basics
import Bluetooth
import Conformance
import Controllers
import TestSupport
import Testing

@testable import Links

/// A central on an emulated radio, and what comes of what it is asked for.
private struct CentralBench {
  let scene = AirScene()
  var central: Central<RadioTransport>

  init(silenceLimit: Interval? = nil) {
    central = Central(RadioTransport(scene), AirScene.settings, silenceLimit: silenceLimit)
  }

  /// The lab fault that something ends with.
  mutating func fault(_ body: (inout Central<RadioTransport>) throws(LabFault) -> Void) -> LabFault? {
    do throws(LabFault) {
      try body(&central)
      return nil
    } catch {
      return error
    }
  }

  /// What happens in a time, but for advertisements.
  mutating func pass(_ interval: Interval) throws(LabFault) -> [CentralEvent] {
    let end = scene.now + interval
    var events: [CentralEvent] = []
    while scene.now < end {
      _ = try central.step(until: end)
      while let event = try central.takeEvent() {
        if case .advertisement = event { continue }
        events.append(event)
      }
    }
    return events
  }

  /// Makes one with a link that is open.
  static func open(silenceLimit: Interval? = nil) throws -> CentralBench {
    var bench = CentralBench(silenceLimit: silenceLimit)
    try bench.central.setUp()
    try bench.central.perform(.connect(LinkPair.address, ProfileQuery(descriptors: false)))
    _ = try bench.pass(.seconds(1))
    expect(bench.central.session.isOpen, true)
    return bench
  }
}

private let read = CentralOperation.read(.handle(LinkPair.handle(17)))

@Suite("A central on a transport")
struct CentralTests {
  @Test("its time begins where it is told to, and the recorder notes both directions from there on")
  func clock() throws {
    var bench = try CentralBench.open()
    let recorder = PacketRecorder()
    bench.central.recorder = recorder
    bench.central.startClock()
    expect(bench.central.now, .zero)
    try bench.central.perform(read)
    expect(try bench.pass(.seconds(1)), [.read(LinkPair.handle(17), [65])])
    expect(bench.central.now, .zero + .seconds(1))
    expect(bench.central.transportTime(of: .zero + .seconds(1)), bench.scene.now)
    expect(bench.central.isSetUp, true)
  }

  @Test("before it is set up nothing is prepared, and no fault stands in the way")
  func unprepared() {
    var bench = CentralBench()
    expect(
      bench.fault { central throws(LabFault) in try central.check() },
      LabFault(.notPossible, "nothing was prepared since the controller was lost"))
    expect(bench.fault { central throws(LabFault) in try central.checkUse() }, nil)
    expect(bench.fault { central throws(LabFault) in try central.endLinks() }, nil)
  }

  // swift-format-ignore
  private static let faults: [(TransportFault, LabFault, isLost: Bool)] = [
    (TransportFault(.unavailable, "hci7"), LabFault(.noDevice, "controller unavailable: hci7"), true),
    (TransportFault(.busy, "hci7"), LabFault(.noDevice, "controller in use: hci7"), true),
    (TransportFault(.lost, "unplugged"), LabFault(.transportLost, "controller lost: unplugged"), true),
    (TransportFault(.silent, "no credit"), LabFault(.noAnswer, "controller silent: no credit"), false),
    (TransportFault(.malformed, "09"), LabFault(.badAnswer, "malformed packets from the controller: 09"), false),
  ]

  @Test("trouble with the transport stays until it is opened again", arguments: faults.indices)
  func transport(index: Int) throws {
    let (trouble, expected, isLost) = Self.faults[index]
    var bench = try CentralBench.open()
    let end = bench.scene.now + .seconds(5)
    bench.scene.fault = trouble
    expect(bench.fault { central throws(LabFault) in try central.perform(read) }, expected)
    bench.scene.fault = nil
    expect(bench.fault { central throws(LabFault) in try central.check() }, expected)
    expect(bench.fault { central throws(LabFault) in try central.checkUse() }, expected)
    expect(bench.fault { central throws(LabFault) in try central.endLinks() }, expected)
    expect(bench.central.isTransportLost, isLost)
    expect(bench.central.fault, trouble)
    expect(bench.fault { central throws(LabFault) in try central.reopen(.untouched, until: end) }, nil)
    expect(bench.scene.reopened, 1)
    expect(bench.central.isSetUp, true)
    expect(bench.central.isTransportLost, false)
    expect(bench.central.fault, nil)
    expect(bench.central.session.isIdle, true)
  }

  @Test("a reconnection asks for a sign of life, and leaves the controller to be set up")
  func reconnection() throws {
    var bench = try CentralBench.open()
    let limit = bench.scene.now + .seconds(1)
    expect(bench.fault { central throws(LabFault) in try central.reconnect(until: limit) }, nil)
    expect(bench.central.isSetUp, false)
    expect(bench.central.session.isIdle, true)
    expect(bench.fault { central throws(LabFault) in try central.resetController(until: limit) }, nil)
    expect(bench.central.isSetUp, true)
    bench.scene.radio.setHook(of: LinkPair.here) { _, _, _ in .drop }
    let next = bench.scene.now + .seconds(1)
    let silent = LabFault(.noAnswer, "the controller gives no sign of life")
    expect(bench.fault { central throws(LabFault) in try central.reconnect(until: next) }, silent)
    expect(bench.scene.now, next)
    expect(bench.fault { central throws(LabFault) in try central.checkUse() }, silent)
  }

  @Test("a controller that is not set up in time is said so, and one that answers nothing too")
  func late() {
    let host = LabFault(.noAnswer, "the controller does not answer the command 0x0c03")
    for (limit, expected) in [
      (Interval.seconds(1), LabFault(.noAnswer, "the controller was not set up in time")),
      (.seconds(60), host),
    ] {
      var bench = CentralBench()
      bench.scene.radio.setHook(of: LinkPair.here) { _, _, _ in .drop }
      let end = bench.scene.now + limit
      expect(bench.fault { central throws(LabFault) in try central.setUp(until: end) }, expected)
    }
  }

  @Test("a controller that froze is noticed where it is watched, and only there", arguments: [true, false])
  func frozen(isWatched: Bool) throws {
    var bench = CentralBench(silenceLimit: isWatched ? .seconds(5) : nil)
    try bench.central.setUp()
    bench.scene.radio.setHook(of: LinkPair.here) { _, _, _ in .drop }
    let begin = bench.scene.now
    let fault = bench.fault { central throws(LabFault) in
      while try central.step(until: begin + .seconds(20)) != .none {}
    }
    expect(
      fault, isWatched ? LabFault(.noAnswer, "the controller does not answer the command 0x1009") : nil)
    #expect(isWatched ? bench.scene.now <= begin + .seconds(10) : bench.scene.now == begin + .seconds(20))
  }

  @Test("a controller that does not scan cannot be used")
  func scanning() throws {
    var bench = CentralBench()
    try bench.central.setUp()
    bench.scene.radio.setHook(of: LinkPair.here) { packet, _, _ in
      guard case .command(HCICommand.leSetScanEnable.opcode, _) = packet else { return .pass }
      return .refuse(.commandDisallowed)
    }
    try bench.central.perform(.scan(true))
    let expected = LabFault(
      .badAnswer, "the controller does not scan: \(HCIErrorCode.commandDisallowed)")
    var fault: LabFault?
    do throws(LabFault) { _ = try bench.pass(.seconds(1)) } catch { fault = error }
    expect(fault, expected)
    expect(bench.fault { central throws(LabFault) in try central.checkUse() }, expected)
  }

  @Test("links that are ended are over when the call returns, those that cannot be in three seconds")
  func ending() throws {
    for isReachable in [true, false] {
      var bench = try CentralBench.open()
      let begin = bench.scene.now
      bench.scene.radio.setReachable(LinkPair.there, isReachable, at: begin)
      try bench.central.endLinks()
      expect(bench.central.session.isAtRest, true)
      #expect(bench.scene.now <= begin + .seconds(3))
      expect(bench.fault { central throws(LabFault) in try central.check() }, nil)
    }
  }

  // swift-format-ignore
  private static let failures: [(HostFailure, LabFault.Symptom)] = [
    (.noAnswer(opcode: 0x0C03), .noAnswer), (.hardwareError(9), .transportLost),
    (.refused(opcode: 0x0C03, .commandDisallowed), .badAnswer), (.broken("two credits"), .badAnswer),
  ]

  @Test("a controller that cannot be used is the lab's trouble", arguments: failures.indices)
  func failure(index: Int) {
    let (failure, symptom) = Self.failures[index]
    let fault = LabFault(failure)
    expect(fault, LabFault(symptom, failure.description))
    expect(fault.origin, .transport)
  }

  @Test("who is late for a second without a break is overrun, and not who catches up between")
  func overrun() {
    var overrun = Overrun()
    var answers: [Bool] = []
    for (isLate, time) in [
      (true, 0), (true, 999), (false, 1000), (true, 1500), (true, 2499), (true, 2500), (true, 2501),
      (false, 2502), (true, 2503),
    ] as [(Bool, Int64)] {
      answers.append(overrun.isEndless(isLate: isLate, at: .zero + .milliseconds(time)))
    }
    expect(answers, [false, false, false, false, false, true, true, false, false])
  }
}

@Suite("What is sorted out of a host's actions")
struct HostOutputTests {
  @Test("packets and reports each come in their order, and all are forgotten together")
  func order() {
    var output = HostOutput()
    let packets = [HCICommand.reset().packet, HCICommand.readBDADDR().packet]
    let reports = [HostEvent.connectionFailed(.success), .connectionFailed(.commandDisallowed)]
    output.add([
      .report(reports[0]), .transmit(packets[0]), .transmit(packets[1]), .report(reports[1]),
    ])
    expect(output.takeReport(), reports[0])
    expect(output.takePacket(), packets[0])
    output.add([.transmit(packets[0])])
    expect(output.takePackets(), [packets[1], packets[0]])
    expect(output.takePacket(), nil)
    output.removeAll()
    expect(output.takeReport(), nil)
  }
}

@Suite("Malformed Bluetooth")
struct MalformedBluetoothTests {
  @Test(
    "what is said to hold a command holds it, and nothing else does", arguments: MalformedBluetooth.allCases)
  func command(_ kind: MalformedBluetooth) {
    let frame = (0..<20).map { UInt8($0 + 100) }
    let packets = kind.packets(write: LinkPair.handle(12), notify: LinkPair.handle(14), frame: frame)
    // Where it is cut in two, its first half is enough.
    let holds = packets.contains { packet in
      packet.payload.count >= 8
        && (0...packet.payload.count - 8).contains {
          Array(packet.payload[$0..<$0 + 8]) == Array(frame.prefix(8))
        }
    }
    expect(holds, kind.holdsCommand)
    expect(packets.isEmpty, false)
  }

  @Test("no two are the same, and each is only on the channel that it is about")
  func distinct() {
    let all = MalformedBluetooth.allCases.map { kind in
      kind.packets(write: LinkPair.handle(12), notify: LinkPair.handle(14), frame: [1, 2, 3])
    }
    expect(Set(all.map { "\($0)" }).count, all.count)
    let others = zip(MalformedBluetooth.allCases, all).filter { $0.1.contains { $0.channel != 4 } }
    expect(
      others.map { "\($0.0.rawValue) \($0.1[0].channel)" },
      ["unknown-channel 64", "signalling 5", "pairing 6"])
  }
}
