/// What may stand before the calls of ``Kernel``, so that a test can have any of them fail. The product has none: the gate
/// of the tests is theirs.
package protocol CallGate: AnyObject, Sendable {
  /// Makes a call, unless something else happens to it.
  ///
  /// - Parameters:
  ///   - site: where it is made.
  ///   - subject: what it is about.
  ///   - pretended: what a call returns that is not made and appears to have been.
  ///   - body: makes it; told whether it is to do half of what was asked for.
  func pass(
    _ call: SystemCall, _ site: Site, on subject: CallSubject, pretending pretended: Int,
    _ body: (_ isShort: Bool) -> Int
  ) -> Int

  /// What goes before the arguments of a process of this program that this one starts, so that it has a gate too.
  var wordsForChildren: [String] { get }
}

/// What a call is about, where that decides what the disk holds.
package enum CallSubject {
  case other
  case descriptor(Int32)
  case path(String)
  /// The old name and the new one.
  case names(String, String)
}

/// A kind of call of ``Kernel``, or of a library that calls the system itself.
package enum SystemCall: String, CaseIterable, Sendable {
  case open, close, read, write, synchronize, truncate, allocate, seek, lock, stat, access, rename, unlink,
    link
  case makeFolder = "mkdir"
  case removeFolder = "rmdir"
  case openFolder = "opendir"
  case readFolder = "readdir"
  /// A write to one of the standard streams.
  case show
  case changeMode = "chmod"
  case kill, pipe, wait, spawn, poll
  /// Writing to a pipe or a socket, and reading from one.
  case send, receive
  case control = "fcntl"
  case socket, bind, listen, connect, accept
  /// A statement to a server, whose connection breaks.
  case query
}
