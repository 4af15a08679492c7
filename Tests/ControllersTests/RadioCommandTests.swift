import Conformance
@testable import Controllers
import Bluetooth
import Basics
import TestSupport
import Testing

/// A command in a situation, and the answer from the status on.
struct CommandCase: Sendable, CustomTestStringConvertible {
  enum ExplorationState: String, Sendable {
    case powered = "never reset"
    case ready
    case advertising
    case advertisingFiltered = "advertising with the accept list"
    case scanning
    case scanningFiltered = "scanning with the accept list"
    case connecting
    case connectingFiltered = "connecting with the accept list"
    case central
    case peripheral
    case ending
    case fullAcceptList = "with a full accept list"
    case fullOfLinks = "with as many links as it can have"
    case updating
  }

  var explorationState: ExplorationState
  var command: HCICommand
  var answer: String

  init(_ explorationState: ExplorationState, _ command: HCICommand, _ answer: String) {
    self.explorationState = explorationState
    self.command = command
    self.answer = answer
  }

  var testDescription: String { "\(explorationState.rawValue): \(command) → \(answer)" }
}

private let handle = RadioBench.handle()
private let nobody = ConnectionHandle(rawValue: 0x0EFE)
private let thirdParty = PeerAddress(.randomDevice, .staticRandom(0xFFFF))
private let identity = PeerAddress(.publicIdentity, BluetoothAddress(5))
private let timing = ConnectionParameters()

private let advertisingCases: [CommandCase] = [
  .init(.powered, .leSetAdvertisingEnable(true), "00"),  // its public address is its own
  .init(.powered, .leSetAdvertisingParameters(.init()), "00"),
  .init(.ready, .leSetAdvertisingParameters(.init(minimumInterval: 0x20, maximumInterval: 0x20)), "00"),
  .init(.ready, .leSetAdvertisingParameters(.init(minimumInterval: 0x4000, maximumInterval: 0x4000)), "00"),
  .init(.ready, .leSetAdvertisingParameters(.init(minimumInterval: 0x1F)), "12"),
  .init(.ready, .leSetAdvertisingParameters(.init(maximumInterval: 0x4001)), "12"),
  .init(.ready, .leSetAdvertisingParameters(.init(minimumInterval: 0xA1)), "12"),
  .init(
    .ready,
    .leSetAdvertisingParameters(.init(minimumInterval: 0, kind: .directedHighDuty)), "00"),
  .init(.ready, .leSetAdvertisingParameters(.init(kind: .directedLowDuty, peer: identity)), "12"),
  .init(.ready, .leSetAdvertisingParameters(.init(ownAddressType: 2)), "12"),
  .init(.ready, .leSetAdvertisingParameters(.init(channels: 0)), "12"),
  .init(.ready, .leSetAdvertisingParameters(.init(channels: 8)), "12"),
  .init(.ready, .leSetAdvertisingParameters(.init(filterPolicy: 4)), "12"),
  .init(.advertising, .leSetAdvertisingParameters(.init()), "0c"),
  .init(.scanning, .leSetAdvertisingParameters(.init()), "00"),
  .init(.ready, .other(opcode: HCICommand.leSetAdvertisingParameters.opcode, parameters: [1, 2, 3]), "12"),
  .init(.ready, .other(opcode: HCICommand.leSetAdvertisingData.opcode, parameters: [32]), "12"),
  .init(.advertising, .leSetAdvertisingData([2, 1, 6]), "00"),
  .init(.advertising, .leSetScanResponseData([2, 1, 6]), "00"),
  .init(.advertising, .leSetAdvertisingEnable(true), "00"),
  .init(.ready, .leSetAdvertisingEnable(false), "00"),
  .init(.ready, .other(opcode: HCICommand.leSetAdvertisingEnable.opcode, parameters: [2]), "12"),
  .init(.fullOfLinks, .leSetAdvertisingEnable(true), "09"),
  .init(.powered, .leSetRandomAddress(.staticRandom(3)), "00"),
  .init(.advertising, .leSetRandomAddress(.staticRandom(3)), "0c"),
  .init(.scanning, .leSetRandomAddress(.staticRandom(3)), "0c"),
  .init(.connecting, .leSetRandomAddress(.staticRandom(3)), "0c"),
  .init(.central, .leSetRandomAddress(.staticRandom(3)), "00"),
]

