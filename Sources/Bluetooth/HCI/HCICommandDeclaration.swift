/// A command of the host: its number, and its parameters as they are sent (Core 5.4, Vol 4 Part E §5.4.1).
///
/// A command is made from its ``Kind``: `.reset()`, `.leSetScanEnable(true, false)`.
public struct HCICommand: Hashable, Sendable {
  /// The command's number: six bits of group and ten bits of command.
  public let opcode: UInt16
  /// The parameters.
  public let parameters: [UInt8]

  /// Decodes a command from its number and its parameters, which must end where the command's layout ends. An
  /// unknown command may have any parameters.
  ///
  /// Numbers without structure, such as intervals, may be outside the range of the specification: a
  /// controller refuses those with ``HCIErrorCode/invalidParameters``.
  public init(opcode: UInt16, parameters: [UInt8]) throws(DecodeError) {
    self.opcode = opcode
    self.parameters = try Self.declaration(of: opcode)?.reencode(parameters) ?? parameters
  }

  private init(_ opcode: UInt16, _ parameters: [UInt8]) {
    self.opcode = opcode
    self.parameters = parameters
  }

  /// A command with any number and any parameters.
  public static func other(opcode: UInt16, parameters: [UInt8]) -> HCICommand {
    HCICommand(opcode, parameters)
  }

  /// The command as a packet.
  public var packet: HCIPacket { .command(opcode: opcode, parameters: parameters) }

  /// How it is answered; unknown commands, with Command Status.
  public var answer: Answer { Self.declaration(of: opcode)?.answer ?? .status }

  /// The link that it concerns; `nil` if it concerns the controller.
  public var link: ConnectionHandle? {
    guard Self.declaration(of: opcode)?.isOfLink == true else { return nil }
    return try? ConnectionHandle(decoding: Array(parameters.prefix(2)))
  }

  /// The declaration of a known command.
  public static func declaration(of opcode: UInt16) -> Declaration? { declarations[opcode] }

  private static let declarations = Dictionary(uniqueKeysWithValues: all.map { ($0.opcode, $0) })

  /// The opcode with which a controller only grants credits.
  public static let noCommand: UInt16 = 0x0000
}

extension HCICommand {
  /// How a controller answers a command.
  public enum Answer: Sendable {
    /// With Command Complete, when it is done.
    case complete
    /// With Command Status, when it has begun; an event follows.
    case status
  }

  /// The properties of a command that do not depend on its parameters.
  public struct Declaration: Sendable {
    /// The command's number.
    public let opcode: UInt16
    /// The command's name in the specification.
    public let name: String
    /// How it is answered.
    public let answer: Answer
    /// Its octet and bit among the supported commands (Core 5.4, Vol 4 Part E §6.27), if it has them.
    public let place: (octet: Int, bit: Int)?
    /// The LE features, as bits, one of which a controller needs to support it.
    public let features: UInt64
    /// Whether it concerns one link, with which its parameters begin. Command Complete then contains the link
    /// after the status, even after an error (§4.5).
    public let isOfLink: Bool
    /// The index of the first parameter that a capture must not show, nor any after it: a key, or data from
    /// which one is derived.
    let hiddenFrom: Int?
    /// Whether a capture must not show the return parameters after the status.
    let hidesReturn: Bool
    /// Decodes parameters and encodes them again.
    let reencode: @Sendable ([UInt8]) throws(DecodeError) -> [UInt8]
    /// Parameters in words, without the link.
    let text: @Sendable ([UInt8]) throws(DecodeError) -> String
    /// Decodes the return parameters of success and encodes them again.
    public let returnedAgain: @Sendable ([UInt8]) throws(DecodeError) -> [UInt8]
  }

  /// A declared command, with the types of its parameters and of its return parameters after the status:
  /// tuples for several, `Void` for none.
  public struct Kind<Return: Sendable, Value: Sendable>: Sendable {
    /// The part that does not depend on the types.
    public let declaration: Declaration
    private let field: Field<Value>
    private let returning: Field<Return>

    /// Declares a command: its number, name, answer and place, its parameters in the specification's order,
    /// and its return parameters after the status; `text` describes the parameters, without the link.
    init(
      _ opcode: UInt16, _ name: String, _ answer: Answer, _ place: (Int, Int)?, _ field: Field<Value>,
      features: UInt64 = 0, hidingFrom hiddenFrom: Int? = nil, hidesReturn: Bool = false,
      returning: Field<Return> = Field<Void>.nothing,
      text: @escaping @Sendable (Value) -> String = { _ in "" }
    ) {
      self.field = field
      self.returning = returning
      declaration = Declaration(
        opcode: opcode, name: name, answer: answer, place: place, features: features,
        isOfLink: field.isOfLink, hiddenFrom: hiddenFrom, hidesReturn: hidesReturn,
        reencode: { (bytes) throws(DecodeError) in field.encode(try field.decode(bytes)) },
        text: { (bytes) throws(DecodeError) in text(try field.decode(bytes)) },
        returnedAgain: { (bytes) throws(DecodeError) in
          var reserved = Reserved()
          return [HCIErrorCode.success.rawValue]
            + returning.encode(try returning.decode(returned: bytes, ignoring: &reserved))
        })
    }

    /// The command's number.
    public var opcode: UInt16 { declaration.opcode }

    /// Makes the command.
    public func callAsFunction(_ value: Value) -> HCICommand { HCICommand(opcode, field.encode(value)) }

    /// Makes the command of two parameters.
    public func callAsFunction<A, B>(_ a: A, _ b: B) -> HCICommand where Value == (A, B) { self((a, b)) }

