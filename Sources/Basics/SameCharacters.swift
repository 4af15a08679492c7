extension String {
  /// Whether two texts have the same characters, one by one.
  ///
  /// Not what `==` says, to which an `é` of one character is the `é` of two. For names that come from outside: two files, or
  /// two statuses, whose names only look alike are two.
  public func isWritten(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
