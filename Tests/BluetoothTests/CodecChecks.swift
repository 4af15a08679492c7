import Bluetooth
import Basics
import TestSupport
import Testing

/// A value, and how many of its last bytes are an open end: a field that goes on to the end of the packet.
struct Sample<Value: Equatable> {
  var value: Value
  var openEnd: Int

  init(_ value: Value, openEnd: Int = 0) {
    self.value = value
    self.openEnd = openEnd
  }
}

/// Checks that decoding undoes encoding, and that every shorter prefix is refused, or is another value where only
/// an open end was cut.
func checkCodec<Value: Equatable>(
  _ sample: Sample<Value>, encode: (Value) -> [UInt8], decode: ([UInt8]) throws(DecodeError) -> Value,
  sourceLocation: SourceLocation = #_sourceLocation
) {
  let bytes = encode(sample.value)
  expect(try? decode(bytes), sample.value, sourceLocation: sourceLocation)
  for count in 0..<bytes.count {
    do throws(DecodeError) {
      let shorter = try decode([UInt8](bytes[..<count]))
      guard count < bytes.count - sample.openEnd || shorter == sample.value else { continue }
      Issue.record("\(count) bytes of \(bytes.hex) are \(shorter)", sourceLocation: sourceLocation)
    } catch {
      guard count < bytes.count - sample.openEnd, error.offset <= count else {
        Issue.record("\(count) bytes of \(bytes.hex): \(error)", sourceLocation: sourceLocation)
        continue
      }
    }
  }
}

/// Checks that bytes drawn at random, and samples with a few bytes changed, never trap, and that what decodes is
/// stable: encoded and decoded again it is the same.
func checkGarbage<Value: Equatable>(
  like samples: [[UInt8]], seed: UInt64, encode: (Value) -> [UInt8],
  decode: ([UInt8]) throws(DecodeError) -> Value, sourceLocation: SourceLocation = #_sourceLocation
) {
  var generator = SeededGenerator(seed: seed)
  var decoded = 0
  for round in 0..<4000 {
    var bytes =
      round % 4 == 0 ? generator.bytes(generator.below(40)) : samples[generator.below(samples.count)]
    for _ in 0..<generator.below(4) where !bytes.isEmpty {
      bytes[generator.below(bytes.count)] = UInt8(generator.below(round % 2 == 0 ? 4 : 256))
    }
    guard let value = try? decode(bytes) else { continue }
    decoded += 1
    expect(try? decode(encode(value)), value, sourceLocation: sourceLocation)
  }
  #expect(
    decoded > 400, "too few of the changed samples decoded to mean anything", sourceLocation: sourceLocation)
}

extension SeededGenerator {
  mutating func u8() -> UInt8 { UInt8(truncatingIfNeeded: next()) }
  mutating func i8() -> Int8 { Int8(truncatingIfNeeded: next()) }
  mutating func u16() -> UInt16 { UInt16(truncatingIfNeeded: next()) }
  mutating func uuid() -> UUID128 { UUID128(high: next(), low: next()) }
  mutating func flag() -> Bool { below(2) == 0 }
  mutating func pick<Value>(_ values: [Value]) -> Value { values[below(values.count)] }

  mutating func connection() -> ConnectionHandle { ConnectionHandle(rawValue: UInt16(below(0x0F00))) }
  mutating func status() -> HCIErrorCode { HCIErrorCode(rawValue: u8()) }
  mutating func address() -> BluetoothAddress { BluetoothAddress(next()) }
  mutating func peer() -> PeerAddress {
    PeerAddress(pick([.publicDevice, .randomDevice, .publicIdentity, .randomIdentity]), address())
  }
  mutating func parameters(withEventLengths: Bool = true) -> ConnectionParameters {
    ConnectionParameters(
      minimumInterval: u16(), maximumInterval: u16(), latency: u16(), supervisionTimeout: u16(),
      minimumEventLength: withEventLengths ? u16() : 0, maximumEventLength: withEventLengths ? u16() : 0)
  }
}
