public import System

/// Options that mean the same wherever they are.
extension Option {
  /// How results are printed.
  public static func format(
    _ path: WritableKeyPath<Values, OutputFormat>,
    _ summary: String =
      "How results are printed; json is one object a line. 'lockstep schema' describes it."
  ) -> Option {
    .value("format", path, "human|json", summary, example: "json")
  }

  /// Whether text is coloured.
  public static func color(_ path: WritableKeyPath<Values, ColorChoice>) -> Option {
    .value(
      "color", path, "auto|always|never",
      "Whether text is coloured. With auto it is on a terminal, unless NO_COLOR is set or TERM is dumb; "
        + "CLICOLOR_FORCE colours it elsewhere too.", example: "never")
  }

  /// Says less.
  public static func quiet(
    _ path: WritableKeyPath<Values, Bool>, _ summary: String = "Prints failures only."
  ) -> Option {
    .flag("quiet", path, summary, short: "q").replaced(by: "verbose", "durations")
  }

  /// The folder of reports.
  public static func out(
    _ path: WritableKeyPath<Values, String>, _ summary: String = "Where reports go. Reports unless given."
  ) -> Option {
    .value("out", path, "DIR", summary, example: "Reports/nightly", as: .folder, short: "o")
  }
}
