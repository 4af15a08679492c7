import Bluetooth
import Basics

/// Fragments of one link, one behind the other; and the same bytes as a signalling and a security command.
func checkLink(_ bytes: [UInt8]) throws(DecoderDefect) {
  try check(SignallingPacket.self, bytes)
  try check(SecurityPacket.self, bytes)
  if let frame = try check(L2CAPFrame.self, bytes) { try checkFrame(frame) }
  var reader = ByteReader(bytes.span)
  while let packet = try? ACLPacket(decoding: &reader) {
    try check(ACLPacket.self, packet.encoded)
    if let frame = try check(L2CAPFrame.self, packet.data) { try checkFrame(frame) }
  }
}

private func checkFrame(_ frame: L2CAPFrame) throws(DecoderDefect) {
  switch L2CAPChannel(rawValue: frame.channel) {
  case .att: try check(ATTPacket.self, frame.payload)
  case .signalling: try check(SignallingPacket.self, frame.payload)
  case .security, .securityBREDR: try check(SecurityPacket.self, frame.payload)
  case nil: break
  }
}

/// A packet; and, as pieces, what a server and a client hear on a link.
func checkATT(_ bytes: [UInt8]) throws(DecoderDefect) {
  try check(ATTPacket.self, bytes)
  let pieces = bytes.pieces
  let handle = AttributeHandle(rawValue: 1)
  checkGATT(pieces, procedures: [])
  checkGATT(
    pieces,
    procedures: [
      .exchangeMTU, .discoverServices(BluetoothUUID(0xFD81)), .discoverAllServices,
      .discoverCharacteristics(.all, wanted: []), .discoverDescriptors(.all, wanted: nil), .read(handle),
      .write(handle, [UInt8](repeating: 7, count: 40)),
    ])
}

/// Lets a link hear packets, after it has begun some procedures; it may complain of them, and must not trap.
private func checkGATT(_ pieces: [[UInt8]], procedures: [GATTProcedure]) {
  var database = GATTDatabase([
    ServiceDefinition(
      BluetoothUUID(0xFD81),
      [
        .init(BluetoothUUID(0x2A00), [.read, .write], value: [UInt8](repeating: 1, count: 60)),
        .init(BluetoothUUID(0x2A01), [.writeWithoutResponse, .notify, .indicate]),
      ])
  ])
  var link = GATTLink(offering: 247)
  var now = Instant.zero
  for procedure in procedures { _ = link.start(procedure, at: now) }
  for piece in pieces {
    now = now + .milliseconds(50)
    do throws(DecodeError) {
      _ = link.receive(try ATTPacket(decoding: piece), &database, at: now)
    } catch {
      guard let opcode = piece.first else { continue }
      _ = link.receiveUndecodable(opcode: opcode, at: now)
    }
    if let deadline = link.deadline, deadline <= now { _ = link.advance(to: now) }
  }
  _ = link.linkLost()
}
