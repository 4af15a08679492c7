import Basics
import TestSupport
import Testing

@Suite("A figure over time")
struct GrowthHistoryTests {
  @Test("each column has what it was at its end, and two become one where there is no room")
  func columns() {
    var history = GrowthHistory()
    history.record(5, at: .zero)
    history.record(6, at: .milliseconds(249))
    history.record(7, at: .milliseconds(250))
    history.record(9, at: .milliseconds(1100))
    expect(history.values, [6, 7, 7, 7, 9])
    expect(history.growth, [0, 1, 0, 0, 2])
    history.record(10, at: .seconds(12))
    expect(history.period, .milliseconds(500))
    expect(Array(history.values.prefix(4)), [7, 7, 9, 9])
    expect(history.values.count, 25)
    expect(history.values.last, 10)
  }

  @Test("whatever time passes, there are no more columns than fit, and nothing that grew is lost")
  func long() {
    var history = GrowthHistory()
    for second in 0...100_000 { history.record(second * 3, at: .seconds(Int64(second))) }
    #expect((24...48).contains(history.values.count), "\(history.values.count)")
    expect(history.values.last, 300_000)
    expect(history.growth.reduce(history.values[0], +), 300_000)
    expect(history.values, history.values.sorted())
    var late = GrowthHistory()
    late.record(400, at: .seconds(86_400))
    expect(Set(late.values), [400])
    expect(Set(late.growth), [0])
  }

  static let lines: [(values: [Int], line: String, ascii: String)] = [
    ([], "", ""), ([0, 0], "▁▁", "__"), ([1, 0], "█▁", "#_"), ([1, 1000], "▂█", ".#"),
    ([0, 1, 2, 3, 4, 5, 6, 7], "▁▂▃▄▅▆▇█", "_.:-=+*#"),
  ]

  @Test("bars: the lowest is for nothing alone, the highest for the greatest", arguments: lines)
  func bars(values: [Int], line: String, ascii: String) {
    expect(sparkline(values), line)
    expect(asciiLines(line), ascii)
  }

  @Test("what has ASCII only is shown lines all the same")
  func ascii() {
    expect(asciiLines("── now ─ 3 %, a – b · c…"), "-- now - 3 %, a - b . c~")
  }
}
