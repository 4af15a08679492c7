import Basics
public import Documents
public import Automata
public import Conformance
import Models
import Synchronization
import System

/// The machines that scenarios and commands can name: those built in, and files.
public final class MachineLibrary {
  /// A machine by the name or the path that stands for it.
  public struct Entry: Sendable {
    /// How messages and reports call it: its name, or the path of its file.
    public var label: String
    /// The machine.
    public var machine: Machine
    /// Whether it comes from a file.
    public var isFile: Bool
    private let specifications: Specifications

    /// Gives a machine a name.
    public init(label: String, machine: Machine, isFile: Bool = false) {
      self.label = label
      self.machine = machine
      self.isFile = isFile
      specifications = Specifications(machine)
    }

    /// What tells the machine from others, the same on every host.
    public var hash: String { machine.hash }

    /// What must never happen on its devices, whatever state the model is in: what its name stands for in the catalog.
    ///
    /// Of a machine without rules a program may still say that it broke one of its own.
    public func invariants(on device: DeviceSpec) -> [any Invariant] {
      let rules = MachineDefinition.rules(of: machine.definition).map(\.invariant)
      let readings = machine.definition.readings
      return (rules.isEmpty && device.kind != .emulator ? [NoViolation()] : rules)
        + (isFile && !readings.isEmpty ? [ReadingsAsDeclared(readings)] : [])
    }

    /// The machine made ready for tracking a device; made once.
    func specification(_ abilities: Abilities) -> Specification {
      variant(under: abilities.conditions).specifications.get(
        showsEffects: abilities.showsEffects, holding: abilities.conditions, reporting: abilities.reports)
    }

    /// The machine as it is under conditions that always hold with a device: itself, unless it knows none of them.
    public func variant(under conditions: [String]) -> Entry {
      guard conditions.contains("loss"), machine.definition == .sesameTable else { return self }
      return specifications.withLosses(label: "\(label) (losses)")
    }
  }

  /// The tables of one machine, which take a while to make.
  private final class Specifications: Sendable {
    private struct Made {
      var specifications:
        [(
          showsEffects: Bool, conditions: [String], reports: [String], specification: Specification
        )] = []
      var withLosses: Entry?
    }

    private let machine: Machine
    private let made = Mutex(Made())

    init(_ machine: Machine) {
      self.machine = machine
    }

    func get(
      showsEffects: Bool, holding conditions: [String], reporting reports: [String]
    ) -> Specification {
      made.withLock { made in
        let known = made.specifications.first {
          $0.showsEffects == showsEffects && $0.conditions == conditions && $0.reports == reports
        }
        if let known { return known.specification }
        let specification = Specification(
          machine, showsEffects: showsEffects, holding: conditions, reporting: reports)
        made.specifications.append((showsEffects, conditions, reports, specification))
        return specification
      }
    }

    /// The tables of the Sesame documentation over a link that can be lost.
    func withLosses(label: String) -> Entry {
      made.withLock { made in
        if let known = made.withLosses { return known }
        guard let machine = try? Machine(.sesameTableWithLosses) else {
          preconditionFailure("a machine of ours is not well-formed")
        }
        let variant = Entry(label: label, machine: machine)
        made.withLosses = variant
        return variant
      }
    }
  }

  /// Why there is no such machine.
  public struct Missing: Error, Equatable, Sendable, CustomStringConvertible {
    /// What kind of problem it is.
    public var code: Problem.Code
    /// What is wrong, in one line.
    public var message: String
    /// What would put it right, or `nil`.
    public var advice: Advice?
    /// What is wrong with its file, where that is the reason.
    public var diagnostics: [Diagnostic] = []

    /// What would put it right, in one line, for a person.
    public var hint: String? { advice?.text }

    /// Makes an error.
    public init(_ message: String, code: Problem.Code = .unknownMachine, hint: Advice? = nil) {
      self.message = message
      self.code = code
      advice = hint
    }

    /// Says that the file of the machine is wrong.
    public init(_ error: DocumentError) {
      self.init("this machine cannot be used", code: .wrongMachine)
      diagnostics = error.diagnostics
    }

    /// What is wrong, one line or several.
    public var description: String {
      diagnostics.isEmpty ? message : diagnostics.map(\.description).joined(separator: "\n")
    }
  }

  /// What the file of a machine may not exceed.
  public static let limits = Limits(bytes: 16 << 20)

  /// What is hardly meant in the files that were read, in the order in which they were.
  public private(set) var warnings: [Diagnostic] = []

  private let definitions: [MachineDefinition]
  private let read: (String) throws(Missing) -> MachineFile
  private let warn: ([Diagnostic]) -> Void
  private var entries: [String: Result<Entry, Missing>] = [:]

  /// Makes a library.
  ///
  /// - Parameters:
  ///   - definitions: what is built in.
  ///   - read: reads the machine of a file.
  ///   - warn: takes what is hardly meant in a file, once, when it is read.
  public init(
    _ definitions: [MachineDefinition], read: @escaping (String) throws(Missing) -> MachineFile,
    warn: @escaping ([Diagnostic]) -> Void = { _ in }
  ) {
    self.definitions = definitions
    self.read = read
    self.warn = warn
  }

  /// The names of the built-in machines.
  public var names: [String] { definitions.map(\.name) }

  /// Finds a machine by its name, or by the path of a file relative to a folder.
  ///
  /// What has a slash or a dot in it is a path.
  public func machine(_ reference: String, in folder: String = ".") throws(Missing) -> Entry {
    let isFile = reference.contains("/") || reference.contains(".")
    let label = isFile ? Path.join(folder, reference) : reference
    if let known = entries[label] { return try known.get() }
    let result: Result<Entry, Missing>
    do {
      let machine = isFile ? try ofFile(label) : try compiled(builtIn(reference))
      result = .success(Entry(label: label, machine: machine, isFile: isFile))
    } catch {
      result = .failure(error)
    }
    entries[label] = result
    return try result.get()
  }

  /// Checks the file of a machine.
  ///
  /// - Throws: what is wrong with it.
  public func check(_ path: String) throws(DocumentError) {
    do {
      _ = try machine(path.hasPrefix("/") ? path : "./" + path)
    } catch {
      let diagnostics = error.diagnostics
      guard let first = diagnostics.first else {
        throw DocumentError(
          source: Source(name: path, bytes: []), problems: [Problem(error.code, ofLine: nil, error.message)])
      }
      var problems = diagnostics.map(\.problem)
      problems.indices.forEach { problems[$0].related = [] }
      throw DocumentError(source: first.source, problems: problems)
    }
  }

  private func ofFile(_ path: String) throws(Missing) -> Machine {
    let file = try read(path)
    let machine = try compiled(file.definition)
    let warnings = file.warnings(of: machine)
    self.warnings += warnings
    if !warnings.isEmpty { warn(warnings) }
    return machine
  }

  private func builtIn(_ name: String) throws(Missing) -> MachineDefinition {
    if let definition = definitions.first(where: { $0.name == name }) { return definition }
    throw Missing(
      "unknown machine `\(name)`", hint: .nearest(to: name, of: names, or: DeviceProblem.allOf))
  }

  private func compiled(_ definition: MachineDefinition) throws(Missing) -> Machine {
    do {
      return try Machine(definition)
    } catch {
      throw Missing(error.faults.map(\.description).joined(separator: "; "), code: .wrongMachine)
    }
  }
}

extension MachineLibrary.Entry {
  /// How a scenario in a folder refers to the machine.
  public func reference(from folder: String) -> String {
    isFile ? Path.reference(to: label, from: folder, here: Host.folder) : label
  }
}
