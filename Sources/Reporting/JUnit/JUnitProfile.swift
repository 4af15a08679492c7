import Files

/// A variant of JUnit XML for a family of programs.
public enum JUnitProfile: String, Hashable, Sendable, CaseIterable {
  /// For CI systems: the form of Jenkins' `junit-10.xsd`, with file, line and properties for each test case.
  case ci
  /// For Jenkins' xunit plugin, which rejects files that are not valid against its `junit-10.xsd`.
  case jenkins
  /// For the oldest readers: valid against both schemas of Jenkins, and that for Ant by Windy Road.
  case strict
  /// The form of Maven's Surefire: one suite, which is the root.
  case surefire

  /// The XML Schema of the profile ``ci``; those of the others are not ours.
  public static var schema: String { EmbeddedFile.junitSchema.text }
}

extension JUnitProfile {
  /// Whether the root is the only suite.
  var hasOneSuite: Bool { self == .surefire }

  /// Whether a test case has properties, file and line.
  var hasCaseProperties: Bool { self == .ci }

  /// Whether a test case has its own output, and elements for attempts.
  var hasCaseOutput: Bool { self != .strict }

  /// Whether a skipped test has an attribute with the reason, beside the text.
  var hasSkipMessage: Bool { self != .strict }

  /// Whether attached files have absolute paths, as readers that copy them require.
  var hasAbsolutePaths: Bool { self != .ci }

  /// The start in the form of the profile, from one in UTC with its `Z`.
  func timestamp(_ start: String?) -> String? {
    self == .strict ? String((start ?? "1970-01-01T00:00:00Z").dropLast()) : start
  }
}
