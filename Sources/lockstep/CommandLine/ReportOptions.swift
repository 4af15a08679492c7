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

  static func moved(_ argument: String, as _: ValueKind, by move: (String) -> String) -> String {
    argument == "none" ? argument : move(argument)
  }
}

extension ReportPlaces {
  /// The options.
  static var options: [Option<ReportPlaces>] {
    [
      .out(\.out),
      .value(
        "junit", \.junit, "FILE", "Where the JUnit report goes. DIR/junit.xml unless given.",
        example: "junit.xml", as: .file),
      .value(
        "junit-profile", \.junitProfile, "ci|jenkins|strict|surefire",
        "The shape of the JUnit report. ci unless given. For most CI systems, for Jenkins' xunit plugin, for readers that "
          + "take the least, or as Maven's Surefire writes it.", example: "jenkins"),
      .value(
        "html", \.html, "FILE", "Where the HTML report goes, or none. DIR/report.html unless given.",
        example: "report.html", as: .file),
      .value(
        "annotations", \.annotations, "github",
        "Shows what did not go well beside its line, in GitHub's log.", example: "github"),
      .value(
        "allure", \.allure, "DIR",
        "Also writes results for Allure into a folder. Those of other runs stay there.",
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

  static func moved(_ argument: String, as _: ValueKind, by move: (String) -> String) -> String {
    argument == "none" || argument.contains("://") ? argument : move(argument)
  }
}

extension HistorySettings {
  static var option: Option<HistorySettings> {
    .value(
      "history", \.choice, "PLACE",
      "Where the history of runs is kept, or none. DIR/history.sqlite unless given. It is a file of SQLite, or "
        + "postgres://HOST/DATABASE. A password belongs into PGPASSWORD or ~/.pgpass.",
      example: "postgres://bench-db/lockstep", as: .file)
  }
}
