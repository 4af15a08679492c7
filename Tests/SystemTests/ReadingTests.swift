import Basics
import Foundation
import TestSupport
import Testing

@testable import System

@Suite("What is read")
struct ReadingTests {
  private let folder = TestFolder()
  private var path: String { folder.path + "/file" }

  // swift-format-ignore
  private static let texts: [(text: String, lines: [String])] = [
    ("", []), ("\n", [""]), ("one", ["one"]), ("one\n", ["one"]), ("one\n\ntwo", ["one", "", "two"]), ("\n\n", ["", ""]),
  ]

  @Test("a file is its lines, and only the last may have no end", arguments: texts)
  func lines(text: String, lines: [String]) throws {
    folder.write("file", text)
    var reader = try LineReader(path)
    var (found, numbers, offsets): ([String], [Int], [Int]) = ([], [], [])
    while try reader.advance() {
      found.append(String(decoding: (0..<reader.line.count).map { reader.line[$0] }, as: UTF8.self))
      numbers.append(reader.number)
      offsets.append(reader.offset)
      expect(reader.isTerminated, found.count < lines.count || text.hasSuffix("\n"))
    }
    expect(found, lines)
    expect(numbers, Array(1..<lines.count + 1))
    expect(offsets, lines.indices.map { lines[..<$0].reduce(0) { $0 + $1.utf8.count + 1 } })
    let again = try reader.advance()
    expect(again, false)
  }

  @Test("lines longer than the buffer are whole, and any line can be gone to")
  func seeking() throws {
    let sizes = [10, 300_000, 5, 700_000, 0, 8192, 40]
    let lines = sizes.enumerated().map { String(repeating: "\($0)", count: $1) }
    folder.write("file", lines.joined(separator: "\n"))
    let offsets = lines.indices.map { lines[..<$0].reduce(0) { $0 + $1.utf8.count + 1 } }
    var reader = try LineReader(path)
    for index in Array(lines.indices) + [6, 0, 3, 1, 1, 5, 2] {
      try reader.seek(to: offsets[index], line: index + 1)
      let isThere = try reader.advance()
      expect([isThere, reader.isTooLong], [true, false])
      expect([reader.number, reader.offset, reader.line.count], [index + 1, offsets[index], sizes[index]])
      expect(reader.line.isEmpty ? nil : reader.line[0], lines[index].utf8.first)
    }
  }

  @Test("a line that is too long is left out, and the next one is read")
  func tooLong() throws {
    folder.write("file", "a\n" + String(repeating: "x", count: LineReader.longest + 1) + "\nb\n")
    var reader = try LineReader(path)
    var found: [String] = []
    while try reader.advance() { found.append("\(reader.number) \(reader.isTooLong) \(reader.line.count)") }
    expect(found, ["1 false 1", "2 true 0", "3 false 1"])
  }

  @Test("a buffer of lines knows whether there is one to take")
  func buffered() {
    var buffer = LineBuffer(limit: 4)
    var states: [[Bool]] = []
    for text in ["", "ab", "c\nd", "efg", "h"] {
      buffer.append(Array(text.utf8)[...])
      states.append([buffer.hasLine, buffer.isEmpty])
      if buffer.next() == .whole(Array("abc".utf8)) { states.append([buffer.hasLine, buffer.isEmpty]) }
    }
    expect(
      states,
      [[false, true], [false, false], [true, false], [false, false], [false, false], [true, false]])
  }

  // swift-format-ignore
  private static var pairs: [(String, String, FileLikeness)] {
    [
    ("", "", .same), ("abc", "abc", .same), ("", "a", .beginning), ("abc", "ab", .continuation),
    ("ab", "abc", .beginning), ("abc", "abd", .different), ("xbc", "ab", .different),
    (String(repeating: "a", count: 1 << 17), String(repeating: "a", count: 1 << 17) + "b", .beginning),
    (String(repeating: "a", count: 200_000) + "b", String(repeating: "a", count: 200_000) + "c", .different),
    ]
  }

