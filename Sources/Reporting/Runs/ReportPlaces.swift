public import Journal
public import System

/// Where the reports of runs go, in which shape, and what they may tell of earlier runs.
public struct ReportPlaces {
  /// Where a report goes that may be left out.
  public enum Page: Equatable, Sendable {
    case usual
    case file(String)
    case none

  }

  public var out = "Reports"
  public var junit: String?
  public var junitProfile = JUnitProfile.ci
  public var html = Page.usual
  /// The host of the repository whose log shows what did not go well, if one is to.
  public var annotations: AnnotationHost?
  /// The folder of results of Allure, if they are wanted.
  public var allure: String?
  public var history = HistorySettings()

  /// All of them as usual.
  public init() {}

  /// The folders in which there may be files that look like scenarios.
  public var folders: [String] { [out] + [allure].compactMap(\.self) }

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

  /// Which of the paths of some reports a person opens first.
  public func first(of paths: [String]) -> String {
    paths.first { $0 == htmlPath } ?? paths.first ?? ""
  }

  /// A report that is there already.
  var firstThere: String? {
    [junitPath, htmlPath, allure].compactMap(\.self).first { fileKind($0) != .missing }
  }

  /// These, and what others say where these are as usual.
  public func orElse(_ others: ReportPlaces) -> ReportPlaces {
    let usual = ReportPlaces()
    var sum = self
    if out == usual.out { sum.out = others.out }
    if junit == nil { sum.junit = others.junit }
    if junitProfile == usual.junitProfile { sum.junitProfile = others.junitProfile }
    if html == usual.html { sum.html = others.html }
    if annotations == nil { sum.annotations = others.annotations }
    if allure == nil { sum.allure = others.allure }
    if history == usual.history { sum.history = others.history }
    return sum
  }

  /// Those options that are not as usual, as words of a command line.
  public var words: [String] {
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
    if let allure { words += ["--allure", allure] }
    if let annotations { words += ["--annotations", annotations.rawValue] }
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
  public func publish(journal: String, _ messages: StatusLine) throws(FileFault) -> [String] {
    let runs = RecordedRuns(journals: [journal])
    let paths = try write(runs, journals: [journal], messages)
    history.take(journals: [journal], out: out, messages)
    if let fault = runs.fault { throw fault }
    return paths
  }

  /// Writes the reports of some runs whose journals were read already.
  public func write(
    _ runs: RecordedRuns, journals: [String], _ messages: StatusLine
  ) throws(FileFault) -> [String] {
    try runs.writeJUnit(to: junitPath, profile: junitProfile)
    var paths = [junitPath]
    if let htmlPath {
      try runs.writeHTML(to: htmlPath, history: history.source(journals: journals, out: out, messages))
      paths.append(htmlPath)
    }
    if let allure {
      try runs.writeAllure(to: allure)
      paths.append(allure)
    }
    if annotations == .github {
      for line in try runs.gitHubLines() { messages.say(line) }
    }
    return paths
  }
}

extension ReportPlaces {
  /// Makes the folder of the reports, where it is not there.
  public func makeFolder() throws(UsageError) {
    try checkedReports { () throws(FileFault) in try System.makeFolder(out) }
  }
}

/// What comes of work in the folder of reports; where that cannot be written, it says which option names another one.
public func checkedReports<Value>(_ body: () throws(FileFault) -> Value) throws(UsageError) -> Value {
  do throws(FileFault) {
    return try body()
  } catch {
    var fault = error
    fault.attempt = .write
    throw UsageError(
      "\(fault); --out DIR puts reports into another folder", status: error.isMachines ? .labFault : .usage)
  }
}
