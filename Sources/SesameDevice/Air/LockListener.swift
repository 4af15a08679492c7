import Sesame
public import Bluetooth

/// Which lock on the air is meant.
public enum LockTarget: Hashable, Sendable {
  /// The one that advertises this identity, from whatever address.
  case deviceID(UUID128)
  /// The one at this address.
  case address(PeerAddress)
}

/// What a client hears of its lock among everything that is advertised around it.
///
/// An OS2 lock tells its identity in the scan response: its advertisement counts once that has been heard. Other
/// devices are passed over, other locks included, but for those that claim to be of Sesame and cannot be read: the
/// client is to see those, each once.
struct LockListener: Sendable {
  /// What is known of a device. Most say the same again and again.
  private struct Device: Sendable {
    let address: PeerAddress
    var advertisement: [UInt8]
    var response: [UInt8]?
    var verdict = Verdict.other
    /// Whether its scan response completes what it says.
    var endsInResponse = false
    /// Whether the client has heard it, if it cannot be read.
    var isTold = false
    /// Whether it was heard since listening began.
    var isHeard = false

    /// Whether it is known to be another device than the lock that is meant.
    var isOther: Bool { verdict == .other && (!endsInResponse || response != nil) }
  }

  private enum Verdict: Sendable {
    case target
    /// It claims to be of Sesame and cannot be read.
    case unreadable
    /// Another lock, or nobody who matters.
    case other
  }

  /// Which lock is meant.
  let target: LockTarget
  /// The address of the lock, once it was heard.
  private(set) var address: PeerAddress?
  private var devices: [Device] = []
  /// Which device makes room for a new one when there are too many.
  private var oldest = 0

  init(_ target: LockTarget) {
    self.target = target
    if case .address(let address) = target { self.address = address }
  }

  /// How many devices are told apart.
  static let capacity = 256

  /// How many other devices were heard since listening began.
  var others: Int { devices.count { $0.isHeard && $0.isOther } }

  /// Begins to listen anew: the client hears again of those that cannot be read.
  mutating func listenAgain() {
    for index in devices.indices { (devices[index].isTold, devices[index].isHeard) = (false, false) }
  }

  /// Takes in a report, and gives what the client is to hear: advertisement and scan response, one after the other.
  mutating func hear(_ report: AdvertisingReport) -> [UInt8]? {
    let isResponse = report.kind == .scanResponse
    guard let index = index(of: report.address, isResponse: isResponse) else { return nil }
    devices[index].isHeard = true
    if isResponse, devices[index].response != report.data {
      devices[index].response = report.data
      judge(index)
    } else if !isResponse, devices[index].advertisement != report.data {
      devices[index].advertisement = report.data
      devices[index].response = nil
      devices[index].isTold = false
      judge(index)
    }
    guard devices[index].endsInResponse == isResponse else { return nil }
    switch devices[index].verdict {
    case .target:
      address = devices[index].address
      return devices[index].advertisement + (devices[index].response ?? [])
    case .unreadable where !devices[index].isTold:
      devices[index].isTold = true
      return devices[index].advertisement + (devices[index].response ?? [])
    case .unreadable, .other:
      return nil
    }
  }

  /// Where a device stands. A scan response of one that was not heard before means nothing.
  private mutating func index(of address: PeerAddress, isResponse: Bool) -> Int? {
    if let index = devices.firstIndex(where: { $0.address == address }) { return index }
    guard !isResponse else { return nil }
    // What no advertisement equals: it is judged when the report is taken in.
    var device = Device(address: address, advertisement: [])
    device.verdict = isTarget(address) ? .target : .other
    if devices.count < Self.capacity {
      devices.append(device)
      return devices.count - 1
    }
    devices[oldest] = device
    defer { oldest = (oldest + 1) % Self.capacity }
    return oldest
  }

  private func isTarget(_ address: PeerAddress) -> Bool { target == .address(address) }

  /// Finds out who a device is.
  private mutating func judge(_ index: Int) {
    let isTarget = isTarget(devices[index].address)
    devices[index].verdict = isTarget ? .target : .other
    devices[index].endsInResponse = false
    guard let data = try? AdvertisingData(decoding: devices[index].advertisement),
      let manufacturer = data.manufacturerData, manufacturer.starts(with: Self.company)
    else { return }
    let model = manufacturer.count > 2 ? ProductModel(rawValue: manufacturer[2]) : nil
    devices[index].endsInResponse = model?.generation == .os2 && data.localName == nil
    guard !isTarget, !devices[index].endsInResponse || devices[index].response != nil else { return }
    let response = try? AdvertisingData(decoding: devices[index].response ?? [])
    guard let read = try? Advertisement(data, scanResponse: response ?? AdvertisingData()) else {
      devices[index].verdict = .unreadable
      return
    }
    if target == .deviceID(read.deviceID) { devices[index].verdict = .target }
  }

  private static let company = [
    UInt8(truncatingIfNeeded: Advertisement.company), UInt8(truncatingIfNeeded: Advertisement.company >> 8),
  ]
}
