public import Journal
public import System

/// The paths and forms of the reports of runs, and the history that they show.
public struct ReportPlaces {
  /// The place of an optional report.
  public enum Page: Equatable, Sendable {
    case usual
    case file(String)
    case none

  }

  public var out = "Reports"
  public var junit: String?
  public var junitProfile = JUnitProfile.ci
  public var html = Page.usual
  /// The host whose log receives annotations; `nil` for none.
  public var annotations: AnnotationHost?
  /// The folder of Allure results; `nil` for none.
  public var allure: String?
  public var history = HistorySettings()

  /// Makes the default places.
  public init() {}

  /// The folders that may contain files like scenarios.
  public var folders: [String] { [out] + [allure].compactMap(\.self) }

  /// The path of the JUnit report.
  var junitPath: String { junit ?? out + "/junit.xml" }

  /// The path of the HTML report; `nil` for none.
  var htmlPath: String? {
    switch html {
    case .usual: out + "/report.html"
    case .file(let path): path
    case .none: nil
    }
  }

  /// The report that a person opens first.
  public func first(of paths: [String]) -> String {
    paths.first { $0 == htmlPath } ?? paths.first ?? ""
  }

  /// An existing report.
  var firstExisting: String? {
    [junitPath, htmlPath, allure].compactMap(\.self).first { fileKind($0) != .missing }
  }

  /// These places, with those of others in place of defaults.
  public func orElse(_ others: ReportPlaces) -> ReportPlaces {
    let usual = ReportPlaces()
    var merged = self
    if out == usual.out { merged.out = others.out }
    if junit == nil { merged.junit = others.junit }
    if junitProfile == usual.junitProfile { merged.junitProfile = others.junitProfile }
    if html == usual.html { merged.html = others.html }
    if annotations == nil { merged.annotations = others.annotations }
    if allure == nil { merged.allure = others.allure }
    if history == usual.history { merged.history = others.history }
    return merged
  }

  /// The options that differ from the defaults, as command-line arguments.
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

  /// Reserves space for the JUnit report: if the disk becomes full during a run, the report of the cases so
  /// far can still be written.
  ///
  /// - Parameter cases: the number of cases; one that passes needs some 300 bytes, others a few thousand.
  func reserve(cases: Int) throws(FileFault) -> ReservedSpace {
    try ReservedSpace(for: junitPath, bytes: 1 << 20 + cases << 11)
  }

  /// Writes the reports of a run from its journal, then adds it to the history.
  ///
  /// - Returns: the paths of the reports.
  /// - Throws: also if they are written and lack unreadable data.
  public func publish(journal: String, _ messages: StatusLine) throws(FileFault) -> [String] {
    let runs = RecordedRuns(journals: [journal])
    let paths = try write(runs, journals: [journal], messages)
    history.take(journals: [journal], out: out, messages)
    if let fault = runs.fault { throw fault }
    return paths
  }

  /// Writes the reports of runs whose journals were read already.
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
  /// Creates the folder of the reports, if it does not exist.
  public func makeFolder() throws(UsageError) {
    try checkedReports { () throws(FileFault) in try System.makeFolder(out) }
  }
}

/// Runs work in the folder of reports; if that cannot be written, the error names the option for another one.
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
