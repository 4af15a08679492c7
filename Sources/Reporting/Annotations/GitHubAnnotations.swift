import System

/// The host of a repository that shows what did not go well beside its lines.
public enum AnnotationHost: String, Hashable, Sendable, CaseIterable {
  /// In the log of a job of GitHub, lines of a form of their own are its annotations.
  case github
}

extension RecordedRuns {
  /// The most that GitHub shows of a kind in one step of a job.
  static let gitHubLimit = 10

  /// What did not go well as lines that GitHub takes out of a log: `::error file=…,line=…,title=…::message`.
  ///
  /// An error is a divergence; whatever says nothing of the device is a warning. Of each kind there are as many as GitHub
  /// shows, and a line that says how many more there are.
  ///
  /// Source: GitHub Docs, "Workflow commands for GitHub Actions" and, for what is escaped, `actions/toolkit`,
  /// `packages/core/src/command.ts`.
  func gitHubLines() throws(FileFault) -> [String] {
    var (lines, faults, others): ([String], Int, Int) = ([], 0, 0)
    try forEachAnnotation { (annotation: Annotation) throws(FileFault) in
      if annotation.isFault { faults += 1 } else { others += 1 }
      if (annotation.isFault ? faults : others) <= Self.gitHubLimit {
        lines.append(annotation.gitHubLine)
      }
    }
    for (count, what) in [(faults, "that diverged"), (others, "that came to no judgement")]
    where count > Self.gitHubLimit {
      let more = count - Self.gitHubLimit
      lines.append(
        "::notice title=Lockstep::\(more) more \(more == 1 ? "case" : "cases") \(what) than GitHub shows here: see the report"
      )
    }
    return lines
  }
}

extension Annotation {
  /// The line, which holds no line end.
  var gitHubLine: String {
    var properties = file.map { ["file=" + Self.property($0), "line=\(line)"] } ?? []
    properties.append("title=" + Self.property(title))
    let text = ([message] + details).joined(separator: "\n")
    return "::\(isFault ? "error" : "warning") \(properties.joined(separator: ","))::\(Self.data(text))"
  }

  private static func data(_ text: String) -> String {
    text.replacing("%", with: "%25").replacing("\r", with: "%0D").replacing("\n", with: "%0A")
  }

  private static func property(_ text: String) -> String {
    data(text).replacing(":", with: "%3A").replacing(",", with: "%2C")
  }
}
