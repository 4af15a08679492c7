/// Takes in a journal as it is written.
public protocol JournalListener: AnyObject {
  /// Takes in a record.
  func take(_ record: Record)
}

/// Sees what is said of cases at the moment when it is said. Where several go on side by side the journal has it later, in
/// the order of the plan.
public protocol CaseOnlooker: AnyObject {
  /// Sees a record.
  ///
  /// - Parameter place: the number of its case among those that are driven.
  func see(_ record: Record, of place: Int)
}
