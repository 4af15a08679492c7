public import System
import Basics

/// Saves a scenario in a folder, under a name that what is in it makes.
///
/// - Returns: its path.
public func save(
  _ scenario: Scenario, in folder: String, stem: String, _ comments: [String]
) throws(FileFault) -> String {
  try makeFolder(folder)
  let path = place(of: scenario, in: folder, stem: stem)
  try WholeFile.replace(path, with: scenario.yaml(comments: comments))
  return path
}

/// The path under which a scenario is saved in a folder.
public func place(of scenario: Scenario, in folder: String, stem: String) -> String {
  "\(folder)/\(stem)-\(fingerprint(scenario.yaml())).yaml"
}

extension Case {
  /// A name for files: the last folder and the file of the scenario.
  public var slug: String {
    let parts = id.split(separator: "/").suffix(2).filter { $0 != "Scenarios" }
    return String(
      parts.joined(separator: "-").map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "-" })
  }
}

/// Six hexadecimal digits: the same text has the same name on every machine.
public func fingerprint(_ text: String) -> String {
  let hash = Fingerprint(text).value
  return ((hash ^ hash >> 32) & 0xFF_FFFF).hex(digits: 6)
}
