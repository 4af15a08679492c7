public import CommandLine
import Conformance
import Reporting

extension JUnitProfile: WordChoice {}
extension AnnotationHost: WordChoice {}

extension ReportPlaces.Page: ArgumentValue {
  init?(argument: String) {
    if argument.isEmpty { return nil }
    self = argument == "none" ? .none : .file(argument)
  }

  static let form = "a path or none"

  static func relocated(_ argument: String, as _: ValueKind, by move: (String) -> String) -> String {
    argument == "none" ? argument : move(argument)
  }
}

extension ReportPlaces {
  /// The options.
  static var options: [Option<ReportPlaces>] {
    [
      .out(\.out),
      .value(
        "junit", \.junit, "FILE", "The file of the JUnit report. Default: DIR/junit.xml.",
        example: "junit.xml", as: .file),
      .value(
        "junit-profile", \.junitProfile, "ci|jenkins|strict|surefire",
        "The dialect of the JUnit report. Default: ci. For most CI systems, for Jenkins' xunit plugin, "
          + "for strict parsers, or as Maven's Surefire writes it.", example: "jenkins"),
      .value(
        "html", \.html, "FILE", "The file of the HTML report, or none. Default: DIR/report.html.",
        example: "report.html", as: .file),
      .value(
        "annotations", \.annotations, "github",
        "Prints GitHub annotations, which show each failure at its line.", example: "github"),
      .value(
        "allure", \.allure, "DIR",
        "Also writes results for Allure into a folder. Results of other runs there are kept.",
        example: "allure-results", as: .folder),
      HistorySettings.option.lifted(to: \.history),
    ]
  }
}

extension HistorySettings.Choice: ArgumentValue {
  init?(argument: String) {
    let place = HistoryPlace(argument)
    if argument.isEmpty || place.isOtherScheme { return nil }
    self = argument == "none" ? .none : .place(place)
  }

  static let form = "a path, postgres://… or none"

  static func relocated(_ argument: String, as _: ValueKind, by move: (String) -> String) -> String {
    argument == "none" || argument.contains("://") ? argument : move(argument)
  }
}

extension HistorySettings {
  static var option: Option<HistorySettings> {
    .value(
      "history", \.choice, "PLACE",
      "The database of the run history, or none. Default: DIR/history.sqlite. A SQLite file, or "
        + "postgres://HOST/DATABASE. Put the password into PGPASSWORD or ~/.pgpass.",
      example: "postgres://bench-db/lockstep", as: .file)
  }
}
