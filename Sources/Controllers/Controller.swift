import Bluetooth
import Basics

/// The state of one controller: its host's settings, and its links.
struct Controller: Sendable {
  let settings: ControllerSettings
  let publicAddress: BluetoothAddress
  var isOn = true
  var isReachable = true
  /// The source of LE Rand and of the fading of signals.
  var generator: SeededGenerator

  var randomAddress: BluetoothAddress?
  var scanParameters = ScanParameters(isActive: false, ownAddressType: 0)
  var acceptList: [PeerAddress] = []
  /// The pending connection request of the host.
  var request: ConnectionRequest?
  var suggested = PacketLimits()
  /// The radio's index of each link, by handle minus ``firstHandle``; −1 for a free handle.
  var links: [Int]
  /// The number of connection events on past links.
  var pastEvents = 0

  /// Not 0, so that a host that forgets to set a handle is noticed.
  static let firstHandle = 0x40

  init(_ settings: ControllerSettings, number: Int, generator: SeededGenerator) {
    self.settings = settings
    // No existing organisation: the address is marked as locally administered and unicast.
    publicAddress =
      settings.publicAddress ?? BluetoothAddress(0x02_4C_4B_00_00_00 + UInt64(truncatingIfNeeded: number) + 1)
    self.generator = generator
    links = Array(repeating: -1, count: settings.linkLimit)
  }

  /// Whether the radio receives its packets.
  var isOnAir: Bool { isOn && isReachable }

  /// Resets everything but the links, which must already be gone.
  mutating func reset() {
    randomAddress = nil
    scanParameters = ScanParameters(isActive: false, ownAddressType: 0)
    acceptList = []
    request = nil
    suggested = PacketLimits()
  }

  /// Returns the radio's index of the link with this handle.
  func link(_ handle: ConnectionHandle) -> Int? {
    let place = Int(handle.rawValue) - Controller.firstHandle
    guard links.indices.contains(place), links[place] >= 0 else { return nil }
    return links[place]
  }

  /// A handle that no link uses.
  var freeHandle: ConnectionHandle? {
    guard let place = links.firstIndex(of: -1) else { return nil }
    return ConnectionHandle(rawValue: UInt16(truncatingIfNeeded: place + Controller.firstHandle))
  }

  /// Returns the address for an own address type; `nil` if the host has not set it.
  func ownAddress(_ type: UInt8) -> PeerAddress? {
    switch type {
    case 0: PeerAddress(.publicDevice, publicAddress)
    default: randomAddress.map { PeerAddress(.randomDevice, $0) }
    }
  }
}
