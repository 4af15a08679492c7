import Basics
import Journal
import System

/// Where the host of a repository takes up what it shows beside its lines.
public enum AnnotationPlace: Hashable, Sendable {
  /// The log of a job of GitHub, in which lines of a form of their own are its annotations.
  case github
  /// A report of code quality, as GitLab reads it; without a path it is in the folder of reports.
  case gitlab(String?)

  /// The name of the report of code quality, unless another is given.
  public static let codeQuality = "code-quality.json"

  /// As an option has it.
  public var word: String {
    switch self {
    case .github: "github"
    case .gitlab(let path): "gitlab" + (path.map { "=" + $0 } ?? "")
    }
  }

  /// The file that is written, if one is.
  func path(in out: String) -> String? {
    switch self {
    case .github: nil
    case .gitlab(let path): path ?? out + "/" + Self.codeQuality
    }
  }
}

extension RecordedRuns {
  /// Tells the host of a repository what did not go well, and writes what it reads from a file.
  ///
  /// - Returns: the path of the file.
  func annotate(
    _ place: AnnotationPlace, in out: String, _ messages: StatusLine
  ) throws(FileFault) -> String? {
    guard let path = place.path(in: out) else {
      for line in try gitHubLines() { messages.say(line) }
      return nil
    }
    try writeCodeQuality(to: path)
    return path
  }
}
