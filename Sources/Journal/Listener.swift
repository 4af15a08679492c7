/// Takes in a journal as it is written.
public protocol JournalListener: AnyObject {
  /// Takes in a record.
  func take(_ record: Record)
}
