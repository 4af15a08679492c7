@testable import Controllers
import Bluetooth
import Basics
import TestSupport
import Testing

private let handle = RadioBench.handle()

/// Fragments that a host sends on a link, and what is wrong with them.
struct FragmentCase: Sendable, CustomTestStringConvertible {
  var name: String
  var fragments: [ACLPacket]
  var protocolViolations: [String]
  /// The hardware error that comes, and with it the last fragment is lost.
  var error: String?

  init(_ name: String, _ fragments: [ACLPacket], _ protocolViolations: [String] = [], error: String? = nil) {
    self.name = name
    self.fragments = fragments
    self.protocolViolations = protocolViolations
    self.error = error
  }

  var testDescription: String { name }
}

private func first(_ data: [UInt8]) -> ACLPacket { ACLPacket(handle: handle, boundary: .first, data: data) }

private func next(_ data: [UInt8]) -> ACLPacket {
  ACLPacket(handle: handle, boundary: .continuing, data: data)
}

private let isLoose = "went on with a frame that it never began, or that was complete"
private let isLonger = "sent more in a fragment than its frame has"
private let isCut = "began a frame before the last was complete"
private let isFlagged = "sent data with a boundary flag that LE does not have"

private let fragmentCases: [FragmentCase] = [
  .init("a frame in three parts", [first([4, 0, 4, 0, 1]), next([2, 3]), next([4])]),
  .init("a header in two parts", [first([1, 0, 4]), next([0, 9])]),
  .init("a frame without payload", [first([0, 0, 4, 0])]),
  .init("a length in two parts, after which anything goes", [first([1]), next([0, 4, 0, 9])]),
  .init("the longest fragment", [first(RadioBench.frame(251))]),
  .init("a continuation without a start", [next([1])], [isLoose]),
  .init("a continuation after the end", [first([0, 0, 4, 0]), next([1])], [isLoose]),
  .init("a continuation beyond the end", [first([1, 0, 4, 0]), next([1, 2])], [isLonger]),
  .init("more than the frame has", [first([0, 0, 4, 0, 1])], [isLonger]),
  .init("a start before the end", [first([1, 0, 4, 0]), first([0, 0, 4, 0])], [isCut]),
  .init("another start before the end, and too long", [first([1, 0, 4]), first([0, 0, 4, 0, 1])], [isCut]),
  .init(
    "no frames at all", [first([0xFF]), first([0xDE, 0xAD, 0xBE, 0xEF]), next([1]), first([]), next([2])],
    [isCut]),
  .init(
    "a fragment that is too long", [first(RadioBench.frame(252))],
    ["sent 252 bytes in one fragment to a controller that takes no more than 251"], error: "hardware error 2"),
  .init(
    "the boundary of BR/EDR", [ACLPacket(handle: handle, boundary: .firstFlushable, data: [0, 0, 4, 0])],
    [isFlagged], error: "hardware error 3"),
  .init(
    "a whole frame to be flushed", [ACLPacket(handle: handle, boundary: .complete, data: [0, 0, 4, 0])],
    [isFlagged], error: "hardware error 3"),
  .init(
    "a broadcast", [ACLPacket(handle: handle, boundary: .first, broadcast: 1, data: [0, 0, 4, 0])],
    ["sent a broadcast on LE"], error: "hardware error 3"),
]

@Suite("an emulated controller towards a host that breaks the rules")
struct RadioStrictnessTests {
  @Test(
    "fragments that make no frame are carried all the same and complained of beside; buffers come back",
    arguments: fragmentCases)
  func fragments(_ test: FragmentCase) {
    var bench = RadioBench()
    // Longer packets, so that each fragment stays whole.
    bench.order(0, .leWriteSuggestedDefaultDataLength(251, 2120))
    bench.connect()
    _ = bench.pass(.milliseconds(20))
    for fragment in test.fragments { bench.send(0, .acl(fragment)) }
    let heard = bench.pass(.milliseconds(50)).map(RadioBench.what)
    expect(heard.filter { $0.contains("error") }, test.error.map { ["0 " + $0] } ?? [])
    expect(bench.radio.protocolViolations.map(\.sentence), test.protocolViolations)
    let carried = test.error == nil ? test.fragments.filter { !$0.data.isEmpty } : []
    expect(
      heard.filter { $0.hasPrefix("1 data") },
      carried.map { fragment in
        let boundary = fragment.boundary == .first ? ACLPacket.Boundary.firstFlushable : .continuing
        return "1 data \(handle) \(boundary) \(fragment.data.count): \(fragment.data.prefix(6).hex)"
      })
    expect(heard.filter { $0.contains("0 sent") }.count, test.fragments.count)
    // The controller works on.
    bench.send(0, RadioBench.frame(5))
    expect(bench.pass(.milliseconds(20)).contains { $0.hasSuffix("0 sent 0x0040 1") }, true)
  }

