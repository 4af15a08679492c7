public import CommandLine
import Conformance
import Reporting

extension JUnitProfile: WordChoice {}

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

extension AnnotationPlace: ArgumentValue {
  init?(argument: String) {
    let (word, path) = (argument.prefix { $0 != "=" }, argument.drop { $0 != "=" }.dropFirst())
    switch word {
    case "github" where !argument.contains("="): self = .github
    case "gitlab" where !argument.contains("="): self = .gitlab(nil)
    case "gitlab" where !path.isEmpty: self = .gitlab(String(path))
    default: return nil
    }
  }

  static let form = "github, gitlab or gitlab=FILE"
  static let kind = ValueKind.choice(["github", "gitlab"])

  static func moved(_ argument: String, as _: ValueKind, by move: (String) -> String) -> String {
    guard let place = argument.firstIndex(of: "=") else { return argument }
    return argument[...place] + move(String(argument[argument.index(after: place)...]))
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
        "The shape of the JUnit report: for most CI systems, for Jenkins' xunit plugin, for readers that take the "
          + "least, or as Maven's Surefire writes it. ci unless given.", example: "jenkins"),
      .value(
        "html", \.html, "FILE", "Where the HTML report goes, or none. DIR/report.html unless given.",
        example: "report.html", as: .file),
      .adding(
        "annotations", \.annotations, "github|gitlab",
        "Shows what did not go well beside its line: to GitHub in the log, to GitLab as a report of code quality, which is "
          + "DIR/\(AnnotationPlace.codeQuality); gitlab=FILE puts it elsewhere. May be given several times.",
        example: "gitlab"
      ) { (place: AnnotationPlace) in place },
      .value(
        "allure", \.allure, "DIR",
        "Also writes results for Allure into a folder, where those of other runs stay.",
        example: "allure-results", as: .folder),
      .value(
        "ctrf", \.ctrf, "FILE", "Also writes a report in the Common Test Report Format.",
        example: "ctrf.json",
        as: .file),
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
      "Where the history of runs is kept: a file of SQLite, postgres://HOST/DATABASE, or none. "
        + "DIR/history.sqlite unless given. A password belongs into PGPASSWORD or ~/.pgpass.",
      example: "postgres://bench-db/lockstep", as: .file)
  }
}
