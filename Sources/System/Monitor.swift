import Glibc

/// A mutual exclusion lock with a condition variable.
///
/// A thread that has entered it may enter it again.
@safe public final class Monitor: Sendable {
  @unsafe private struct Parts {
    var mutex = unsafe pthread_mutex_t()
    var condition = pthread_cond_t()
  }

  private nonisolated(unsafe) let parts: UnsafeMutablePointer<Parts>

  /// Makes an unlocked monitor.
  public init() {
    unsafe parts = .allocate(capacity: 1)
    unsafe parts.initialize(to: Parts())
    var attributes = pthread_mutexattr_t()
    unsafe pthread_mutexattr_init(&attributes)
    unsafe pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_RECURSIVE))
    unsafe pthread_mutex_init(&parts.pointee.mutex, &attributes)
    unsafe pthread_mutexattr_destroy(&attributes)
    unsafe pthread_cond_init(&parts.pointee.condition, nil)
  }

  deinit {
    unsafe pthread_cond_destroy(&parts.pointee.condition)
    unsafe pthread_mutex_destroy(&parts.pointee.mutex)
    unsafe parts.deallocate()
  }

  /// Does something while no other thread is in the monitor.
  public func locked<Result>(_ body: () throws -> Result) rethrows -> Result {
    unsafe pthread_mutex_lock(&parts.pointee.mutex)
    defer { unsafe pthread_mutex_unlock(&parts.pointee.mutex) }
    return try body()
  }

  /// Releases the monitor until another thread signals a change. The caller must have entered it once.
  public func wait() { unsafe pthread_cond_wait(&parts.pointee.condition, &parts.pointee.mutex) }

  /// Wakes all waiting threads, since something has changed.
  public func announce() { unsafe pthread_cond_broadcast(&parts.pointee.condition) }
}
