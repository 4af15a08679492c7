import Basics
public import Bluetooth
import Links

/// The device to search for.
public enum DeviceTarget: Hashable, Sendable {
  /// The lock of a built-in family that advertises this identity, at any address.
  case id(String)
  /// The device at this address.
  case address(PeerAddress)
}

extension DeviceTarget {
  /// The name of the device in messages.
  var text: String {
    switch self {
    case .id(let id): "lock \(id)"
    case .address(let address): "\(address)"
    }
  }
}

/// The search for one device among all advertisers, with the diagnosis if it is not found.
struct DeviceSearch: Sendable {
  /// A device that the search has found.
  struct Found: Equatable, Sendable {
    var address: PeerAddress
    /// The identity of the lock, if it is known.
    var id: String?

    /// The identities to lease, so that no other user takes the device.
    var identities: [String] { (id.map { [$0] } ?? []) + ["\(address.address)"] }
  }

  let target: DeviceTarget
  private var advertisers = Advertisers<Nothing>(capacity: 1000)
  /// Whether the target was received but accepts no connections.
  private var isTargetUnconnectable = false
  /// The target, and the time until which the search waits for its scan response.
  private var pending: (address: PeerAddress, until: Instant)?
  /// The maximum time to wait for a scan response.
  private static let responseTime = Interval.seconds(1)

  init(for target: DeviceTarget) { self.target = target }

  /// The time at which to call ``takeWithoutResponse()``.
  var deadline: Instant { pending?.until ?? .never }

  /// Processes a report; returns the target once enough of it was received.
  mutating func hear(_ report: AdvertisingReport, at now: Instant) -> Found? {
    guard let change = advertisers.hear(report) else { return nil }
    let device = advertisers[change.index]
    let lock = device.lock
    guard isTarget(device.address, lock) else { return nil }
    if !change.isResponse, !device.isConnectable {
      isTargetUnconnectable = true
      return nil
    }
    if device.isUnfinished {
      if pending == nil { pending = (device.address, now + Self.responseTime) }
      return nil
    }
    return Found(address: device.address, id: lock?.id)
  }

  /// Returns the target even though its scan response is missing.
  mutating func takeWithoutResponse() -> Found? {
    defer { pending = nil }
    return pending.map { Found(address: $0.address, id: nil) }
  }

  /// Returns why the device was not found, and the remedy.
  func failure(after time: Interval) -> String {
    let name = "\(target.text)"
    if isTargetUnconnectable {
      return
        "\(name) advertises, but accepts no connections: another client may be connected to it; try again"
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

  private func isTarget(_ address: PeerAddress, _ lock: HeardLock?) -> Bool {
    switch target {
    case .id(let id): lock?.id == id
    case .address(let wanted): address.address == wanted.address && address.isPublic == wanted.isPublic
    }
  }
}

extension PeerAddress {
  fileprivate var isPublic: Bool { kind == .publicDevice || kind == .publicIdentity }
}
