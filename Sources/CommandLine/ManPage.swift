import System
import Basics

/// The manual page in roff, generated from the declarations of the commands.
public struct ManPage {
  private var lines: [String] = []

  /// The text of the page.
  public var text: String { lines.map { $0 + "\n" }.joined() }

  /// The parts of the manual page other than the commands.
  public struct Parts {
    /// The name and purpose of the program, in a line.
    public var name: String
    /// The text before the commands.
    public var description: String
    /// The possible exit statuses and their meanings, without a full stop.
    public var statuses: [(status: String, meaning: String)]
    /// The files that the program writes.
    public var files: [(path: String, meaning: String)]
    /// The environment variables that the program reads.
    public var variables: [(name: String, meaning: String)]

    /// Creates the parts.
    public init(
      name: String, description: String, statuses: [(status: String, meaning: String)],
      files: [(path: String, meaning: String)], variables: [(name: String, meaning: String)]
    ) {
      self.name = name
      self.description = description
      self.statuses = statuses
      self.files = files
      self.variables = variables
    }
  }

  /// Creates the manual page of a program.
  public init(_ commands: CommandSet, _ parts: Parts) {
    lines = [
      #".\" Made by 'lockstep man'."#,
      ".TH LOCKSTEP 1 \(Version.date) \"lockstep \(Version.text)\" \"User Commands\"",
    ]
    section("NAME")
    text(parts.name)
    section("SYNOPSIS")
    text("lockstep COMMAND [OPTION…]")
    section("DESCRIPTION")
    text(commands.purpose)
    paragraph()
    text(parts.description)
    section("COMMANDS")
    for command in commands.all { add(command) }
    section("OPTIONS")
    addOptions(of: commands)
    section("EXIT STATUS")
    for (status, meaning) in parts.statuses { item(status, meaning + ".") }
    section("FILES")
    for (path, meaning) in parts.files { item(path, meaning) }
    section("ENVIRONMENT")
    for (name, meaning) in parts.variables { item(name, meaning) }
    section("EXAMPLES")
    for command in commands.all {
      for example in command.examples { item(example.line, example.meaning) }
    }
  }
}

extension ManPage {
  private mutating func add(_ command: Command) {
    lines.append(".SS \(Self.escaped(command.synopsis))")
    text(command.summary)
    for part in command.discussion.split(separator: "\n\n").map(String.init) {
      if part.hasPrefix("  ") {
        // Indented lines keep their layout.
        lines += [".PP", ".nf"] + part.split(separator: "\n").map { Self.line(String($0)) } + [".fi"]
      } else {
        paragraph()
        text(part)
      }
    }
  }

  /// Adds each option once, with the commands that have it.
  private mutating func addOptions(of commands: CommandSet) {
    var options: [(form: OptionForm, commands: [String])] = []
    for command in commands.all {
      for form in command.options where form != .help {
        if let index = options.firstIndex(where: {
          $0.form.synopsis == form.synopsis && $0.form.summary == form.summary
        }) {
          options[index].commands.append(command.name)
        } else {
          options.append((form, [command.name]))
        }
      }
    }
    for (form, commands) in options {
      item(form.synopsis, "\(form.summary) For \(commands.joined(separator: ", ")). Example: \(form.usage)")
    }
    item(OptionForm.help.synopsis, OptionForm.help.summary + " Every command has it.")
  }

  private mutating func section(_ name: String) { lines.append(".SH \"\(name)\"") }

  private mutating func paragraph() { lines.append(".PP") }

  private mutating func text(_ text: String) {
    lines += wrapped(text.replacing("\n", with: " "), to: 60).map(Self.line)
  }

  private mutating func item(_ head: String, _ body: String) {
    lines += [".TP", ".B " + Self.escaped(head)]
    text(body)
  }

  /// Escapes a line of text, so that roff does not treat it as a request.
  private static func line(_ text: String) -> String {
    (text.hasPrefix(".") || text.hasPrefix("'") ? "\\&" : "") + escaped(text)
  }

  private static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": result += "\\e"
      case "-": result += "\\-"
      case "'": result += "\\(aq"
      case "\"": result += "\\(dq"
      case "`": result += "\\`"
      case "^": result += "\\(ha"
      case "~": result += "\\(ti"
      case " "..."}": result.unicodeScalars.append(scalar)
      default:
        result += "\\[u\(scalar.value.hex(digits: 4).uppercased())]"
      }
    }
    return result
  }
}