  @Test("two files are compared by what they hold", arguments: 0..<9)
  func likeness(index: Int) throws {
    let (one, other, likeness) = Self.pairs[index]
    folder.write("one", one)
    folder.write("other", other)
    expect(try FileLikeness(of: folder.path + "/one", to: folder.path + "/other"), likeness)
    let missing = folder.path + "/missing"
    expect(
      #expect(throws: FileFault.self) { _ = try FileLikeness(of: folder.path + "/one", to: missing) }?
        .description,
      "cannot read \(missing): there is no such file or folder")
  }

  @Test("a file that was found and that anybody may write is not read")
  func trust() throws {
    for (mode, isRead) in [(0o600, true), (0o644, true), (0o664, true), (0o666, false), (0o602, false)] {
      folder.write("file", "text")
      try #require(unsafe chmod(path, mode_t(mode)) == 0)
      do {
        expect(try WholeFile.trustedBytes(of: path), Array("text".utf8))
        expect(isRead, true)
      } catch let error as DistrustedFile {
        expect(isRead, false)
        expect(error.description, "\(path) may be written by everybody, and is not read: chmod o-w \(path)")
      }
    }
    try #require(unsafe chmod(path, 0o600) == 0)
    expect(
      #expect(throws: FileFault.self) { _ = try WholeFile.trustedBytes(of: path, limit: 3) }?.code, EFBIG)
  }

  @Test("what is at a path is said, with and without its links")
  func kinds() throws {
    folder.write("file", "")
    for (name, target) in [("link", "file"), ("loop", "loop"), ("gone", "nowhere")] {
      try #require(unsafe symlink(target, folder.path + "/" + name) == 0)
    }
    try #require(unsafe mkfifo(folder.path + "/pipe", 0o600) == 0)
    let names = ["file", "link", "gone", "pipe", ".", "none", "file/none", "loop"]
    expect(
      names.map { fileKind(folder.path + "/" + $0) },
      [.file, .file, .missing, .other(.pipe), .folder, .missing, .missing, .unknown(ELOOP)])
    expect(
      names.map { FolderNames.kind(folder.path + "/" + $0) },
      [.file, .other(.link), .other(.link), .other(.pipe), .folder, .missing, .missing, .other(.link)])
    expect(
      names.map { linkTarget(folder.path + "/" + $0) }, [nil, "file", "nowhere", nil, nil, nil, nil, "loop"])
    expect(
      names.map { isPipe(folder.path + "/" + $0) }, [false, false, false, true, false, false, false, false])
    expect(realPath(folder.path + "/link"), realPath(path))
    expect(fileKind("/dev/null"), .other(.device))
  }

  @Test("the beginning of a file is read, and it is removed only where that is as was said")
  func beginning() {
    folder.write("file", "lockstep 1\nrest\n \0")
    expect(beginningOfFile(path, count: 8).map { Array($0) }, Array("lockstep".utf8))
    expect(beginningOfFile(folder.path + "/none", count: 8) == nil, true)
    expect(smallFile(path), "lockstep 1\nrest")
    expect(smallFile(folder.path + "/none"), nil)
    expect([sizeOfFile(path), sizeOfFile("/dev/zero")], [18, nil])
    expect(
      ["else", "lockstep 2", "lockstep 1"].map { removeFile(path, beginning: $0) }, [false, false, true])
    expect(removeFile(path, beginning: ""), false)
    expect(folder.names, [])
  }

  // swift-format-ignore
  private static let numbers: [(String, Int32?)] = [
    ("/dev/fd/63", 63), ("/proc/self/fd/0", 0), ("/dev/fd/", nil), ("/dev/fd/x", nil), ("/dev/stdin", nil), ("fd/3", nil),
  ]

  @Test("a path of an open descriptor is its number")
  func numberedStreams() { for (path, number) in Self.numbers { expect(numberedStream(path), number) } }
}
