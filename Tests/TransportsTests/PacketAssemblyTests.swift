import Bluetooth
import Simulation
import TestSupport
import Testing

@testable import Transports

@Suite("Packets in USB transfers")
struct PacketAssemblyTests {
  /// Three packets of an endpoint: short ones, and one that takes several transfers of full speed.
  private static func packets(_ kind: PacketAssembly.Kind) -> [HCIPacket] {
    [[], [1, 2, 3], [UInt8](0..<150)].map { (bytes: [UInt8]) in
      switch kind {
      case .event: .event(code: 0x3E, parameters: bytes)
      case .acl:
        .acl(ACLPacket(handle: ConnectionHandle(rawValue: 0x40), boundary: .firstFlushable, data: bytes))
      }
    }
  }

  /// What goes over the endpoint: H4 without its octet.
  private static func bytes(_ packets: [HCIPacket]) -> [UInt8] { packets.flatMap { $0.h4.dropFirst() } }

  @Test(
    "packets come out whole, wherever transfers divide them", arguments: [PacketAssembly.Kind.event, .acl])
  func divided(kind: PacketAssembly.Kind) throws {
    let packets = Self.packets(kind)
    let bytes = Self.bytes(packets)
    for split in 0...bytes.count {
      var assembly = PacketAssembly(of: kind)
      var out: [HCIPacket] = []
      try assembly.append(bytes[..<split], to: &out)
      let before = out.count
      expect(Self.bytes(Array(packets[..<before])).count + assembly.pendingCount, split)
      try assembly.append(bytes[split...], to: &out)
      expect(out, packets)
      expect(assembly.pendingCount, 0)
    }
  }

  @Test("packets come out whole from transfers of any size", arguments: [PacketAssembly.Kind.event, .acl])
  func sizes(kind: PacketAssembly.Kind) throws {
    let packets = Self.packets(kind)
    let bytes = Self.bytes(packets)
    for size in 1...64 {
      var assembly = PacketAssembly(of: kind)
      var out: [HCIPacket] = []
      for start in stride(from: 0, to: bytes.count, by: size) {
        try assembly.append(bytes[start..<min(start + size, bytes.count)], to: &out)
      }
      expect(out, packets)
    }
  }

  @Test("a length that no controller sends is an error and is not waited for")
  func tooLong() {
    var assembly = PacketAssembly(of: .acl)
    var out: [HCIPacket] = []
    expect(
      #expect(throws: DecodeError.self) { try assembly.append([0x40, 0x20, 0x01, 0x10], to: &out) },
      .value(4097, of: "data length", at: 2))
    expect(out, [])
  }
}
