import Basics
import Journal
import Secrets
import System

/// An annotation for the host of a repository: a case that failed, or an incomplete journal.
struct Annotation: Equatable {
  /// How the case ended, or the ending that represents a problem of a journal.
  var ending: Record.Ending
  /// The path of the scenario from the repository's root; `nil` if there is none.
  var file: String?
  /// The line of the failed step, or else the first line of the scenario.
  var line = 1
  /// The case, and how it ended.
  var title: String
  /// The reason.
  var message: String
  /// More lines: model and device side by side, and the replay command.
  var details: [String] = []
}

extension Annotation {
  /// The maximum length of an annotation's text, in bytes.
  static let longestText = 4 << 10
  /// The maximum length of a title.
  static let longestTitle = 200

  /// Makes the annotation of a failed case.
  ///
  /// - Parameters:
  ///   - saved: the file in which a campaign saved the case, if it has no other.
  ///   - checkout: the checkout of the repository.
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

  /// Makes the annotation of an incomplete journal.
  fileprivate init(_ problem: JournalProblem) {
    self.init(
      ending: Record.Ending(problem.status),
      title: problem.status == nil ? "The run is not whole" : "What the run ended with",
      message: "\(problem)")
    self = shown
  }

  /// The annotation with secrets redacted, which must precede the host's escapes: they could disguise a
  /// secret.
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
  /// Whether it shows an error of the device; all others prove nothing about it.
  var isFault: Bool { ending.element == .failed }
}

/// The checkout of a repository, which determines the paths that its host knows.
private struct Checkout {
  private let workingDirectory = Host.folder
  /// The root of the repository, and the current folder for files outside.
  private let roots: [String]

  init() { roots = [Repository(around: workingDirectory)?.root, workingDirectory].compactMap(\.self) }

  /// The path of a file from the root.
  func name(_ path: String) -> String {
    let path = Path.normalized(Path.join(workingDirectory, path))
    let root = roots.first { path.hasPrefix($0 + "/") }
    return root.map { String(path.dropFirst($0.count + 1)) } ?? path
  }
}

extension RecordedRuns {
  /// Enumerates everything that did not pass, in the order of the reports. Cases that were not begun share
  /// one annotation, if there is no other.
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
        try body(Annotation(entry, texts, saved: saved[entry.position], in: checkout))
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
  /// Whether the case reached its first step, or a verdict other than incomplete.
  fileprivate var wasBegun: Bool {
    guard let verdict else { return true }
    return verdict.word != .incomplete || verdict.step != nil || verdict.limit != nil
  }
}
