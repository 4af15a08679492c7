/// What a figure that only grows was over time, in a fixed number of columns whatever time passes: where there is no
/// room for one more, each two become one.
public struct Course: Equatable, Sendable {
  /// The most columns.
  public static let capacity = 48

  /// What a column stands for.
  public private(set) var period = Interval.milliseconds(250)
  /// The figure at the end of each column.
  public private(set) var values: [Int] = []
  /// The time of the last note.
  private var time = Interval.zero

  /// One of which nothing is known.
  public init() {}

  /// Takes in what it was at a time, which is not before that of the last note.
  public mutating func note(_ value: Int, at time: Interval) {
    self.time = max(self.time, time)
    while column >= Self.capacity {
      // The value at the end of two is that of the second; one without a second one stays.
      values = stride(from: 0, to: values.count, by: 2).map { values[min($0 + 1, values.count - 1)] }
      period = period + period
    }
    // Where nobody looked, nothing changed; before the first look it was what it was then.
    while values.count <= column { values.append(values.last ?? value) }
    values[column] = value
  }

  private var column: Int { Int(time.nanoseconds / period.nanoseconds) }

  /// By how much it grew in each column; what it was at the first note is no growth.
  public var growth: [Int] {
    values.indices.map { $0 == 0 ? 0 : values[$0] - values[$0 - 1] }
  }
}

/// Numbers as a line of bars, the highest of them at the greatest number; none of them is below zero.
public func sparkline(_ values: [Int]) -> String {
  let bars = Array("▁▂▃▄▅▆▇█")
  let highest = max(values.max() ?? 0, 1)
  // Whatever is not nothing is seen: the lowest bar is for zero alone.
  return String(
    values.map { value in
      value <= 0
        ? bars[0] : bars[1 + (value * (bars.count - 2)).quotientAndRemainder(dividingBy: highest).quotient]
    })
}

/// The text for a terminal that has ASCII only: lines, bars and dashes as what comes nearest.
public func asciiLines(_ text: String) -> String {
  let near: [Character: Character] = [
    "─": "-", "–": "-", "…": "~", "·": ".", "▁": "_", "▂": ".", "▃": ":", "▄": "-", "▅": "=", "▆": "+",
    "▇": "*",
    "█": "#",
  ]
  return String(text.map { near[$0] ?? $0 })
}
