import Basics
import Bluetooth
import Sesame
import SesameDevice

/// The search for one device among everything that is advertised, and what can be said where it is not found.
struct DeviceSearch: Sendable {
  /// A device that was found.
  struct Found: Equatable, Sendable {
    var address: PeerAddress
    /// Which lock it is, as far as it says.
    var deviceID: UUID128?

    /// What it is known by to those who want it for themselves.
    var identities: [String] { (deviceID.map { ["\($0)"] } ?? []) + ["\(address.address)"] }
  }

  /// A device that was heard.
  private struct Station: Sendable {
    let address: PeerAddress
    var data: [UInt8]
    var response: [UInt8] = []

    var lock: Advertisement? {
      guard let data = try? AdvertisingData(decoding: data) else { return nil }
      let response = try? AdvertisingData(decoding: response)
      return try? Advertisement(data, scanResponse: response ?? AdvertisingData())
    }

    /// Whether it claims to be a lock of a kind that may tell its identity in the scan response alone.
    var isUnfinished: Bool {
      let company = Advertisement.company
      let bytes = [UInt8(truncatingIfNeeded: company), UInt8(truncatingIfNeeded: company >> 8)]
      let data = try? AdvertisingData(decoding: data)
      return response.isEmpty && lock == nil && data?.manufacturerData?.starts(with: bytes) == true
    }
  }

  let target: LockTarget
  private var stations: [Station] = []
  /// The target, where it was heard and takes no connections.
  private var isTargetShy = false
  /// The target, whose scan response is awaited until a moment.
  private var pending: (address: PeerAddress, until: Instant)?
  /// So many are told apart.
  private static let capacity = 1000
  private static let patience = Interval.seconds(1)

  init(for target: LockTarget) { self.target = target }

  /// When ``giveUpWaiting()`` is to be asked.
  var deadline: Instant { pending?.until ?? .never }

  /// Takes in a report; the target, once enough of it was heard.
  mutating func hear(_ report: AdvertisingReport, at now: Instant) -> Found? {
    guard let index = note(report) else { return nil }
    let station = stations[index]
    let lock = station.lock
    guard isTarget(station.address, lock) else { return nil }
    if report.kind != .scanResponse, !report.kind.isConnectable {
      isTargetShy = true
      return nil
    }
    if station.isUnfinished {
      if pending == nil { pending = (station.address, now + Self.patience) }
      return nil
    }
    return Found(address: station.address, deviceID: lock?.deviceID)
  }

  /// The target, whatever is still missing of what it says.
  mutating func giveUpWaiting() -> Found? {
    defer { pending = nil }
    return pending.map { Found(address: $0.address, deviceID: nil) }
  }

  /// Why it was not found, and what to do.
  func failure(after time: Interval) -> String {
    let name = "\(target.text)"
    if isTargetShy {
      return "\(name) advertises, but takes no connections: somebody else may be connected to it; try again"
    }
    let missing = "no \(name) in range within \(time)"
    if case .address(let address) = target,
      let other = stations.first(where: { $0.address.address == address.address })
    {
      return "\(missing), but \(other.address) is: a public address has /P behind it, and another has not"
    }
    let others = counted(stations.count, "other device")
    let heard = stations.isEmpty ? "nothing at all was heard" : "'lockstep scan --all' lists the \(others)"
    return "\(missing): \(heard), and --timeout waits longer"
  }

  private mutating func note(_ report: AdvertisingReport) -> Int? {
    let isResponse = report.kind == .scanResponse
    if let index = stations.firstIndex(where: { $0.address == report.address }) {
      if isResponse { stations[index].response = report.data } else { stations[index].data = report.data }
      return index
    }
    guard !isResponse else { return nil }
    // A hall full of beacons is no reason to miss the one that is meant.
    if stations.count == Self.capacity { stations.removeFirst() }
    stations.append(Station(address: report.address, data: report.data))
    return stations.count - 1
  }

  private func isTarget(_ address: PeerAddress, _ lock: Advertisement?) -> Bool {
    switch target {
    case .deviceID(let deviceID): lock?.deviceID == deviceID
    case .address(let wanted): address.address == wanted.address && address.isPublic == wanted.isPublic
    }
  }
}

extension LockTarget {
  /// What it is called in messages.
  var text: String {
    switch self {
    case .deviceID(let deviceID): "lock \(deviceID)"
    case .address(let address): "\(address)"
    }
  }
}

extension PeerAddress {
  fileprivate var isPublic: Bool { kind == .publicDevice || kind == .publicIdentity }
}

extension AdvertisingReport.Kind {
  fileprivate var isConnectable: Bool {
    switch self {
    case .connectable, .directed: true
    case .scannable, .nonconnectable, .scanResponse: false
    // Core 5.4, Vol 4 Part E §7.7.65.13: bit 0 of the event type.
    case .extended(let bits): bits & 1 != 0
    }
  }
}
