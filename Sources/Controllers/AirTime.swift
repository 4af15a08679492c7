/// Durations on the air, in nanoseconds, on the 1M PHY (Core 5.4, Vol 6 Part B §2.1, §4).
enum AirTime {
  /// The slot of 0.625 ms, the unit of advertising and scanning intervals.
  static let slot: Int64 = 625_000
  /// The unit of connection intervals, 1.25 ms.
  static let unit: Int64 = 1_250_000
  /// The inter frame space between consecutive packets, T_IFS.
  static let pause: Int64 = 150_000
  /// The time from the end of an advertisement without a response to the next one on another channel.
  static let channelChange: Int64 = 350_000
  /// The maximum of advDelay, the random delay added to each advertising interval, in microseconds.
  static let advertisingDelay = 10_000
  /// The duration of high duty cycle directed advertising, and the interval of its events.
  static let highDutyDuration: Int64 = 1_280_000_000
  static let highDutyInterval: Int64 = 3_750_000
  /// The durations of SCAN_REQ and CONNECT_IND.
  static let scanRequest = packet(12)
  static let connectRequest = packet(34)
  /// The time from the end of CONNECT_IND to the first packet of the link: the minimum that is allowed.
  static let transmitWindow: Int64 = unit

  /// Returns the duration of a packet with this payload; preamble, access address, header and CRC add ten bytes.
  static func packet(_ payload: Int) -> Int64 { Int64(10 + payload) * 8000 }
}
