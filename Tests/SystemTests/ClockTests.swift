import Basics
import TestSupport
import Testing

@testable import System

@Suite("Clocks and entropy")
struct ClockTests {
  @Test("the monotonic clock counts on")
  func monotonic() {
    let first = MonotonicClock.now
    #expect(MonotonicClock.now >= first)
    #expect(first > .zero)
  }

  @Test("the time of day has the form of RFC 3339, in UTC")
  func wall() throws {
    let form = try Regex("20[0-9]{2}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]\\.[0-9]{3}Z")
    #expect(WallClock.now.wholeMatch(of: form) != nil)
  }

  @Test("entropy gives as many bytes as are asked for, and not the same twice", arguments: [0, 1, 256, 1000])
  func entropy(count: Int) {
    let source = SystemEntropy()
    expect(source.bytes(count).count, count)
    #expect(count < 16 || source.bytes(count) != source.bytes(count))
    #expect(source.next() != source.next())
  }
}

@Suite("Lines")
struct LineBufferTests {
  @Test("bytes are cut into lines wherever they are divided", arguments: 1...7)
  func lines(size: Int) {
    var buffer = LineBuffer()
    var lines: [LineBuffer.Line] = []
    let text = Array("one\n\nthree\nfour".utf8)
    for start in stride(from: 0, to: text.count, by: size) {
      buffer.append(text[start..<min(start + size, text.count)])
      while let line = buffer.next() { lines.append(line) }
    }
    expect(lines, ["one", "", "three"].map { .whole(Array($0.utf8)) })
  }

  @Test("a line of the limit is whole, and one byte more is too long", arguments: [nil, 1, 200_000])
  func limit(limit: Int?) {
    var buffer = limit.map { LineBuffer(limit: $0) } ?? LineBuffer()
    let maximum = [UInt8](repeating: 7, count: limit ?? LineBuffer.usualLimit)
    buffer.append((maximum + [10])[...])
    expect(buffer.next(), .whole(maximum))
    buffer.append(maximum[...])
    expect(buffer.next(), nil)
    buffer.append([7])
    expect(buffer.next(), .tooLong(maximum))
  }
}
