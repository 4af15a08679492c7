import Basics
import Journal

/// The results of a case in earlier runs.
struct HTMLHistory {
  let history: CaseHistory
  let milliseconds: Int64

  private static let (width, height) = (168, 30)

  /// Sentences, and the graph of its durations.
  var markup: Markup {
    var facts: [Markup] = []
    if let same = history.sameFailure {
      facts.append(
        """
        <strong>The same failure \(same.count == 1 ? "once" : "\(grouped(same.count)) times") before</strong>, \
        first \(spoken(moment: same.first)), last \(spoken(moment: same.last)).
        """)
    } else if history.judged > 0, history.agreed == history.judged {
      facts.append("<strong>Never failed before</strong> in \(counted(history.judged, "run")).")
    }
    if history.judged > 0 {
      facts.append(
        """
        Agreed in \(grouped(history.agreed)) of \(counted(history.judged, "run")) \
        (\(percent(history.agreed, of: history.judged))), changed its mind \
        \(history.changes == 1 ? "once" : "\(grouped(history.changes)) times").
        """)
    }
    if let first = history.firstSeen { facts.append("First seen \(spoken(moment: first)).") }
    if let usual = history.usualMilliseconds {
      facts.append(
        history.isSlower
          ? "<strong>Slower than usual</strong>: \(spoken(milliseconds)), usually \(spoken(usual))."
          : "Usually takes \(spoken(usual)).")
    }
    guard !facts.isEmpty else { return "" }
    return """
      <div class="history"><h4>Before this run</h4>\(strip)\(sparkline)<ul>\(facts.markup { "<li>\($0)</li>" })</ul></div>

      """
  }

  /// The endings of the latest runs.
  var strip: Markup {
    let count = min(history.points.count, HTMLStrip.length)
    return HTMLStrip(history.points).markup("The last \(counted(count, "run")) of it, the oldest first")
  }

  /// The durations in the latest runs; those that did not agree have a cross or a triangle.
  var sparkline: Markup {
    let points = history.points.suffix(50)
    guard points.count > 1 else { return "" }
    let longest = max(1, points.map(\.milliseconds).max() ?? 1)
    let step = (Self.width - 12) / max(1, points.count - 1)
    let positions = points.enumerated().map { index, point in
      (
        x: 6 + index * step, y: Self.height - 6 - Int(point.milliseconds * Int64(Self.height - 12) / longest),
        point: point
      )
    }
    let path = positions.map { "\($0.x),\($0.y)" }.joined(separator: " ")
    let marks = positions.markup { position in
      let (x, y) = (position.x, position.y)
      switch position.point.ending {
      case .flaky, .failedAsFlaky: return "<path class=\"flakymark\" d=\"M\(x),\(y - 4) l4,7 h-8 z\"/>"
      case .agreed, .skipped, .excused: return ""
      case .diverged: return "<path class=\"badmark\" d=\"M\(x - 3),\(y - 3) l6,6 m0,-6 l-6,6\"/>"
      case .unmet: return "<path class=\"unmetmark\" d=\"M\(x - 3),\(y - 2) h6 m0,4 h-6 m0,2 l6,-8\"/>"
      case .labFault, .incomplete, .limited:
        return "<circle class=\"labmark\" cx=\"\(x)\" cy=\"\(y)\" r=\"3\"/>"
      }
    }
    let failed = points.count { $0.ending.word == .divergence }
    let unmet = points.count { $0.ending == .unmet }
    let width = 12 + step * (points.count - 1)
    return """
      <svg class="spark" role="img" width="\(width)" height="\(Self.height)" viewBox="0 0 \(width) \(Self.height)">\
      <title>How long it took in the last \(counted(points.count, "run")), at most \(spoken(longest)); \
      \(grouped(failed)) of them diverged\(unmet > 0 ? ", \(grouped(unmet)) not as expected" : "")</title><polyline points="\(path)"/>\(marks)</svg>
      """
  }
}
