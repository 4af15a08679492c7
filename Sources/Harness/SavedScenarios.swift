public import System
import Basics

/// The schema that the first line of a saved scenario names, for an editor that completes and checks it.
public enum SchemaFile {
  private static let name = "schema/scenario.schema.json"
  /// Its path from a folder of scenarios in our layout: Scenarios/door, Reports/failures.
  public static let above = "../" + name

  /// The path of the schema from a folder: the nearest existing one, or else one that is created there.
  public static func found(from folder: String) -> String {
    let known = [name, above, "../" + above].first { Host.isFile(Path.join(folder, $0)) }
    if known == nil { layOut(name, from: folder) }
    return known ?? name
  }

  /// Creates the schema, relative to a folder, if it does not exist. A failure to do so fails no test.
  public static func layOut(_ place: String = above, from folder: String) {
    let path = Path.normalized(Path.join(folder, place))
    guard !Host.isFile(path) else { return }
    try? makeFolder(Path.folder(of: path))
    try? WholeFile.replace(path, with: Scenario.schema.indented)
  }
}

/// Saves a scenario in a folder, under a name derived from its contents.
///
/// - Returns: its path.
public func save(
  _ scenario: Scenario, in folder: String, stem: String, _ comments: [String]
) throws(FileFault) -> String {
  try makeFolder(folder)
  let path = place(of: scenario, in: folder, stem: stem)
  try WholeFile.replace(path, with: scenario.yaml(comments: comments))
  SchemaFile.layOut(from: folder)
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

/// Six hexadecimal digits of a hash: the same text gives the same name on every machine.
public func fingerprint(_ text: String) -> String {
  let hash = Fingerprint(text).value
  return ((hash ^ hash >> 32) & 0xFF_FFFF).hex(digits: 6)
}
