import System
import Bluetooth
import CLibUSB
import Glibc
import Basics
import TestSupport
import Testing

@testable import Transports

private let event = HCIPacket.event(code: 0x0E, parameters: [0x01, 0x03, 0x0C, 0x00])
private let empty = HCIPacket.event(code: 0x10, parameters: [])
private let data = HCIPacket.acl(
  ACLPacket(handle: ConnectionHandle(rawValue: 0x040), boundary: .firstFlushable, data: Array(0..<100)))

@Suite("Packets out of transfers")
struct PacketAssemblyTests {
  @Test("packets are whole wherever transfers divide them", arguments: 1...20)
  func divided(size: Int) throws {
    for (kind, packets) in [(PacketAssembly.Kind.event, [event, empty, event]), (.acl, [data, data])] {
      let bytes = packets.flatMap { $0.h4.dropFirst() }
      var assembly = PacketAssembly(of: kind)
      var taken: [HCIPacket] = []
      for start in stride(from: 0, to: bytes.count, by: size) {
        try assembly.append(bytes[start..<min(start + size, bytes.count)], to: &taken)
      }
      expect(taken, packets)
      expect(assembly.pendingCount, 0)
    }
  }

  @Test("a length that no controller sends is an error, and nothing is gathered for it")
  func length() {
    var assembly = PacketAssembly(of: .acl)
    var taken: [HCIPacket] = []
    #expect(throws: DecodeError.value(4097, of: "data length", at: 2)) {
      try assembly.append([0x40, 0x20, 0x01, 0x10], to: &taken)
    }
    expect(taken, [])
  }
}

@Suite("Which dongle is meant")
struct DongleChoiceTests {
  fileprivate func dongle(_ path: String, _ vendor: UInt16, serial: String? = nil) -> USBDongle {
    let interface = USBInterface(number: 0, events: 0x81, eventSize: 16, aclIn: 0x82, aclOut: 0x02)
    return USBDongle(path: path, vendor: vendor, product: 1, serial: serial, interface: interface)
  }

  private var dongles: [USBDongle] {
    [
      dongle("1-2", 0x0A12), dongle("1-10", 0x0BDA, serial: "00E0"), dongle("2-1.4", 0x0A12),
      dongle("2-1.5", 0x0BDA, serial: "00E1"),
    ]
  }

  @Test(
    "a selector picks one of those that are plugged in, or none",
    arguments: [
      ("usb:0", "1-2"), ("usb:2", "2-1.4"), ("usb:4", nil), ("usb:0A12:0001", "1-2"),
      ("usb:0A12:0001#1", "2-1.4"), ("usb:0A12:0001#2", nil), ("usb:0A12:0002", nil),
      ("usb:0BDA:0001/00E1", "2-1.5"), ("usb:0BDA:0001/00E2", nil), ("usb:2-1.4", "2-1.4"), ("usb:3-1", nil),
    ] as [(String, String?)])
  func pick(text: String, path: String?) throws {
    guard case .usb(let selector) = try TransportSpec(text: text) else { return }
    expect(USBDongle.pick(selector, from: dongles)?.path, path)
  }

  @Test("after a fault the same dongle is meant, here or elsewhere, and never another")
  func again() {
    let plain = dongle("1-2", 0x0A12)
    expect(plain.match(in: dongles)?.path, "1-2")
    expect(plain.match(in: [dongle("1-3", 0x0A12)])?.path, "1-3")
    expect(plain.match(in: [dongle("1-3", 0x0A12), dongle("1-4", 0x0A12)]), nil)
    expect(plain.match(in: [dongle("1-3", 0x0BDA)]), nil)
    let named = dongle("1-2", 0x0BDA, serial: "00E1")
    expect(named.match(in: dongles)?.path, "2-1.5")
    expect(named.match(in: [dongle("1-10", 0x0BDA, serial: "00E0")]), nil)
  }
}

extension DongleChoiceTests {
  @Test(
    "each refusal of libusb is one sentence with its cure",
    arguments: [
      (LIBUSB_ERROR_ACCESS, .unavailable, #"ATTR{idVendor}=="0a12", ATTR{idProduct}=="0001""#),
      (LIBUSB_ERROR_BUSY, .busy, "another program uses the dongle at 1-2"),
      (LIBUSB_ERROR_NO_DEVICE, .unavailable, "the dongle at 1-2 is gone"),
      (LIBUSB_ERROR_IO, .unavailable, "the dongle at 1-2 cannot be used (Input/Output Error)"),
    ] as [(libusb_error, TransportFault.Symptom, String)])
  func refusals(error: libusb_error, symptom: TransportFault.Symptom, text: String) {
    let fault = dongle("1-2", 0x0A12).refusal("usb:0", error.rawValue)
    expect(fault.symptom, symptom)
    #expect(fault.detail.hasPrefix("usb:0: ") && fault.detail.contains(text), "\(fault)")
    #expect(!fault.detail.contains("\n"))
  }
}

@Suite("Packets as datagrams")
struct DatagramTests {
  /// A line as the user channel gives one, and its other end.
  private func pair() throws -> (line: DescriptorLine, other: Int32) {
    var ends: [Int32] = [-1, -1]
    let kind = Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    _ = try check(unsafe socketpair(AF_UNIX, kind, 0, &ends))
    let line = DescriptorLine(
      .init(peer: ends[0], isDatagram: true), name: "hci-socket:0", settings: TransportSettings())
    return (line, ends[1])
  }

