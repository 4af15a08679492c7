import Glibc

/// The names in a folder, in order and without those that start with a dot; `nil` when it cannot be read.
public func folderEntries(_ path: String) -> [String]? {
  guard let folder = unsafe opendir(path) else { return nil }
  defer { unsafe closedir(folder) }
  var names: [String] = []
  while let entry = unsafe readdir(folder) {
    let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
      unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
    }
    if !name.hasPrefix(".") { names.append(name) }
  }
  return names.sorted()
}

/// A small text file without the blanks at its end, such as sysfs has; `nil` when there is none.
func smallFile(_ path: String) -> String? {
  let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
  guard descriptor >= 0 else { return nil }
  defer { close(descriptor) }
  var bytes = [UInt8](repeating: 0, count: 256)
  let count = unsafe read(descriptor, &bytes, bytes.count)
  guard count >= 0 else { return nil }
  let end = bytes[..<count].lastIndex { $0 != 10 && $0 != 32 && $0 != 0 } ?? -1
  return printable(bytes[..<(end + 1)])
}

/// Where a symbolic link leads, as it is written there; `nil` for what is no link.
func linkTarget(_ path: String) -> String? {
  var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
  let count = unsafe readlink(path, &bytes, bytes.count)
  guard count > 0 else { return nil }
  return String(decoding: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

/// A path without links and dots; `nil` when nothing is there.
func realPath(_ path: String) -> String? {
  guard let resolved = unsafe realpath(path, nil) else { return nil }
  defer { unsafe free(resolved) }
  return unsafe String(cString: resolved)
}
