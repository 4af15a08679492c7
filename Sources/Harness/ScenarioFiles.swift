import Conformance
import Basics
public import Documents
import Secrets
import System

/// Finds scenarios, and reads their files.
public enum ScenarioFiles {
  /// The files found under some paths.
  public struct Found: Equatable, Sendable {
    /// The files, each once, in the order of the paths and within a folder by name.
    public var files: [String] = []
    /// Folders without any scenario.
    public var empty: [String] = []
    /// Paths that cannot be used, with the reason.
    public var problems: [Diagnostic] = []
    /// The explicitly named files: they are treated as scenarios in any case.
    fileprivate var named = Set<ExactText>()

    /// Whether the file was named explicitly.
    func isNamed(_ path: String) -> Bool { named.contains(ExactText(ScenarioFiles.real(path))) }

    /// Whether to ignore a file that is not a scenario: it was found in a folder, not named explicitly, and it is
    /// another kind of Lockstep document.
    func leavesAlone(_ path: String) -> Bool {
      guard !isNamed(path), let bytes = try? ScenarioFiles.read(path) else { return false }
      return DocumentKind(recognizing: bytes, name: path).map { $0 != .scenario } ?? false
    }

    fileprivate mutating func add(_ code: Problem.Code, _ path: String, _ message: String) {
      problems.append(Diagnostic(code, ofPath: path, message))
    }
  }

  /// The default folder: `Scenarios`, or `scenarios` if only that exists.
  public static var usualFolder: String {
    fileKind("Scenarios") == .missing && fileKind("scenarios") == .folder ? "scenarios" : "Scenarios"
  }

  /// Finds the scenarios in files and folders; folders are searched recursively for `.yaml` and `.yml`.
  ///
  /// Names that begin with a dot are skipped. `FILE:LINE` and `FILE:LINE:COLUMN`, as reports and editors print them,
  /// select the scenario of the file; the file must have such a line.
  ///
  /// - Parameter results: the folders to which a run writes: files saved there are not scenarios of it, unless such a
  ///   folder, or something in it, was named explicitly.
  public static func find(_ paths: [String], besides results: [String] = []) -> Found {
    var found = Found()
    let results = results.map { real($0) + "/" }
    // Two files are different even if their names only look alike.
    var seen = Set<ExactText>()
    for path in paths {
      switch fileKind(path) {
      case .missing:
        guard let (file, line) = place(path) else {
          found.add(.noSuchFile, path, FileFault.absence)
          continue
        }
        let problem = problem(line, of: file)
        if !problem.isEmpty {
          found.problems += problem
        } else {
          found.named.insert(ExactText(real(file)))
          if seen.insert(ExactText(real(file))).inserted { found.files.append(Path.normalized(file)) }
        }
      case .unknown(let code): found.add(.unreadable, path, errorText(code))
      case .other(let strange):
        found.add(.unreadable, path, "expected a file or a folder, and it is \(strange)")
      case .file:
        found.named.insert(ExactText(real(path)))
        if seen.insert(ExactText(real(path))).inserted { found.files.append(Path.normalized(path)) }
      case .folder:
        guard let names = filesBelow(path) else {
          found.add(.unreadable, path, "the folder cannot be read")
          continue
        }
        let place = real(path) + "/"
        let others = results.filter { $0.hasPrefix(place) && $0 != place }
        // A pipe or a device is not a scenario; an explicitly named one is read, and refused.
        let files = names.filter(isScenario).filter { name in
          !others.contains { (place + name).hasPrefix($0) }
        }
        .map { Path.join(path, $0) }.filter { fileKind($0) != .folder }
        .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        if files.isEmpty { found.empty.append(path) }
        found.files += files.filter { seen.insert(ExactText(real($0))).inserted }
        for name in names where isGarbled(name) && fileKind(Path.join(path, name)) == .missing {
          found.add(
            .unreadable, Path.join(path, name), "its name is no UTF-8, so that it cannot be named: rename it")
        }
      }
    }
    return found
  }

  /// The file and the line of a path of the form `FILE:LINE` or `FILE:LINE:COLUMN`.
  private static func place(_ path: String) -> (file: String, line: Int)? {
    var numbers: [Int] = []
    var rest = path[...]
    while numbers.count < 2, let colon = rest.lastIndex(of: ":"),
      let number = Int(rest[rest.index(after: colon)...]), number > 0
    {
      numbers.append(number)
      rest = rest[..<colon]
      if fileKind(String(rest)) == .file { return (String(rest), numbers[numbers.count - 1]) }
    }
    return nil
  }

