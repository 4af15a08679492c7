import Basics
import Files
package import System

/// A project for a lock of one's own, as `lockstep new` lays it out: all of it is green at once, and one bug is planted in it.
package struct Template {
  /// What kind of lock it begins with.
  package enum Kind: String, CaseIterable, Sendable {
    /// A driver and a peripheral, for a lock with Bluetooth.
    case driver
    /// One program, for a lock without.
    case exec
  }

  /// A file of a project.
  package struct File: Sendable {
    var name: String
    var text: String

    /// Takes its path in the project and what stands in it.
    package init(_ name: String, _ text: String) { (self.name, self.text) = (name, text) }

    fileprivate init(_ name: String, _ file: EmbeddedFile) { self.init(name, file.text) }
  }

  /// The files of a project, with `NAME` in their paths and texts where its name goes, and `DEVICE` where its device goes.
  private static func files(of kind: Kind) -> [File] {
    let own: [File] =
      switch kind {
      case .driver:
        [
          File("README.md", .driverReadme), File("NAME.yaml", .driverMachine),
          File("driver.py", .driverProgram),
          File("lock.py", .driverLock), File("bench.yaml", .driverBench),
          File("real.lock.yaml", .driverRealLock),
          File("scenarios/lost-link.yaml", .driverLostLink), File("scenarios/opens.yaml", .driverOpens),
          File("scenarios/shuts-out.yaml", .driverShutsOut),
        ]
      case .exec:
        [
          File("README.md", .execReadme), File("NAME.yaml", .execMachine), File("device.py", .execProgram),
          File("bench.yaml", .execBench), File("scenarios/battery.yaml", .execBattery),
          File("scenarios/opens.yaml", .execOpens), File("scenarios/shuts-out.yaml", .execShutsOut),
        ]
      }
    return own + [
      File(".github/workflows/lockstep.yml", .commonWorkflow), File("nightly.yaml", .commonNightly),
    ]
  }

  /// What the files of a project are: the schema that the first line of each names for editors.
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

  /// A project of a name: letters, digits, hyphens and underscores behind a letter; `nil` for another one.
  package init?(_ kind: Kind, named name: String) {
    let isPlain = name.utf8.allSatisfy { $0.isLetterOrDigit || "-_".utf8.contains($0) }
    guard isPlain, let first = name.first, first.isASCII, first.isLetter, name.utf8.count <= 40 else {
      return nil
    }
    (self.kind, self.name) = (kind, name)
  }

  /// Names that other files of a project have.
  package static let taken = ["bench", "nightly"]

  /// The device that its scenarios are about, as it stands on a command line.
  package var device: String {
    switch kind {
    case .driver: "driver:python3 driver.py?peripheral=python3 lock.py"
    case .exec: "exec:python3 device.py"
    }
  }

  /// The machine's file.
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

  /// Writes it into a folder, which is made.
  ///
  /// - Parameter schemas: what else stands in it: the schemas that the first lines of its files name.
  /// - Returns: the names of the files, in their order.
  package func write(to folder: String, schemas: [File]) throws(FileFault) -> [String] {
    let files = files + schemas
    try makeFolder(folder)
    for file in files {
      let path = "\(folder)/\(file.name)"
      if let slash = path.lastIndex(of: "/") { try makeFolder(String(path[..<slash])) }
      if file.name.hasSuffix(".lock.yaml") {
        // A lock file is its owner's alone, whether or not there is a secret in it yet.
        try WholeFile.replacePrivate(path, with: Array(file.text.utf8))
      } else {
        try WholeFile.replace(path, with: file.text)
      }
    }
    return files.map(\.name)
  }
}
