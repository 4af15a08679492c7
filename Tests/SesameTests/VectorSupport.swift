import Basics
import Bluetooth
import Foundation
import Sesame
import Testing

/// A value of the vectors file.
enum JSON: Decodable, Hashable, Sendable {
  case null
  case bool(Bool)
  case integer(Int)
  case unsigned(UInt64)
  case number(Double)
  case text(String)
  case list([JSON])
  case object([String: JSON])

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Int.self) {
      self = .integer(value)
    } else if let value = try? container.decode(UInt64.self) {
      self = .unsigned(value)
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else if let value = try? container.decode(String.self) {
      self = .text(value)
    } else if let value = try? container.decode([JSON].self) {
      self = .list(value)
    } else {
      self = .object(try container.decode([String: JSON].self))
    }
  }
}

/// One vector: what goes in, and what must come out.
struct Vector: Decodable, Sendable, CustomTestStringConvertible {
  var id: String
  var group: String
  var inputs: [String: JSON]
  var expected: [String: JSON]

  var testDescription: String { id }
}

enum Vectors {
  private struct File: Decodable {
    var count: Int
    var vectors: [Vector]
  }

  /// All vectors of the file, in its order.
  static let all: [Vector] = {
    guard
      let url = Bundle.module.url(
        forResource: "sesame-vectors", withExtension: "json", subdirectory: "Vectors"),
      let data = try? Data(contentsOf: url), let file = try? JSONDecoder().decode(File.self, from: data),
      file.count == file.vectors.count
    else { return [] }
    return file.vectors
  }()
}

struct VectorFault: Error, CustomStringConvertible {
  var description: String
}

/// A vector being run: it hands out the inputs and notes which expectations were compared, so that none can
/// be passed over.
final class VectorCase {
  let vector: Vector
  private var compared: Set<String> = []

  init(_ vector: Vector) {
    self.vector = vector
  }

  var id: String { vector.id }

  /// The expectations that nothing was compared with.
  var open: [String] { vector.expected.keys.filter { !compared.contains($0) }.sorted() }

  func input(_ name: String) throws -> JSON { try value(name, in: vector.inputs) }

  func hasInput(_ name: String) -> Bool { vector.inputs[name] != nil }

  func expects(_ name: String) -> Bool { vector.expected[name] != nil }

  func expected(_ name: String) throws -> JSON {
    compared.insert(name)
    return try value(name, in: vector.expected)
  }

  private func value(_ name: String, in object: [String: JSON]) throws -> JSON {
    guard let value = object[name] else { throw VectorFault(description: "\(id) has no \(name)") }
    return value
  }
}

extension VectorCase {
  func bytes(_ name: String) throws -> [UInt8] { try [UInt8](hex: text(name)) }

  func text(_ name: String) throws -> String { try input(name).text() }

  func integer(_ name: String) throws -> Int { try input(name).integer() }

  func counter(_ name: String = "counter") throws -> UInt64 {
    switch try input(name) {
    case .integer(let value): return UInt64(value)
    case .unsigned(let value): return value
    default: throw VectorFault(description: "\(id): \(name) is no counter")
    }
  }

  func key(_ name: String) throws -> SecretKey { try SecretKey(bytes: bytes(name)) }

  func token(_ name: String) throws -> Token { try Token(decoding: bytes(name)) }

  func proof(_ name: String) throws -> Proof { try Proof(decoding: bytes(name)) }

  func publicKey(_ name: String) throws -> PublicKey { try PublicKey(bytes: bytes(name)) }

  func privateKey(_ name: String) throws -> PrivateKey { try PrivateKey(scalar: bytes(name)) }

  func uuid(_ name: String) throws -> UUID128 { try UUID128(text: text(name)) }

  func frames(_ name: String) throws -> [[UInt8]] {
    try input(name).list().map { try [UInt8](hex: $0.text()) }
  }

  /// The session token of OS2 (8 bytes) or OS3 (4 bytes).
  func sessionToken() throws -> SessionToken {
    if hasInput("session_token") {
      let bytes = try bytes("session_token")
      return .os2(
        app: try Token(decoding: [UInt8](bytes.prefix(4))),
        lock: try Token(decoding: [UInt8](bytes.suffix(4))))
    }
    return .os3(try token("token"))
  }
}

extension VectorCase {
  /// Compares bytes with an expectation.
  func check(_ name: String, _ actual: [UInt8]) throws { try check(name, actual.hex) }

  func check(_ name: String, _ actual: String) throws { try check(name, JSON.text(actual)) }

  func check(_ name: String, _ actual: Bool) throws { try check(name, JSON.bool(actual)) }

  func check(_ name: String, _ actual: some FixedWidthInteger) throws {
    try check(name, JSON.integer(Int(actual)))
  }

  func check(_ name: String, _ actual: Double?) throws {
    let wanted: Double =
      switch try expected(name) {
      case .integer(let value): Double(value)
      case .number(let value): value
      default: .nan
      }
    guard actual != wanted else { return }
    throw VectorFault(description: "\(id): \(name) is \(String(describing: actual)) and should be \(wanted)")
  }

  func check(_ name: String, frames: [[UInt8]]) throws {
    try check(name, JSON.list(frames.map { .text($0.hex) }))
  }

  func check(_ name: String, _ actual: JSON) throws {
    let wanted = try expected(name)
    guard actual != wanted else { return }
    throw VectorFault(description: "\(id): \(name) is \(actual) and should be \(wanted)")
  }

  /// States something that the vector says in words.
  func require(_ condition: Bool, _ what: String) throws {
    guard condition else { throw VectorFault(description: "\(id): \(what)") }
  }
}

extension JSON {
  func text() throws -> String {
    guard case .text(let value) = self else { throw VectorFault(description: "\(self) is no text") }
    return value
  }

  func integer() throws -> Int {
    guard case .integer(let value) = self else { throw VectorFault(description: "\(self) is no integer") }
    return value
  }

  func list() throws -> [JSON] {
    guard case .list(let value) = self else { throw VectorFault(description: "\(self) is no list") }
    return value
  }
}

/// A value that must be there.
func present<Value>(_ value: Value?) throws -> Value {
  guard let value else { throw VectorFault(description: "a value is missing") }
  return value
}
