import Basics
/// The timings: from a stimulus to the next status, and the slowest cases.
struct HTMLTimings {
  /// One of the slowest cases.
  struct Slow {
    var name: String
    var suite: String
    var milliseconds: Int64
    var history: CaseHistory?
  }

  let latencies: Latencies
  let slowest: [Slow]
  /// The number of cases used for latencies, and the number of all cases.
  let sample: (size: Int, total: Int)

  private static let (width, height, margin) = (360, 22, 10)

  var markup: Markup {
    guard !latencies.rows.isEmpty || !slowest.isEmpty else { return "" }
    return """
      <section id="timings" aria-labelledby="timings-title"><h2 id="timings-title">Timings</h2>
      \(plot)\(slow)</section>

      """
  }

  // MARK: Latencies

  private var plot: Markup {
    guard !latencies.rows.isEmpty else { return "" }
    let rows = latencies.rows.markup { row in
      """
      <tr><th scope="row">\(clipped(row.stimulus, toBytes: 80))</th><td class="num">\(grouped(row.times.count))</td>\
      <td class="num">\(spoken(row.median))</td><td class="num">\(spoken(row.quantile(95)))</td>\
      <td class="num">\(spoken(row.worst.milliseconds))</td><td>\(box(row))</td></tr>

      """
    }
    let part =
      sample.size < sample.total
      ? " From \(grouped(sample.size)) of \(grouped(sample.total)) cases, evenly chosen." : ""
    return """
      <h3>From a stimulus to the next status</h3>
      <p class="note">In the time of the device. The box holds the middle half, the lines reach from the 5th to the \
      95th percentile, the bar is the median and the diamond the worst; the scale is logarithmic.\(part)</p>
      \(scrolling("Latency of each stimulus", """
        <table class="latency"><thead><tr><th scope="col">stimulus</th><th scope="col" class="num">times</th>\
        <th scope="col" class="num">median</th><th scope="col" class="num">95 %</th>\
        <th scope="col" class="num">worst</th><th scope="col">\(axis)</th></tr></thead>
        <tbody>\(rows)</tbody></table>
        """))
      """
  }

  /// The decades of the scale in milliseconds; the last one is not exceeded.
  private var decades: [Int64] {
    let worst = latencies.rows.map(\.worst.milliseconds).max() ?? 1
    var decades: [Int64] = [1, 10]
    while decades[decades.count - 1] < worst, decades.count < 12 {
      decades.append(decades[decades.count - 1] * 10)
    }
    return decades
  }

  /// The position of a time on the logarithmic scale.
  private func position(of milliseconds: Int64) -> Int {
    let decades = decades
    let scaleWidth = Self.width - 2 * Self.margin
    for (index, decade) in decades.enumerated().dropFirst() where milliseconds <= decade {
      let lower = decades[index - 1]
      // Between two powers of ten the logarithm is approximated by doublings.
      let part = hundredthsOfDecade(max(milliseconds, lower), over: lower)
      return Self.margin + ((index - 1) * 100 + part) * scaleWidth / ((decades.count - 1) * 100)
    }
    return Self.width - Self.margin
  }

  private var axis: Markup {
    let marks = decades.markup { decade in
      let x = position(of: decade)
      let text = decade < 1000 ? "\(decade) ms" : "\(grouped(Int(decade / 1000))) s"
      let anchor: Markup = x == Self.margin ? "start" : x > Self.width - 30 ? "end" : "middle"
      return
        "<text x=\"\(anchor == "middle" ? x : anchor == "start" ? 0 : Self.width)\" y=\"12\" text-anchor=\"\(anchor)\">\(text)</text>"
    }
    return """
      <svg class="axis" role="img" width="\(Self.width)" height="16" viewBox="0 0 \(Self.width) 16">\
      <title>Scale from 1 ms to \(spoken(decades[decades.count - 1]))</title>\(marks)</svg>
      """
  }

  private func box(_ row: Latencies.Row) -> Markup {
    let positions = [5, 25, 50, 75, 95].map { position(of: row.quantile($0)) }
    let worst = position(of: row.worst.milliseconds)
    let grid = decades.markup { decade in
      let x = position(of: decade)
      return "<path class=\"gridline\" d=\"M\(x),0 V\(Self.height)\"/>"
    }
    return """
      <svg class="box" role="img" width="\(Self.width)" height="\(Self.height)" viewBox="0 0 \(Self.width) \(Self.height)">\
      <title>\(clipped(row.stimulus, toBytes: 80)): median \(spoken(row.median)), worst \(spoken(row.worst.milliseconds)), \
      in \(clipped(row.worst.name, toBytes: 120))</title>\(grid)\
      <path class="whisker" d="M\(positions[0]),11 H\(positions[4]) M\(positions[0]),7 v8 M\(positions[4]),7 v8"/>\
      <rect class="quartiles" x="\(positions[1])" y="5" width="\(max(2, positions[3] - positions[1]))" height="12" rx="2"/>\
      <path class="median" d="M\(positions[2]),3 v16"/>\
      <path class="worst" d="M\(worst - 4),11 l4,-4 l4,4 l-4,4 z"/></svg>
      """
  }

  // MARK: The slowest cases

  private var slow: Markup {
    guard !slowest.isEmpty else { return "" }
    let hasHistory = slowest.contains { $0.history != nil }
    let rows = slowest.markup { slow in
      let usual = slow.history?.usualMilliseconds.map(spoken) ?? "–"
      let past: Markup =
        hasHistory
        ? """
        <td class="num">\(usual)\(slow.history?.isSlower == true ? " ▲ slower" : "")</td>\
        <td>\(slow.history.map { HTMLHistory(history: $0, milliseconds: slow.milliseconds).sparkline } ?? "")</td>
        """ : ""
      return """
        <tr><th scope="row">\(clipped(slow.name, toBytes: 200))<span class="suite">\(clipped(slow.suite, toBytes: 200))</span>\
        </th><td class="num">\(spoken(slow.milliseconds))</td>\(past)</tr>

        """
    }
    let heads: Markup =
      hasHistory ? "<th scope=\"col\" class=\"num\">usually</th><th scope=\"col\">the last runs</th>" : ""
    return """
      <h3>The slowest cases</h3>
      \(scrolling("The slowest cases", """
        <table class="slow"><thead><tr><th scope="col">case</th><th scope="col" class="num">time</th>\(heads)</tr></thead>
        <tbody>\(rows)</tbody></table>
        """))
      """
  }
}

/// The position of a number within the decade from `base`, in hundredths, on a logarithmic scale.
private func hundredthsOfDecade(_ number: Int64, over base: Int64) -> Int {
  // A hundred steps of 10^(1/100), in millionths, without a logarithm that may round differently on another
  // machine.
  var (step, reached) = (0, base * 1_000_000)
  let (target, wanted) = (number * 1_000_000, 100)
  while step < wanted, reached < target {
    reached += reached / 1_000_000 * 23_293 + reached % 1_000_000 * 23_293 / 1_000_000
    step += 1
  }
  return step
}
