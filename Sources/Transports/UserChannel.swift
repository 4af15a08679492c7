import System
import Bluetooth
import CShims
import Glibc

/// The kernel's HCI user channel: an adapter without the kernel's own Bluetooth on top (Linux 3.13 and later).
enum UserChannel {
  /// Opens an adapter, which must be down.
  static func open(_ adapter: Int, name: String) throws(TransportFault) -> DescriptorLine.Ends {
    guard let number = UInt16(exactly: adapter) else { throw refused(adapter, name, ENODEV) }
    let descriptor = lockstep_open_user_channel(number)
    guard descriptor >= 0 else { throw refused(adapter, name, -descriptor) }
    return .init(peer: descriptor, isDatagram: true)
  }

  /// Returns the fault for an error code of the kernel, with the remedy.
  static func refused(_ adapter: Int, _ name: String, _ code: Int32) -> TransportFault {
    switch code {
    case EAFNOSUPPORT, EPROTONOSUPPORT:
      TransportFault(.unavailable, "\(name): this kernel has no Bluetooth sockets; sudo modprobe bluetooth")
    case EBUSY:
      TransportFault(
        .busy,
        "\(name): hci\(adapter) is up or in use; sudo hciconfig hci\(adapter) down, or sudo btmgmt -i \(adapter) power off"
      )
    case EPERM, EACCES:
      TransportFault(
        .unavailable,
        "\(name) needs the capability CAP_NET_ADMIN; sudo setcap cap_net_admin+ep \(Host.program ?? "PROGRAM"), or run it as root"
      )
    case ENODEV:
      TransportFault(.unavailable, "\(name): there is no adapter hci\(adapter); lockstep doctor lists them")
    case ERFKILL:
      TransportFault(.unavailable, "\(name): hci\(adapter) is switched off; sudo rfkill unblock bluetooth")
    default: TransportFault(.unavailable, "\(name): hci\(adapter) cannot be used (\(errorText(code)))")
    }
  }
}
