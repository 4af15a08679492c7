/// Takes in a journal as it is written.
public protocol JournalListener: AnyObject {
  /// Takes in a record.
  func take(_ record: Record)

  /// Takes in when the case was driven whose verdict comes next. It may be told of long after that.
  func take(_ time: CaseTime)
}

extension JournalListener {
  public func take(_ time: CaseTime) {}
}

/// Sees what is said of cases at the moment when it is said. Where several go on side by side the journal has it later, in
/// the order of the plan.
public protocol CaseObserver: AnyObject {
  /// Sees a record.
  ///
  /// - Parameter place: the number of its case among those that are driven.
  func see(_ record: Record, of place: Int)
}
