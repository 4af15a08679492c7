import System
import Bluetooth
import CLibUSB

/// A USB device that can be a Bluetooth controller, at its current position.
struct USBDongle: Hashable, Sendable {
  /// The bus and the ports, as in `1-2.3`: they stay the same if the dongle is plugged in there again.
  var path: String
  /// The vendor ID.
  var vendor: UInt16
  /// The product ID.
  var product: UInt16
  /// The serial number, if the dongle has one.
  var serial: String?
  /// The interface that carries HCI.
  var interface: USBInterface
}

/// The interface of a dongle that carries HCI, and its endpoints (Core 5.4, Vol 4 Part B §2.1).
struct USBInterface: Hashable, Sendable {
  var number: UInt8
  var events: UInt8
  var eventSize: UInt16
  var aclIn: UInt8
  var aclOut: UInt8
}

extension USBDongle {
  /// The class, subclass and protocol of a Bluetooth programming interface.
  private static let bluetooth: (UInt8, UInt8, UInt8) = (0xE0, 0x01, 0x01)

  /// Returns the Bluetooth dongles of this machine, sorted by bus position.
  ///
  /// - Parameter isForced: whether to include any device with the required endpoints.
  static func all(_ context: USBContext, isForced: Bool = false) -> [USBDongle] {
    unsafe withDevices(context) { devices in
      unsafe devices.compactMap { unsafe USBDongle($0, isForced: isForced) }.sorted {
        comesBefore($0.path, $1.path)
      }
    }
  }

  /// Returns the dongle that a selector names, if it is present.
  static func pick(_ selector: USBSelector, from dongles: [USBDongle]) -> USBDongle? {
    switch selector.choice {
    case .index(let index):
      dongles.indices.contains(index) ? dongles[index] : nil
    case .product(let vendor, let product, let index):
      dongles.filter { $0.vendor == vendor && $0.product == product }.dropFirst(index).first
    case .serial(let vendor, let product, let serial):
      dongles.first { $0.vendor == vendor && $0.product == product && $0.serial == serial }
    case .path(let path):
      dongles.first { $0.path == path }
    }
  }

  /// Returns the same dongle among those now present, possibly at another position.
  func match(in dongles: [USBDongle]) -> USBDongle? {
    let alike = dongles.filter { $0.vendor == vendor && $0.product == product }
    if let here = alike.first(where: { $0.path == path }) { return here }
    guard serial != nil else { return alike.count == 1 ? alike[0] : nil }
    return alike.first { $0.serial == serial }
  }

  /// Opens the device; if that fails, the libusb status is the reason.
  func open(_ context: USBContext) -> (handle: OpaquePointer?, status: Int32) {
    unsafe USBDongle.withDevices(context) { devices in
      let device = unsafe devices.first { unsafe USBDongle.path(of: $0) == path }
      guard let device = unsafe device else { return (nil, LIBUSB_ERROR_NO_DEVICE.rawValue) }
      var handle: OpaquePointer?
      let status = unsafe libusb_open(device, &handle)
      return unsafe (handle, status)
    }
  }

  private static func withDevices<Result>(
    _ context: USBContext, _ body: ([OpaquePointer]) -> Result
  ) -> Result {
    var list: UnsafeMutablePointer<OpaquePointer?>?
    let count = unsafe libusb_get_device_list(context.pointer, &list)
    defer { if let list = unsafe list { unsafe libusb_free_device_list(list, 1) } }
    return unsafe body((0..<max(0, count)).compactMap { unsafe list?[$0] })
  }

  private init?(_ device: OpaquePointer, isForced: Bool) {
    var descriptor = libusb_device_descriptor()
    guard unsafe libusb_get_device_descriptor(device, &descriptor) == 0,
      let path = unsafe Self.path(of: device)
    else { return nil }
    let deviceClass = (descriptor.bDeviceClass, descriptor.bDeviceSubClass, descriptor.bDeviceProtocol)
    let isWhole = isForced || deviceClass == Self.bluetooth
    guard let interface = unsafe Self.interface(of: device, ofAnyClass: isWhole) else { return nil }
    self.path = path
    vendor = descriptor.idVendor
    product = descriptor.idProduct
    serial = smallFile("/sys/bus/usb/devices/\(path)/serial")
    self.interface = interface
  }

  /// Returns the path of a device below its bus; `nil` for a root hub.
  private static func path(of device: OpaquePointer) -> String? {
    var ports = [UInt8](repeating: 0, count: 7)
    let count = unsafe libusb_get_port_numbers(device, &ports, 7)
    guard count > 0 else { return nil }
    let bus = unsafe libusb_get_bus_number(device)
    return "\(bus)-" + ports[..<Int(count)].map { "\($0)" }.joined(separator: ".")
  }

