import Bluetooth
public import Links

/// A lock of a family that is built in, as it advertises itself.
public struct HeardLock: Equatable, Sendable {
  /// The product.
  public var model: String
  /// What it is known by, as its lock file says it.
  public var id: String
  /// Whether it has an owner.
  public var isRegistered: Bool
}

extension Advertisers.Device {
  /// The lock that it says it is.
  public var lock: HeardLock? {
    guard let data = try? AdvertisingData(decoding: advertisement) else { return nil }
    let response = (try? AdvertisingData(decoding: response ?? [])) ?? AdvertisingData()
    return builtInFamilies.lazy.compactMap { $0.lock(advertising: data, response) }.first
  }

  /// Whether it claims to be a lock of a kind that may tell its identity in the scan response alone.
  var isUnfinished: Bool {
    guard (response ?? []).isEmpty, lock == nil, let data = try? AdvertisingData(decoding: advertisement)
    else {
      return false
    }
    return builtInFamilies.contains { $0.identifiesLater(data) }
  }
}
