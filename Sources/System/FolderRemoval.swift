import Glibc

/// The names in a folder, with the kinds of the files; links are not followed.
public enum FolderNames {
  /// The names in a folder, in order, including those that begin with a dot; `nil` if it cannot be read.
  public static func all(in path: String) -> [String]? {
    guard let folder = unsafe Kernel.opendir(path) else { return nil }
    defer { unsafe closedir(folder) }
    return unsafe names(folder)
  }

  /// `nil` if reading fails before the end: the list would be incomplete.
  fileprivate static func names(_ folder: OpaquePointer) -> [String]? {
    var names: [String] = []
    while let entry = unsafe Kernel.readdir(folder) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
        unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return errno == 0 ? names.sorted() : nil
  }

  /// The kind of file at a path; a link is an other kind.
  public static func kind(_ path: String) -> FileKind {
    var status = stat()
    return FileKind(Kernel.lstat(path, &status) == 0 ? status : nil)
  }

  /// The size of all files below a folder, as far as they can be read.
  public static func size(below path: String) -> Int {
    var sum = 0
    for name in all(in: path) ?? [] {
      var status = stat()
      guard Kernel.lstat(path + "/" + name, &status) == 0 else { continue }
      sum += status.st_mode & S_IFMT == S_IFDIR ? size(below: path + "/" + name) : Int(status.st_size)
    }
    return sum
  }
}

/// Removes a file, or a link itself; a missing one is no error.
public func removeFile(_ path: String) throws(FileFault) {
  guard Kernel.unlink(path) == 0 || errno == ENOENT else { throw FileFault(path: path, code: errno) }
}

/// Removes a folder with its contents, as far as possible. Links are removed, and never followed.
public func removeFolder(_ path: String) throws(FileFault) {
  try removeFolder(at: AT_FDCWD, path, path)
}

/// - Parameter path: the path in faults.
private func removeFolder(at above: Int32, _ name: String, _ path: String) throws(FileFault) {
  let descriptor = Kernel.open(name, in: above, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
  guard descriptor >= 0 else { throw FileFault(path: path, code: errno) }
  guard let folder = unsafe fdopendir(descriptor) else {
    let code = errno
    Kernel.close(descriptor)
    throw FileFault(path: path, code: code)
  }
  defer { unsafe closedir(folder) }
  guard let names = unsafe FolderNames.names(folder) else { throw FileFault(path: path, code: errno) }
  var fault: FileFault?
  for entry in names {
    if Kernel.unlink(entry, in: descriptor) == 0 { continue }
    let code = errno
    if code == ENOENT { continue }
    do throws(FileFault) {
      guard code == EISDIR || code == EPERM else { throw FileFault(path: path + "/" + entry, code: code) }
      try removeFolder(at: descriptor, entry, path + "/" + entry)
    } catch {
      // The other files are removed nevertheless.
      fault = fault ?? error
    }
  }
  if let fault { throw fault }
  guard Kernel.unlink(name, in: above, AT_REMOVEDIR) == 0 || errno == ENOENT else {
    throw FileFault(path: path, code: errno)
  }
}
