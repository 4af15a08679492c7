/// The history of a figure that only grows, in a limited number of columns for any length of time: when the columns
/// are full, each two become one.
public struct GrowthHistory: Equatable, Sendable {
  /// The maximum number of columns.
  public static let capacity = 48

  /// The time that a column covers.
  public private(set) var period = Interval.milliseconds(250)
  /// The figure at the end of each column.
  public private(set) var values: [Int] = []
  /// The time of the latest value.
  private var time = Interval.zero

  /// Makes an empty history.
  public init() {}

  /// Records the figure at a time, which must not precede the time of the latest value.
  public mutating func record(_ value: Int, at time: Interval) {
    self.time = max(self.time, time)
    while column >= Self.capacity {
      // A pair has the value of its second column; a column without a partner keeps its value.
      values = stride(from: 0, to: values.count, by: 2).map { values[min($0 + 1, values.count - 1)] }
      period = period + period
    }
    // Columns without a value repeat the previous one; columns before the first value repeat the first.
    while values.count <= column { values.append(values.last ?? value) }
    values[column] = value
  }

  private var column: Int { Int(time.nanoseconds / period.nanoseconds) }

  /// The growth in each column; the first value is not growth.
  public var growth: [Int] {
    values.indices.map { $0 == 0 ? 0 : values[$0] - values[$0 - 1] }
  }
}

/// Returns numbers, none of them negative, as a line of bars; the highest bar is at the greatest number.
public func sparkline(_ values: [Int]) -> String {
  let bars = Array("▁▂▃▄▅▆▇█")
  let highest = max(values.max() ?? 0, 1)
  // The lowest bar is for zero alone, so that every other number is visible.
  return String(
    values.map { value in
      value <= 0
        ? bars[0] : bars[1 + (value * (bars.count - 2)).quotientAndRemainder(dividingBy: highest).quotient]
    })
}

/// Returns the text for a terminal with ASCII only: lines, bars and dashes become the nearest characters.
public func asciiLines(_ text: String) -> String {
  let substitutes: [Character: Character] = [
    "─": "-", "–": "-", "…": "~", "·": ".", "▁": "_", "▂": ".", "▃": ":", "▄": "-", "▅": "=", "▆": "+",
    "▇": "*",
    "█": "#",
  ]
  return String(text.map { substitutes[$0] ?? $0 })
}
