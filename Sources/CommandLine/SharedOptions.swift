public import System

/// Options with the same meaning in every command.
extension Option {
  /// The output format.
  public static func format(
    _ path: WritableKeyPath<Values, OutputFormat>,
    _ summary: String =
      "The output format; json prints one object per line. 'lockstep schema' describes it."
  ) -> Option {
    .value("format", path, "human|json", summary, example: "json")
  }

  /// The colour of the output.
  public static func color(_ path: WritableKeyPath<Values, ColorChoice>) -> Option {
    .value(
      "color", path, "auto|always|never",
      "Whether to colour the output. With auto only on a terminal, unless NO_COLOR is set or TERM is "
        + "dumb; CLICOLOR_FORCE enables colours elsewhere too.", example: "never")
  }

  /// Reduces the output.
  public static func quiet(
    _ path: WritableKeyPath<Values, Bool>, _ summary: String = "Prints only failures."
  ) -> Option {
    .flag("quiet", path, summary, short: "q").replaced(by: "verbose", "durations")
  }

  /// The folder of reports.
  public static func out(
    _ path: WritableKeyPath<Values, String>, _ summary: String = "The folder for reports. Default: Reports."
  ) -> Option {
    .value("out", path, "DIR", summary, example: "Reports/nightly", as: .folder, short: "o")
  }
}
