/// Intercepts the calls of ``Kernel``, so that a test can make any of them fail. Only the tests have an
/// implementation.
package protocol CallGate: AnyObject, Sendable {
  /// Makes a call, or replaces it.
  ///
  /// - Parameters:
  ///   - site: the call's place in the sources.
  ///   - subject: the subject of the call.
  ///   - pretended: the result of a call that is not made but appears successful.
  ///   - body: makes the call; its argument is true if it must do only half of the work.
  func pass(
    _ call: SystemCall, _ site: Site, on subject: CallSubject, pretending pretended: Int,
    _ body: (_ isShort: Bool) -> Int
  ) -> Int

  /// The arguments to insert for a child process of this program, so that it has a gate too.
  var wordsForChildren: [String] { get }
}

/// The subject of a call, if it determines the contents of the disk.
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
