/// The result of comparing the contents of two files.
public enum FileLikeness {
  case same
  /// One of them is the beginning of the other, whichever it is.
  case beginning
  case continuation
  case different

  /// Compares two files in chunks.
  public init(of one: String, to other: String) throws(FileFault) {
    var one = try FileChunks(one)
    var other = try FileChunks(other)
    while true {
      let (left, right) = (try one.next(), try other.next())
      let common = min(left.count, right.count)
      guard left[..<common] == right[..<common] else {
        self = .different
        return
      }
      // Only at its end does a file return less than a whole chunk.
      if left.count != right.count {
        self = left.count < right.count ? .beginning : .continuation
        return
      }
      if left.isEmpty {
        self = .same
        return
      }
    }
  }
}

/// A file in chunks of one size; the last one is shorter.
private struct FileChunks: ~Copyable {
  private let path: String
  private let descriptor: Int32
  private var buffer = [UInt8](repeating: 0, count: 1 << 17)

  init(_ path: String) throws(FileFault) {
    self.path = path
    descriptor = try WholeFile.open(path, saying: .read)
  }

  deinit { Kernel.close(descriptor) }

  /// The next chunk; empty at the end.
  mutating func next() throws(FileFault) -> ArraySlice<UInt8> {
    var count = 0
    do throws(SystemError) {
      while count < buffer.count {
        let more = try Descriptors.read(into: &buffer, at: count, from: descriptor)
        if more == 0 { break }
        count += more
      }
    } catch {
      throw FileFault(path: path, error)
    }
    return buffer[..<count]
  }
}