    /// Makes the command of three parameters.
    public func callAsFunction<A, B, C>(_ a: A, _ b: B, _ c: C) -> HCICommand where Value == (A, B, C) {
      self((a, b, c))
    }

    /// Makes the command without parameters.
    public func callAsFunction() -> HCICommand where Value == Void { self(()) }

    /// Reads parameters, which must end where the command's layout ends.
    public func decode(_ parameters: [UInt8]) throws(DecodeError) -> Value { try field.decode(parameters) }

    /// Decodes the return parameters after the status of a successful command. Reserved fields are ignored.
    public func returned(_ returnParameters: [UInt8]) throws(DecodeError) -> Return {
      var reserved = Reserved()
      return try returned(returnParameters, ignoring: &reserved)
    }

    /// Decodes the return parameters after the status of a successful command, and records ignored ones.
    func returned(
      _ returnParameters: [UInt8], ignoring reserved: inout Reserved
    ) throws(DecodeError) -> Return {
      try returning.decode(returned: returnParameters, ignoring: &reserved)
    }

    /// The return parameters of a successful command.
    public func success(_ value: Return) -> [UInt8] {
      [HCIErrorCode.success.rawValue] + returning.encode(value)
    }
  }

  /// The decoding and encoding of parameters, or of one of them.
  struct Field<Value: Sendable>: Sendable {
    let read: @Sendable (inout ByteReader) throws(DecodeError) -> Value
    let append: @Sendable (Value, inout [UInt8]) -> Void
    /// Whether it begins with the link.
    var isOfLink = false

    func decode(_ bytes: [UInt8]) throws(DecodeError) -> Value {
      var reader = ByteReader(bytes.span)
      let value = try read(&reader)
      try reader.end()
      return value
    }

    /// Decodes return parameters after the status; a later version of the command may return more.
    func decode(returned bytes: [UInt8], ignoring reserved: inout Reserved) throws(DecodeError) -> Value {
      var reader = ByteReader(bytes.span)
      try reader.skip(1)
      let value = try read(&reader)
      reader.ignoreRest()
      reserved.formUnion(reader.reserved)
      return value
    }

    func encode(_ value: Value) -> [UInt8] {
      var bytes: [UInt8] = []
      append(value, &bytes)
      return bytes
    }
  }
}

extension HCICommand.Field {
  /// A value with its own layout.
  static func of(_: Value.Type) -> Self where Value: BinaryCodable & SendableMetatype {
    Self(
      read: { (reader) throws(DecodeError) in try Value(decoding: &reader) },
      append: { $0.encode(into: &$1) }, isOfLink: Value.self == ConnectionHandle.self)
  }

  static func both<A, B>(_ a: HCICommand.Field<A>, _ b: HCICommand.Field<B>) -> Self where Value == (A, B) {
    Self(
      read: { (reader) throws(DecodeError) in (try a.read(&reader), try b.read(&reader)) },
      append: { value, bytes in
        a.append(value.0, &bytes)
        b.append(value.1, &bytes)
      }, isOfLink: a.isOfLink)
  }

  static func three<A, B, C>(
    _ a: HCICommand.Field<A>, _ b: HCICommand.Field<B>, _ c: HCICommand.Field<C>
  ) -> Self where Value == (A, B, C) {
    let ab = HCICommand.Field.both(a, b)
    return Self(
      read: { (reader) throws(DecodeError) in
        let (a, b) = try ab.read(&reader)
        return (a, b, try c.read(&reader))
      },
      append: { value, bytes in
        ab.append((value.0, value.1), &bytes)
        c.append(value.2, &bytes)
      }, isOfLink: a.isOfLink)
  }

  /// A byte that is 0 or 1.
  static func flag(_ name: String) -> Self where Value == Bool {
    Self(read: { (reader) throws(DecodeError) in try reader.flag(name) }, append: { $1.append($0) })
  }

}

extension HCICommand.Field<Void> {
  static var nothing: Self { Self(read: { _ in }, append: { _, _ in }) }
}

extension HCICommand.Field<Int8?> {
  /// A signal strength in dBm; `nil` if the controller does not know it (127).
  static var rssi: Self {
    Self(read: { (reader) throws(DecodeError) in try reader.rssi() }, append: { $1.append(rssi: $0) })
  }
}

extension HCICommand.Field<UInt64> {
  /// Data channels as bits 0 to 36, in five bytes.
  static var channels: Self {
    Self(
      read: { (reader) throws(DecodeError) in
        try reader.require(5)
        return UInt64(try reader.u32()) | UInt64(try reader.u8()) << 32
      },
      append: { channels, bytes in
        precondition(channels >> 40 == 0, "a channel map has 40 bits")
        bytes.append(fields: UInt32(truncatingIfNeeded: channels), UInt8(truncatingIfNeeded: channels >> 32))
      })
  }
}

extension HCICommand.Field<[UInt8]> {
  /// Advertising data after their length, in a field of 31 bytes (Core 5.4, Vol 4 Part E §7.8.7).
  static var advertisingData: Self {
    let capacity = AdvertisingData.legacyCapacity
    return Self(
      read: { (reader) throws(DecodeError) in
        let start = reader.offset
        let length = Int(try reader.u8())
        guard length <= capacity else { throw .value(length, of: "length of advertising data", at: start) }
        let data = try reader.bytes(length)
        try reader.skip(capacity - length)
        return data
      },
      append: { data, bytes in
        precondition(data.count <= capacity, "legacy advertising data is at most 31 bytes")
        bytes.append(UInt8(data.count))
        bytes += data + repeatElement(0, count: capacity - data.count)
      })
  }
}
