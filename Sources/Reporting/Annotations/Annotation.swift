import Basics
import Journal
import Secrets
import System

/// What the host of a repository shows beside a line of it: a case that did not go well, or a journal that is not whole.
struct Annotation: Equatable {
  /// How the case ended, or what stands for the problem of a journal.
  var ending: Record.Ending
  /// The file of the scenario, as hosts know it; `nil` where there is none.
  var file: String?
  /// The line of the step that failed, or else the one where the scenario begins.
  var line = 1
  /// The case, and how it ended.
  var title: String
  /// Why.
  var message: String
  /// More lines: model and device side by side, and the line to paste that does it again.
  var details: [String] = []
}

extension Annotation {
  /// The longest text that is made of one, in bytes.
  static let longestText = 4 << 10
  /// The longest title.
  static let longestTitle = 200

  /// What there is to say of a case that did not go well.
  ///
  /// - Parameters:
  ///   - saved: the file in which a campaign saved the case, which stands in no other.
  ///   - checkout: how hosts know files.
  fileprivate init(_ entry: JournalIndex.Entry, _ texts: CaseTexts, saved: String?, in checkout: Checkout) {
    let main = CaseOutcome(entry, texts).main
    let verdict = main.verdict
    let ending = entry.ending ?? .incomplete
    let words = ending.isFlaky ? "flaky" : ending.presentation.words
    var details = verdict?.details ?? []
    if let replay = verdict?.replay { details.append(replay) }
    self.init(
      ending: ending, file: (saved ?? main.start.file).map(checkout.name),
      line: main.line ?? 1,
      title:
        "\(caseTitle(of: main.start, copy: 1)): \(words)\(verdict?.step.map { " at step \($0)" } ?? "")",
      message: main.message, details: details)
    self = shown
  }

  /// What there is to say of a journal that is not whole.
  fileprivate init(_ problem: JournalProblem) {
    self.init(
      ending: Record.Ending(problem.status),
      title: problem.status == nil ? "The run is not whole" : "What the run ended with",
      message: "\(problem)")
    self = shown
  }

  /// The same, in which nothing stands that nobody may see, before a host's own notation can hide it from who looks for it.
  private var shown: Annotation {
    func plain(_ text: String, _ limit: Int) -> String {
      clipped(visible(Redactor.shared.redacted(text)), toBytes: limit)
    }
    var copy = self
    copy.file = file.map { plain($0, Self.longestText) }
    copy.line = max(1, line)
    copy.title = plain(title.inOneLine, Self.longestTitle)
    copy.message = plain(message, Self.longestText)
    copy.details = details.prefix(32).map { plain($0.inOneLine, Self.longestText) }
    return copy
  }
}

extension Annotation {
  /// Whether something is wrong with the device; everything else says nothing of it.
  var isFault: Bool { ending.element == .failed }
}

/// What hosts have of a repository: they know files from its root.
private struct Checkout {
  private let here = Host.folder
  /// The root of the repository, and the folder in which we are for what lies in none.
  private let roots: [String]

  init() { roots = [Repository(around: here)?.root, here].compactMap(\.self) }

  /// What a file is called.
  func name(_ path: String) -> String {
    let path = Path.normalized(Path.join(here, path))
    let root = roots.first { path.hasPrefix($0 + "/") }
    return root.map { String(path.dropFirst($0.count + 1)) } ?? path
  }
}

extension RecordedRuns {
  /// Goes through all that did not go well, in the order of the reports. Cases that were not begun get one annotation
  /// together, where there is no other.
  func forEachAnnotation(_ body: (Annotation) throws(FileFault) -> Void) throws(FileFault) {
    let (saved, checkout) = (index.savedFiles, Checkout())
    var (count, notBegun) = (0, 0)
    for suite in index.suites {
      for entry in suite.entries where entry.ending?.isRed ?? false {
        guard let texts = try index.sources[Int(entry.journal)].file?.texts(of: entry),
          texts.attempts.contains(where: \.wasBegun)
        else {
          notBegun += 1
          continue
        }
        count += 1
        try body(Annotation(entry, texts, saved: saved[entry.standing], in: checkout))
      }
    }
    let remarks = index.remarks
    for problem in remarks { try body(Annotation(problem)) }
    guard count == 0, remarks.isEmpty, notBegun > 0 else { return }
    let words = notBegun == 1 ? "1 case was not begun" : "\(notBegun) cases were not begun"
    try body(Annotation(JournalProblem(line: 0, message: words)))
  }
}

extension CaseText {
  /// Whether the case came to its first step, or to a verdict that says more than that it did not.
  fileprivate var wasBegun: Bool {
    guard let verdict else { return true }
    return verdict.word != .incomplete || verdict.step != nil || verdict.limit != nil
  }
}
