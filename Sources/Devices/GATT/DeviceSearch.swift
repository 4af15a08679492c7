import Basics
public import Bluetooth
import Links

/// Which device on the air is looked for.
public enum DeviceTarget: Hashable, Sendable {
  /// The lock of a family built in that advertises this identity, from whatever address.
  case id(String)
  /// The one at this address.
  case address(PeerAddress)
}

extension DeviceTarget {
  /// What it is called in messages.
  var text: String {
    switch self {
    case .id(let id): "lock \(id)"
    case .address(let address): "\(address)"
    }
  }
}

/// The search for one device among all advertisers, with the diagnosis if it is not found.
struct DeviceSearch: Sendable {
  /// A device that was found.
  struct Found: Equatable, Sendable {
    var address: PeerAddress
    /// Which lock it is, as far as it says.
    var id: String?

    /// What it is known by to those who want it for themselves.
    var identities: [String] { (id.map { [$0] } ?? []) + ["\(address.address)"] }
  }

  let target: DeviceTarget
  private var advertisers = Advertisers<Nothing>(capacity: 1000)
  /// The target, where it was heard and takes no connections.
  private var isTargetUnconnectable = false
  /// The target, whose scan response is awaited until a moment.
  private var pending: (address: PeerAddress, until: Instant)?
  /// How long a scan response is waited for.
  private static let responseTime = Interval.seconds(1)

  init(for target: DeviceTarget) { self.target = target }

  /// When ``giveUpWaiting()`` is to be asked.
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

  /// The target, whatever is still missing of what it says.
  mutating func giveUpWaiting() -> Found? {
    defer { pending = nil }
    return pending.map { Found(address: $0.address, id: nil) }
  }

  /// Why it was not found, and what to do.
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
