import Basics
import Bluetooth
import Conformance
import Links

/// Filters the advertisements for those of a driver's lock.
struct PeerListener {
  private let target: DriverTarget
  private(set) var hearing = ProgramOperation.Hearing.nothing
  /// The address of the lock, once it was heard or where it is known.
  private(set) var address: PeerAddress?
  /// The devices, with what the driver was told of each last.
  private var advertisers = Advertisers<[UInt8]?>(note: nil)

  init(_ target: DriverTarget) {
    self.target = target
    if case .address(let address) = target { self.address = address }
  }

  /// Begins to listen as if nothing had been heard, or ends it.
  mutating func listen(to hearing: ProgramOperation.Hearing) {
    self.hearing = hearing
    advertisers.forgetHeard()
    for index in advertisers.devices.indices { advertisers[index].note = nil }
  }

  /// How many devices were heard since listening began that are known to be others than the lock.
  var others: Int {
    guard hearing != .nothing, let address else { return 0 }
    return advertisers.devices.count { $0.isHeard && $0.address != address }
  }

  /// Receives a report, and gives what the driver is to hear: advertisement and scan response together.
  mutating func hear(_ report: AdvertisingReport) -> (AdvertisingData, PeerAddress)? {
    guard hearing != .nothing, let change = advertisers.hear(report) else { return nil }
    let whole = advertisers[change.index].data
    // What is heard again is the advertisement: its scan response, which goes with it, says something only where it is new.
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
