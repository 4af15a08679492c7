import Glibc
public import Basics

/// Notifies the service manager that started us of our state: the protocol of sd_notify(3), without its library.
///
/// A line such as `READY=1` is one datagram to the socket that `NOTIFY_SOCKET` names. Without that variable nothing
/// is sent.
public final class ServiceNotifier {
  private let path: String?
  private var lastStatus = ""
  private var lastSign: Interval?
  /// The interval at which the manager expects a sign of life; `nil` if it expects none.
  public let watchdog: Interval?

  /// Reads the socket's name from the environment.
  public init(_ variable: (String) -> String? = Host.variable) {
    path = variable("NOTIFY_SOCKET").flatMap { $0.hasPrefix("/") || $0.hasPrefix("@") ? $0 : nil }
    let isOurs = variable("WATCHDOG_PID").map { Int32($0) == getpid() } ?? true
    let time = variable("WATCHDOG_USEC").flatMap { Int64($0) }.flatMap { $0 > 0 ? $0 : nil }
    watchdog = isOurs ? time.map { .microseconds($0) } : nil
  }

  /// Reports that the service is ready.
  public func ready() { send("READY=1") }

  /// Reports that the service is stopping.
  public func stopping() { send("STOPPING=1") }

  /// Reports the status as a line; an unchanged line is not sent again.
  public func status(_ text: String) {
    guard text != lastStatus else { return }
    lastStatus = text
    send("STATUS=" + text.split(separator: "\n").joined(separator: " "))
  }

  /// Sends a sign of life, at most twice per interval.
  public func alive() {
    guard let watchdog else { return }
    let now = MonotonicClock.now
    if let lastSign, (now - lastSign) * 2 < watchdog { return }
    lastSign = now
    send("WATCHDOG=1")
  }

  private func send(_ text: String) {
    guard let path else { return }
    let isAbstract = path.hasPrefix("@")
    let name = isAbstract ? String(path.dropFirst()) : path
    guard name.utf8.count <= longestSocketName else { return }
    let descriptor = Kernel.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return }
    defer { Kernel.close(descriptor) }
    let text = Array(text.utf8)
    unsafe withSocketAddress(name, isAbstract: isAbstract) { address, size in
      // A manager that is busy is no reason to wait.
      _ = unsafe sendto(descriptor, text, text.count, Int32(MSG_DONTWAIT), address, size)
    }
  }
}
