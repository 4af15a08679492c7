import Basics
public import System

/// A project for a lock of one's own, as `lockstep new` lays it out: all of it is green at once, and one bug is planted in it.
public struct Template {
  /// What kind of lock it begins with.
  public enum Kind: String, CaseIterable, Sendable {
    /// A driver and a peripheral, for a lock with Bluetooth.
    case driver
    /// One program, for a lock without.
    case exec
  }

  /// A file, with `NAME` where the project's name goes.
  struct File {
    var name: String
    var text: String

    init(_ name: String, _ text: String) { (self.name, self.text) = (name, text) }
  }

  private let kind: Kind
  private let name: String

  /// A project of a name: letters, digits, hyphens and underscores behind a letter; `nil` for another one.
  public init?(_ kind: Kind, named name: String) {
    let isPlain = name.utf8.allSatisfy { $0.isLetterOrDigit || "-_".utf8.contains($0) }
    guard isPlain, let first = name.first, first.isASCII, first.isLetter, name.utf8.count <= 40 else {
      return nil
    }
    (self.kind, self.name) = (kind, name)
  }

  /// Names that other files of a project have.
  public static let taken = ["bench", "nightly"]

  /// The device that its scenarios are about, as it stands on a command line.
  public var device: String {
    switch kind {
    case .driver: "driver:python3 driver.py?peripheral=python3 lock.py"
    case .exec: "exec:python3 device.py"
    }
  }

  /// The machine's file.
  public var machine: String { "\(name).yaml" }

  private var files: [File] {
    let own = kind == .driver ? Self.driverFiles : Self.execFiles
    let binding = Binding.all.filter { $0.language == "python" }.map { File($0.fileName, $0.text) }
    return (own + Self.commonFiles).map { file in
      File(named(file.name), named(file.text).replacing("DEVICE", with: device))
    } + binding
  }

  private func named(_ text: String) -> String {
    text.replacing("NAME", with: name)
  }

  /// Writes it into a folder, which is made.
  ///
  /// - Returns: the names of the files, in their order.
  public func write(to folder: String) throws(FileFault) -> [String] {
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
