public import Basics
import Glibc
import Synchronization

/// Calls that may block for ever: those to a broken device.
///
/// Each runs in a thread of its own. A call that does not return in time is abandoned, with all that it uses, and the
/// process can exit while it is still blocked. (A call that is blocked uninterruptibly in the kernel also delays the
/// exit of a killed process until the kernel returns.)
public enum BoundedCall {
  /// The state that the thread and the caller share. Only the thread accesses it until the call has returned.
  private final class Call<Value>: @unchecked Sendable {
    let body: () -> Value
    var value: Value?
    /// The pipe end that the thread closes at the end: the caller may have abandoned the call, and writing to
    /// a closed pipe would end the program.
    let done: Int32

    init(_ done: Int32, _ body: @escaping () -> Value) {
      self.done = done
      self.body = body
    }
  }

  /// Makes a call and waits until a moment; `nil` if it has not returned by then.
  public static func run<Value>(until limit: Instant, _ body: @escaping () -> Value) -> Value? {
    var ends: [Int32] = [-1, -1]
    guard Kernel.pipe(&ends) == 0 else { return body() }
    defer { Kernel.close(ends[0]) }
    let call = Call(ends[1], body)
    let isUnderWay = inBackground {
      call.value = call.body()
      Kernel.close(call.done)
    }
    guard isUnderWay else {
      Kernel.close(ends[1])
      return body()
    }
    while !Waiting.wait(for: [(ends[0], Int16(POLLIN))], until: limit) {
      if Waiting.now >= limit { return nil }
    }
    return call.value
  }
}
