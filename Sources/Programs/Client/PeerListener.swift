import Basics
import Bluetooth
import Conformance
import Links

/// Filters the advertisements for those of a driver's lock.
struct PeerListener {
  private let target: DriverTarget
  private(set) var hearing = ProgramOperation.Hearing.nothing
  /// The address of the lock, if it is known or has been heard.
  private(set) var address: PeerAddress?
  /// The devices, each with the data that the driver received last.
  private var advertisers = Advertisers<[UInt8]?>(note: nil)

  init(_ target: DriverTarget) {
    self.target = target
    if case .address(let address) = target { self.address = address }
  }

  /// Starts to listen without any earlier data, or stops.
  mutating func listen(to hearing: ProgramOperation.Hearing) {
    self.hearing = hearing
    advertisers.forgetHeard()
    for index in advertisers.devices.indices { advertisers[index].note = nil }
  }

  /// The number of devices heard since listening started that are not the lock.
  var others: Int {
    guard hearing != .nothing, let address else { return 0 }
    return advertisers.devices.count { $0.isHeard && $0.address != address }
  }

  /// Receives a report; returns the combined advertisement and scan response if the driver must receive them.
  mutating func hear(_ report: AdvertisingReport) -> (AdvertisingData, PeerAddress)? {
    guard hearing != .nothing, let change = advertisers.hear(report) else { return nil }
    let whole = advertisers[change.index].data
    // A repetition counts by its advertisement; the scan response that follows it counts only if its data are new.
    guard hearing == .everything && !change.isResponse || advertisers[change.index].note != whole,
      let data = try? AdvertisingData(decoding: whole), isTarget(report.address, data)
    else { return nil }
    advertisers[change.index].note = whole
    address = report.address
    return (data, report.address)
  }

  private func isTarget(_ address: PeerAddress, _ data: AdvertisingData) -> Bool {
    switch target {
    case .address(let wanted): wanted == address
    case .advertising(let name, let services):
      (name == nil || name == data.localName) && services.allSatisfy(data.services.contains)
    }
  }
}
