import Glibc

/// Reads a file line by line, from any line on, with memory for only the longest line and a chunk.
public struct LineReader: ~Copyable {
  /// The number of the line, from 1; after ``seek(to:line:)`` it counts from there.
  public private(set) var number = 0

  /// Whether the line ends with a line feed; only the last one of a file may lack it.
  public private(set) var isTerminated = true

  /// Whether the line is longer than ``longest``; its content is then omitted.
  public private(set) var isTooLong = false

  private let descriptor: Int32
  private let path: String
  private var buffer = [UInt8](repeating: 0, count: largest)
  /// The file offset of the buffer's first byte.
  private var base = 0
  private var filled = 0
  private var start = 0
  private var end = 0
  private var next = 0
  /// The size of a read; less after a seek.
  private var portion = 1 << 18

  private static let (smallest, largest) = (1 << 13, 1 << 18)

  /// The longest line in bytes.
  public static let longest = 1 << 24

  /// Opens a file.
  public init(_ path: String) throws(FileFault) {
    self.path = path
    descriptor = try WholeFile.open(path, saying: .read)
  }

  deinit {
    if descriptor >= 0 { Kernel.close(descriptor) }
  }

  /// The line without its line feed.
  public var line: Span<UInt8> {
    @_lifetime(borrow self)
    get { buffer.span.extracting(start..<end) }
  }

  /// The offset of the line in the file, in bytes.
  public var offset: Int { base + start }

  /// Advances to the next line; `false` at the end of the file.
  public mutating func advance() throws(FileFault) -> Bool {
    start = next
    isTooLong = false
    var searched = start
    while true {
      if let found = lineFeed(from: searched) {
        if found - start > Self.longest { isTooLong = true }
        end = isTooLong ? start : found
        next = found + 1
        isTerminated = true
        number += 1
        return true
      }
      searched = filled
      if filled - start > Self.longest {
        isTooLong = true
        start = filled
      }
      if filled == buffer.count { makeRoom(&searched) }
      let count = try fill()
      if count == 0 {
        end = isTooLong ? start : filled
        next = filled
        isTerminated = false
        guard end > start || isTooLong else { return false }
        number += 1
        return true
      }
    }
  }

  /// Makes the line that starts at an offset the next one.
  public mutating func seek(to offset: Int, line: Int) throws(FileFault) {
    number = line - 1
    if (base...base + filled).contains(offset) {
      next = offset - base
      return
    }
    let isNear = offset > base && offset < base + filled + Self.largest
    portion = isNear ? Self.largest : Self.smallest
    guard Kernel.lseek(descriptor, offset, SEEK_SET) == offset else {
      throw FileFault(.read, path: path, code: errno)
    }
    (base, filled, next) = (offset, 0, 0)
  }

  private func lineFeed(from place: Int) -> Int? {
    unsafe buffer.withUnsafeBytes { bytes -> Int? in
      guard place < filled, let first = bytes.baseAddress else { return nil }
      guard let found = unsafe memchr(first + place, 0x0A, filled - place) else { return nil }
      return unsafe UnsafeRawPointer(found) - first
    }
  }

  /// Moves the line to the front of the buffer, which grows if the line fills it.
  private mutating func makeRoom(_ searched: inout Int) {
    if start == 0 {
      buffer += [UInt8](repeating: 0, count: buffer.count)
      return
    }
    let (from, count) = (start, filled - start)
    unsafe buffer.withUnsafeMutableBytes { bytes in
      guard let first = bytes.baseAddress else { return }
      _ = unsafe memmove(first, first + from, count)
    }
    base += start
    filled -= start
    searched -= start
    start = 0
  }

  private mutating func fill() throws(FileFault) -> Int {
    do {
      let count = try Descriptors.read(into: &buffer, at: filled, limit: portion, from: descriptor)
      filled += count
      portion = min(portion * 4, Self.largest)
      return count
    } catch {
      throw FileFault(.read, path: path, error)
    }
  }
}
