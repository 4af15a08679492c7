import System

/// The host of a repository that shows annotations.
public enum AnnotationHost: String, Hashable, Sendable, CaseIterable {
  /// GitHub, which reads annotations from lines in the log of a job.
  case github
}

extension RecordedRuns {
  /// The maximum number of annotations of a kind that GitHub shows for one step of a job.
  static let gitHubLimit = 10

  /// The annotations as lines that GitHub extracts from a log: `::error file=…,line=…,title=…::message`.
  ///
  /// A divergence is an error; anything that proves nothing about the device is a warning. Of each kind there
  /// are at most as many as GitHub shows, and a line with the number of the others.
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
    for (count, what) in [(faults, "that diverged"), (others, "that had no verdict")]
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
  /// The annotation as one line.
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
