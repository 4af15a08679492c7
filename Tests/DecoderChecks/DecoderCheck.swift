import Conformance
import Basics
import Bluetooth
import Synchronization

/// One family of decoders, as the fuzzer and the replay of its corpus feed them.
///
/// Bytes that do not decode are refused with an error, never with a trap; what decodes is the same again after it
/// was encoded. Some inputs begin with a byte or two that choose among decoders, which their checks tell.
public enum DecoderCheck: String, CaseIterable, Sendable {
  /// Streams of H4; commands, events and return parameters.
  case hci
  /// Fragments, frames, signalling and security commands.
  case link = "acl-l2cap"
  /// Packets, alone and as what a server and a client hear.
  case att
  /// Hosts and controllers with a link between them.
  case stack
  /// Advertising data, and what a lock says in it.
  case advertisements
  /// Frames, messages and layouts of the lock's protocol, of both generations.
  case sesame
  /// Capture files.
  case btsnoop
  /// Scenarios, with the machines and the devices that there are.
  case scenarios

  /// Feeds bytes to the decoders.
  ///
  /// - Throws: what is wrong with a decoder.
  public func run(on bytes: [UInt8]) throws(DecoderDefect) {
    switch self {
    case .hci: try checkHCI(bytes)
    case .link: try checkLink(bytes)
    case .att: try checkATT(bytes)
    case .stack: try checkStack(bytes)
    case .advertisements: try checkAdvertisements(bytes)
    case .sesame: try checkSesame(bytes)
    case .btsnoop: try checkBTSnoop(bytes)
    case .scenarios:
      try Self.scenarioChecks.withLock { checks throws(DecoderDefect) in try checks.run(on: bytes) }
    }
  }

  private static let scenarioChecks = Mutex(ScenarioChecks())
}

/// What is wrong with a decoder.
public struct DecoderDefect: Error, CustomStringConvertible, Sendable {
  /// One line or several.
  public var description: String

  init(_ description: String) {
    self.description = description
  }
}

/// Decodes, encodes and decodes again; `nil` when the bytes are refused.
@discardableResult
func check<Value: Equatable>(
  _ name: String, _ bytes: [UInt8], encode: (Value) -> [UInt8],
  decode: ([UInt8]) throws(DecodeError) -> Value
) throws(DecoderDefect) -> Value? {
  let value: Value
  do throws(DecodeError) {
    value = try decode(bytes)
  } catch {
    guard error.offset >= 0, error.offset <= bytes.count, !error.description.isEmpty else {
      throw DecoderDefect("\(name): the error \(error) is not in \(bytes.hex)")
    }
    return nil
  }
  let encoded = encode(value)
  guard let again = try? decode(encoded) else {
    throw DecoderDefect(
      "\(name): \(bytes.hex) is \(value), which is sent as \(encoded.hex), which is nothing")
  }
  guard again == value else {
    throw DecoderDefect(
      "\(name): \(bytes.hex) is \(value), which is sent as \(encoded.hex), which is \(again)")
  }
  return value
}

/// Decodes, encodes and decodes again a value that knows its layout.
@discardableResult
func check<Value: BinaryCodable & Equatable>(
  _ type: Value.Type, _ bytes: [UInt8]
) throws(DecoderDefect) -> Value? {
  try check("\(type)", bytes, encode: \.encoded) { bytes throws(DecodeError) in try Value(decoding: bytes) }
}

extension Array<UInt8> {
  /// The bytes cut into pieces, each after a byte with its length.
  var pieces: [[UInt8]] {
    var pieces: [[UInt8]] = []
    var rest = self[...]
    while let length = rest.popFirst() {
      pieces.append([UInt8](rest.prefix(Int(length))))
      rest = rest.dropFirst(Int(length))
    }
    return pieces
  }
}
