import Glibc
package import System

// What may go wrong with each kind of call.

extension SystemCall {
  /// The errors that it may fail with, of which the first is the most usual.
  package var errors: [Int32] {
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

  /// Whether it fails on a full disk.
  var needsRoom: Bool { errors.contains(ENOSPC) }

  /// Whether it may do less than it was asked for.
  package var canBeShort: Bool { [.read, .write, .show, .send, .receive].contains(self) }
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
