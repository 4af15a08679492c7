@testable import Controllers
import Bluetooth
import Basics
import TestSupport
import Testing

/// A hook of controller 0, and what its host hears of three times LE Read Advertising Physical Channel Tx
/// Power, sent 10 ms apart.
struct HookCase: Sendable, CustomTestStringConvertible {
  var hook: CountedHook
  var heard: [String]

  init(_ hook: CountedHook, _ heard: [String]) {
    self.hook = hook
    self.heard = heard
  }

  var testDescription: String { "\(hook)" }
}

private let opcode = HCICommand.leReadAdvertisingTxPower.opcode
private let answers = (0...2).map { "0.0\($0)0 0 complete 2007 credits 1: 0000" }
private let malformed = HCIPacket.event(code: 0x3E, parameters: [0x01])

private let hookCases: [HookCase] = [
  .init(.init(.command(opcode), .drop), [answers[1], answers[2]]),
  .init(.init(.command(opcode), .drop, first: 2), [answers[0], answers[2]]),
  .init(.init(.command(opcode), .drop, first: 2, count: nil), [answers[0]]),
  .init(.init(.command(HCICommand.reset.opcode), .drop), answers),
  .init(.init(.anyCommand, .drop, count: 2), [answers[2]]),
  .init(
    .init(.command(opcode), .delay(.milliseconds(4))),
    ["0.004 0 complete 2007 credits 1: 0000", answers[1], answers[2]]),
  .init(
    .init(.command(opcode), .refuse(.hardwareFailure)),
    ["0.000 0 complete 2007 credits 1: 03", answers[1], answers[2]]),
  .init(
    .init(.command(opcode), .replace(HCICommand.setEventMask(.max).packet)),
    ["0.000 0 complete 0c01 credits 1: 00", answers[1], answers[2]]),
  .init(.init(.command(opcode), .truncate(to: 0)), answers),
  .init(.init(.command(opcode), .setByte(at: 0, to: 1)), answers),
  .init(.init(.command(opcode), .silence, first: 2), [answers[0]]),
  .init(.init(.answer(opcode), .drop), [answers[1], answers[2]]),
  .init(.init(.answer(opcode), .duplicate, first: 3), answers + [answers[2]]),
  .init(
    .init(.answer(opcode), .delay(.milliseconds(13)), first: 2),
    // The third command came before the host had leave for it.
    [answers[0], "0.020 0 hardware error 1", "0.023 0 complete 2007 credits 1: 0000"]),
  .init(
    .init(.answer(opcode), .setByte(at: 3, to: 0x1F)),
    ["0.000 0 complete 2007 credits 1: 1f00", answers[1], answers[2]]),
  .init(.init(.answer(opcode), .truncate(to: 2)), ["0.000 0 nonsense 0e 0107", answers[1], answers[2]]),
  .init(.init(.answer(opcode), .refuse(.hardwareFailure)), answers),
  .init(.init(.event(0x0E), .replace(malformed)), ["0.000 0 nonsense 3e 01", answers[1], answers[2]]),
  .init(.init(.event(0x0F), .drop), answers),
  .init(.init(.leEvent(0x01), .drop), answers),
  .init(.init(.anythingToHost, .silence, first: 2), [answers[0]]),
  .init(.init(.dataToHost, .drop), answers),
]

/// What a host hears of a controller with a quirk, and of one without.
struct QuirkCase: Sendable, CustomTestStringConvertible {
  var name: String
  var quirk: ControllerQuirks
  var unusual: [String] = []
  var missing: [String] = []

  var testDescription: String { name }
}

private let usual = [
  "00fb0008", "0000000000000000", "0 report connectable c0:00:00:00:00:a1 020a01 -60",
  "0 connected 0x0040 central to c0:00:00:00:00:a1 6/0/200",
  "1 connected 0x0040 peripheral to c0:00:00:00:00:a0 6/0/200", "004000c4", "1 disconnected 0x0040 16",
]