private let listeningCases: [CommandCase] = [
  .init(.ready, .leSetScanParameters(.init(interval: 4, window: 4)), "00"),
  .init(.ready, .leSetScanParameters(.init(interval: 0x4000, window: 0x4000)), "00"),
  .init(.ready, .leSetScanParameters(.init(interval: 0x4001, window: 4)), "12"),
  .init(.ready, .leSetScanParameters(.init(interval: 0x10, window: 3)), "12"),
  .init(.ready, .leSetScanParameters(.init(interval: 0x10, window: 0x11)), "12"),
  .init(.ready, .leSetScanParameters(.init(ownAddressType: 3)), "12"),
  .init(.ready, .leSetScanParameters(.init(filterPolicy: 2)), "12"),
  .init(
    .ready, .other(opcode: HCICommand.leSetScanParameters.opcode, parameters: [2, 16, 0, 16, 0, 0, 0]), "12"),
  .init(.scanning, .leSetScanParameters(.init()), "0c"),
  .init(.advertising, .leSetScanParameters(.init()), "00"),
  .init(.powered, .leSetScanEnable(true, true), "00"),
  .init(.scanning, .leSetScanEnable(true, true), "00"),
  .init(.ready, .leSetScanEnable(false, false), "00"),
  .init(.ready, .other(opcode: HCICommand.leSetScanEnable.opcode, parameters: [1, 2]), "12"),
  .init(.ready, .leCreateConnection(.init(peer: thirdParty)), "00"),
  .init(.powered, .leCreateConnection(.init(peer: thirdParty)), "12"),
  .init(.ready, .leCreateConnection(.init(peer: thirdParty, scanInterval: 3)), "12"),
  .init(.ready, .leCreateConnection(.init(peer: thirdParty, scanInterval: 4, scanWindow: 5)), "12"),
  .init(.ready, .leCreateConnection(.init(peer: identity)), "12"),
  .init(.ready, .leCreateConnection(.init(peer: identity, usesFilterAcceptList: true)), "00"),
  .init(.ready, .leCreateConnection(.init(peer: thirdParty, ownAddressType: 2)), "12"),
  .init(.ready, .leCreateConnection(.init(peer: thirdParty, parameters: .init(minimumInterval: 5))), "12"),
  .init(.ready, .leCreateConnection(.init(peer: thirdParty, parameters: .init(minimumInterval: 7))), "12"),
  .init(.ready, .leCreateConnection(.init(peer: thirdParty, parameters: .init(latency: 0x1F4))), "12"),
  .init(.ready, .leCreateConnection(.init(peer: thirdParty, parameters: .init(supervisionTimeout: 9))), "12"),
  // 2 s is more than twice 133 times 7.5 ms, and less than twice 134 times.
  .init(.ready, .leCreateConnection(.init(peer: thirdParty, parameters: .init(latency: 132))), "00"),
  .init(.ready, .leCreateConnection(.init(peer: thirdParty, parameters: .init(latency: 133))), "12"),
  .init(.connecting, .leCreateConnection(.init(peer: thirdParty)), "0c"),
  .init(.scanning, .leCreateConnection(.init(peer: thirdParty)), "00"),
  .init(.central, .leCreateConnection(.init(peer: RadioBench.address(1))), "0b"),
  .init(.central, .leCreateConnection(.init(peer: thirdParty)), "00"),
  .init(.peripheral, .leCreateConnection(.init(peer: RadioBench.address(1))), "0b"),
  .init(.fullOfLinks, .leCreateConnection(.init(peer: thirdParty)), "09"),
  .init(.ready, .leCreateConnectionCancel(), "0c"),
  .init(.central, .leCreateConnectionCancel(), "0c"),
  .init(.connecting, .leCreateConnectionCancel(), "00"),
  .init(.ready, .leReadFilterAcceptListSize(), "0008"),
  .init(.ready, .leAddToFilterAcceptList(thirdParty), "00"),
  .init(.ready, .leAddToFilterAcceptList(identity), "12"),
  .init(.fullAcceptList, .leAddToFilterAcceptList(thirdParty), "07"),
  .init(.fullAcceptList, .leAddToFilterAcceptList(RadioBench.address(7)), "00"),  // which is there
  .init(.ready, .leRemoveFromFilterAcceptList(thirdParty), "00"),
  .init(.advertising, .leAddToFilterAcceptList(thirdParty), "00"),
  .init(.scanning, .leAddToFilterAcceptList(thirdParty), "00"),
  .init(.connecting, .leAddToFilterAcceptList(thirdParty), "00"),
  .init(.advertisingFiltered, .leAddToFilterAcceptList(thirdParty), "0c"),
  .init(.scanningFiltered, .leRemoveFromFilterAcceptList(thirdParty), "0c"),
  .init(.connectingFiltered, .leClearFilterAcceptList(), "0c"),
]

