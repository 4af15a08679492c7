import Bluetooth
import CBlueZ
import Glibc

/// The kernel's HCI user channel: an adapter without the kernel's own Bluetooth on top (Linux 3.13 and later).
enum UserChannel {
  /// Opens an adapter, which must be down.
  static func open(_ adapter: Int, name: String) throws(CarrierFault) -> DescriptorLine.Ends {
    let kind = SOCK_RAW.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
    let descriptor = socket(AF_BLUETOOTH, Int32(kind), BTPROTO_HCI)
    guard descriptor >= 0 else { throw refused(adapter, name, errno) }
    var address = sockaddr_hci(
      hci_family: sa_family_t(AF_BLUETOOTH), hci_dev: UInt16(adapter),
      hci_channel: UInt16(HCI_CHANNEL_USER))
    let status = unsafe withUnsafePointer(to: &address) { address in
      unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_hci>.size))
      }
    }
    guard status == 0 else {
      let code = errno
      close(descriptor)
      throw refused(adapter, name, code)
    }
    return .init(peer: descriptor, isDatagram: true)
  }

  /// The fault of each refusal that the kernel knows, with its cure.
  static func refused(_ adapter: Int, _ name: String, _ code: Int32) -> CarrierFault {
    switch code {
    case EAFNOSUPPORT, EPROTONOSUPPORT:
      CarrierFault(
        .unavailable, "\(name): this kernel has no Bluetooth sockets; sudo modprobe bluetooth")
    case EBUSY:
      CarrierFault(
        .busy,
        "\(name): hci\(adapter) is up or in use; sudo hciconfig hci\(adapter) down, or sudo btmgmt -i \(adapter) power off"
      )
    case EPERM, EACCES:
      CarrierFault(
        .unavailable,
        "\(name) needs the capability CAP_NET_ADMIN; sudo setcap cap_net_admin+ep PROGRAM, or run it as root"
      )
    case ENODEV:
      CarrierFault(
        .unavailable, "\(name): there is no adapter hci\(adapter); lockstep doctor lists them")
    case ERFKILL:
      CarrierFault(
        .unavailable, "\(name): hci\(adapter) is switched off; sudo rfkill unblock bluetooth")
    default:
      CarrierFault(.unavailable, "\(name): hci\(adapter) cannot be used (\(errorText(code)))")
    }
  }
}
