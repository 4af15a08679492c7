import Conformance
import Harness
import Controllers
import Basics
import Bluetooth
import Sesame

/// The bytes of a serial line.
func checkHCI(_ bytes: [UInt8]) throws(DecoderDefect) {
  let whole = packets(of: bytes, at: bytes.count)
  guard packets(of: bytes, at: 1) == whole, packets(of: bytes, at: 7) == whole else {
    throw DecoderDefect("the packets of \(bytes.hex) depend on how it is cut")
  }
  for packet in whole.packets {
    try check("packet", packet.h4, encode: \.h4) { bytes throws(DecodeError) in
      try HCIPacket(decoding: bytes)
    }
    switch packet {
    case .command(let opcode, let parameters):
      try check("command \(opcode)", parameters, encode: { commandParameters($0) }) {
        bytes throws(DecodeError) in try HCICommand(opcode: opcode, parameters: bytes)
      }
    case .event(let code, let parameters): try checkEvent(code, parameters)
    case .acl, .synchronous, .isochronous: break
    }
  }
}

/// What comes out of a stream that takes the bytes in pieces of a size, up to its error.
private func packets(of bytes: [UInt8], at size: Int) -> Outcome {
  var stream = H4Stream()
  var outcome = Outcome()
  var start = 0
  do throws(DecodeError) {
    while start < bytes.count {
      let end = min(bytes.count, start + size)
      stream.append(bytes[start..<end])
      start = end
      while let packet = try stream.next() { outcome.packets.append(packet) }
    }
  } catch {
    outcome.error = error
  }
  return outcome
}

private struct Outcome: Equatable {
  var packets: [HCIPacket] = []
  var error: DecodeError?
}

private func commandParameters(_ command: HCICommand) -> [UInt8] {
  guard case .command(_, let parameters) = command.packet else { return [] }
  return parameters
}

/// An event; the enhanced event of a connection is sent as the plain one.
private func checkEvent(_ code: UInt8, _ parameters: [UInt8]) throws(DecoderDefect) {
  let event = try check("event \(code)", parameters, encode: { eventParameters($0) }) {
    bytes throws(DecodeError) in try HCIEvent(code: code, parameters: bytes)
  }
  if case .commandComplete(_, let opcode, let returnParameters) = event {
    try checkReturn(of: opcode, returnParameters)
  }
}

private func eventParameters(_ event: HCIEvent) -> [UInt8] {
  guard case .event(_, let parameters) = event.packet else { return [] }
  return parameters
}

private func checkReturn(of opcode: UInt16, _ bytes: [UInt8]) throws(DecoderDefect) {
  guard let command = HCICommand.declaration(of: opcode),
    (try? CommandReturn.status(of: bytes)) == .success
  else { return }
  try check("return of \(command.name)", bytes, encode: { $0 }, decode: command.returnedAgain)
}

/// A capture file.
func checkBTSnoop(_ bytes: [UInt8]) throws(DecoderDefect) {
  guard var reader = try? BTSnoopReader(bytes) else { return }
  var again = BTSnoop.header
  var isWhole = false
  var records = 0
  var notes = 0
  var entries: [CaptureEntry] = []
  var decoder = LockCaptureDecoder(keys: [checkedKey])
  do throws(DecodeError) {
    while let record = try reader.next() {
      again.append(record)
      records += 1
      if record.note != nil { notes += 1 }
      entries += decoder.decode(record)
    }
    isWhole = reader.tear == nil
  } catch {
    // The records before it count.
  }
  entries += decoder.finish()
  let packets = entries.filter { $0.event == nil }
  guard Set(entries.map(\.number)) == Set(0..<records), packets.count + notes == records,
    packets.allSatisfy({ !$0.layers.isEmpty && $0.shownBytes.count == $0.bytes.count })
  else {
    throw DecoderDefect("\(bytes.hex) has \(records) records, and \(packets.count) come out of it")
  }
  guard reader.datalink == .h4 else { return }
  guard isWhole ? again == bytes : bytes.starts(with: again) else {
    throw DecoderDefect("\(bytes.hex) is written again as \(again.hex)")
  }
}

/// A key for captures that might have something to open.
private let checkedKey = LockKey(
  deviceID: UUID128(high: 1, low: 2), secret: SecretKey(UUID128(high: 3, low: 4)))
