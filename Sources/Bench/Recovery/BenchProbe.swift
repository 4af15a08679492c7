import Basics
import System
import Glibc

/// Reads which Bluetooth hardware a machine has, without changing any of it.
public struct BenchProbe {
  /// A Bluetooth dongle.
  public struct Dongle: Equatable, Sendable {
    /// Bus and ports, as in `1-2.3`.
    public var path: String
    /// Vendor and product in hexadecimal, as in `0a12`.
    public var vendor: String
    public var product: String
    /// The product name that it reports.
    public var name: String?
    /// The device file through which it is used.
    public var node: String
    /// Whether this user may open that file.
    public var isAllowed: Bool
    /// Its kernel driver: `btusb`, `usbfs` for another program, or none.
    public var driver: String?
  }

  /// An adapter of the kernel.
  public struct Adapter: Equatable, Sendable {
    /// Its number: 0 for hci0.
    public var number: Int
    /// Whether it is up, and so used by the kernel; `nil` if that cannot be determined.
    public var isUp: Bool?
    /// Whether rfkill blocks it.
    public var isBlocked: Bool
  }

  let root: String

  /// Probes this machine, or one whose files lie below a folder.
  public init(root: String = "") { self.root = root }
}

extension BenchProbe {
  /// The Bluetooth dongles: devices whose class, or whose first interface's class, is that of a primary controller.
  public var dongles: [Dongle] {
    let folder = root + "/sys/bus/usb/devices/"
    let names = folderEntries(folder) ?? []
    return names.filter { !$0.contains(":") }.compactMap { name in
      let device = folder + name + "/"
      let first = names.first { $0.hasPrefix(name + ":") && $0.hasSuffix(".0") }
      let interface = first.map { folder + $0 + "/" }
      guard isBluetooth(device + "bDevice") || interface.map({ isBluetooth($0 + "bInterface") }) ?? false,
        let vendor = smallFile(device + "idVendor"), let product = smallFile(device + "idProduct"),
        let bus = smallFile(device + "busnum").flatMap({ Int($0) }),
        let number = smallFile(device + "devnum").flatMap({ Int($0) })
      else { return nil }
      let node = "/dev/bus/usb/\(bus.padded(to: 3))/\(number.padded(to: 3))"
      let driver = interface.flatMap { linkTarget($0 + "driver") }?.split(separator: "/").last.map(
        String.init)
      return Dongle(
        path: name, vendor: vendor, product: product, name: smallFile(device + "product"), node: node,
        isAllowed: Kernel.access(root + node, R_OK | W_OK) == 0, driver: driver)
    }
  }

  private func isBluetooth(_ stem: String) -> Bool {
    smallFile(stem + "Class") == "e0" && smallFile(stem + "SubClass") == "01"
      && smallFile(stem + "Protocol") == "01"
  }

  /// The kernel's adapters.
  public var adapters: [Adapter] {
    let folder = root + "/sys/class/bluetooth/"
    return (folderEntries(folder) ?? []).compactMap { name in
      guard name.hasPrefix("hci"), let number = Int(name.dropFirst(3)) else { return nil }
      let switches = (folderEntries(folder + name) ?? []).filter { $0.hasPrefix("rfkill") }
      let isBlocked = switches.contains { rfkill in
        ["soft", "hard"].contains { smallFile("\(folder)\(name)/\(rfkill)/\($0)") == "1" }
      }
      return Adapter(number: number, isUp: root.isEmpty ? isUp(number) : nil, isBlocked: isBlocked)
    }
  }

  /// Reads an adapter's state from `hci_dev_info`: the number is at 0, the flags at 16.
  private func isUp(_ number: Int) -> Bool? {
    let descriptor = Self.bluetoothSocket()
    guard descriptor >= 0 else { return nil }
    defer { Kernel.close(descriptor) }
    var info = [UInt8](repeating: 0, count: 128)
    info[0] = UInt8(truncatingIfNeeded: number)
    info[1] = UInt8(truncatingIfNeeded: number >> 8)
    // HCIGETDEVINFO, _IOR('H', 211, int): Swift does not import the macro.
    guard unsafe ioctl(descriptor, 0x8004_48D3, &info) == 0 else { return nil }
    return info[16] & 1 == 1
  }

  /// A raw HCI socket: protocol 1 of the Bluetooth family.
  private static func bluetoothSocket() -> Int32 { Kernel.socket(AF_BLUETOOTH, Int32(SOCK_RAW.rawValue), 1) }

  /// Why there are no Bluetooth sockets; `nil` if there are.
  public var socketTrouble: String? {
    let descriptor = Self.bluetoothSocket()
    guard descriptor < 0 else {
      Kernel.close(descriptor)
      return nil
    }
    return errno == EPERM || errno == EACCES ? nil : errorText(errno)
  }

  /// Whether this program may take an adapter from the kernel (CAP_NET_ADMIN, capabilities(7)).
  public var mayTakeAdapters: Bool {
    let line = lines("/proc/self/status").first { $0.hasPrefix("CapEff:") }
    let digits = line?.dropFirst(7).filter { $0 != "\t" && $0 != " " } ?? ""
    return (UInt64(digits, radix: 16) ?? 0) >> 12 & 1 == 1
  }

  /// The programs that have opened a file, as far as this user can see.
  public func holders(of node: String) -> [String] {
    processes.filter { process in
      (folderEntries("\(root)/proc/\(process)/fd") ?? []).contains {
        linkTarget("\(root)/proc/\(process)/fd/\($0)") == node
      }
    }.map { "\(smallFile("\(root)/proc/\($0)/comm") ?? "a program") (process \($0))" }
  }

  /// Whether a program with a name is running.
  public func isRunning(_ name: String) -> Bool {
    processes.contains { smallFile("\(root)/proc/\($0)/comm") == name }
  }

  private var processes: [String] {
    (folderEntries(root + "/proc") ?? []).filter { Int($0) != nil && $0 != String(getpid()) }
  }

  /// Why a folder can be neither written nor made; `nil` if it can.
  public func trouble(withFolder path: String) -> String? {
    var place = path
    while Kernel.access(place, F_OK) != 0, errno == ENOENT, place != "/", place != "." {
      place = Path.folder(of: place)
    }
    guard Kernel.access(place, W_OK | X_OK) != 0 else { return nil }
    return "\(path): \(errorText(errno))"
  }

  /// The lines of a file that may be longer than most in these folders.
  private func lines(_ path: String) -> [String] {
    let bytes = (try? WholeFile.bytes(of: root + path, limit: 1 << 20)) ?? []
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
  }
}
