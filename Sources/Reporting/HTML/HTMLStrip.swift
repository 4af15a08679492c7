import Basics
import Journal

/// The endings of the latest runs, one mark each, the oldest first.
struct HTMLStrip {
  /// The maximum number of runs.
  static let length = 30

  private let marks: [(shown: Record.Ending, words: String)]

  /// Makes a strip of whole runs.
  init(_ runs: [HistoryRun]) {
    marks = runs.suffix(Self.length).map { ($0.shown, "\(spoken(moment: $0.started)): \($0.words)") }
  }

  /// Makes a strip of one case.
  init(_ points: [CaseHistory.Point]) {
    marks = points.suffix(Self.length).map { point in
      let shown = point.ending.isFlaky ? .flaky : point.ending.shown
      return (shown, "\(spoken(moment: point.start)): \(shown.presentation.label)")
    }
  }

  /// The marks with a label; empty without marks.
  func markup(_ label: Markup) -> Markup {
    guard !marks.isEmpty else { return "" }
    let items = marks.markup { shown, words in
      let words = clipped(words, toBytes: 200)
      return """
        <li class="\(shown.presentation.key)" title="\(words)"><span aria-hidden="true">\(shown.presentation.badge)</span>\
        <span class="sr">\(words)</span></li>
        """
    }
    return """
      <div class="past"><p class="label">\(label)</p><ol class="strip">\(items)</ol></div>

      """
  }
}

extension HistoryRun {
  /// The ending of the run.
  fileprivate var shown: Record.Ending {
    switch exitStatus {
    case .divergence: count(.divergence) == 0 && count(.unmet) > 0 ? .unmet : .diverged
    case .labFault: .labFault
    case .usage, .incomplete, .safetyLimit, .internalFault: .incomplete
    case .agree: flaky > 0 ? .flaky : .agreed
    case .nothingSelected: .skipped
    }
  }

  fileprivate var words: String {
    switch shown {
    case .diverged where count(.divergence) == 0:
      flaky > 0
        ? "\(grouped(flaky)) of \(counted(cases, "case")) flaky, which counts as failed" : "a divergence"
    case .diverged: "\(grouped(count(.divergence))) of \(counted(cases, "case")) diverged"
    case .unmet: "\(grouped(count(.unmet))) of \(counted(cases, "case")) not as expected"
    case .labFault where count(.labFault) == 0: "trouble in the lab"
    case .labFault: "the lab failed \(grouped(count(.labFault))) of \(counted(cases, "case"))"
    case .flaky: "\(grouped(flaky)) of \(counted(cases, "case")) flaky"
    case .agreed: "\(counted(cases, "case")), all that were tried agreed"
    case .skipped: "no case has a verdict"
    default: "incomplete"
    }
  }
}
