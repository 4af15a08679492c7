import System
import Bluetooth
import Glibc

/// Serial lines that carry H4 (Core 5.4, Vol 4 Part A).
enum SerialPort {
  /// The default speed, as in Bumble.
  static let usualSpeed = 1_000_000

  /// The speeds that every Linux system supports, in bits per second.
  static let speeds: [(rate: Int, code: Int32)] = [
    (9600, B9600), (19200, B19200), (38400, B38400), (57600, B57600), (115_200, B115200), (230_400, B230400),
    (460_800, B460800), (500_000, B500000), (576_000, B576000), (921_600, B921600), (1_000_000, B1000000),
    (1_152_000, B1152000), (1_500_000, B1500000), (2_000_000, B2000000), (2_500_000, B2500000),
    (3_000_000, B3000000), (3_500_000, B3500000), (4_000_000, B4000000),
  ]

  /// Opens a line with eight data bits, no parity and one stop bit, and discards what it has buffered.
  static func open(
    _ path: String, speed: Int, hasFlowControl: Bool, name: String
  ) throws(TransportFault)
    -> DescriptorLine.Ends
  {
    let descriptor = Kernel.open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { throw refused(name, errno) }
    do throws(TransportFault) {
      // Other users' programs and other software respect this lock.
      guard Kernel.flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
        guard errno == EWOULDBLOCK else {
          throw TransportFault(
            .unavailable, "\(name) cannot be kept from other programs (\(errorText(errno)))")
        }
        throw TransportFault(.busy, "\(name) is locked by another program")
      }
      try configure(descriptor, speed: speed, hasFlowControl: hasFlowControl, name: name)
    } catch {
      Kernel.close(descriptor)
      throw error
    }
    return .init(peer: descriptor)
  }

  private static func configure(
    _ descriptor: Int32, speed: Int, hasFlowControl: Bool, name: String
  )
    throws(TransportFault)
  {
    var line = termios()
    guard unsafe tcgetattr(descriptor, &line) == 0 else {
      throw TransportFault(.unavailable, "\(name) is no serial line (\(errorText(errno)))")
    }
    guard let code = speeds.first(where: { $0.rate == speed })?.code else {
      throw TransportFault(.unavailable, "\(name): no serial line has this speed")
    }
    unsafe cfmakeraw(&line)
    line.c_cflag |= tcflag_t(CLOCAL | CREAD)
    line.c_cflag &= ~tcflag_t(CSTOPB)
    line.c_cflag &= ~tcflag_t(CRTSCTS)
    if hasFlowControl { line.c_cflag |= tcflag_t(CRTSCTS) }
    // VMIN 1, VTIME 0: a read without data then fails with EAGAIN instead of returning 0, the end of the stream.
    line.c_cc.6 = 1
    line.c_cc.5 = 0
    guard unsafe cfsetspeed(&line, speed_t(code)) == 0, unsafe tcsetattr(descriptor, TCSANOW, &line) == 0
    else {
      throw TransportFault(.unavailable, "\(name) cannot be set to this speed (\(errorText(errno)))")
    }
    tcflush(descriptor, TCIOFLUSH)
  }

  private static func refused(_ name: String, _ code: Int32) -> TransportFault {
    switch code {
    case EACCES:
      TransportFault(
        .unavailable,
        "\(name) may not be used by this user; sudo usermod --append --groups dialout $USER, then log in again"
      )
    case EBUSY: TransportFault(.busy, "\(name) is held by another program")
    default:
      TransportFault(
        .unavailable, "\(name) cannot be opened (\(errorText(code))); is the adapter plugged in?")
    }
  }
}
