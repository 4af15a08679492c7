import Basics
import Bluetooth
public import Links
public import Sesame
import SesameDevice

/// The search for one device among all advertisers, with the diagnosis if it is not found.
struct DeviceSearch: Sendable {
  /// A device that was found.
  struct Found: Equatable, Sendable {
    var address: PeerAddress
    /// Which lock it is, as far as it says.
    var deviceID: UUID128?

    /// What it is known by to those who want it for themselves.
    var identities: [String] { (deviceID.map { ["\($0)"] } ?? []) + ["\(address.address)"] }
  }

  let target: LockTarget
  private var advertisers = Advertisers<Nothing>(capacity: 1000)
  /// The target, where it was heard and takes no connections.
  private var isTargetShy = false
  /// The target, whose scan response is awaited until a moment.
  private var pending: (address: PeerAddress, until: Instant)?
  /// How long a scan response is waited for.
  private static let responseTime = Interval.seconds(1)

  init(for target: LockTarget) { self.target = target }

  /// When ``giveUpWaiting()`` is to be asked.
  var deadline: Instant { pending?.until ?? .never }

  /// Processes a report; returns the target once enough of it was received.
  mutating func hear(_ report: AdvertisingReport, at now: Instant) -> Found? {
    guard let change = advertisers.hear(report) else { return nil }
    let device = advertisers[change.index]
    let lock = device.lock
    guard isTarget(device.address, lock) else { return nil }
    if !change.isResponse, !device.isConnectable {
      isTargetShy = true
      return nil
    }
    if device.isUnfinished {
      if pending == nil { pending = (device.address, now + Self.responseTime) }
      return nil
    }
    return Found(address: device.address, deviceID: lock?.deviceID)
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
      let other = advertisers.devices.first(where: { $0.address.address == address.address })
    {
      return "\(missing), but \(other.address) is: a public address has /P behind it, and another has not"
    }
    let others = counted(advertisers.devices.count, "other device")
    let heard =
      advertisers.devices.isEmpty ? "nothing at all was heard" : "'lockstep scan --all' lists the \(others)"
    return "\(missing): \(heard), and --timeout waits longer"
  }

  private func isTarget(_ address: PeerAddress, _ lock: Advertisement?) -> Bool {
    switch target {
    case .deviceID(let deviceID): lock?.deviceID == deviceID
    case .address(let wanted): address.address == wanted.address && address.isPublic == wanted.isPublic
    }
  }
}

extension Advertisers.Device {
  /// The Sesame lock that it says it is.
  public var lock: Advertisement? {
    guard let data = try? AdvertisingData(decoding: advertisement) else { return nil }
    let response = try? AdvertisingData(decoding: response ?? [])
    return try? Advertisement(data, scanResponse: response ?? AdvertisingData())
  }

  /// Whether it claims to be a lock of a kind that may tell its identity in the scan response alone.
  fileprivate var isUnfinished: Bool {
    let company = Advertisement.company
    let bytes = [UInt8(truncatingIfNeeded: company), UInt8(truncatingIfNeeded: company >> 8)]
    let data = try? AdvertisingData(decoding: advertisement)
    return (response ?? []).isEmpty && lock == nil && data?.manufacturerData?.starts(with: bytes) == true
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
