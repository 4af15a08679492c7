import System
import Reporting

extension JUnitProfile: WordChoice {}

/// Where the reports of runs go, in which shape, and what they may tell of earlier runs.
struct ReportPlaces {
  /// Where a report goes that may be left out.
  enum Page: ArgumentValue, Equatable {
    case usual
    case file(String)
    case none

    init?(argument: String) {
      if argument.isEmpty { return nil }
      self = argument == "none" ? .none : .file(argument)
    }

    static let form = "a path or none"
  }

  var out = "Reports"
  var junit: String?
  var junitProfile = JUnitProfile.ci
  var html = Page.usual
  var history = HistoryArguments()

  /// Where the JUnit report goes.
  var junitPath: String { junit ?? out + "/junit.xml" }

  /// Where the HTML report goes; `nil` where none is wanted.
  var htmlPath: String? {
    switch html {
    case .usual: out + "/report.html"
    case .file(let path): path
    case .none: nil
    }
  }

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
      HistoryArguments.option.lifted(to: \.history),
    ]
  }

  /// These, and what others say where these are as usual.
  func orElse(_ others: ReportPlaces) -> ReportPlaces {
    let usual = ReportPlaces()
    var sum = self
    if out == usual.out { sum.out = others.out }
    if junit == nil { sum.junit = others.junit }
    if junitProfile == usual.junitProfile { sum.junitProfile = others.junitProfile }
    if html == usual.html { sum.html = others.html }
    if history == usual.history { sum.history = others.history }
    return sum
  }

  /// Those options that are not as usual, as words of a command line.
  var words: [String] {
    let usual = ReportPlaces()
    var words: [String] = []
    if out != usual.out { words += ["--out", out] }
    if let junit { words += ["--junit", junit] }
    if junitProfile != usual.junitProfile { words += ["--junit-profile", junitProfile.rawValue] }
    switch html {
    case .usual: break
    case .file(let path): words += ["--html", path]
    case .none: words += ["--html", "none"]
    }
    return words + history.words
  }

  /// Keeps room for the JUnit report: a disk that is full in the middle of a run costs the rest of the run, and not the
  /// report of what was done by then.
  ///
  /// - Parameter cases: how many there are; one that passes takes some 300 bytes, one that does not a few thousand.
  func reserve(cases: Int) throws(FileFault) -> ReservedSpace {
    try ReservedSpace(for: junitPath, bytes: 1 << 20 + cases << 11)
  }

  /// Writes the reports of a run of our own from its journal, then takes it into the history.
  ///
  /// - Returns: the paths of the reports.
  /// - Throws: also where they are written and lack what cannot be read.
  func publish(journal: String, _ console: Console) throws(FileFault) -> [String] {
    let runs = RecordedRuns(journals: [journal])
    let paths = try write(runs, journals: [journal], console)
    history.take(journals: [journal], out: out, console)
    if let fault = runs.fault { throw fault }
    return paths
  }

  /// Writes the reports of some runs whose journals were read already.
  func write(
    _ runs: RecordedRuns, journals: [String], _ console: Console
  ) throws(FileFault) -> [String] {
    try runs.writeJUnit(to: junitPath, profile: junitProfile)
    guard let htmlPath else { return [junitPath] }
    try runs.writeHTML(to: htmlPath, history: history.source(journals: journals, out: out, console))
    return [junitPath, htmlPath]
  }
}
