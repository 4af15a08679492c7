import Basics
import Files
package import System

/// A project for a new lock, as `lockstep new` creates it: all tests pass at first, and it contains one deliberate bug.
package struct Template {
  /// The kind of the lock.
  package enum Kind: String, CaseIterable, Sendable {
    /// A driver and a peripheral, for a lock with Bluetooth.
    case driver
    /// One program, for a lock without Bluetooth.
    case exec
  }

  /// A file of a project.
  package struct File: Sendable {
    var name: String
    var text: String

    /// Creates a file with its path in the project and its text.
    package init(_ name: String, _ text: String) { (self.name, self.text) = (name, text) }

    fileprivate init(_ name: String, _ file: EmbeddedFile) { self.init(name, file.text) }
  }

  /// Returns the files of a project. `NAME` in their paths and texts stands for the project's name, and `DEVICE` for
  /// its device.
  private static func files(of kind: Kind) -> [File] {
    let own: [File] =
      switch kind {
      case .driver:
        [
          File("README.md", .driverReadme), File("NAME.yaml", .driverMachine),
          File("driver.py", .driverProgram),
          File("lock.py", .driverLock), File("bench.yaml", .driverBench),
          File("real.lock.yaml", .driverRealLock),
          File("scenarios/changes-code.yaml", .driverChangesCode),
          File("scenarios/lost-link.yaml", .driverLostLink), File("scenarios/opens.yaml", .driverOpens),
          File("scenarios/shuts-out.yaml", .driverShutsOut),
        ]
      case .exec:
        [
          File("README.md", .execReadme), File("NAME.yaml", .execMachine), File("device.py", .execProgram),
          File("bench.yaml", .execBench), File("scenarios/changes-code.yaml", .execChangesCode),
          File("scenarios/opens.yaml", .execOpens), File("scenarios/shuts-out.yaml", .execShutsOut),
        ]
      }
    return own + [
      File(".github/workflows/lockstep.yml", .commonWorkflow), File("nightly.yaml", .commonNightly),
    ]
  }

  /// Returns the schema of a file in the project, which its first line names for editors.
  private static func schema(of file: String) -> String? {
    switch file {
    case "NAME.yaml": "schema/machine.schema.json"
    case "bench.yaml": "schema/bench.schema.json"
    case "nightly.yaml": "schema/nightly.schema.json"
    default: file.hasPrefix("scenarios/") ? "../schema/scenario.schema.json" : nil
    }
  }

  private let kind: Kind
  private let name: String

  /// Creates a project with a name: a letter, then letters, digits, hyphens and underscores; `nil` for another name.
  package init?(_ kind: Kind, named name: String) {
    let isPlain = name.utf8.allSatisfy { $0.isLetterOrDigit || "-_".utf8.contains($0) }
    guard isPlain, let first = name.first, first.isASCII, first.isLetter, name.utf8.count <= 40 else {
      return nil
    }
    (self.kind, self.name) = (kind, name)
  }

  /// The names of other files in a project.
  package static let taken = ["bench", "nightly"]

  /// The device of its scenarios, as on a command line.
  package var device: String {
    switch kind {
    case .driver: "driver:python3 driver.py?peripheral=python3 lock.py"
    case .exec: "exec:python3 device.py"
    }
  }

  /// The name of the machine's file.
  package var machine: String { "\(name).yaml" }

  private var files: [File] {
    let binding = Binding.all.filter { $0.language == "python" }.map { File($0.fileName, $0.text) }
    return Self.files(of: kind).map { file in
      let head = Self.schema(of: file.name).map { "# yaml-language-server: $schema=\($0)\n" } ?? ""
      return File(named(file.name), head + named(file.text).replacing("DEVICE", with: device))
    } + binding
  }

  private func named(_ text: String) -> String {
    text.replacing("NAME", with: name)
  }

  /// Writes the project into a folder, which is created.
  ///
  /// - Parameter schemas: The schemas that the first lines of the files name, which are also written.
  /// - Returns: The names of the files, in order.
  package func write(to folder: String, schemas: [File]) throws(FileFault) -> [String] {
    let files = files + schemas
    try makeFolder(folder)
    for file in files {
      let path = "\(folder)/\(file.name)"
      if let slash = path.lastIndex(of: "/") { try makeFolder(String(path[..<slash])) }
      if file.name.hasSuffix(".lock.yaml") {
        // Only its owner may read a lock file, even if it does not yet contain a secret.
        try WholeFile.replacePrivate(path, with: Array(file.text.utf8))
      } else {
        try WholeFile.replace(path, with: file.text)
      }
    }
    return files.map(\.name)
  }
}