private let linkCases: [CommandCase] = [
  .init(.ready, .disconnect(handle, .remoteUserTerminated), "02"),
  .init(.central, .disconnect(nobody, .remoteUserTerminated), "02"),
  .init(.central, .disconnect(handle, .remoteUserTerminated), "00"),
  .init(.peripheral, .disconnect(handle, .remoteLowResources), "00"),
  .init(.central, .disconnect(handle, .localHostTerminated), "12"),
  .init(.central, .disconnect(handle, .success), "12"),
  .init(.ending, .disconnect(handle, .remoteUserTerminated), "0c"),
  .init(.central, .other(opcode: HCICommand.disconnect.opcode, parameters: [0x40, 0]), "12"),
  .init(.ready, .readRemoteVersionInformation(handle), "02"),
  .init(.central, .readRemoteVersionInformation(handle), "00"),
  .init(.peripheral, .readRemoteVersionInformation(handle), "00"),
  .init(.ready, .readRSSI(handle), "024000"),
  .init(.central, .readRSSI(handle), "004000c4"),
  .init(.peripheral, .readRSSI(handle), "004000c4"),
  .init(.ready, .leConnectionUpdate(handle, timing), "02"),
  .init(.central, .leConnectionUpdate(handle, timing), "00"),
  .init(.peripheral, .leConnectionUpdate(handle, timing), "00"),
  .init(.central, .leConnectionUpdate(handle, .init(minimumInterval: 5)), "12"),
  .init(.updating, .leConnectionUpdate(handle, timing), "0c"),
  .init(.ready, .leReadChannelMap(handle), "024000"),
  .init(.central, .leReadChannelMap(handle), "004000ffffffff1f"),
  .init(.ready, .leReadRemoteFeatures(handle), "02"),
  .init(.central, .leReadRemoteFeatures(handle), "00"),
  .init(.peripheral, .leReadRemoteFeatures(handle), "00"),
  .init(.ready, .leLongTermKeyRequestNegativeReply(handle), "024000"),
  .init(.peripheral, .leLongTermKeyRequestNegativeReply(handle), "0c4000"),
  .init(.ready, .leRemoteConnectionParameterRequestReply(handle, timing), "024000"),
  .init(.central, .leRemoteConnectionParameterRequestReply(handle, timing), "0c4000"),
  .init(.central, .leRemoteConnectionParameterRequestReply(handle, .init(minimumInterval: 1)), "124000"),
  .init(.peripheral, .leRemoteConnectionParameterRequestReply(handle, timing), "0c4000"),
  .init(.ready, .leRemoteConnectionParameterRequestNegativeReply(handle, .unspecified), "024000"),
  .init(.central, .leRemoteConnectionParameterRequestNegativeReply(handle, .unspecified), "0c4000"),
  .init(.ready, .leSetDataLength(handle, 251, 2120), "024000"),
  .init(.central, .leSetDataLength(handle, 26, 2120), "124000"),
  .init(.central, .leSetDataLength(handle, 252, 2120), "124000"),
  .init(.central, .leSetDataLength(handle, 251, 327), "124000"),
  .init(.central, .leSetDataLength(handle, 251, 17041), "124000"),
  .init(.central, .leSetDataLength(handle, 251, 17040), "004000"),
  .init(.central, .other(opcode: HCICommand.leSetDataLength.opcode, parameters: []), "120000"),
  .init(.ready, .leReadPHY(handle), "024000"),
  .init(.central, .leReadPHY(handle), "0040000101"),
]

