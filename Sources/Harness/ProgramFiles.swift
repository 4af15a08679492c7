import Basics
import System

extension DeviceSpec {
  /// The maximum size in bytes: a larger file in a command does not count as a program.
  private static let longestProgram = 16 << 20

  /// A hash of the files that the commands of a device name, by which the history detects that a program was
  /// edited between two runs; `nil` for a device that is not a program, or whose commands name no file.
  var programHash: String? {
    var commands: [String] = []
    switch kind {
    case .exec: commands = [name]
    case .driver: commands = [name] + settings.filter { $0.name == "peripheral" }.map(\.value)
    case .emulator, .lock: return nil
    }
    var hash = Fingerprint()
    var isFound = false
    for command in commands {
      let (folder, command) = Self.parts(command)
      for name in Self.words(command) {
        let path = folder.map { Path.join($0, name) } ?? name
        guard Host.isFile(path), let size = sizeOfFile(path), size <= Self.longestProgram,
          let bytes = try? WholeFile.bytes(of: path)
        else { continue }
        hash.mix(name + "\n")
        hash.mix(bytes)
        isFound = true
      }
    }
    return isFound ? hash.description : nil
  }

  /// The words of a shell command that may be paths: quoted text, and each word.
  private static func words(_ command: String) -> [String] {
    let quoted = command.split { "\"'".contains($0) }.enumerated().filter { $0.offset % 2 == 1 }.map(
      \.element)
    let words = command.split { " \t\n\"'=;|&<>()$`".contains($0) }
    return (quoted + words).map(String.init)
  }
}

// MARK: - Where commands run

extension DeviceSpec {
  /// The text before and after the folder in a command that runs in another working directory.
  private static let (change, behind) = ("cd ", " || exit; ")

  /// The same device with its commands run in a folder, relative to which its files are named. The
  /// specification contains the folder, so that saved scenarios and replay commands run the same programs.
  public func placed(in folder: String) -> DeviceSpec {
    guard folder != "." else { return self }
    var spec = self
    if [.exec, .driver].contains(kind) { spec.name = Self.command(name, in: folder) }
    for index in settings.indices where kind == .driver {
      switch settings[index].name {
      case "peripheral": spec.settings[index].value = Self.command(settings[index].value, in: folder)
      case "secrets": spec.settings[index].value = Path.join(folder, settings[index].value)
      default: break
      }
    }
    return spec
  }

  private static func command(_ command: String, in folder: String) -> String {
    // Without a slash in front, the shell would interpret `-`, and search the folders of CDPATH.
    let folder = folder.hasPrefix("/") || folder.hasPrefix("..") ? folder : "./" + folder
    return change + shellWord(folder) + behind + command
  }

  /// The working directory in a command, and the command without it.
  private static func parts(_ command: String) -> (folder: String?, command: String) {
    guard command.hasPrefix(change), let end = command.firstRange(of: behind) else { return (nil, command) }
    let folder = command[..<end.lowerBound].dropFirst(change.count).filter { $0 != "'" }
    return (folder, String(command[end.upperBound...]))
  }
}
