import Glibc
import Synchronization

/// The message that a signal handler prints before it ends the program at once.
public enum FinalMessage {
  private static let place = Atomic<Int>(0)
  private static let count = Atomic<Int>(0)

  /// Sets the message, or `nil` for none. An earlier message is never freed: a handler may be reading it.
  public static func set(_ text: String?) {
    count.store(0, ordering: .sequentiallyConsistent)
    guard let text else { return }
    let bytes = Array((text + "\n").utf8)
    let room = UnsafeMutablePointer<UInt8>.allocate(capacity: bytes.count)
    for (index, byte) in bytes.enumerated() { unsafe room[index] = byte }
    place.store(Int(bitPattern: room), ordering: .sequentiallyConsistent)
    count.store(bytes.count, ordering: .sequentiallyConsistent)
  }

  /// Prints the message to standard error. Safe in a signal handler.
  public static func print() {
    let count = count.load(ordering: .sequentiallyConsistent)
    let bytes = unsafe UnsafePointer<UInt8>(
      bitPattern: place.load(ordering: .sequentiallyConsistent))
    if count > 0, let bytes = unsafe bytes { _ = unsafe write(STDERR_FILENO, bytes, count) }
  }
}