private let otherCases: [CommandCase] = [
  .init(.advertising, .reset(), "00"),
  .init(.central, .reset(), "00"),
  .init(.ready, .other(opcode: HCICommand.reset.opcode, parameters: [0]), "12"),
  .init(.ready, .setEventMask(0), "00"),
  .init(.ready, .setEventMaskPage2(0), "00"),
  .init(.ready, .leSetEventMask(0), "00"),
  .init(.powered, .readLocalVersionInformation(), "000d01000dffff0100"),
  .init(.powered, .readLocalSupportedFeatures(), "000000000060000000"),
  .init(.powered, .readBufferSize(), "0000000000000000"),
  .init(.powered, .readBDADDR(), "000100004b4c02"),
  .init(.powered, .leReadBufferSize(), "00fb0008"),
  .init(.powered, .leReadLocalSupportedFeatures(), "002e00000000000000"),
  .init(.powered, .leReadAdvertisingTxPower(), "0000"),
  .init(.powered, .leReadSupportedStates(), "00ffffffffff030000"),
  .init(.powered, .leReadSuggestedDefaultDataLength(), "001b004801"),
  .init(.powered, .leReadMaximumDataLength(), "00fb004808fb004808"),
  .init(.ready, .leWriteSuggestedDefaultDataLength(26, 328), "12"),
  .init(.ready, .leWriteSuggestedDefaultDataLength(251, 17040), "00"),
  .init(.ready, .leSetDefaultPHY(3, 0, 0), "00"),
  .init(.ready, .leSetDefaultPHY(0, 1, 3), "00"),
  .init(.ready, .leSetDefaultPHY(0, 0, 1), "12"),
  .init(.ready, .leSetDefaultPHY(1, 0, 2), "11"),
  .init(.ready, .leSetDefaultPHY(0, 9, 1), "11"),
  // FIPS 197, Appendix C.1, least significant byte first.
  .init(
    .ready,
    .leEncrypt(
      UUID128(high: 0x0F0E_0D0C_0B0A_0908, low: 0x0706_0504_0302_0100),
      UUID128(high: 0xFFEE_DDCC_BBAA_9988, low: 0x7766_5544_3322_1100)),
    "005ac5b47080b7cdd830047b6ad8e0c469"),
  // Not known: LE Enable Encryption, LE Read Buffer Size version 2, extended advertising, a vendor's own.
  .init(.central, .other(opcode: 0x2019, parameters: Array(repeating: 0, count: 28)), "01"),
  .init(.ready, .other(opcode: 0x2060, parameters: []), "01"),
  .init(.ready, .other(opcode: 0x2036, parameters: []), "01"),
  .init(.ready, .other(opcode: 0xFC00, parameters: [1, 2]), "01"),
]

@Suite("commands of an emulated controller")
struct RadioCommandTests {
  @Test(
    "is answered in every state as the specification says",
    arguments: advertisingCases + listeningCases + linkCases + otherCases)
  func answer(_ test: CommandCase) {
    var bench = RadioBench(0)
    let settings = ControllerSettings(linkLimit: test.explorationState == .fullOfLinks ? 1 : 8)
    for _ in 0..<2 { _ = bench.radio.addController(settings) }
    if test.explorationState != .powered {
      bench.setUp(0)
      bench.setUp(1)
    }
    bench.bring(about: test.explorationState)
    expect(bench.order(0, test.command).hex, test.answer)
    expect(bench.radio.protocolViolations, [])
  }

  @Test("a random address that is not set is refused where it is needed, and only there")
  func randomAddressMissing() {
    var bench = RadioBench(0)
    _ = bench.radio.addController()
    bench.order(0, .leSetAdvertisingParameters(AdvertisingParameters(ownAddressType: 1)))
    bench.order(0, .leSetScanParameters(ScanParameters(ownAddressType: 1)))
    expect(bench.order(0, .leSetAdvertisingEnable(true)), [0x12])
    expect(bench.order(0, .leSetScanEnable(true, false)), [0x12])
    expect(
      bench.order(0, .leCreateConnection(ConnectionRequest(peer: thirdParty, ownAddressType: 0))), [0x00])
  }

