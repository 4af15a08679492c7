/// The opcodes of the attribute protocol (Core 5.4, Vol 3 Part F §3.4.8). A response has the number after its request.
public enum ATTOpcode {
  public static let errorResponse: UInt8 = 0x01
  public static let exchangeMTURequest: UInt8 = 0x02
  public static let exchangeMTUResponse: UInt8 = 0x03
  public static let findInformationRequest: UInt8 = 0x04
  public static let findInformationResponse: UInt8 = 0x05
  public static let findByTypeValueRequest: UInt8 = 0x06
  public static let findByTypeValueResponse: UInt8 = 0x07
  public static let readByTypeRequest: UInt8 = 0x08
  public static let readByTypeResponse: UInt8 = 0x09
  public static let readRequest: UInt8 = 0x0A
  public static let readResponse: UInt8 = 0x0B
  public static let readBlobRequest: UInt8 = 0x0C
  public static let readBlobResponse: UInt8 = 0x0D
  public static let readMultipleRequest: UInt8 = 0x0E
  public static let readMultipleResponse: UInt8 = 0x0F
  public static let readByGroupTypeRequest: UInt8 = 0x10
  public static let readByGroupTypeResponse: UInt8 = 0x11
  public static let writeRequest: UInt8 = 0x12
  public static let writeResponse: UInt8 = 0x13
  public static let prepareWriteRequest: UInt8 = 0x16
  public static let prepareWriteResponse: UInt8 = 0x17
  public static let executeWriteRequest: UInt8 = 0x18
  public static let executeWriteResponse: UInt8 = 0x19
  public static let notification: UInt8 = 0x1B
  public static let indication: UInt8 = 0x1D
  public static let confirmation: UInt8 = 0x1E
  public static let writeCommand: UInt8 = 0x52
  public static let signedWriteCommand: UInt8 = 0xD2
}
