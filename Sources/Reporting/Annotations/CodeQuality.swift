import Basics
import System

extension RecordedRuns {
  /// Writes what did not go well as GitLab's report of code quality, an array of JSON that appears whole or not at all.
  ///
  /// A thing that is wrong is there once, however many rounds showed it: GitLab tells things apart by their fingerprints, and
  /// compares those of a branch with those of where it goes.
  ///
  /// Source: GitLab Docs, "Code Quality", "Code Quality report format".
  func writeCodeQuality(to path: String) throws(FileFault) {
    makeFolders(above: path)
    var file = try Replacement(of: path)
    var written: Set<String> = []
    try file.write("[")
    try forEachAnnotation { (annotation: Annotation) throws(FileFault) in
      guard written.insert(annotation.fingerprint).inserted else { return }
      try file.write((written.count == 1 ? "\n" : ",\n") + annotation.codeQuality.line)
    }
    try file.write(written.isEmpty ? "]\n" : "\n]\n")
    try file.commit()
  }
}

extension Annotation {
  /// The object; GitLab asks for a path also of what stands in no file.
  var codeQuality: JSON {
    [
      "description": .text(
        clipped(
          "\(title): \(message.split(whereSeparator: \.isNewline).joined(separator: " "))",
          toBytes: Self.longestText)),
      "check_name": .text("lockstep/\(kind.rawValue)"), "fingerprint": .text(fingerprint),
      "severity": kind.isFault ? "major" : "info",
      "location": ["path": .text(file ?? "lockstep"), "lines": ["begin": .integer(line)]],
    ]
  }
}
