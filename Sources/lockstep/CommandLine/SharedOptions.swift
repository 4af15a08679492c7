import Reporting

/// Options that mean the same wherever they are.
extension Option {
  /// How results are printed.
  static func format(
    _ path: WritableKeyPath<Values, OutputFormat>,
    _ summary: String =
      "How results are printed; json is one object a line, as 'lockstep schema' describes it."
  ) -> Option {
    .value("format", path, "human|json", summary, example: "json")
  }

  /// Whether text is coloured.
  static func color(_ path: WritableKeyPath<Values, ColorChoice>) -> Option {
    .value(
      "color", path, "auto|always|never",
      "Whether text is coloured. With auto it is on a terminal, unless NO_COLOR is set or TERM is dumb; "
        + "CLICOLOR_FORCE colours it elsewhere too.", example: "never")
  }

  /// Says less.
  static func quiet(
    _ path: WritableKeyPath<Values, Bool>, _ summary: String = "Prints failures only."
  ) -> Option {
    .flag("quiet", path, summary, short: "q")
  }

  /// The folder of reports.
  static func out(
    _ path: WritableKeyPath<Values, String>, _ summary: String = "Where reports go. Reports unless given."
  ) -> Option {
    .value("out", path, "DIR", summary, example: "Reports/nightly", as: .folder, short: "o")
  }

  /// The JUnit report.
  static func junit(_ path: WritableKeyPath<Values, String?>) -> Option {
    .value(
      "junit", path, "FILE", "Where the JUnit report goes. DIR/junit.xml unless given.", example: "junit.xml",
      as: .file)
  }

  /// The shape of the JUnit report.
  static func junitProfile(_ path: WritableKeyPath<Values, JUnitProfile>) -> Option {
    .value(
      "junit-profile", path, "ci|jenkins|strict|surefire",
      "The shape of the JUnit report: for most CI systems, for Jenkins' xunit plugin, for readers that take the least, "
        + "or as Maven's Surefire writes it. ci unless given.", example: "jenkins")
  }
}
