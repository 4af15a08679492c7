import CShims
import Glibc
public import Basics

/// SIGUSR1, which requests a progress report.
///
/// It is blocked in all threads, and a dedicated thread waits for it, so that it interrupts no operation. Programs
/// that we start do not inherit this.
public enum StatusSignal {
  /// Blocks it in this thread and in those that it starts from now on.
  public static func block() {
    var set = only()
    unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
  }

  /// Waits for it; false if the time is over first.
  public static func wait(for interval: Interval) -> Bool {
    lockstep_await_signal(SIGUSR1, interval.nanoseconds) == SIGUSR1
  }

  private static func only() -> sigset_t {
    var set = sigset_t()
    unsafe sigemptyset(&set)
    unsafe sigaddset(&set, SIGUSR1)
    return set
  }
}

/// Runs a function in a thread of its own, until it returns or the program ends.
///
/// - Returns: whether it was started; the machine may have no more threads.
@discardableResult
public func inBackground(_ body: @escaping @Sendable () -> Void) -> Bool {
  let work = unsafe Unmanaged.passRetained(Work(body)).toOpaque()
  var thread = pthread_t()
  let status = unsafe pthread_create(
    &thread, nil,
    { work in
      guard let work = unsafe work else { return nil }
      unsafe Unmanaged<Work>.fromOpaque(work).takeRetainedValue().body()
      return nil
    }, work)
  guard status == 0 else {
    unsafe Unmanaged<Work>.fromOpaque(work).release()
    return false
  }
  pthread_detach(thread)
  return true
}

/// The work of a thread.
private final class Work: Sendable {
  let body: @Sendable () -> Void

  init(_ body: @escaping @Sendable () -> Void) {
    self.body = body
  }
}