  @Test("says that it knows exactly the commands that it knows")
  func supportedCommands() throws {
    for features in [ControllerSettings.implementedFeatures, 0] {
      var bench = RadioBench(1, RadioSettings(), ControllerSettings(features: features))
      let returned = bench.order(0, .readLocalSupportedCommands())
      let supported = try HCICommand.readLocalSupportedCommands.returned(returned)
      var bits = 0
      for octet in 0..<64 {
        for bit in 0..<8 where supported[octet: octet, bit: bit] { bits += 1 }
      }
      var known = 0
      for opcode in (0...0x7F).flatMap({ low in
        [0x0400, 0x0800, 0x0C00, 0x1000, 0x1400, 0x2000].map { $0 + low }
      }) {
        bench.send(0, .command(opcode: UInt16(opcode), parameters: []))
        let isUnknown = bench.answers().contains { $0.contains("credits 1: 01") && $0.contains("status") }
        if !isUnknown { known += 1 }
      }
      // Read Local Supported Commands has no bit of its own.
      expect(known, bits + 1)
      expect(bits, features == 0 ? 36 : 42)
    }
  }

  @Test("draws other numbers each time, and the same ones for the same seed")
  func rand() {
    var first = RadioBench(seed: 4)
    var second = RadioBench(seed: 4)
    var other = RadioBench(seed: 5)
    let numbers = (0..<3).map { _ in first.order(0, .leRand()) }
    expect(Set(numbers).count, 3)
    expect((0..<3).map { _ in second.order(0, .leRand()) }, numbers)
    #expect((0..<3).map { _ in other.order(0, .leRand()) } != numbers)
  }

  @Test("a reset ends everything without a word, and the host hears nothing but its answer")
  func reset() {
    var bench = RadioBench(3)
    bench.connect(ConnectionParameters(supervisionTimeout: 10))
    bench.advertise(2)
    bench.scan(0)
    _ = bench.pass(.seconds(1))
    let now = bench.now
    expect(bench.order(0, .reset()), [0])
    expect(bench.pass(.seconds(1)).filter { $0.contains(" 0 ") }, [])
    expect(bench.order(0, .readRSSI(handle)), [2, 0x40, 0])
    // The defaults are those of the beginning: the public address, and no LE events.
    bench.order(0, .leSetScanEnable(true, false))
    expect(bench.pass(.seconds(1)), [])
    _ = now
  }

  @Test("events are masked, but not the answers to commands and the buffers that are free again")
  func masks() {
    var bench = RadioBench()
    bench.order(0, .leSetEventMask(~0b11))
    bench.advertise(1)
    bench.scan(0)
    expect(bench.pass(.seconds(1)), [])
    bench.order(0, .leCreateConnection(ConnectionRequest(peer: RadioBench.address(1))))
    expect(
      bench.pass(.seconds(1)).map { $0.split(separator: " ", maxSplits: 1)[1].prefix(11) }, ["1 connected"])
    bench.order(0, .setEventMask(0))
    bench.send(0, RadioBench.frame(10))
    let heard = bench.pass(.seconds(1)).map { String($0.split(separator: " ", maxSplits: 1)[1]) }
    expect(heard, ["1 data 0x0040 firstFlushable 10: 060004000001", "0 sent 0x0040 1"])
    bench.order(0, .disconnect(handle, .remoteUserTerminated))
    expect(
      bench.pass(.seconds(1)).map { String($0.split(separator: " ", maxSplits: 1)[1]) },
      ["1 disconnected 0x0040 13"])
  }
}

extension RadioBench {
  /// What waits for the hosts, as text.
  mutating func answers() -> [String] {
    collect()
    return pass(.zero)
  }

  fileprivate mutating func bring(about explorationState: CommandCase.ExplorationState) {
    switch explorationState {
    case .powered, .ready: break
    case .advertising: advertise(0)
    case .advertisingFiltered: advertise(0, AdvertisingParameters(filterPolicy: 2))
    case .scanning: scan(0)
    case .scanningFiltered: scan(0, ScanParameters(filterPolicy: 1))
    case .connecting: order(0, .leCreateConnection(ConnectionRequest(peer: thirdParty)))
    case .connectingFiltered:
      order(0, .leCreateConnection(ConnectionRequest(peer: thirdParty, usesFilterAcceptList: true)))
    case .central, .fullOfLinks: connect()
    case .peripheral: connect(central: 1, peripheral: 0)
    case .ending:
      connect()
      order(0, .disconnect(Self.handle(), .remoteUserTerminated))
    case .updating:
      connect()
      order(0, .leConnectionUpdate(Self.handle(), timing))
    case .fullAcceptList:
      for number in 0..<8 { order(0, .leAddToFilterAcceptList(RadioBench.address(number))) }
    }
  }
}