  private static func problem(_ line: Int, of file: String) -> [Diagnostic] {
    do {
      let bytes = try read(file)
      let count = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).count
      guard line > count else { return [] }
      return [Diagnostic(.noSuchLine, ofPath: file, line: line, "the file has \(count) lines")]
    } catch {
      return error.diagnostics
    }
  }

  /// Reads a file that is not too large to be a scenario or a machine.
  ///
  /// - Throws: a problem of the whole file, which is not read if it is too large.
  public static func read(_ path: String, limits: Limits = Limits()) throws(DocumentError) -> [UInt8] {
    func problem(_ message: String, _ code: Problem.Code = .unreadable) -> DocumentError {
      var problem = Problem(code, at: .start, message)
      problem.scope = .file
      return DocumentError(source: Source(name: path, bytes: []), problems: [problem])
    }
    switch fileKind(path) {
    case .file: break
    case .missing: throw problem(FileFault.absence, .noSuchFile)
    case .folder: throw problem("expected a file, and it is a folder")
    case .other(let strange): throw problem("expected a file, and it is \(strange)")
    case .unknown(let code): throw problem("the file cannot be read: \(errorText(code))")
    }
    if let size = sizeOfFile(path) { try limits.check(byteCount: size, name: path) }
    let bytes: [UInt8]
    do throws(FileFault) {
      bytes = try WholeFile.bytes(of: path)
    } catch {
      throw problem("the file cannot be read: \(error.reason)")
    }
    return bytes
  }

  /// Reads a file and parses it.
  ///
  /// Diagnostics quote lines of a wrong file, and the file may be that of a lock: text that looks like a key
  /// is then kept secret. Nothing in a well-formed file is secret, least of all the bytes that a scenario
  /// sends: the scenario could not be saved unchanged.
  public static func read<Value>(
    _ path: String, limits: Limits = Limits(), as make: ([UInt8]) throws(DocumentError) -> Value
  ) throws(DocumentError) -> Value {
    let bytes = try read(path, limits: limits)
    do throws(DocumentError) {
      return try make(bytes)
    } catch {
      Redactor.shared.registerLookalikes(in: bytes)
      throw error
    }
  }

  private static func isScenario(_ path: String) -> Bool {
    path.hasSuffix(".yaml") || path.hasSuffix(".yml")
  }

  /// Whether a name in a folder had bytes that are not UTF-8, which were replaced, and may be the name of a scenario
  /// or of a folder of scenarios.
  private static func isGarbled(_ path: String) -> Bool {
    path.unicodeScalars.contains("\u{FFFD}")
      && (isScenario(path) || path.split(separator: "/").last?.contains(".") != true)
  }

  /// The path with all links resolved.
  fileprivate static func real(_ path: String) -> String { realPath(path) ?? path }
}

/// Scenarios read from files, with the problems of the files that could not be read.
public struct ScenarioSet {
  /// A scenario with its origin.
  public struct Item: Sendable {
    /// The path of the file.
    public var path: String
    /// A hash of the file's text, if the scenario was read from a file.
    public var text: String?
    /// The scenario.
    public var scenario: Scenario
    /// The machine that it names.
    public var machine: MachineLibrary.Entry

    /// Makes an item.
    public init(path: String, scenario: Scenario, machine: MachineLibrary.Entry) {
      self.path = path
      self.scenario = scenario
      self.machine = machine
    }
  }

  /// The scenarios that could be read.
  public private(set) var items: [Item] = []
  /// The problems of the other files, and of the machines that they name.
  public private(set) var problems: [Diagnostic]
  /// Folders without any scenario.
  public let empty: [String]

  /// Makes a set of given scenarios.
  public init(_ items: [Item]) {
    self.items = items
    problems = []
    empty = []
  }

  /// Reads every scenario under some paths.
  ///
  /// - Parameter results: see ``ScenarioFiles/find(_:besides:)``.
  public init(_ paths: [String], besides results: [String] = [], reader: ScenarioReader) {
    let found = ScenarioFiles.find(paths, besides: results)
    problems = found.problems
    empty = found.empty
    for path in found.files {
      do {
        var text = Fingerprint()
        let scenario = try ScenarioFiles.read(path) { bytes throws(DocumentError) in
          text.mix(bytes)
          return try reader.read(bytes, path: path)
        }
        guard let machine = try? reader.machines.machine(scenario.machine, in: Path.folder(of: path)) else {
          continue
        }
        var item = Item(path: path, scenario: scenario, machine: machine)
        item.text = text.description
        items.append(item)
      } catch {
        guard !found.leavesAlone(path) else { continue }
        // Several scenarios may use the same machine, whose problems are listed once.
        problems += error.diagnostics.filter { $0.source.name == path || !problems.contains($0) }
      }
    }
  }
}
