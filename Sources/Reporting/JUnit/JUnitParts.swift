import System

/// The files of a report: as many as needed to keep each below the size limit of its readers.
///
/// `junit.xml` is followed by `junit-2.xml` and so on. They appear when all of them are complete, and
/// superfluous ones of an earlier, larger report are removed.
struct JUnitParts: ~Copyable {
  private let path: String
  private var file: Replacement
  private var finished: [FinishedFile] = []

  init(_ path: String) throws(FileFault) {
    self.path = path
    makeFolders(above: path)
    file = try Replacement(of: path, mode: 0o666, saying: .write)
  }

  deinit {
    for part in finished { part.discard() }
  }

  /// The size of the current file, in bytes.
  var count: Int { file.count }

  /// Whether there can be several files: not if the report goes into a pipe.
  var canBeSplit: Bool { !file.isDirect }

  mutating func write(_ xml: XMLBuffer) throws(FileFault) { try file.write(xml.bytes) }

  mutating func overwrite(at offset: Int, _ xml: XMLBuffer) throws(FileFault) {
    try file.overwrite(at: offset, xml.bytes)
  }

  /// Completes the file and begins another one.
  mutating func split() throws(FileFault) {
    finished.append(try file.finish())
    file = try Replacement(of: Self.path(of: finished.count + 1, path), mode: 0o666, saying: .write)
    var mark = XMLBuffer()
    mark.add(Self.head + Self.mark)
    try write(mark)
  }

  /// Completes the last file and moves all of them to their paths, the first one last.
  mutating func commit() throws(FileFault) {
    let isAlone = !canBeSplit
    finished.append(try file.finish())
    let all = finished
    finished = []
    for (number, part) in all.enumerated().reversed() {
      do {
        try part.place()
      } catch {
        for part in all[...number] { part.discard() }
        throw error
      }
    }
    if !isAlone { Self.removeParts(from: all.count + 1, path) }
  }
}

extension JUnitParts {
  /// The beginning of every file.
  static let head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
  /// Distinguishes further files from reports of their own.
  private static let mark = "<!-- Continues the report of Lockstep in the file before. -->\n"

  /// `junit-2.xml` for the second file of `junit.xml`.
  private static func path(of number: Int, _ path: String) -> String {
    if number == 1 { return path }
    let name = path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path[...]
    guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return "\(path)-\(number)" }
    return "\(path[..<dot])-\(number)\(path[dot...])"
  }

  /// Removes further files of an earlier report.
  private static func removeParts(from first: Int, _ path: String) {
    var number = first
    while removeFile(Self.path(of: number, path), beginning: head + mark) { number += 1 }
  }
}
