import Basics
public import Documents
public import Automata
public import Conformance
import Models
import Synchronization
import System

/// The machines that scenarios and commands can name: the built-in ones, and files.
public final class MachineLibrary {
  /// A machine with the name or path that refers to it.
  public struct Entry: Sendable {
    /// The name of the machine in messages and reports, or the path of its file.
    public var label: String
    /// The machine.
    public var machine: Machine
    /// Whether it comes from a file.
    public var isFile: Bool
    private let specifications: Specifications

    /// Makes an entry.
    public init(label: String, machine: Machine, isFile: Bool = false) {
      self.label = label
      self.machine = machine
      self.isFile = isFile
      specifications = Specifications(machine)
    }

    /// A hash that identifies the machine, the same on every host.
    public var hash: String { machine.hash }

    /// The invariants of the machine's devices: its rules, and what holds of any device.
    ///
    /// A program may report violations of its own rules even if the machine has none.
    public func invariants(on device: DeviceSpec) -> [any Invariant] {
      var invariants: [any Invariant] = specifications.rules.map { RuleMonitor($0) }
      // A violation proves nothing while something tampers with the link.
      if !invariants.isEmpty || device.kind != .emulator {
        let excuses = machine.definition.conditions.map(\.name).filter { $0 == "tampering" }
        invariants.insert(NoViolation(unless: excuses), at: 0)
      }
      let readings = machine.definition.readings
      if isFile, !readings.isEmpty { invariants.append(ReadingsAsDeclared(readings)) }
      return invariants
    }

    /// The machine, prepared for tracking a device. Computed once.
    func specification(_ abilities: Abilities) -> Specification {
      variant(under: abilities.conditions).specifications.get(
        showsEffects: abilities.showsEffects, holding: abilities.conditions, reporting: abilities.reports)
    }

    /// The variant of the machine for conditions that always hold with a device; the machine itself if it has no
    /// such variant.
    public func variant(under conditions: [String]) -> Entry {
      guard conditions.contains("loss"), machine.definition == .sesameTable else { return self }
      return specifications.withLosses(label: "\(label) (losses)")
    }
  }

  /// The specifications of one machine, which are expensive to compute.
  private final class Specifications: Sendable {
    private struct Made {
      var specifications:
        [(
          showsEffects: Bool, conditions: [String], reports: [String], specification: Specification
        )] = []
      var withLosses: Entry?
      var rules: [CompiledRule]?
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

    /// The rules of the machine's devices.
    var rules: [CompiledRule] {
      made.withLock { made in
        if let known = made.rules { return known }
        let rules = machine.definition.rules.map { rule in
          guard let compiled = try? CompiledRule(rule) else {
            preconditionFailure("a rule of ours is not well-formed")
          }
          return compiled
        }
        made.rules = rules
        return rules
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

  /// Why a machine cannot be used.
  public struct Missing: Error, Equatable, Sendable, CustomStringConvertible {
    /// What kind of problem it is.
    public var code: Problem.Code
    /// What is wrong, in one line.
    public var message: String
    /// A correction; `nil` if none is known.
    public var advice: Advice?
    /// The diagnostics of its file, if the file is wrong.
    public var diagnostics: [Diagnostic] = []

    /// The correction as one line of text.
    public var hint: String? { advice?.text }

    /// Makes an error.
    public init(_ message: String, code: Problem.Code = .unknownMachine, hint: Advice? = nil) {
      self.message = message
      self.code = code
      advice = hint
    }

    /// Makes the error of a wrong machine file.
    public init(_ error: DocumentError) {
      self.init("this machine cannot be used", code: .wrongMachine)
      diagnostics = error.diagnostics
    }

    /// What is wrong, one line or several.
    public var description: String {
      diagnostics.isEmpty ? message : diagnostics.map(\.description).joined(separator: "\n")
    }
  }

  /// The limits of a machine file.
  public static let limits = Limits(bytes: 16 << 20)

  /// The warnings about the files that were read, in the order of reading.
  public private(set) var warnings: [Diagnostic] = []

  private let definitions: [MachineDefinition]
  private let read: (String) throws(Missing) -> MachineFile
  private let warn: ([Diagnostic]) -> Void
  private var entries: [String: Result<Entry, Missing>] = [:]

  /// Makes a library.
  ///
  /// - Parameters:
  ///   - definitions: the built-in machines.
  ///   - read: reads the machine of a file.
  ///   - warn: receives the warnings about a file once, when the file is read.
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
  /// A reference that contains a slash or a dot is a path.
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

  /// Checks a machine file.
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
  /// The reference to the machine in a scenario whose file is in `folder`.
  public func reference(from folder: String) -> String {
    isFile ? Path.reference(to: label, from: folder, workingDirectory: Host.folder) : label
  }
}
