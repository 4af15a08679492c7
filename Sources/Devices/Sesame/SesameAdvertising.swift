import Bluetooth
import Sesame

extension SesameLocks {
  func lock(advertising data: AdvertisingData, _ response: AdvertisingData) -> HeardLock? {
    (try? Advertisement(data, scanResponse: response)).map {
      HeardLock(
        model: $0.model.description, id: $0.deviceID.description, isRegistered: $0.isRegistered)
    }
  }

  func identifiesLater(_ data: AdvertisingData) -> Bool {
    let company = Advertisement.company
    let bytes = [UInt8(truncatingIfNeeded: company), UInt8(truncatingIfNeeded: company >> 8)]
    return data.manufacturerData?.starts(with: bytes) == true
  }
}
