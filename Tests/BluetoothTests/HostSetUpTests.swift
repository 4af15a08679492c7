import Bluetooth
import Basics
import TestSupport
import Testing

@Suite("The set-up of a host")
struct HostSetUpTests {
  /// A change to the script of a set-up, and what the host is ready with, or why it is not.
  struct Variation: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var replaced: HCICommand
    var by: [Exchange]
    var outcome: HostEvent
  }

  static let variations: [Variation] = [
    Variation(
      testDescription: "a controller without Read Local Supported Commands",
      replaced: .readLocalSupportedCommands(), by: [.refused(.readLocalSupportedCommands(), .unknownCommand)],
      outcome: .ready(HostFixture.description())),
    Variation(
      testDescription: "a refusal with Command Status", replaced: .readLocalSupportedFeatures(),
      by: [.status(.readLocalSupportedFeatures(), .unknownCommand)],
      outcome: .ready(HostFixture.description())),
    Variation(
      testDescription: "a controller that does not tell its LE features",
      replaced: .leReadLocalSupportedFeatures(),
      by: [.refused(.leReadLocalSupportedFeatures(), .unknownCommand)],
      outcome: .ready(description { $0.leFeatures = 0 })),
    Variation(
      testDescription: "buffers that LE shares with BR/EDR", replaced: .leReadBufferSize(),
      by: [
        .done(.leReadBufferSize(), returning: CommandReturn.LEReadBufferSize(aclLength: 0, aclCount: 0)),
        .done(.readBufferSize(), returning: buffers(1021, 8)),
      ], outcome: .ready(HostFixture.description(aclLength: 1021, aclCount: 8))),
    Variation(
      testDescription: "no LE Read Buffer Size", replaced: .leReadBufferSize(),
      by: [
        .refused(.leReadBufferSize(), .unknownCommand), .done(.readBufferSize(), returning: buffers(310, 10)),
      ], outcome: .ready(HostFixture.description(aclLength: 310, aclCount: 10))),
    Variation(
      testDescription: "no buffers at all", replaced: .leReadBufferSize(),
      by: [
        .refused(.leReadBufferSize(), .unknownCommand), .done(.readBufferSize(), returning: buffers(27, 0)),
      ], outcome: .failed(.broken("the controller takes 0 fragments of 27 bytes; LE needs 27"))),
    Variation(
      testDescription: "buffers too short for LE", replaced: .leReadBufferSize(),
      by: [.done(.leReadBufferSize(), returning: CommandReturn.LEReadBufferSize(aclLength: 26, aclCount: 1))],
      outcome: .failed(.broken("the controller takes 1 fragments of 26 bytes; LE needs 27"))),
    Variation(
      testDescription: "a controller of version 4.0 that refuses newer events",
      replaced: .leSetEventMask(0x107F),
      by: [.refused(.leSetEventMask(0x107F), .invalidParameters), .done(.leSetEventMask(0x1F))],
      outcome: .ready(HostFixture.description())),
    Variation(
      testDescription: "a controller that refuses any LE event", replaced: .leSetEventMask(0x107F),
      by: [
        .refused(.leSetEventMask(0x107F), .invalidParameters),
        .refused(.leSetEventMask(0x1F), .invalidParameters),
      ], outcome: .failed(.refused(opcode: HCICommand.leSetEventMask.opcode, .invalidParameters))),
    Variation(
      testDescription: "a reset that is refused", replaced: .reset(),
      by: [.refused(.reset(), .hardwareFailure)],
      outcome: .failed(.refused(opcode: HCICommand.reset.opcode, .hardwareFailure))),
    Variation(
      testDescription: "an address that is refused",
      replaced: .leSetRandomAddress(HostFixture.settings.address),
      by: [.refused(.leSetRandomAddress(HostFixture.settings.address), .commandDisallowed)],
      outcome: .failed(.refused(opcode: HCICommand.leSetRandomAddress.opcode, .commandDisallowed))),
    Variation(
      testDescription: "an answer that is too short", replaced: .readBDADDR(),
      by: [
        Exchange(
          .readBDADDR(),
          .commandComplete(credits: 1, opcode: HCICommand.readBDADDR.opcode, returnParameters: [0, 1, 2, 3]))
      ],
      outcome: .failed(.undecodable("the answer to 0x1009", DecodeError(at: 4, .truncated(missing: 3))))),
    Variation(
      testDescription: "an answer without a status", replaced: .readBDADDR(),
      by: [
        Exchange(
          .readBDADDR(),
          .commandComplete(credits: 1, opcode: HCICommand.readBDADDR.opcode, returnParameters: []))
      ], outcome: .failed(.broken("Command Complete of 0x1009 without a status"))),
    Variation(
      testDescription: "an answer to another command", replaced: .readBDADDR(),
      by: [
        Exchange(
          .readBDADDR(), .commandComplete(credits: 1, opcode: HCICommand.leRand.opcode, returnParameters: [0])
        )
      ], outcome: .failed(.broken("an answer to 0x2018, which was not sent"))),
    Variation(
      testDescription: "a hardware error", replaced: .readBDADDR(),
      by: [Exchange(.readBDADDR(), .hardwareError(code: 0x42))], outcome: .failed(.hardwareError(0x42))),
  ]

  static func description(_ change: (inout ControllerDescription) -> Void) -> ControllerDescription {
    var description = HostFixture.description()
    change(&description)
    return description
  }

  static func buffers(_ length: UInt16, _ count: UInt16) -> CommandReturn.ReadBufferSize {
    CommandReturn.ReadBufferSize(
      aclLength: length, synchronousLength: 0, aclCount: count, synchronousCount: 0)
  }

  @Test("a controller that has everything is set up step by step")
  func everything() {
    var host = HostFixture.ready()
    #expect(host.isReady && host.deadline == nil)
  }

  @Test("what is not needed may be refused, and nothing else", arguments: variations)
  func variation(_ variation: Variation) {
    var host = BluetoothHost(HostFixture.settings)
    var script: [Exchange] = []
    for exchange in HostFixture.setUp() {
      guard exchange.command == variation.replaced else {
        script.append(exchange)
        continue
      }
      script += variation.by
      if case .failed = variation.outcome { break }
    }
    let opening = host.start(at: .zero)
    expect(converse(&host, opening, script), [.report(variation.outcome)])
    if case .failed = variation.outcome {
      expect(host.deadline, nil)
      expect(host.receive(HCIEvent.hardwareError(code: 1).packet, at: .zero), [])
      expect(host.stopScanning(at: .zero), [])
    }
  }

  @Test("each step has two seconds", arguments: 0..<10)
  func silence(_ step: Int) {
    var host = BluetoothHost(HostFixture.settings)
    let script = HostFixture.setUp()
    let opening = host.start(at: .zero)
    _ = converse(&host, opening, Array(script.prefix(step)), at: .zero)
    expect(host.deadline, .zero + .seconds(2))
    expect(host.advance(to: .zero + .milliseconds(1999)), [])
    expect(
      host.advance(to: .zero + .seconds(2)),
      [.report(.failed(.noAnswer(opcode: script[step].command.opcode)))])
  }

  @Test("before the reset is answered, nothing that the controller says counts")
  func formerTimes() {
    var host = BluetoothHost(HostFixture.settings)
    let opening = host.start(at: .zero)
    let stale: [HCIPacket] = [
      HCIEvent.commandComplete(credits: 1, opcode: HCICommand.leRand.opcode, returnParameters: [0]).packet,
      HCIEvent.leConnectionComplete(HostFixture.connection(.peripheral)).packet,
      HCIEvent.hardwareError(code: 1).packet, .event(code: 0x3E, parameters: [0x01]), arriving([1]),
      .command(opcode: 1, parameters: []),
    ]
    for packet in stale { expect(host.receive(packet, at: .zero), []) }
    expect(converse(&host, opening, HostFixture.setUp()), [.report(.ready(HostFixture.description()))])
  }

  @Test("a host that failed, or is in the middle of anything, begins anew")
  func again() {
    var host = BluetoothHost(HostFixture.settings)
    _ = host.start(at: .zero)
    expect(
      host.advance(to: .zero + .seconds(2)), [.report(.failed(.noAnswer(opcode: HCICommand.reset.opcode)))])
    // The answer to the first reset comes late, the one to the second during the set-up.
    var script = HostFixture.setUp()
    let opening = host.start(at: .zero + .seconds(3))
    let second = converse(&host, opening, [script.removeFirst()])
    expect(host.receive(Exchange.done(.reset()).answer.packet, at: .zero), [])
    expect(converse(&host, second, script), [.report(.ready(HostFixture.description()))])
    let links = host.connect(to: HostFixture.peer, ConnectionParameters(), timeout: .seconds(1), at: .zero)
    #expect(links.count == 1)
    let third = host.start(at: .zero)
    expect(converse(&host, third, HostFixture.setUp()), [.report(.ready(HostFixture.description()))])
    #expect(host.deadline == nil && !host.isConnecting)
  }

  @Test("asking anything of a host that is not ready is our own fault")
  func notReady() async {
    await #expect(processExitsWith: .failure) {
      var host = BluetoothHost(HostSettings(address: .staticRandom(1)))
      _ = host.stopScanning(at: .zero)
    }
  }
}