  @Test(
    "more data than there are buffers for is lost, with Data Buffer Overflow; acknowledged buffers are free")
  func buffers() {
    var bench = RadioBench(2, RadioSettings(fading: 0), ControllerSettings(aclCount: 2))
    bench.connect()
    for number in 0..<3 { bench.send(0, RadioBench.frame(5, number)) }
    expect(
      bench.pass(.milliseconds(15)).map(RadioBench.what),
      [
        "0 overflow", "1 data 0x0040 firstFlushable 5: 0100040000", "0 sent 0x0040 1",
        "1 data 0x0040 firstFlushable 5: 0100040001", "0 sent 0x0040 1",
      ])
    expect(bench.radio.protocolViolations.map(\.sentence), ["sent data though all buffers were in use"])
    for number in 0..<2 { bench.send(0, RadioBench.frame(5, number)) }
    expect(bench.pass(.milliseconds(15)).filter { $0.contains("overflow") }, [])
  }

  @Test("the buffers of a link that ended are free again without a word")
  func buffersOfLostLink() {
    var bench = RadioBench(2, RadioSettings(fading: 0), ControllerSettings(aclCount: 1))
    for _ in 0..<3 {
      bench.connect()
      bench.send(0, RadioBench.frame(5))
      bench.radio.loseLinks(of: ControllerID(rawValue: 0), at: bench.now)
      expect(
        bench.pass(.seconds(1)).map(RadioBench.what),
        ["0 disconnected 0x0040 08", "1 disconnected 0x0040 08"])
    }
    expect(bench.radio.protocolViolations, [])
  }

  @Test("data for a link that ended is dropped; for one that never was, it is complained of too")
  func unknownLink() {
    var bench = RadioBench()
    bench.send(0, RadioBench.frame(5))
    expect(bench.radio.protocolViolations, [])
    bench.send(
      0, .acl(ACLPacket(handle: ConnectionHandle(rawValue: 1), boundary: .first, data: [0, 0, 4, 0])))
    expect(bench.radio.protocolViolations.map(\.sentence), ["sent data for 0x0001, which never was a link"])
    expect(bench.pass(.seconds(1)), [])
  }

  @Test("an empty fragment is sent at once")
  func emptyFragment() {
    var bench = RadioBench()
    bench.connect()
    bench.send(0, [])
    expect(bench.answers().map(RadioBench.what), ["0 sent 0x0040 1"])
  }

  @Test("a command without leave is lost, with Hardware Error; a reset needs none")
  func commandCredits() {
    var bench = RadioBench(1)
    bench.send(0, HCICommand.leRand().packet)
    bench.send(0, HCICommand.readBDADDR().packet)
    bench.send(0, HCICommand.reset().packet)
    expect(
      bench.answers().map { $0.split(separator: ":")[0] },
      ["0.000 0 complete 2018 credits 1", "0.000 0 hardware error 1", "0.000 0 complete 0c03 credits 1"])
    expect(
      bench.radio.protocolViolations.map(\.sentence),
      ["sent command 0x1009 before it had leave to send another"])
  }

  @Test(
    "a controller with more credits takes so many commands, carries them out in turn and says how many more")
  func moreCredits() {
    var bench = RadioBench(0)
    _ = bench.radio.addController(ControllerSettings(commandCredits: 3, commandTime: .milliseconds(2)))
    bench.send(0, HCICommand.reset().packet)
    expect(bench.pass(.milliseconds(5)), ["0.002 0 complete 0c03 credits 3: 00"])
    for command in [HCICommand.readBDADDR(), .setEventMask(.max), .leCreateConnectionCancel(), .leRand()] {
      bench.send(0, command.packet)
      bench.collect()
      bench.run(to: bench.now + .microseconds(500))
    }
    expect(
      bench.pass(.milliseconds(9)),
      [
        "0.0065 0 hardware error 1", "0.007 0 complete 1009 credits 1: 000100004b4c02",
        "0.0075 0 complete 0c01 credits 2: 00", "0.008 0 complete 200e credits 3: 0c",
      ])
  }

  @Test("packets that only a controller sends are refused")
  func wrongPackets() {
    var bench = RadioBench(1)
    for packet: HCIPacket in [.event(code: 0x0E, parameters: []), .synchronous([1]), .isochronous([])] {
      bench.send(0, packet)
    }
    expect(
      bench.answers().map(RadioBench.what),
      ["0 hardware error 4", "0 hardware error 4", "0 hardware error 4"])
    expect(bench.radio.protocolViolations.count, 3)
  }
}
