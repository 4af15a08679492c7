import Basics
import Bluetooth
import Centrals
import Conformance
import Sesame

/// What a driver hears of its lock among everything that is advertised around it.
struct PeerListener {
  private struct Device {
    let address: PeerAddress
    var advertisement: [UInt8] = []
    var response: [UInt8] = []
    /// What the driver was told of it last.
    var told: [UInt8]?
    /// Whether it was heard since listening began.
    var isHeard = false
  }

  private let target: DriverTarget
  private(set) var hearing = ProgramOperation.Hearing.nothing
  /// The address of the lock, once it was heard or where it is known.
  private(set) var address: PeerAddress?
  private var devices: [Device] = []
  private var oldest = 0

  init(_ target: DriverTarget) {
    self.target = target
    if case .address(let address) = target { self.address = address }
  }

  /// How many devices are told apart.
  private static let capacity = 256

  /// Begins to listen as if nothing had been heard, or ends it.
  mutating func listen(to hearing: ProgramOperation.Hearing) {
    self.hearing = hearing
    for index in devices.indices { (devices[index].told, devices[index].isHeard) = (nil, false) }
  }

  /// How many devices were heard since listening began that are known to be others than the lock.
  var others: Int {
    guard hearing != .nothing, let address else { return 0 }
    return devices.count { $0.isHeard && $0.address != address }
  }

  /// Takes in a report, and gives what the driver is to hear: advertisement and scan response together.
  mutating func hear(_ report: AdvertisingReport) -> (AdvertisingData, PeerAddress)? {
    guard hearing != .nothing else { return nil }
    let isResponse = report.kind == .scanResponse
    guard let index = index(of: report.address, isResponse: isResponse) else { return nil }
    devices[index].isHeard = true
    if isResponse {
      devices[index].response = report.data
    } else {
      devices[index].advertisement = report.data
    }
    let whole = devices[index].advertisement + devices[index].response
    // What is heard again is the advertisement: its scan response, which goes with it, says something only where it is new.
    guard hearing == .everything && !isResponse || devices[index].told != whole,
      let data = try? AdvertisingData(decoding: whole), isTarget(report.address, data)
    else { return nil }
    devices[index].told = whole
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

  /// Where a device stands. A scan response of one that was not heard before means nothing.
  private mutating func index(of address: PeerAddress, isResponse: Bool) -> Int? {
    if let index = devices.firstIndex(where: { $0.address == address }) { return index }
    guard !isResponse else { return nil }
    if devices.count < Self.capacity {
      devices.append(Device(address: address))
      return devices.count - 1
    }
    devices[oldest] = Device(address: address)
    defer { oldest = (oldest + 1) % Self.capacity }
    return oldest
  }
}
