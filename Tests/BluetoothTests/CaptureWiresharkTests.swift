import Bluetooth
import Foundation
import Basics
import TestSupport
import Testing

private let tshark = "/usr/bin/tshark"
private let hasTShark = FileManager.default.isExecutableFile(atPath: tshark)

@Suite("Packets as Wireshark reads them", .enabled(if: hasTShark, "tshark is not installed"))
struct CaptureWiresharkTests {
  /// Return parameters of the commands that have some.
  private static let answers: [(UInt16, [UInt8])] = [
    (HCICommand.reset.opcode, [0]),
    (
      HCICommand.readLocalVersionInformation.opcode,
      HCICommand.readLocalVersionInformation.success(
        CommandReturn.LocalVersion(
          hciVersion: 0x0C, hciSubversion: 1, lmpVersion: 0x0C, company: 2, lmpSubversion: 3))
    ),
    (
      HCICommand.readLocalSupportedCommands.opcode,
      HCICommand.readLocalSupportedCommands.success(CommandReturn.SupportedCommands())
    ),
    (
      HCICommand.readLocalSupportedFeatures.opcode,
      HCICommand.readLocalSupportedFeatures.success(UInt64(1 << 38))
    ),
    (
      HCICommand.readBufferSize.opcode,
      HCICommand.readBufferSize.success(
        CommandReturn.ReadBufferSize(aclLength: 1021, synchronousLength: 64, aclCount: 8, synchronousCount: 1)
      )
    ),
    (HCICommand.readBDADDR.opcode, HCICommand.readBDADDR.success(BluetoothAddress(0x1122_3344_5566))),
    (HCICommand.readRSSI.opcode, HCICommand.readRSSI.success((link, -60))),
    (
      HCICommand.leReadBufferSize.opcode,
      HCICommand.leReadBufferSize.success(
        CommandReturn.LEReadBufferSize(aclLength: 251, aclCount: 15))
    ),
    (
      HCICommand.leReadLocalSupportedFeatures.opcode,
      HCICommand.leReadLocalSupportedFeatures.success(UInt64(0x59FF))
    ),
    (HCICommand.leReadAdvertisingTxPower.opcode, HCICommand.leReadAdvertisingTxPower.success(Int8(-12))),
    (HCICommand.leReadFilterAcceptListSize.opcode, HCICommand.leReadFilterAcceptListSize.success(UInt8(16))),
    (
      HCICommand.leReadChannelMap.opcode,
      HCICommand.leReadChannelMap.success(
        (link, 0x1F_FFFF_FFFF))
    ),
    (HCICommand.leEncrypt.opcode, HCICommand.leEncrypt.success(UUID128(high: 1, low: 2))),
    (HCICommand.leRand.opcode, HCICommand.leRand.success(UInt64(3))),
    (HCICommand.leReadSupportedStates.opcode, HCICommand.leReadSupportedStates.success(UInt64(0x3FF))),
    (HCICommand.leSetDataLength.opcode, HCICommand.leSetDataLength.success(link)),
    (
      HCICommand.leReadSuggestedDefaultDataLength.opcode,
      HCICommand.leReadSuggestedDefaultDataLength.success(
        (27, 328))
    ),
    (HCICommand.leReadMaximumDataLength.opcode, HCICommand.leReadMaximumDataLength.success(DataLength())),
    (
      HCICommand.leReadPHY.opcode,
      HCICommand.leReadPHY.success((link, 1, 2))
    ),
  ]
  private static let link = ConnectionHandle(rawValue: 0x0040)

  @Test("Wireshark knows every packet and finds none malformed")
  func everyPacket() throws {
    var packets = HCICommandTests.vectors.map { ($0.1.packet, isReceived: false) }
    packets += HCIEventTests.vectors.map { ($0.1.packet, isReceived: true) }
    for (opcode, returnParameters) in Self.answers {
      let event = HCIEvent.commandComplete(credits: 1, opcode: opcode, returnParameters: returnParameters)
      packets.append((event.packet, isReceived: true))
    }
    for frame in Self.frames {
      let data = frame.encoded
      packets.append(
        (.acl(ACLPacket(handle: Self.link, boundary: .firstFlushable, data: data)), isReceived: true))
    }
    let lines = try Self.read(packets)
    expect(lines.count, packets.count)
    for (line, packet) in zip(lines, packets) where Self.complains(line) {
      Issue.record("\(packet.0.h4.hex) is \(line)")
    }
  }

  /// Read Multiple Variable, which stands for the opcodes that are not known here, is not known there either.
  private static let frames =
    ATTPacketTests.vectors.filter { $0.1.opcode != 0x20 }.map { L2CAPFrame(.att, $0.1.encoded) }
    + L2CAPTests.signalling.map { L2CAPFrame(.signalling, $0.1.encoded) }
    + L2CAPTests.security.map { L2CAPFrame(.security, $0.1.encoded) }

  private static func complains(_ line: String) -> Bool {
    ["Malformed", "Sent Unknown", "Rcvd Unknown", "Sent <unknown>", "Rcvd <unknown>"].contains {
      line.contains($0)
    }
  }

  /// What tshark says of each packet of a capture, a line for each.
  private static func read(_ packets: [(HCIPacket, isReceived: Bool)]) throws -> [String] {
    var bytes = BTSnoop.header
    for (index, (packet, isReceived)) in packets.enumerated() {
      let time = BTSnoop.unixEpoch + UInt64(index)
      BTSnoop.Record(time: time, isReceived: isReceived, packet: packet.h4).encode(into: &bytes)
    }
    let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).btsnoop")
    try Data(bytes).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let result = try Program.run(tshark, ["-r", file.path])
    expect(result.status, 0)
    let text = String(decoding: result.output, as: UTF8.self)
    return text.split(separator: "\n").map(String.init)
  }
}
