/// Receives the records of a journal as they are written.
public protocol JournalListener: AnyObject {
  /// Receives a record.
  func take(_ record: Record)

  /// Receives the time of the case whose verdict comes next, possibly long after that time.
  func take(_ time: CaseTime)
}

extension JournalListener {
  public func take(_ time: CaseTime) {}
}

/// Observes the records of cases at the moment when they are made.
///
/// If several cases run in parallel, the journal receives their records later, in the order of the plan.
public protocol CaseObserver: AnyObject {
  /// Receives a record.
  ///
  /// - Parameter place: The index of the case among those that run.
  func see(_ record: Record, of place: Int)
}
