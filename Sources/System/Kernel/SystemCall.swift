import Glibc

/// A kind of call of ``Kernel``, or of a library that calls the system itself.
public enum SystemCall: String, CaseIterable, Sendable {
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

  /// The errors that it may fail with, of which the first is the most usual.
  public var errors: [Int32] {
    switch self {
    case .open: [ENOSPC, EMFILE, EACCES, EIO, EINTR]
    case .close: [EIO]
    case .read: [EIO, EINTR]
    case .write: [ENOSPC, EIO, EINTR]
    case .synchronize: [EIO, ENOSPC]
    case .truncate: [EIO]
    case .allocate: [ENOSPC, EOPNOTSUPP]
    case .seek: [EINVAL]
    case .lock: [EWOULDBLOCK, EINTR, ENOLCK]
    case .stat: [EIO, EACCES]
    case .access: [EACCES]
    case .rename: [EIO, ENOSPC, EACCES]
    case .unlink: [EACCES]
    case .link: [EEXIST, EIO, ENOSPC]
    case .makeFolder: [ENOSPC, EACCES]
    case .removeFolder: [EBUSY]
    case .openFolder: [EMFILE, EACCES]
    case .readFolder: [EIO]
    case .show: [EPIPE, EIO, EINTR]
    case .changeMode: [EPERM]
    case .send: [EPIPE, EAGAIN, EINTR]
    case .receive: [EIO, EAGAIN, EINTR]
    case .kill: [ESRCH]
    case .pipe: [EMFILE]
    case .wait: [EINTR]
    case .spawn: [EAGAIN, ENOMEM]
    case .poll: [EINTR, ENOMEM]
    case .control: [EINVAL]
    case .socket: [EMFILE]
    case .bind: [EADDRINUSE]
    case .listen: [EADDRINUSE]
    case .connect: [ECONNREFUSED, EINTR]
    case .accept: [EMFILE, ECONNABORTED]
    case .query: [EPIPE]
    }
  }

  /// Whether it may do less than it was asked for.
  public var canBeShort: Bool { [.read, .write, .show, .send, .receive].contains(self) }
}

extension SystemCall {
  /// The names of the errors, as they stand in a ``CallFault``.
  static let errorNames: [(name: String, code: Int32)] = [
    ("EACCES", EACCES), ("EADDRINUSE", EADDRINUSE), ("EAGAIN", EAGAIN), ("EBUSY", EBUSY),
    ("ECONNABORTED", ECONNABORTED), ("ECONNREFUSED", ECONNREFUSED), ("EEXIST", EEXIST), ("EINTR", EINTR),
    ("EINVAL", EINVAL), ("EIO", EIO), ("EMFILE", EMFILE), ("ENOLCK", ENOLCK), ("ENOMEM", ENOMEM),
    ("ENOSPC", ENOSPC), ("EOPNOTSUPP", EOPNOTSUPP), ("EPERM", EPERM), ("EPIPE", EPIPE), ("ESRCH", ESRCH),
    ("EWOULDBLOCK", EWOULDBLOCK),
  ]
}
