import Foundation
import TestSupport
import Testing

/// A program of other people that checks what we make.
struct Tool {
  let path: String
  let package: String

  static let zsh = Tool(path: "/usr/bin/zsh", package: "zsh")
  static let fish = Tool(path: "/usr/bin/fish", package: "fish")
  static let groff = Tool(path: "/usr/bin/groff", package: "groff")
  static let mandoc = Tool(path: "/usr/bin/mandoc", package: "mandoc")
  static let shellcheck = Tool(path: "/usr/bin/shellcheck", package: "shellcheck")
  static let systemd = Tool(path: "/usr/bin/systemd-analyze", package: "systemd")
  static let slurm = Tool(path: "/usr/sbin/slurmctld", package: "slurmctld, slurmd, slurm-client and munge")
  static let schemas = Tool(
    path: Command.root + "/.build/peers/venv/bin/check-jsonschema", package: "check-jsonschema")

  static let kubernetes = Tool(
    path: Command.root + "/.build/peers/venv/bin/kubernetes-validate", package: "kubernetes-validate")

  static let pytest = Tool(path: Command.root + "/.build/peers/venv/bin/pytest", package: "pytest")
  static let flakemap = Tool(
    path: Command.root + "/.build/peers/venv/bin/flakemap", package: "readers of reports, such as flakemap")

  var isThere: Bool { FileManager.default.isExecutableFile(atPath: path) }

  static let areRequired = ProcessInfo.processInfo.environment["LOCKSTEP_REQUIRE_PEERS"] == "1"

  /// Runs a line of the shell that starts other programs than the command.
  static func shell(_ line: String, in folder: String) throws -> Command.Result {
    let result = try Program.run(
      "/bin/sh", ["-c", line], in: folder, adding: ["LANG": "C.UTF-8", "SHELL": "/bin/sh"])
    return Command.Result(
      status: result.status, output: String(decoding: result.output, as: UTF8.self),
      errors: String(decoding: result.errors, as: UTF8.self))
  }
}

extension Trait where Self == ConditionTrait {
  /// Leaves a test out, visibly, where the machine lacks a program for it; never where all are required.
  static func needs(_ tools: Tool...) -> Self {
    let missing = tools.filter { !$0.isThere }
    return .enabled(
      if: missing.isEmpty || Tool.areRequired,
      "needs \(missing.map(\.package).joined(separator: ", ")), which `make dependencies-peers` installs")
  }
}

/// The words of a line, as a shell splits it; what follows a pipe or a redirection is left out.
func shellWords(_ line: String) -> [String] {
  var words: [String] = []
  var word: String?
  var quote: Character?
  for character in line {
    if let open = quote {
      if character == open { quote = nil } else { word = (word ?? "") + String(character) }
    } else if character == "'" || character == "\"" {
      quote = character
      word = word ?? ""
    } else if character == "|" || character == ">" {
      break
    } else if character == " " {
      if let done = word { words.append(done) }
      word = nil
    } else {
      word = (word ?? "") + String(character)
    }
  }
  return words + (word.map { [$0] } ?? [])
}
