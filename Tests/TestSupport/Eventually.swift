public import Basics
import Glibc
public import Testing

/// How long a test waits for what must come, and how long what it starts may take to answer.
///
/// A machine that is busy, or has a slow disk, is no fault: only what never comes takes all of it. It is shorter than the limit of a
/// test, so that the test says what it waited for.
public let timeLimit = Interval.seconds(240)

/// Waits until something holds, and records an issue where it never does.
///
/// - Parameters:
///   - program: what brings it about; once it has ended, there is nothing to wait for.
///   - holds: whether it holds by now.
public func eventually(
  by program: Program? = nil, sourceLocation: SourceLocation = #_sourceLocation, _ holds: () throws -> Bool
) rethrows {
  let limit = ContinuousClock.now + .nanoseconds(timeLimit.nanoseconds)
  while try !holds() {
    // What it did last may be seen only now.
    if let program, !program.isRunning, try !holds() { return }
    guard ContinuousClock.now < limit else {
      Issue.record("it did not come in \(timeLimit)", sourceLocation: sourceLocation)
      return
    }
    usleep(5000)
  }
}

/// Whether something holds in one of twenty tries.
///
/// For what depends on when the system lets which process run: a machine that works shows it at once where it has time, and one that
/// is broken never does.
public func sometimes(_ holds: () throws -> Bool) rethrows -> Bool {
  for _ in 0..<20 where try holds() { return true }
  return false
}