private let quirkCases: [QuirkCase] = [
  .init(
    name: "shared-buffers", quirk: .sharedBuffers, unusual: ["00000000", "00fb000008000000"],
    missing: ["00fb0008", "0000000000000000"]),
  .init(
    name: "extended-reports", quirk: .extendedReports,
    unusual: ["0 extended report connectable c0:00:00:00:00:a1 020a01 -60"],
    missing: ["0 report connectable c0:00:00:00:00:a1 020a01 -60"]),
  .init(name: "enhanced-connection", quirk: .enhancedConnection),
  .init(name: "ignored-masks", quirk: .ignoredMasks, unusual: ["0 disconnected 0x0040 14"]),
  .init(
    name: "remote-reason", quirk: .remoteReason, unusual: ["1 disconnected 0x0040 13"],
    missing: ["1 disconnected 0x0040 16"]),
  .init(
    name: "no-rssi", quirk: .noRSSI,
    unusual: ["0 report connectable c0:00:00:00:00:a1 020a01 ?", "0040007f"],
    missing: ["0 report connectable c0:00:00:00:00:a1 020a01 -60", "004000c4"]),
]

@Suite("faults of an emulated controller")
struct RadioHookTests {
  @Test("a hook acts on the packets that it means, and on no others", arguments: hookCases)
  func hook(_ test: HookCase) {
    var bench = RadioBench(1)
    bench.radio.setHooks([test.hook], of: ControllerID(rawValue: 0))
    for _ in 0..<3 {
      bench.send(0, .command(opcode: opcode, parameters: []))
      bench.collect()
      bench.run(to: bench.now + .milliseconds(10))
    }
    expect(bench.pass(.seconds(1)), test.heard)
  }

  @Test("data is dropped, doubled, altered and delayed on its way to the controller and to the host")
  func data() {
    var bench = RadioBench()
    bench.connect()
    bench.radio.setHooks(
      [
        CountedHook(.dataFromHost, .drop), CountedHook(.dataFromHost, .duplicate, first: 2),
        CountedHook(.dataFromHost, .setByte(at: 4, to: 0xEE), first: 3),
      ], of: ControllerID(rawValue: 0))
    bench.radio.setHooks(
      [CountedHook(.dataToHost, .delay(.milliseconds(8)))], of: ControllerID(rawValue: 1))
    for number in 1...3 { bench.send(0, RadioBench.frame(5, number)) }
    expect(
      bench.pass(.seconds(1)),
      [
        "0.014174 0 sent 0x0040 1", "0.014444 1 data 0x0040 firstFlushable 5: 0100040002",
        "0.014674 0 sent 0x0040 1", "0.014944 1 data 0x0040 firstFlushable 5: 01000400ee",
        "0.015174 0 sent 0x0040 1", "0.021944 1 data 0x0040 firstFlushable 5: 0100040002",
      ])
  }

  @Test("hooks act in turn, each on what the one before left, until they are taken away")
  func turns() {
    var bench = RadioBench(1)
    bench.radio.setHooks(
      [
        CountedHook(.command(opcode), .replace(HCICommand.leRand().packet), count: nil),
        CountedHook(.command(HCICommand.leRand.opcode), .replace(HCICommand.readBDADDR().packet), count: nil),
        CountedHook(.command(HCICommand.readBDADDR.opcode), .drop, first: 2),
      ], of: ControllerID(rawValue: 0))
    for _ in 0..<2 { bench.send(0, .command(opcode: opcode, parameters: [])); bench.collect() }
    expect(bench.answers().map(RadioBench.what), ["0 complete 1009 credits 1: 000100004b4c02"])
    bench.radio.setHook(of: ControllerID(rawValue: 0), nil)
    bench.send(0, HCICommand.readBDADDR().packet)
    expect(bench.answers().map(RadioBench.what), ["0 complete 1009 credits 1: 000100004b4c02"])
  }

