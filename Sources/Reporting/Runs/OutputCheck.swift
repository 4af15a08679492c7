public import Journal
import Basics
import System

/// Checks the output paths of a command before it runs: an output must not replace something else, such as a
/// scenario, the key of a lock, a history, or another output of the command.
public struct OutputCheck {
  /// The kinds of output.
  public enum Kind: String {
    case junit = "a JUnit report"
    case html = "an HTML report"
    case capture = "a capture"
    case history = "a history"
    case tour = "the tour of a machine"

    /// Whether a file with this beginning is of the kind.
    fileprivate func admits(_ beginning: ArraySlice<UInt8>) -> Bool {
      let text = String(decoding: beginning, as: UTF8.self).lowercased().drop(while: \.isWhitespace)
      return switch self {
      case .junit: text.hasPrefix("<?xml") || text.hasPrefix("<testsuite")
      case .html: text.hasPrefix("<!doctype html") || text.hasPrefix("<html")
      case .capture: text.hasPrefix("btsnoop")
      case .tour: text.replacing("\"", with: "").contains("\nscenario: a tour of ")
      // The history checks its file itself.
      case .history: true
      }
    }
  }

  private var outputs: [(option: String, path: String)] = []

  /// Throws unless an output replaces its own kind only.
  public static func check(_ option: String, _ kind: Kind, at path: String) throws(UsageError) {
    var check = OutputCheck()
    try check.add(option, kind, at: path)
  }

  /// Adds an output.
  ///
  /// - Throws: if something else exists at the path, or another output has it.
  mutating func add(_ option: String, _ kind: Kind, at path: String) throws(UsageError) {
    if kind != .history, fileKind(path) == .folder {
      throw UsageError("\(option): \(path) is a folder: name a file in it")
    }
    if Replacement.isDirect(path) { return }
    let canonicalPath = Self.canonicalPath(path)
    if let other = outputs.first(where: { $0.path == canonicalPath })?.option {
      throw UsageError("\(option) and \(other) are one file, \(path): give each a place of its own")
    }
    outputs.append((option, canonicalPath))
    guard let beginning = beginningOfFile(path, count: 256), !beginning.isEmpty, !kind.admits(beginning)
    else {
      return
    }
    throw UsageError(
      "\(option): \(path) is there already and is not \(kind.rawValue), and so it is not replaced: move it away, or name "
        + "another file")
  }

  /// Adds the folder of Allure results, which must be empty or have such results.
  fileprivate mutating func addAllure(at path: String) throws(UsageError) {
    let canonicalPath = Self.canonicalPath(path)
    if let other = outputs.first(where: { $0.path == canonicalPath })?.option {
      throw UsageError("--allure and \(other) are one place, \(path): give each one of its own")
    }
    outputs.append(("--allure", canonicalPath))
    switch fileKind(path) {
    case .missing, .unknown: return
    case .file, .other: throw UsageError("--allure: \(path) is no folder: name one for the results of Allure")
    case .folder: break
    }
    let names = ((try? FolderNames.listed(in: path)) ?? []).filter { !$0.hasPrefix(".") }
    if names.isEmpty || names.contains(where: Self.isOfAllure) { return }
    throw UsageError(
      "--allure: \(path) holds other things and no results of Allure: name a folder for them alone, such as "
        + Path.join(path, "allure-results"))
  }

  /// Whether a name is that of a file in a folder of results.
  private static func isOfAllure(_ name: String) -> Bool {
    ["history", "categories.json", "environment.properties", "executor.json"].contains(name)
      || name.hasSuffix("-result.json") || name.hasSuffix("-container.json")
  }

  /// One form for all paths of a file.
  private static func canonicalPath(_ path: String) -> String {
    if let real = realPath(path) { return real }
    let name = path.split(separator: "/").last.map(String.init) ?? path
    return Path.join(realPath(Path.folder(of: path)) ?? Path.normalized(Path.folder(of: path)), name)
  }
}

extension ReportPlaces {
  /// Throws unless the reports replace reports only.
  ///
  /// - Parameters:
  ///   - capture: the path of the capture, if the user chose one.
  ///   - tour: the path of a saved tour, if there is one.
  public func check(capture: String? = nil, tour: String? = nil) throws(UsageError) {
    var check = OutputCheck()
    if case .file(let path)? = history.place(out: out) {
      try check.add("the history", .history, at: path)
    }
    try check.add("--junit", .junit, at: junitPath)
    if let htmlPath { try check.add("--html", .html, at: htmlPath) }
    if let allure { try check.addAllure(at: allure) }
    if let capture { try check.add("--capture", .capture, at: capture) }
    if let tour { try check.add("--save", .tour, at: tour) }
  }
}
