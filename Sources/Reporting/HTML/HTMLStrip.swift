import Basics
import Journal

/// How the latest runs ended, a mark each, the oldest first.
struct HTMLStrip {
  /// How many runs are shown.
  static let length = 30

  private let marks: [(shown: Shown, words: String)]

  /// How whole runs ended.
  init(_ runs: [HistoryRun]) {
    marks = runs.suffix(Self.length).map { ($0.shown, "\(spoken(moment: $0.started)): \($0.words)") }
  }

  /// How a case ended in them.
  init(_ points: [CaseHistory.Point]) {
    marks = points.suffix(Self.length).map { point in
      let shown = point.isFlaky ? Shown.flaky : point.word.shown
      return (shown, "\(spoken(moment: point.start)): \(shown.look.word)")
    }
  }

  /// The marks under a label; nothing where there is none.
  func markup(_ label: Markup) -> Markup {
    guard !marks.isEmpty else { return "" }
    let items = marks.markup { shown, words in
      let words = clipped(words, toBytes: 200)
      return """
        <li class="\(shown.look.key)" title="\(words)"><span aria-hidden="true">\(shown.look.sign)</span>\
        <span class="sr">\(words)</span></li>
        """
    }
    return """
      <div class="past"><p class="label">\(label)</p><ol class="strip">\(items)</ol></div>

      """
  }
}

extension HistoryRun {
  /// What the run came to: the worst of what its cases did.
  fileprivate var shown: Shown {
    if count(.divergence) > 0 { return .diverged }
    if count(.labFault) > 0 { return .lab }
    if count(.incomplete) > 0 || status == nil { return .incomplete }
    if flaky > 0 { return .flaky }
    return count(.agree) > 0 ? .agreed : .skipped
  }

  fileprivate var words: String {
    switch shown {
    case .diverged: "\(grouped(count(.divergence))) of \(counted(cases, "case")) diverged"
    case .lab: "the lab failed \(grouped(count(.labFault))) of \(counted(cases, "case"))"
    case .incomplete: "incomplete"
    case .flaky: "\(grouped(flaky)) of \(counted(cases, "case")) flaky"
    case .agreed: "\(counted(cases, "case")), all that were tried agreed"
    case .skipped: "nothing was judged"
    }
  }
}
