/// A command of the host: its number, and its parameters as they are sent (Core 5.4, Vol 4 Part E §5.4.1).
///
/// A command is made from its ``Kind``: `.reset()`, `.leSetScanEnable(true, false)`.
public struct HCICommand: Hashable, Sendable {
  /// The command's number: six bits of group and ten bits of command.
  public let opcode: UInt16
  /// What stands behind the number.
  public let parameters: [UInt8]

  /// Reads a command from its number and its parameters, which must end where the command's layout ends. Those of a
  /// command that is not known may be any.
  ///
  /// Numbers that may have any value here, such as intervals, may still be out of the range that the
  /// specification gives them: a controller refuses those with ``HCIErrorCode/invalidParameters``.
  public init(opcode: UInt16, parameters: [UInt8]) throws(DecodeError) {
    self.opcode = opcode
    self.parameters = try Self.declaration(of: opcode)?.again(parameters) ?? parameters
  }

  private init(_ opcode: UInt16, _ parameters: [UInt8]) {
    self.opcode = opcode
    self.parameters = parameters
  }

  /// A command as it is, whatever its number and its parameters.
  public static func other(opcode: UInt16, parameters: [UInt8]) -> HCICommand {
    HCICommand(opcode, parameters)
  }

  /// The command as a packet.
  public var packet: HCIPacket { .command(opcode: opcode, parameters: parameters) }

  /// How it is answered; what is not known, with Command Status.
  public var answer: Answer { Self.declaration(of: opcode)?.answer ?? .status }

  /// The one link that it is for, if it is for one.
  public var link: ConnectionHandle? {
    guard Self.declaration(of: opcode)?.isOfLink == true else { return nil }
    return try? ConnectionHandle(decoding: Array(parameters.prefix(2)))
  }

  /// What there is to know of a command that is known.
  public static func declaration(of opcode: UInt16) -> Declaration? { declarations[opcode] }

  private static let declarations = Dictionary(uniqueKeysWithValues: all.map { ($0.opcode, $0) })

  /// What a controller names that only grants credits.
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

  /// What a command is, whatever its parameters.
  public struct Declaration: Sendable {
    /// The command's number.
    public let opcode: UInt16
    /// The command's name in the specification.
    public let name: String
    /// How it is answered.
    public let answer: Answer
    /// Its octet and bit among the supported commands (Core 5.4, Vol 4 Part E §6.27), where it has some.
    public let place: (octet: Int, bit: Int)?
    /// The features of LE without which no controller knows it, as bits.
    public let features: UInt64
    /// Whether it is for one link, which its parameters begin with. Command Complete then names the link behind the
    /// status, also after an error (§4.5).
    public let isOfLink: Bool
    /// Where there is a key among the parameters.
    let key: Range<Int>?
    /// Decodes parameters and encodes them again.
    let again: @Sendable ([UInt8]) throws(DecodeError) -> [UInt8]
    /// Parameters in words, without the link.
    let text: @Sendable ([UInt8]) throws(DecodeError) -> String
    /// Decodes the return parameters of success and encodes them again.
    public let returnedAgain: @Sendable ([UInt8]) throws(DecodeError) -> [UInt8]
  }

  /// One of the commands, as which it is declared: with the types of its parameters and of what it returns.
  public struct Kind<Return: BinaryCodable & SendableMetatype, each Value: Sendable>: Sendable {
    /// What does not depend on the types.
    public let declaration: Declaration
    /// Reads parameters, which must end where the command's layout ends.
    public let decode: @Sendable ([UInt8]) throws(DecodeError) -> (repeat each Value)
    private let fields: (repeat Field<each Value>)

    /// Declares a command: its number, name, answer and place, its parameters in the specification's order, and what it
    /// returns behind the status; `text` has the parameters in words, without the link.
    init(
      _ opcode: UInt16, _ name: String, _ answer: Answer, _ place: (Int, Int)?,
      _ fields: repeat Field<each Value>, features: UInt64 = 0, key: Range<Int>? = nil,
      returning: Return.Type,
      text: (@Sendable (repeat each Value) -> String)? = nil
    ) {
      let decode = { @Sendable (parameters: [UInt8]) throws(DecodeError) -> (repeat each Value) in
        var reader = ByteReader(parameters.span)
        let values = (repeat try (each fields).read(&reader))
        try reader.end()
        return values
      }
      var isOfLink = false
      for type in repeat (each Value).self {
        isOfLink = type == ConnectionHandle.self
        break
      }
      self.fields = (repeat each fields)
      self.decode = decode
      declaration = Declaration(
        opcode: opcode, name: name, answer: answer, place: place, features: features, isOfLink: isOfLink,
        key: key,
        again: { (bytes) throws(DecodeError) in
          let values = try decode(bytes)
          var again: [UInt8] = []
          repeat (each fields).append(each values, &again)
          return again
        },
        text: { (bytes) throws(DecodeError) in
          let values = try decode(bytes)
          return text?(repeat each values) ?? ""
        },
        returnedAgain: { (bytes) throws(DecodeError) in
          CommandReturn.success(try CommandReturn.decode(Return.self, from: bytes))
        })
    }

    /// The command's number.
    public var opcode: UInt16 { declaration.opcode }

    /// Makes the command.
    public func callAsFunction(_ value: repeat each Value) -> HCICommand {
      var parameters: [UInt8] = []
      repeat (each fields).append(each value, &parameters)
      return HCICommand(opcode, parameters)
    }

    /// Reads what follows the status of a command that succeeded.
    public func returned(_ returnParameters: [UInt8]) throws(DecodeError) -> Return {
      try CommandReturn.decode(from: returnParameters)
    }
  }
}

extension HCICommand.Kind where Return == CommandReturn.Nothing {
  /// Declares a command that returns nothing but a status.
  init(
    _ opcode: UInt16, _ name: String, _ answer: HCICommand.Answer, _ place: (Int, Int)?,
    _ fields: repeat HCICommand.Field<each Value>, text: (@Sendable (repeat each Value) -> String)? = nil
  ) {
    self.init(
      opcode, name, answer, place, repeat each fields, returning: CommandReturn.Nothing.self, text: text)
  }
}

extension HCICommand {
  /// A parameter: how it is read, and how it is sent.
  struct Field<Value: Sendable>: Sendable {
    let read: @Sendable (inout ByteReader) throws(DecodeError) -> Value
    let append: @Sendable (Value, inout [UInt8]) -> Void
  }
}

extension HCICommand.Field where Value: BinaryCodable & SendableMetatype {
  /// A value that knows its layout.
  static func of(_: Value.Type) -> Self {
    Self(
      read: { (reader) throws(DecodeError) in try Value(decoding: &reader) }, append: { $0.encode(into: &$1) }
    )
  }
}

extension HCICommand.Field<ConnectionHandle> {
  static var link: Self { .of(ConnectionHandle.self) }
}

extension HCICommand.Field<HCIErrorCode> {
  static var reason: Self { .of(HCIErrorCode.self) }
}

extension HCICommand.Field<UInt64> {
  static var mask: Self { .of(UInt64.self) }
}

extension HCICommand.Field<PeerAddress> {
  static var peer: Self { .of(PeerAddress.self) }
}

extension HCICommand.Field<Bool> {
  /// A byte that is 0 or 1.
  static func flag(_ name: String) -> Self {
    Self(read: { (reader) throws(DecodeError) in try reader.flag(name) }, append: { $1.append($0) })
  }
}

extension HCICommand.Field<[UInt8]> {
  /// Advertising data of a length that comes first, in a field of 31 bytes (Core 5.4, Vol 4 Part E §7.8.7).
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
