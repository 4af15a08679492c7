import Basics

/// The channels of a link: ATT, L2CAP signalling, and the security manager, which refuses all pairing (Core
/// 5.4, Vol 3 Part A §2.1, Part H §3).
extension BluetoothHost {
  /// The maximum number of responses that wait in a full queue; a link with more is disconnected.
  private static var answerLimit: Int { 32 }

  /// Receives a frame.
  mutating func receiveFrame(_ frame: [UInt8], _ index: Int, at now: Instant) {
    var reader = ByteReader(frame.span)
    // The frame was assembled by its length.
    guard let _ = try? reader.u16(), let channel = try? reader.u16() else { return }
    switch L2CAPChannel(rawValue: channel) {
    case .att?: receiveATT(&reader, index, at: now)
    case .signalling?: receiveSignalling(reader.rest(), index, at: now)
    case .security?: receiveSecurity(&reader, index, at: now)
    case .securityBREDR?, nil:
      ignore(.channel, "a frame on channel 0x\(channel.hex), which does not exist", index)
    }
  }

  /// Ignores an input of the other end that is reserved (Core 5.4, Vol 3 Part A §2.1, Part H §3.3).
  private mutating func ignore(_ kind: Reserved, _ sentence: String, _ index: Int) {
    if !links[index].ignored.takeNew(from: kind).isEmpty { reportViolation(links[index].id, sentence) }
  }

  private mutating func receiveATT(_ reader: inout ByteReader, _ index: Int, at now: Instant) {
    let size = reader.remaining
    guard size <= Int(links[index].gatt.mtu) else {
      return reportViolation(
        links[index].id, "an ATT packet of \(size) bytes, where the MTU is \(links[index].gatt.mtu)")
    }
    let opcode = reader.peek()
    do {
      let packet = try ATTPacket(decoding: &reader)
      carryOut(links[index].gatt.receive(packet, &database, at: now), index, at: now)
    } catch {
      guard let opcode else { return reportViolation(links[index].id, "an empty ATT packet") }
      carryOut(links[index].gatt.receiveUndecodable(opcode: opcode, at: now), index, at: now)
    }
  }

  private mutating func receiveSecurity(_ reader: inout ByteReader, _ index: Int, at now: Instant) {
    do {
      switch try SecurityPacket(decoding: &reader) {
      case .pairingRequest, .securityRequest:
        answer(.security, SecurityPacket.pairingFailed(.pairingNotSupported), index, at: now)
      case .pairingFailed:
        break
      case .other(let code, _) where SecurityPacket.name(of: code) == nil:
        ignore(.securityCode, "security command 0x\([code].hex), which does not exist", index)
      case .other(let code, _):
        reportViolation(links[index].id, "security command 0x\([code].hex) without pairing")
      }
    } catch {
      // Offsets count from the beginning of the command, as everywhere.
      let inside = error.shifted(by: -L2CAPFrame.headerSize)
      reportViolation(links[index].id, "a security command that does not decode, \(inside)")
    }
  }
}

extension BluetoothHost {
  /// Sends a packet on a channel. It is always accepted; but a peer that keeps sending requests without reading the
  /// answers is disconnected.
  mutating func answer(
    _ channel: L2CAPChannel, _ packet: some BinaryCodable, _ index: Int, at now: Instant
  ) {
    guard links[index].outgoing.count < settings.queueLimit + Self.answerLimit else {
      reportViolation(links[index].id, "more requests than answers can be sent")
      return endLink(index, .remoteLowResources, at: now)
    }
    sendFrame(frame(channel, packet, capacity: Int(links[index].gatt.mtu)), index)
  }

  /// The bytes of a frame, including its header.
  func frame(_ channel: L2CAPChannel, _ packet: some BinaryCodable, capacity: Int) -> [UInt8] {
    var frame: [UInt8] = []
    frame.reserveCapacity(L2CAPFrame.headerSize + capacity)
    frame.append(littleEndian: 0 as UInt16)
    frame.append(littleEndian: channel.rawValue)
    packet.encode(into: &frame)
    let length = frame.count - L2CAPFrame.headerSize
    frame[0] = UInt8(truncatingIfNeeded: length)
    frame[1] = UInt8(truncatingIfNeeded: length >> 8)
    return frame
  }
}
