public import Bluetooth

// The contents of common publishes and responses.

extension Publish {
  /// The token that opens a connection.
  public static func initial(_ token: Token) -> Publish { Publish(.initial, token.encoded) }

  /// The mechanical status.
  public static func mechStatus(_ status: MechStatus) -> Publish { Publish(.mechStatus, status.encoded) }

  /// The mechanical setting.
  public static func mechSetting(_ setting: MechSetting) -> Publish { Publish(.mechSetting, setting.encoded) }

  /// The data that an OS2 device publishes after a registration, in place of a login's response.
  public static func login(_ payload: LoginPayload) -> Publish { Publish(.login, payload.encoded) }

  /// Reads the token of ``initial(_:)``.
  public func token() throws(DecodeError) -> Token { try Token(decoding: data) }
}

extension Response {
  /// Reads the clock that an OS3 device sends at login, in Unix seconds.
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