  @Test("a hook knows how many packets went that way before")
  func numbers() {
    var bench = RadioBench(1)
    bench.radio.setHook(of: ControllerID(rawValue: 0)) { packet, direction, number in
      guard direction == .fromHost else { return .pass }
      packet = HCICommand.readBDADDR().packet
      return number == 0 ? .pass : .drop
    }
    for _ in 0..<2 { bench.send(0, .command(opcode: opcode, parameters: [])); bench.collect() }
    expect(bench.answers().map(RadioBench.what), ["0 complete 1009 credits 1: 000100004b4c02"])
  }

  @Test("a silent controller speaks again when its power was off, and its links are gone")
  func silence() {
    var bench = RadioBench()
    bench.connect()
    bench.radio.setHooks([CountedHook(.anythingToHost, .silence)], of: ControllerID(rawValue: 0))
    bench.send(0, HCICommand.readBDADDR().packet)
    bench.send(1, RadioBench.frame(5))
    expect(bench.pass(.seconds(1)).map(RadioBench.what), ["1 sent 0x0040 1"])
    bench.radio.setPower(ControllerID(rawValue: 0), false, at: bench.now)
    bench.radio.setPower(ControllerID(rawValue: 0), true, at: bench.now)
    bench.radio.setHooks([], of: ControllerID(rawValue: 0))
    expect(bench.order(0, .readRSSI(RadioBench.handle())), [2, 0x40, 0])
  }

  @Test("a host can be given anything at any time")
  func inject() {
    var bench = RadioBench(1)
    bench.radio.inject(malformed, from: ControllerID(rawValue: 0), at: bench.now)
    bench.radio.inject(HCIEvent.hardwareError(code: 9).packet, from: ControllerID(rawValue: 0), at: bench.now)
    expect(bench.answers().map(RadioBench.what), ["0 nonsense 3e 01", "0 hardware error 9"])
  }

  @Test("quirks are done otherwise, and nothing else is", arguments: quirkCases)
  func quirks(_ test: QuirkCase) {
    var bench = RadioBench(2, RadioSettings(fading: 0), ControllerSettings(quirks: test.quirk))
    var heard = [bench.order(0, .leReadBufferSize()).hex, bench.order(0, .readBufferSize()).hex]
    bench.advertise(1)
    bench.scan(0, ScanParameters(isActive: false))
    heard += bench.pass(.seconds(1)).map(RadioBench.what)
    heard += bench.connect().map(RadioBench.what)
    heard.append(bench.order(0, .readRSSI(RadioBench.handle())).hex)
    bench.order(0, .setEventMask(0))
    bench.order(1, .disconnect(RadioBench.handle(), .remoteLowResources))
    heard += bench.pass(.seconds(1)).map(RadioBench.what)
    expect(heard.filter { !usual.contains($0) }, test.unusual)
    expect(usual.filter { !heard.contains($0) }, test.missing)
  }

  @Test("the enhanced event comes only to a host that wants it")
  func enhancedConnection() {
    for (mask, subevent, length) in [(UInt64.max, UInt8(0x0A), 31), (0b1111, 0x01, 19)] {
      var bench = RadioBench(2, RadioSettings(), ControllerSettings(quirks: .enhancedConnection))
      bench.order(0, .leSetEventMask(mask))
      bench.advertise(1)
      bench.order(0, .leCreateConnection(ConnectionRequest(peer: RadioBench.address(1))))
      var events: [[UInt8]] = []
      while let deadline = bench.radio.deadline, deadline < .zero + .milliseconds(20) {
        bench.radio.advance(to: deadline)
        while let (controller, packet) = bench.radio.nextPacket() {
          guard controller.rawValue == 0, case .event(_, let parameters) = packet else { continue }
          events.append(parameters)
        }
      }
      expect(events.map { [Int($0[0]), $0.count] }, [[Int(subevent), length]])
    }
  }
}
