import Bluetooth
import Basics

/// What one controller knows: what its host told it, and the links it has.
struct Controller: Sendable {
  let settings: ControllerSettings
  let publicAddress: BluetoothAddress
  var isOn = true
  var isReachable = true
  /// Where LE Rand and the strength of signals come from.
  var generator: SeededGenerator

  var randomAddress: BluetoothAddress?
  var scanParameters = ScanParameters(isActive: false, ownAddressType: 0)
  var acceptList: [PeerAddress] = []
  /// What the host wants to connect to.
  var request: ConnectionRequest?
  var suggested = PacketLimits()
  /// The links by handle, less ``firstHandle``: their places among the radio's links, or −1.
  var links: [Int]
  /// How many connection events were on links that are over.
  var pastEvents = 0

  /// Not 0, so that a host that forgets to set a handle is noticed.
  static let firstHandle = 0x40

  init(_ settings: ControllerSettings, number: Int, generator: SeededGenerator) {
    self.settings = settings
    // An organisation that does not exist: the bits for "locally administered" and "one device" are set so.
    publicAddress =
      settings.publicAddress ?? BluetoothAddress(0x02_4C_4B_00_00_00 + UInt64(truncatingIfNeeded: number) + 1)
    self.generator = generator
    links = Array(repeating: -1, count: settings.linkLimit)
  }

  /// Whether the radio hears it.
  var isOnAir: Bool { isOn && isReachable }

  /// As after a reset; the links must be gone.
  mutating func reset() {
    randomAddress = nil
    scanParameters = ScanParameters(isActive: false, ownAddressType: 0)
    acceptList = []
    request = nil
    suggested = PacketLimits()
  }

  /// Where among the radio's links the one of a handle is.
  func link(_ handle: ConnectionHandle) -> Int? {
    let place = Int(handle.rawValue) - Controller.firstHandle
    guard links.indices.contains(place), links[place] >= 0 else { return nil }
    return links[place]
  }

  /// A handle that no link has.
  var freeHandle: ConnectionHandle? {
    guard let place = links.firstIndex(of: -1) else { return nil }
    return ConnectionHandle(rawValue: UInt16(truncatingIfNeeded: place + Controller.firstHandle))
  }

  /// The address that an own address type stands for; `nil` if the host did not set it.
  func ownAddress(_ type: UInt8) -> PeerAddress? {
    switch type {
    case 0: PeerAddress(.publicDevice, publicAddress)
    default: randomAddress.map { PeerAddress(.randomDevice, $0) }
    }
  }
}
