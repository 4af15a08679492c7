import Transports
import System
import Glibc

extension BenchProbe {
  /// A serial line that may lead to a controller.
  public struct SerialPort: Equatable, Sendable {
    /// Its device, as in `/dev/ttyACM0`.
    public var path: String
    /// The adapter's product name, with its serial number.
    public var name: String?
    /// Whether this user may open it.
    public var isAllowed: Bool
  }

  /// The serial lines with hardware behind them. The PC's own ports are skipped: most are not connected, and none
  /// leads to a controller.
  public var serialPorts: [SerialPort] {
    let names = serialNames
    return (folderEntries(root + "/sys/class/tty") ?? []).compactMap { tty in
      let driver = linkTarget("\(root)/sys/class/tty/\(tty)/device/driver")?.split(separator: "/")
        .last
      guard let driver, driver != "serial8250", driver != "port" else { return nil }
      let path = "/dev/" + tty
      return SerialPort(
        path: path, name: names.first { $0.tty == tty }?.name,
        isAllowed: Kernel.access(root + path, R_OK | W_OK) == 0)
    }
  }

  /// The names that udev assigns to the lines of USB adapters.
  private var serialNames: [(tty: String, name: String)] {
    let folder = root + "/dev/serial/by-id/"
    return (folderEntries(folder) ?? []).compactMap { name in
      linkTarget(folder + name)?.split(separator: "/").last.map { (String($0), name) }
    }
  }
}
