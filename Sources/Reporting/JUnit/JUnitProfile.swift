import Files

/// A shape of JUnit XML, for a family of programs that read it.
public enum JUnitProfile: String, Hashable, Sendable, CaseIterable {
  /// What CI systems read: the shape of Jenkins' `junit-10.xsd`, and file, line and properties on each test case.
  case ci
  /// What Jenkins' xunit plugin takes, which drops what is not valid against its `junit-10.xsd`.
  case jenkins
  /// What the oldest readers take too: valid against both schemas of Jenkins, and the one of Ant by Windy Road.
  case strict
  /// What Maven's Surefire writes: one suite, which is the root.
  case surefire

  /// The XML Schema that every report of the profile ``ci`` is valid against; those of the others are not ours.
  public static var schema: String { EmbeddedFile.junitSchema.text }
}

extension JUnitProfile {
  /// Whether the root is the one suite, and no element is around it.
  var hasOneSuite: Bool { self == .surefire }

  /// Whether a test case has properties, and says its file and line.
  var hasCaseProperties: Bool { self == .ci }

  /// Whether a test case has its own output, and elements for tries.
  var hasCaseOutput: Bool { self != .strict }

  /// Whether a skipped test has an attribute with the reason, beside the text.
  var hasSkipMessage: Bool { self != .strict }

  /// Whether files that belong to a case go by their paths from the root: readers that copy them need that.
  var hasAbsolutePaths: Bool { self != .ci }

  /// A start as the profile writes it, of one in UTC with its `Z`.
  func timestamp(_ start: String?) -> String? {
    self == .strict ? String((start ?? "1970-01-01T00:00:00Z").dropLast()) : start
  }
}
