public import Basics

/// The advertised data and parameters (Core 5.4, Vol 4 Part E §7.8.5 to §7.8.9).
struct HostAdvertisement: HostActivitySettings {
  var parameters: AdvertisingParameters
  var data: [UInt8]
  var scanResponse: [UInt8]

  var commands: [HCICommand] {
    [
      .leSetAdvertisingParameters(parameters), .leSetAdvertisingData(data),
      .leSetScanResponseData(scanResponse), .leSetAdvertisingEnable(true),
    ]
  }
  static var end: HCICommand { .leSetAdvertisingEnable(false) }
  static var asker: CommandQueue.Asker { .advertiser }
  var endsByItself: Bool {
    switch parameters.kind {
    case .connectable, .directedHighDuty, .directedLowDuty: true
    case .scannable, .nonconnectable: false
    }
  }

  static func event(_ isOn: Bool, _ status: HCIErrorCode) -> HostEvent { .advertising(isOn, status: status) }
}

extension BluetoothHost {
  /// Begins to advertise, or replaces the current advertisement; ``HostEvent/advertising(_:status:)`` follows.
  ///
  /// Advertising ends by itself when a central connects; the same event follows that of the connection.
  ///
  /// - Parameters:
  ///   - data: AD structures, at most 31 bytes.
  ///   - scanResponse: AD structures for active scanners, at most 31 bytes.
  public mutating func startAdvertising(
    _ parameters: AdvertisingParameters, data: [UInt8], scanResponse: [UInt8], at now: Instant
  ) -> [HostAction] {
    precondition(data.count <= 31 && scanResponse.count <= 31, "an advertisement holds 31 bytes")
    guard mayAct() else { return [] }
    let advertisement = HostAdvertisement(parameters: parameters, data: data, scanResponse: scanResponse)
    carryOut(advertiser.perform(.start(advertisement)), at: now)
    return takeActions()
  }

  /// Ends advertising; ``HostEvent/advertising(_:status:)`` follows, even if it was off.
  public mutating func stopAdvertising(at now: Instant) -> [HostAction] {
    guard mayAct() else { return [] }
    carryOut(advertiser.perform(.stop), at: now)
    return takeActions()
  }
}
