import System

// The identity of a controller, independent of its specification: no two programs may use one at the same time.

extension TransportSpec {
  /// The identity of the controller at the other end.
  ///
  /// A dongle is identified by its serial number or, if that is not unique, by its bus position. It is therefore the
  /// same whether a specification names its position, its model or its kernel adapter. Any other transport is
  /// identified by its specification.
  public var identity: String {
    switch self {
    case .usb(let selector):
      guard let dongles = Self.dongles(isForced: selector.isForced),
        let dongle = USBDongle.pick(selector, from: dongles)
      else { return "\(self)" }
      return dongle.identity(among: dongles)
    case .hciSocket(let number):
      guard let path = busPath, let dongles = Self.dongles(isForced: true),
        let dongle = dongles.first(where: { $0.path == path })
      else { return "hci\(number)" }
      return dongle.identity(among: dongles)
    case .serial(let path, _, _): return "serial:" + (realPath(path) ?? path)
    case .tcpClient, .tcpServer, .unixClient: return "\(self)"
    }
  }

  /// Whether the transport uses a dongle that can be reset on its bus.
  public var isDongle: Bool {
    if case .usb = self { true } else { false }
  }

  /// The controller's position on a USB bus, as in `1-2.3`; `nil` if it is absent or not on USB.
  public var busPath: String? {
    switch self {
    case .usb(let selector):
      Self.dongles(isForced: selector.isForced).flatMap { USBDongle.pick(selector, from: $0)?.path }
    case .hciSocket(let number):
      linkTarget("/sys/class/bluetooth/hci\(number)/device")?.split(separator: "/").last?
        .split(separator: ":").first.map(String.init)
    case .serial, .tcpClient, .tcpServer, .unixClient: nil
    }
  }

  /// Whether the controller is present; `nil` if that cannot be determined without opening it.
  public var isPresent: Bool? {
    switch self {
    case .usb(let selector):
      Self.dongles(isForced: selector.isForced).map { USBDongle.pick(selector, from: $0) != nil }
    case .hciSocket(let number): folderEntries("/sys/class/bluetooth/hci\(number)") != nil
    case .serial(let path, _, _): realPath(path) != nil
    case .tcpClient, .tcpServer, .unixClient: nil
    }
  }

  private static func dongles(isForced: Bool) -> [USBDongle]? {
    (try? USBContext()).map { USBDongle.all($0, isForced: isForced) }
  }
}

extension USBDongle {
  /// Returns the serial number if it is unique among the dongles, and the bus position otherwise.
  fileprivate func identity(among dongles: [USBDongle]) -> String {
    let alike = dongles.filter { $0.vendor == vendor && $0.product == product && $0.serial == serial }
    guard let serial, alike.count < 2 else { return "usb:\(path)" }
    return "usb:\(productText(vendor, product))/\(serial)"
  }
}
