import Basics
public import Bluetooth

/// A request of an app, split into fields but not interpreted; see ``LockCommand`` for its meaning.
public struct Request: Hashable, Sendable {
  /// The operation on the item; `nil` in OS3.
  public var operation: OpCode?
  /// The item.
  public var item: ItemCode
  /// The data.
  public var data: [UInt8]

  /// Makes a request; with an operation it is one of OS2.
  public init(_ operation: OpCode? = nil, _ item: ItemCode, _ data: [UInt8] = []) {
    self.operation = operation
    self.item = item
    self.data = data
  }

  /// Reads a request: `op item data` in OS2, `item data` in OS3.
  public init(decoding bytes: [UInt8], for generation: Generation) throws(DecodeError) {
    var reader = ByteReader(bytes.span)
    if generation == .os2 {
      try reader.require(2)
      operation = OpCode(rawValue: try reader.u8())
    }
    item = ItemCode(rawValue: try reader.u8())
    data = reader.rest()
  }

  /// The generation of the request's form.
  public var generation: Generation { operation == nil ? .os3 : .os2 }

  /// The request's bytes.
  public var encoded: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(2 + data.count)
    if let operation { bytes.append(operation.rawValue) }
    bytes.append(item.rawValue)
    bytes.append(contentsOf: data)
    return bytes
  }
}

extension Request: CustomStringConvertible {
  /// The names of operation and item, and the data in hexadecimal.
  public var description: String {
    (operation.map { "\($0) " } ?? "") + item.description + (data.isEmpty ? "" : " " + data.hex)
  }
}

/// A lock's response to a request.
public struct Response: Hashable, Sendable {
  /// The item of the request.
  public var item: ItemCode
  /// The operation of the request; `nil` in OS3.
  public var operation: OpCode?
  /// The result.
  public var result: ResultCode
  /// The data.
  public var data: [UInt8]

  /// Makes a response; with an operation it is one of OS2.
  public init(_ operation: OpCode? = nil, _ item: ItemCode, _ result: ResultCode, _ data: [UInt8] = []) {
    self.item = item
    self.operation = operation
    self.result = result
    self.data = data
  }

  /// Makes the response to a request.
  public init(to request: Request, _ result: ResultCode = .success, _ data: [UInt8] = []) {
    self.init(request.operation, request.item, result, data)
  }
}

/// An unrequested message of a lock.
public struct Publish: Hashable, Sendable {
  /// The item.
  public var item: ItemCode
  /// The data.
  public var data: [UInt8]

  /// Makes a publish.
  public init(_ item: ItemCode, _ data: [UInt8]) {
    self.item = item
    self.data = data
  }
}

/// Any message from a lock to an app.
public enum LockMessage: Hashable, Sendable {
  /// A response.
  case response(Response)
  /// A publish.
  case publish(Publish)

  /// Reads `07 item op result data` (OS2), `07 item result data` (OS3) or `08 item data` (both).
  public init(decoding bytes: [UInt8], for generation: Generation) throws(DecodeError) {
    var reader = ByteReader(bytes.span)
    let code = OpCode(rawValue: try reader.u8())
    switch code {
    case .response:
      let item = ItemCode(rawValue: try reader.u8())
      let operation = generation == .os2 ? OpCode(rawValue: try reader.u8()) : nil
      let result = ResultCode(rawValue: try reader.u8())
      self = .response(Response(operation, item, result, reader.rest()))
    case .publish:
      let item = ItemCode(rawValue: try reader.u8())
      self = .publish(Publish(item, reader.rest()))
    default:
      throw .value(Int(code.rawValue), of: "op code of a lock's message", at: 0)
    }
  }

  /// The message's bytes.
  public var encoded: [UInt8] {
    switch self {
    case .response(let response): response.encoded
    case .publish(let publish): publish.encoded
    }
  }

  /// The item of the message.
  public var item: ItemCode {
    switch self {
    case .response(let response): response.item
    case .publish(let publish): publish.item
    }
  }
}

extension Response: CustomStringConvertible {
  /// The response's bytes.
  public var encoded: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(4 + data.count)
    bytes.append(OpCode.response.rawValue)
    bytes.append(item.rawValue)
    if let operation { bytes.append(operation.rawValue) }
    bytes.append(result.rawValue)
    bytes.append(contentsOf: data)
    return bytes
  }

  /// The names of item, operation and result, and the data in hexadecimal.
  public var description: String {
    "response to " + (operation.map { "\($0) " } ?? "") + "\(item): \(result)"
      + (data.isEmpty ? "" : " " + data.hex)
  }
}

extension Publish: CustomStringConvertible {
  /// The publish's bytes.
  public var encoded: [UInt8] { [OpCode.publish.rawValue, item.rawValue] + data }

  /// The item's name, and the data in hexadecimal.
  public var description: String { "publish \(item)" + (data.isEmpty ? "" : " " + data.hex) }
}

extension LockMessage: CustomStringConvertible {
  /// The message as text.
  public var description: String {
    switch self {
    case .response(let response): response.description
    case .publish(let publish): publish.description
    }
  }
}
