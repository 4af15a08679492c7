public import Basics
public import System

/// The data that differ between two runs of one seed: when, where and with what a run was made.
///
/// They are in `manifest.json` next to the journal; missing data are unknown.
public struct Manifest: Hashable, Sendable {
  /// A unique identifier of the run: 32 hexadecimal digits, drawn when the run began. It identifies the run even if
  /// names are equal or its folder has moved.
  public var id: String?
  /// The name of the run, which is that of its folder.
  public var name: String?
  /// The host on which it ran.
  public var host: String?
  /// When it started, in UTC.
  public var start: String?
  /// When it ended.
  public var end: String?
  /// The version of Lockstep.
  public var version: String?
  /// The seed, even if it was drawn.
  public var seed: UInt64?
  /// The job to which the run belongs, and the number of its part: `3/16`.
  public var job: String?
  public var part: String?
  /// The words of the command line.
  public var command: [String] = []
  /// Other data that reports show, such as a commit, a firmware or a dongle.
  public var properties: [JSON.Member] = []

  /// Creates a manifest without any data.
  public init() {}

  /// Reads a file.
  ///
  /// - Returns: `nil` if the file does not exist or is invalid.
  /// - Throws: If the system cannot read the file although it may exist. Treating it as missing would give the run
  ///   another name, or continue another run.
  public static func read(_ path: String) throws(FileFault) -> Manifest? {
    let bytes: [UInt8]
    do throws(FileFault) {
      bytes = try WholeFile.bytes(of: path, limit: 1 << 20)
    } catch {
      if error.isAbsence { return nil }
      throw error
    }
    guard let json = try? JSON(parsing: bytes.span, isLenient: true), case .mapping = json else { return nil }
    return try? Manifest(json)
  }

  /// Writes the manifest to a file; the file is complete at any time.
  public func write(to path: String) throws(FileFault) {
    try WholeFile.replace(path, with: json.indented)
  }

  /// When it started, as `2026-11-20T22:38:51Z`; `nil` if this is unknown or invalid.
  package var moment: String? { start.flatMap(wholeSeconds) }

  /// The part of a job that the run was, if any.
  package var jobPart: JobPart? { JobPart(job: job, part: part) }
}

extension Manifest: Recorded {
  public static let blank = Manifest()
  public static let noun = "a manifest"
  public static let fields: [Field<Self>] = [
    .extra("id", \.id, .text), .usual("name", \.name, .text), .usual("host", \.host, .text),
    .usual("start", \.start, .text(Shape.moment)),
    .extra("end", \.end, .text(Shape.moment)),
    .usual("version", \.version, .text), .extra("seed", \.seed, .seed), .extra("job", \.job, .text),
    .extra("part", \.part, .text), .usual("command", \.command, .list(.text)),
    .extra("properties", \.properties, .members(of: Shape.text), besides: []),
  ]
}

extension Manifest {
  /// Combines several manifests in order: the first start, and all values of the other members.
  package init(_ all: [Manifest]) {
    self.init()
    start = all.compactMap(\.moment).min()
    name = joined(all.map(\.name))
    let hosts = joined(all.map(\.host))
    host = all.contains { $0.host == hosts } ? hosts : nil
    version = joined(all.map(\.version))
    command = joined(all.map { $0.command.joined(separator: " ") }, by: "; ").map { [$0] } ?? []
    var keys: [String] = []
    for property in all.flatMap(\.properties) where !keys.contains(property.name) {
      keys.append(property.name)
    }
    properties = keys.compactMap { key in
      let values = all.map { manifest in manifest.properties.first { $0.name == key }?.value.words }
      return joined(values).map { .init(key, .text($0)) }
    }
    if host == nil, let hosts { properties.insert(.init("hosts", .text(hosts)), at: 0) }
  }
}

/// Joins the different texts in the order of their first occurrence.
package func joined(_ texts: [String?], by separator: String = ", ") -> String? {
  var all: [String] = []
  for case let text? in texts where !text.isEmpty && !all.contains(text) { all.append(text) }
  return all.isEmpty ? nil : all.joined(separator: separator)
}

/// Returns a time in UTC without its fraction of a second, or `nil` if the text is not a time.
package func wholeSeconds(_ text: String) -> String? {
  let pattern = "0000-00-00T00:00:00"
  let head = Array(text.utf8.prefix(pattern.utf8.count))
  let rest = text.utf8.dropFirst(pattern.utf8.count)
  let isDigit: (UInt8) -> Bool = { 0x30...0x39 ~= $0 }
  guard
    head.count == pattern.utf8.count,
    zip(head, pattern.utf8).allSatisfy({ $1 == UInt8(ascii: "0") ? isDigit($0) : $0 == $1 }),
    rest.last == UInt8(ascii: "Z"),
    rest.count == 1 || (rest.first == UInt8(ascii: ".") && rest.dropFirst().dropLast().allSatisfy(isDigit))
  else { return nil }
  func number(_ place: Range<Int>) -> Int { head[place].reduce(0) { $0 * 10 + Int($1 - 0x30) } }
  let (year, month, day) = (number(0..<4), number(5..<7), number(8..<10))
  let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
  let days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
  // Readers reject a day that does not exist.
  guard
    year > 0, 1...12 ~= month, 1...days[month - 1] ~= day, number(11..<13) < 24, number(14..<16) < 60,
    number(17..<19) < 60
  else { return nil }
  return String(decoding: head, as: UTF8.self) + "Z"
}
