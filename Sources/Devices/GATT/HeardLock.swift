import Bluetooth
public import Links

/// A lock of a built-in family, as it advertises itself.
public struct HeardLock: Equatable, Sendable {
  /// The product.
  public var model: String
  /// Its identity, as in its lock file.
  public var id: String
  /// Whether it has an owner.
  public var isRegistered: Bool
}

extension Advertisers.Device {
  /// The lock that the device advertises, if any.
  public var lock: HeardLock? {
    guard let data = try? AdvertisingData(decoding: advertisement) else { return nil }
    let response = (try? AdvertisingData(decoding: response ?? [])) ?? AdvertisingData()
    return builtInFamilies.lazy.compactMap { $0.lock(advertising: data, response) }.first
  }

  /// Whether the device may be a lock whose identity is only in the scan response, which has not arrived.
  var isUnfinished: Bool {
    guard (response ?? []).isEmpty, lock == nil, let data = try? AdvertisingData(decoding: advertisement)
    else {
      return false
    }
    return builtInFamilies.contains { $0.identifiesLater(data) }
  }
}
