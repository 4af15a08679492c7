public import Bluetooth

// What the data of the common publishes and responses are.

extension Publish {
  /// The token that opens a connection.
  public static func initial(_ token: Token) -> Publish { Publish(.initial, token.encoded) }

  /// The mechanical status.
  public static func mechStatus(_ status: MechStatus) -> Publish { Publish(.mechStatus, status.encoded) }

  /// The mechanical setting.
  public static func mechSetting(_ setting: MechSetting) -> Publish { Publish(.mechSetting, setting.encoded) }

  /// What an OS2 device tells after a registration, in place of a login's response.
  public static func login(_ payload: LoginPayload) -> Publish { Publish(.login, payload.encoded) }

  /// Reads the token of ``initial(_:)``.
  public func token() throws(DecodeError) -> Token { try Token(decoding: data) }
}

extension Response {
  /// Reads the clock that an OS3 device tells at login, in Unix seconds.
  public func time() throws(DecodeError) -> UInt32 {
    var reader = ByteReader(data.span)
    let time = try reader.u32()
    try reader.end()
    return time
  }

  /// Reads the autolock delay in seconds.
  public func autolock() throws(DecodeError) -> Int16 {
    var reader = ByteReader(data.span)
    let seconds = try reader.i16()
    try reader.end()
    return seconds
  }
}
