import Basics
import Glibc

/// Creates a folder and those above it, with their names on the disk; an existing folder is no error.
public func makeFolder(_ path: String) throws(FileFault) {
  var made = path.hasPrefix("/") ? "/" : ""
  for part in path.split(separator: "/") {
    made += (made.isEmpty || made == "/" ? "" : "/") + part
    if Kernel.mkdir(made, 0o755) == 0 {
      do throws(FileFault) {
        try keepName(of: made)
      } catch {
        // A folder in which files can be created but not listed cannot be synchronized; ignore that.
        guard error.code == EACCES else { throw error }
      }
    } else if errno != EEXIST {
      throw FileFault(path: path, code: errno)
    }
  }
  guard Kernel.access(path.isEmpty ? "." : path, W_OK | X_OK) == 0 else {
    throw FileFault(path: path, code: errno)
  }
}

/// Creates the missing folders above a file; a failure shows when the file is opened.
public func makeFolders(above path: String) {
  let folder = Path.folder(of: path)
  guard folder != ".", folder != "/", Kernel.access(folder, F_OK) != 0 else { return }
  makeFolders(above: folder)
  _ = Kernel.mkdir(folder, 0o777)
}

/// Waits until the names in the folder of a file are on the disk, if the file system supports it.
public func synchronizeFolder(of path: String) { try? keepName(of: path) }

/// Waits until the directory entry of a file is on the disk.
///
/// A file system that does not support the call either does this by itself or cannot do it.
public func keepName(of path: String) throws(FileFault) {
  let folder = Path.folder(of: path)
  let descriptor = Kernel.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
  guard descriptor >= 0 else { throw FileFault(path: folder, code: errno) }
  defer { Kernel.close(descriptor) }
  do {
    try Descriptors.synchronize(descriptor)
  } catch {
    guard error.code == EINVAL || error.code == EOPNOTSUPP else { throw FileFault(path: folder, error) }
  }
}

/// The names in a folder, in order, without those that begin with a dot; `nil` if it cannot be read.
public func folderEntries(_ path: String) -> [String]? {
  FolderNames.all(in: path)?.filter { !$0.hasPrefix(".") }
}

/// A small text file, such as those in sysfs, without trailing blanks; `nil` if it does not exist.
public func smallFile(_ path: String) -> String? {
  let descriptor = Kernel.open(path, O_RDONLY | O_CLOEXEC)
  guard descriptor >= 0 else { return nil }
  defer { Kernel.close(descriptor) }
  var bytes = [UInt8](repeating: 0, count: 256)
  let count = unsafe Kernel.read(descriptor, &bytes, bytes.count)
  guard count >= 0 else { return nil }
  let end = bytes[..<count].lastIndex { $0 != 10 && $0 != 32 && $0 != 0 } ?? -1
  return printable(bytes[..<(end + 1)])
}

/// The target of a symbolic link, as written; `nil` if the path is no link.
public func linkTarget(_ path: String) -> String? {
  var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
  let count = unsafe readlink(path, &bytes, bytes.count)
  guard count > 0 else { return nil }
  return String(decoding: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

/// A path without links and dots; `nil` if it does not exist.
public func realPath(_ path: String) -> String? {
  guard let resolved = unsafe realpath(path, nil) else { return nil }
  defer { unsafe free(resolved) }
  return unsafe String(cString: resolved)
}

/// The kind of file at a path, following links.
public enum FileKind: Hashable, Sendable {
  case missing, file, folder
  /// Another kind.
  case other(StrangeFile)
  /// It cannot be determined; the error number.
  case unknown(Int32)
}

/// A kind of file that is neither a file nor a folder, and that may block when it is read.
public enum StrangeFile: String, Hashable, Sendable, CustomStringConvertible {
  case pipe, socket, device, link

  init(_ mode: UInt32) {
    self =
      switch mode & S_IFMT {
      case S_IFIFO: .pipe
      case S_IFSOCK: .socket
      case S_IFLNK: .link
      default: .device
      }
  }

  /// `a pipe`.
  public var description: String { "a \(rawValue)" }
}

/// The kind of file at a path, following links.
public func fileKind(_ path: String) -> FileKind {
  FileKind(statusOfFile(path))
}

extension FileKind {
  /// Converts a status; without one, the error of the last failed call.
  init(_ status: stat?) {
    guard let status else {
      self = errno == ENOENT || errno == ENOTDIR ? .missing : .unknown(errno)
      return
    }
    switch status.st_mode & S_IFMT {
    case S_IFREG: self = .file
    case S_IFDIR: self = .folder
    default: self = .other(StrangeFile(status.st_mode))
    }
  }
}

/// The first bytes of a regular file; `nil` if it cannot be read.
public func beginningOfFile(_ path: String, count: Int) -> ArraySlice<UInt8>? {
  let descriptor = Kernel.open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
  guard descriptor >= 0 else { return nil }
  defer { Kernel.close(descriptor) }
  return Descriptors.beginning(of: descriptor, count: count)
}

/// The descriptor in a path such as `/dev/fd/63`; `nil` for any other path.
func numberedStream(_ path: String) -> Int32? {
  ["/dev/fd/", "/proc/self/fd/"].first { path.hasPrefix($0) }.flatMap { Int32(path.dropFirst($0.count)) }
}

/// Whether a path leads to a pipe.
func isPipe(_ path: String) -> Bool { statusOfFile(path).map { $0.st_mode & S_IFMT == S_IFIFO } ?? false }

/// The size of a regular file; `nil` for any other kind, which might never end.
public func sizeOfFile(_ path: String) -> Int? {
  statusOfFile(path).flatMap { $0.st_mode & S_IFMT == S_IFREG ? Int($0.st_size) : nil }
}

func statusOfFile(_ path: String) -> stat? {
  var status = stat()
  return Kernel.stat(path, &status) == 0 ? status : nil
}

/// The relative paths of all files below a folder, without names that begin with a dot; links to folders are
/// not followed. `nil` if a folder cannot be read.
public func filesBelow(_ path: String) -> [String]? {
  guard let names = folderEntries(path) else { return nil }
  var files: [String] = []
  for name in names {
    var status = stat()
    guard Kernel.lstat(path + "/" + name, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
      files.append(name)
      continue
    }
    guard let below = filesBelow(path + "/" + name) else { return nil }
    files += below.map { name + "/" + $0 }
  }
  return files
}

/// Removes a file that begins with a text; `false` if there is none.
public func removeFile(_ path: String, beginning: String) -> Bool {
  let descriptor = Kernel.open(path, O_RDONLY | O_CLOEXEC)
  guard descriptor >= 0 else { return false }
  defer { Kernel.close(descriptor) }
  guard Descriptors.beginning(of: descriptor, count: beginning.utf8.count).elementsEqual(beginning.utf8)
  else {
    return false
  }
  return Kernel.unlink(path) == 0
}
