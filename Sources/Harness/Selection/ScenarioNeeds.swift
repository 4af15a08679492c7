import Documents
public import Basics
import System

/// The files that determine what the scenarios under some paths do: the scenarios, their machines and their
/// programs. `--watch` waits for changes of these.
public struct ScenarioNeeds: Sendable {
  /// A scenario, and the files that it depends on.
  private struct Scenario: Sendable {
    var path: String
    var needs: [String]
  }

  private var scenarios: [Scenario] = []
  /// Files with errors, and explicitly named paths, which may exist later.
  private var others: [String]
  /// The explicitly named folders, in which scenarios may appear.
  public private(set) var folders: [String]

  /// Determines the files of the scenarios under some paths.
  ///
  /// - Parameters:
  ///   - results: see ``ScenarioFiles/find(_:besides:)``.
  ///   - device: the device that replaces their own.
  public init(_ paths: [String], besides results: [String], device: DeviceSpec?, reader: ScenarioReader) {
    let set = ScenarioSet(paths, besides: results, reader: reader)
    folders = paths.filter { fileKind($0) == .folder }
    others = paths + set.problems.map(\.source.name)
    scenarios = set.items.map { item in
      let machine = item.machine.isFile ? [item.machine.label] : []
      return Scenario(path: item.path, needs: machine + Self.programs(of: device ?? item.scenario.device))
    }
  }

  /// The files named in a device's commands.
  private static func programs(of device: DeviceSpec?) -> [String] {
    guard let device, device.kind == .exec || device.kind == .driver else { return [] }
    let commands = [device.name] + device.settings.filter { $0.name == "peripheral" }.map(\.value)
    return commands.flatMap { $0.split { " \t\n'\"=;&|<>()".contains($0) } }.map(String.init)
      .filter { fileKind($0) == .file }
  }

  /// All files.
  public var files: Set<ExactText> {
    Set((scenarios.flatMap { [$0.path] + $0.needs } + others).map { ExactText($0) })
  }

  /// The absolute paths of all files; see ``places(of:)``.
  public var places: Set<ExactText> { files.reduce(into: []) { $0.formUnion(Self.places(of: $1.text)) } }

  /// The changed files that matter, as the user named them.
  ///
  /// - Parameter changed: as in ``scenarios(touchedBy:)``.
  public func files(touchedBy changed: Set<ExactText>) -> Set<ExactText> {
    files.filter { !Self.places(of: $0.text).isDisjoint(with: changed) && fileKind($0.text) != .folder }
  }

  /// The scenarios that depend on changed files.
  ///
  /// - Parameter changed: absolute paths, without links or as they were named; see ``places(of:)``.
  public func scenarios(touchedBy changed: Set<ExactText>) -> Set<ExactText> {
    var touched = Set<ExactText>()
    for scenario in scenarios
    where ([scenario.path] + scenario.needs).contains(where: {
      !Self.places(of: $0).isDisjoint(with: changed)
    }) {
      touched.insert(ExactText(scenario.path))
    }
    return touched
  }

  /// The absolute paths of a file: in its own folder and, if it is a link, where that leads.
  public static func places(of path: String) -> Set<ExactText> {
    var places = Set<ExactText>()
    let name = path.split(separator: "/").last.map(String.init) ?? path
    if let folder = realPath(Path.folder(of: path)) { places.insert(ExactText(Path.join(folder, name))) }
    if let file = realPath(path) { places.insert(ExactText(file)) }
    return places
  }
}
