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