  /// Returns whether one bus position precedes another, in numeric order.
  private static func comesBefore(_ left: String, _ right: String) -> Bool {
    let numbers = [left, right].map { $0.split { $0 == "-" || $0 == "." }.compactMap { Int($0) } }
    return numbers[0].lexicographicallyPrecedes(numbers[1])
  }
}

extension USBDongle {
  /// Returns the Bluetooth interface or, if any class will do, the first one with the required endpoints.
  private static func interface(of device: OpaquePointer, ofAnyClass isAny: Bool) -> USBInterface? {
    var configuration: UnsafeMutablePointer<libusb_config_descriptor>?
    if unsafe libusb_get_active_config_descriptor(device, &configuration) != 0 {
      _ = unsafe libusb_get_config_descriptor(device, 0, &configuration)
    }
    guard let configuration = unsafe configuration else { return nil }
    defer { unsafe libusb_free_config_descriptor(configuration) }
    let count = Int(unsafe configuration.pointee.bNumInterfaces)
    let settings = unsafe (0..<count).compactMap {
      unsafe configuration.pointee.interface[$0].altsetting?.pointee
    }
    let fitting = unsafe settings.first { setting in
      unsafe (setting.bInterfaceClass, setting.bInterfaceSubClass, setting.bInterfaceProtocol) == bluetooth
        && USBInterface(setting) != nil
    }
    let any = unsafe isAny ? settings.first { unsafe USBInterface($0) != nil } : nil
    return unsafe (fitting ?? any).flatMap { unsafe USBInterface($0) }
  }
}

extension USBInterface {
  /// Finds the endpoints: interrupt in for events, bulk in both directions for ACL data; `nil` if one is missing.
  init?(_ setting: libusb_interface_descriptor) {
    var events: (address: UInt8, size: UInt16)?
    var aclIn: UInt8?
    var aclOut: UInt8?
    for index in 0..<Int(unsafe setting.bNumEndpoints) {
      let endpoint = unsafe setting.endpoint[index]
      let address = unsafe endpoint.bEndpointAddress
      let kind = unsafe UInt32(endpoint.bmAttributes & 0x03)
      switch (kind, address & 0x80 != 0) {
      case (LIBUSB_TRANSFER_TYPE_INTERRUPT.rawValue, true):
        events = unsafe events ?? (address, endpoint.wMaxPacketSize & 0x07FF)
      case (LIBUSB_TRANSFER_TYPE_BULK.rawValue, true): aclIn = aclIn ?? address
      case (LIBUSB_TRANSFER_TYPE_BULK.rawValue, false): aclOut = aclOut ?? address
      default: break
      }
    }
    guard let events, let aclIn, let aclOut, events.size > 0 else { return nil }
    self.init(
      number: unsafe setting.bInterfaceNumber, events: events.address, eventSize: events.size, aclIn: aclIn,
      aclOut: aclOut)
  }
}

extension USBDongle {
  /// Returns the fault of a dongle that cannot be opened, with the remedy.
  func refusal(_ name: String, _ status: Int32) -> TransportFault {
    switch status {
    case LIBUSB_ERROR_ACCESS.rawValue:
      TransportFault(
        .unavailable,
        "\(name): this user may not open the dongle; as root, put \(rule) into /etc/udev/rules.d/70-lockstep.rules and plug the dongle in again"
      )
    case LIBUSB_ERROR_BUSY.rawValue:
      TransportFault(.busy, "\(name): another program uses the dongle at \(path)")
    case LIBUSB_ERROR_NO_DEVICE.rawValue, LIBUSB_ERROR_NOT_FOUND.rawValue:
      TransportFault(.unavailable, "\(name): the dongle at \(path) is gone")
    default:
      TransportFault(
        .unavailable, "\(name): the dongle at \(path) cannot be used (\(usbErrorText(status)))"
      )
    }
  }

  private var rule: String {
    let ids = productText(vendor, product).lowercased().split(separator: ":").map(String.init)
    return udevRule(vendor: ids[0], product: ids[1])
  }
}

/// Returns the udev rule that gives local users and the group `plugdev` access to a device.
///
/// - Parameters: the vendor and product IDs in hexadecimal, as in `0a12`.
public func udevRule(vendor: String, product: String) -> String {
  "SUBSYSTEM==\"usb\", ATTR{idVendor}==\"\(vendor)\", ATTR{idProduct}==\"\(product)\", "
    + "MODE=\"0660\", GROUP=\"plugdev\", TAG+=\"uaccess\""
}