  private func service(_ line: DescriptorLine) -> (packets: [HCIPacket], fault: TransportFault?) {
    var traffic = Traffic()
    var fault: TransportFault?
    do throws(TransportFault) { try line.service(&traffic, at: Waiting.now) } catch { fault = error }
    var packets: [HCIPacket] = []
    while let packet = traffic.inbox.popFirst() { packets.append(packet) }
    return (packets, fault)
  }

  @Test("each holds a packet, both ways")
  func whole() throws {
    let (line, other) = try pair()
    defer { close(other) }
    for packet in [event, data] { _ = unsafe write(other, packet.h4, packet.h4.count) }
    let (packets, fault) = service(line)
    expect(packets, [event, data])
    expect(fault, nil)
    try line.send(data, at: Waiting.now)
    try line.send(event, at: Waiting.now)
    var bytes = [UInt8](repeating: 0, count: 1000)
    expect(unsafe read(other, &bytes, bytes.count), data.h4.count)
    expect(unsafe read(other, &bytes, bytes.count), event.h4.count)
  }

  @Test("one that is shorter than it says is nonsense, and does not take from the next")
  func short() throws {
    let (line, other) = try pair()
    defer { close(other) }
    for bytes in [event.h4, Array(data.h4.dropLast()), event.h4] {
      _ = unsafe write(other, bytes, bytes.count)
    }
    let (packets, fault) = service(line)
    expect(packets, [event])
    expect(fault, TransportFault(.malformed, "hci-socket:0 sent a packet that is shorter than it says"))
  }

  @Test(
    "each refusal of the kernel is one sentence with its cure",
    arguments: [
      (
        EAFNOSUPPORT, .unavailable,
        "hci-socket:3: this kernel has no Bluetooth sockets; sudo modprobe bluetooth"
      ),
      (EBUSY, .busy, "sudo hciconfig hci3 down"), (EPERM, .unavailable, "setcap cap_net_admin"),
      (ENODEV, .unavailable, "there is no adapter hci3"), (ERFKILL, .unavailable, "rfkill unblock"),
      (EIO, .unavailable, "hci3 cannot be used (Input/output error)"),
    ] as [(Int32, TransportFault.Symptom, String)])
  func refusals(code: Int32, symptom: TransportFault.Symptom, text: String) {
    let fault = UserChannel.refused(3, "hci-socket:3", code)
    expect(fault.symptom, symptom)
    #expect(fault.detail.contains(text), "\(fault)")
    #expect(!fault.detail.contains("\n"))
  }
}

@Suite("Transports and hostile bytes")
struct TransportNoiseTests {
  /// Packets, packets with a byte changed, halves of packets, and noise.
  private func noise(_ generator: inout SeededGenerator) -> [UInt8] {
    var bytes: [UInt8] = []
    for _ in 0..<generator.below(20) {
      var packet = (generator.below(2) == 0 ? event : data).h4
      switch generator.below(12) {
      case 0: packet[generator.below(packet.count)] = UInt8(generator.below(256))
      case 1: packet.removeLast(generator.below(packet.count))
      case 2: packet = generator.bytes(generator.below(300))
      default: break
      }
      bytes += packet
    }
    return bytes
  }

  @Test("noise makes packets and faults, and nothing grows", arguments: [UInt64(1), 2])
  func noise(seed: UInt64) throws {
    let rig = try TransportRig(.unixClient) { $0.packetTimeout = .milliseconds(5) }
    var generator = SeededGenerator(seed: seed)
    var symptoms: [TransportFault.Symptom: Int] = [:]
    var rounds = 0
    while rounds < 100 || symptoms.count < 3 {
      rounds += 1
      rig.say(noise(&generator))
      if generator.below(10) == 0 { rig.hangUp() }
      do throws(TransportFault) {
        while try rig.transport.receive(until: rig.transport.now + .milliseconds(6)) != nil {}
      } catch {
        symptoms[error.symptom, default: 0] += 1
        #expect(!error.detail.isEmpty && !error.detail.contains("\n"))
        rig.hangUp()
        try rig.transport.reopen()
        try rig.meet()
        #expect(rig.transport.takeDiagnostics().count <= 10)
      }
    }
    for symptom in [TransportFault.Symptom.malformed, .silent, .lost] {
      #expect(symptoms[symptom, default: 0] > 0, "\(symptoms)")
    }
  }
}
