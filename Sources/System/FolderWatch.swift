public import Basics
import Glibc

/// Reports changed files in some folders, by notifications of the system instead of polling.
///
/// Folders are watched instead of files: an editor that saves replaces the file.
public struct FolderWatch: ~Copyable {
  /// The result of waiting.
  public enum News: Equatable, Sendable {
    /// The paths of changed files and folders, named like the watched folders.
    case changes(Set<ExactText>)
    /// Too many changes to list.
    case unknownChanges
    /// Another descriptor is ready, a signal came, or the time is over.
    case others
  }

  private static let events: UInt32 = [
    IN_CLOSE_WRITE, IN_CREATE, IN_DELETE, IN_MOVED_FROM, IN_MOVED_TO, IN_ONLYDIR,
  ].reduce(0) { $0 | UInt32($1) }
  /// How long to wait for further changes before reporting: editors save several files, each in several steps.
  private static let quiet = Interval.milliseconds(100)
  /// The maximum of that time.
  private static let longestWait = Interval.seconds(2)

  private let descriptor: Int32
  /// The folders by the system's numbers; one number may have several paths of the same folder.
  private var folders: [Int32: [String]] = [:]
  private var changed: Set<ExactText> = []
  private var hasLost = false

  /// Makes a watch without folders.
  public init() throws(WatchFault) {
    descriptor = Kernel.watch()
    guard descriptor >= 0 else { throw WatchFault(code: errno) }
  }

  deinit { Kernel.close(descriptor) }

  /// Watches a folder; a missing one is ignored.
  public mutating func add(_ folder: String) throws(WatchFault) {
    let number = Kernel.watch(folder, by: descriptor, for: Self.events)
    if number >= 0 {
      if folders[number]?.contains(folder) != true { folders[number, default: []].append(folder) }
    } else if ![ENOENT, ENOTDIR, EACCES, ELOOP].contains(errno) {
      throw WatchFault(code: errno, folder: folder)
    }
  }

  /// Watches a folder and its subfolders, except names that begin with a dot, and links.
  ///
  /// A folder is watched before it is listed, so that a file created in between is reported.
  ///
  /// - Parameter exceptions: the paths of folders to skip.
  public mutating func add(tree folder: String, besides exceptions: [String]) throws(WatchFault) {
    guard !exceptions.contains(folder) else { return }
    try add(folder)
    for name in folderEntries(folder) ?? [] {
      let path = Path.join(folder, name)
      if fileKind(path) == .folder, linkTarget(path) == nil { try add(tree: path, besides: exceptions) }
    }
  }

  /// Waits until files have changed and then for a moment no more do, or another descriptor is ready, or the
  /// time is over.
  public mutating func next(
    or others: [(descriptor: Int32, events: Int16)], within time: Interval
  ) throws(WatchFault) -> News {
    let own = (descriptor: descriptor, events: Int16(POLLIN))
    try take()
    if changed.isEmpty, !hasLost {
      _ = Waiting.wait(for: [own] + others, until: Waiting.now + time)
      try take()
      if changed.isEmpty, !hasLost { return .others }
    }
    let limit = Waiting.now + Self.longestWait
    while Waiting.now < limit, Waiting.wait(for: [own], until: min(limit, Waiting.now + Self.quiet)) {
      try take()
    }
    defer { (changed, hasLost) = ([], false) }
    return hasLost ? .unknownChanges : .changes(changed)
  }

  /// Reads the pending events from the system.
  private mutating func take() throws(WatchFault) {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = unsafe Kernel.read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 || errno == EAGAIN else { throw WatchFault(code: errno) }
      guard count > 0 else { return }
      take(buffer[..<count])
    }
  }

  /// Parses events: the number of the folder, a mask, a cookie, the length of a name, and the name padded
  /// with zeros.
  private mutating func take(_ bytes: ArraySlice<UInt8>) {
    func word(_ place: Int) -> UInt32 {
      (0..<4).reduce(0) { $0 | UInt32(bytes[place + $1]) << (8 * UInt32($1)) }
    }
    var place = bytes.startIndex
    while place + 16 <= bytes.endIndex {
      let (number, mask, length) = (Int32(bitPattern: word(place)), word(place + 4), Int(word(place + 12)))
      let name = bytes[(place + 16)..<min(place + 16 + length, bytes.endIndex)].prefix { $0 != 0 }
      place += 16 + length
      if mask & UInt32(IN_Q_OVERFLOW) != 0 { hasLost = true }
      for folder in folders[number] ?? [] where !name.isEmpty {
        changed.insert(ExactText(Path.join(folder, String(decoding: name, as: UTF8.self))))
      }
      // The folder is gone; its number may be reused.
      if mask & UInt32(IN_IGNORED) != 0 { folders[number] = nil }
    }
  }
}

/// Why changes cannot be watched.
public struct WatchFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// The error number of the operating system.
  public var code: Int32
  /// The folder concerned.
  public var folder: String?

  /// The problem, with advice.
  public var description: String {
    let place = folder.map { "\($0): " } ?? ""
    switch code {
    case ENOSPC:
      return "\(place)no more folders can be watched: this user's limit of them is used up (sysctl "
        + "fs.inotify.max_user_watches)"
    case EMFILE:
      return "\(place)changes cannot be watched: this user's limit of programs that do so is used up (sysctl "
        + "fs.inotify.max_user_instances), or too many files are open"
    default: return "\(place)changes cannot be watched: \(errorText(code))"
    }
  }
}
