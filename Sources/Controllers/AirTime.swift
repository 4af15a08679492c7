/// How long things take on the air, in nanoseconds, on the 1M PHY (Core 5.4, Vol 6 Part B §2.1, §4).
enum AirTime {
  /// Advertising and scanning count in slots of 0.625 ms.
  static let slot: Int64 = 625_000
  /// Connections count in units of 1.25 ms.
  static let unit: Int64 = 1_250_000
  /// The pause between two packets that belong together, T_IFS.
  static let pause: Int64 = 150_000
  /// From the end of an advertisement without a response to the next one on another channel.
  static let channelChange: Int64 = 350_000
  /// Up to so many microseconds are added to each advertising interval, advDelay.
  static let advertisingDelay = 10_000
  /// How long a device advertises to one other at the high duty cycle, and from one event to the next.
  static let highDutyDuration: Int64 = 1_280_000_000
  static let highDutyInterval: Int64 = 3_750_000
  /// SCAN_REQ and CONNECT_IND.
  static let scanRequest = packet(12)
  static let connectRequest = packet(34)
  /// From the end of CONNECT_IND to the first packet of the link: the earliest that is allowed.
  static let transmitWindow: Int64 = unit

  /// A packet with so many bytes of payload: preamble, access address, header and CRC are ten more.
  static func packet(_ payload: Int) -> Int64 { Int64(10 + payload) * 8000 }
}
