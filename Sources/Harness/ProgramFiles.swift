import Basics
import System

extension DeviceSpec {
  /// A larger file that a command names is no program.
  private static let longestProgram = 16 << 20

  /// A hash of the files that the commands of a device name, by which the history knows that a program was edited between two
  /// runs; `nil` for a device that is no program, or whose commands name no file.
  var programHash: String? {
    var commands: [String] = []
    switch kind {
    case .exec: commands = [name]
    case .driver: commands = [name] + settings.filter { $0.name == "peripheral" }.map(\.value)
    case .emulator, .lock: return nil
    }
    var hash = Fingerprint()
    var isFound = false
    for path in commands.flatMap(Self.words) where Host.isFile(path) {
      guard let size = sizeOfFile(path), size <= Self.longestProgram,
        let bytes = try? WholeFile.bytes(of: path)
      else { continue }
      hash.mix(path + "\n")
      hash.mix(bytes)
      isFound = true
    }
    return isFound ? hash.description : nil
  }

  /// What may be a path in a command of the shell: what stands in quotes, and each word.
  private static func words(_ command: String) -> [String] {
    let quoted = command.split { "\"'".contains($0) }.enumerated().filter { $0.offset % 2 == 1 }.map(
      \.element)
    let words = command.split { " \t\n\"'=;|&<>()$`".contains($0) }
    return (quoted + words).map(String.init)
  }
}
