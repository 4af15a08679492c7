import System
import Automata
import Bench
import CommandLine
import Devices
import Journal
import Models

extension Command {
  static var completions: Command {
    Command(
      "completions", "Prints the script with which a shell completes lockstep commands.",
      discussion: """
        Commands, options and their values are completed: choices, files, machines, devices with their settings and
        defects, transports.

          bash   lockstep completions bash > ~/.local/share/bash-completion/completions/lockstep
          zsh    lockstep completions zsh > "${fpath[1]}/_lockstep"
          fish   lockstep completions fish > ~/.config/fish/completions/lockstep.fish

        """,
      examples: [
        Example("lockstep completions bash", "What bash must read; others likewise.")
      ],
      operands: .init(
        placeholder: "SHELL", summary: "bash, zsh or fish.", count: 1...1,
        as: .choice(Shell.allCases.map(\.rawValue)), path: \.self), defaults: [String]()
    ) { words, console throws(UsageError) in
      guard let shell = Shell(rawValue: words[0]) else {
        throw UsageError("SHELL expects \(Shell.form), not '\(words[0])'")
      }
      console.print(shell.script)
      return .agree
    }
  }

  /// The command that shell completion scripts call; hidden from users.
  static var complete: Command {
    Command(
      "complete", "Says what can stand at the end of a command line.",
      operands: .init(
        placeholder: "WORD", summary: "The words so far.", count: 0...Int.max, as: .words, path: \.self),
      defaults: [String]()
    ) { words, console in
      console.print(Completion(words, of: CommandSet.lockstep.all, knowing: Candidates.of).text)
      return .agree
    }
  }
}

/// The values of this installation that can complete a command line.
enum Candidates {
  /// Returns the values of a kind that can complete the current word.
  static func of(_ kind: String, _ current: String) -> Completion.Offer {
    var offer = Completion.Offer()
    switch ValueKind.known(kind) {
    case .scenario: offer.files = .file
    case .machine:
      offer.words = MachineDefinition.catalog.map { .init(word: $0.name, meaning: $0.summary) }
      offer.files = .file
    case .transport:
      offer.words = LabArguments.transports.split(separator: ", ").map { transport in
        .init(word: transport.prefix { $0 != ":" } + ":", meaning: String(transport))
      }
    case .device: offer = device(current)
    case .text, .choice, .file, .folder, .command, .words, .known: break
    }
    return offer
  }

  private static func device(_ current: String) -> Completion.Offer {
    var offer = Completion.Offer()
    if current.hasPrefix("lock:") {
      offer.files = .file
      let bench = BenchFile.usual.flatMap { try? BenchFile(reading: $0) }
      offer.words = (bench?.inventory.locks ?? []).map { .init(word: "lock:\($0.name)") }
      return offer
    }
    guard let mark = current.firstIndex(of: "?") else {
      offer.words = EmulatedDevice.all.map { .init(word: "emulator:\($0.name)") }
      offer.words.append(.init(word: "exec:", meaning: "any program"))
      offer.words.append(.init(word: "lock:", meaning: "a lock on the air"))
      return offer
    }
    let name = current[..<mark].drop { $0 != ":" }.dropFirst()
    guard let device = EmulatedDevice.named(String(name)) else { return offer }
    let start = current.index(after: current[mark...].lastIndex { $0 == "?" || $0 == "&" } ?? mark)
    let begun = String(current[start...])
    (offer.head, offer.begun) = (String(current[..<start]), begun)
    offer.words =
      begun.hasPrefix("defect=")
      ? device.defects.map { .init(word: "defect=" + $0) } : device.options.map { .init(word: $0 + "=") }
    return offer
  }
}
