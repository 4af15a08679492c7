import System
import Journal
import Basics

/// The manual in roff, made from the declarations of the commands.
struct ManPage {
  private var lines: [String] = []

  /// The whole page.
  var text: String { lines.map { $0 + "\n" }.joined() }

  init() {
    lines = [
      #".\" Made by 'lockstep man'."#,
      ".TH LOCKSTEP 1 \(Version.date) \"lockstep \(Version.text)\" \"User Commands\"",
    ]
    section("NAME")
    text("lockstep - tests Bluetooth locks against a model of them")
    section("SYNOPSIS")
    text("lockstep COMMAND [OPTION…]")
    section("DESCRIPTION")
    text(Commands.purpose)
    paragraph()
    text(Self.description)
    section("COMMANDS")
    for command in Commands.all { add(command) }
    section("OPTIONS")
    addOptions()
    section("EXIT STATUS")
    for (status, meaning) in Commands.statuses { item("\(status.rawValue)", meaning + ".") }
    item(
      "130, 143",
      "Interrupted twice, by Ctrl-C or SIGTERM: it ended at once. Of another signal 128 and its number.")
    section("FILES")
    for (path, meaning) in Self.files { item(path, meaning) }
    section("ENVIRONMENT")
    for (name, meaning) in Self.variables { item(name, meaning) }
    section("EXAMPLES")
    for command in Commands.all {
      for example in command.examples { item(example.line, example.meaning) }
    }
  }

  private static let description = """
    The lock can be a real one, reached through a Bluetooth dongle; an emulated one, which speaks the real protocol in \
    virtual time; or any program that speaks one line of JSON per event. Data goes to standard output and talk to \
    standard error. Every failure ends with a line to paste that replays it.
    """

  /// What is left where.
  private static let files: [(path: String, meaning: String)] = [
    ("Reports/junit.xml", "The latest run, as CI systems read it. Reports is the folder of --out."),
    (
      "Reports/runs/NAME/",
      "A run: journal.jsonl, written first, a JSON object a line; manifest.json, what differs from run to run; captures."
    ),
    ("Reports/failures/", "Each divergence as a scenario that replays it."),
    ("Reports/corpus/", "Rare tests of 'lockstep fuzz', gone on with in the next campaign."),
    ("Scenarios/", "Where scenarios are looked for unless a path is given."),
    (
      "STATE/odometers",
      "How often the motor of each real lock has moved, its jams and battery, and whether it is owed its rest. STATE is "
        + "/var/lib/lockstep where it is set up (lockstep doctor --set-up) and may be written, else "
        + "$XDG_STATE_HOME/lockstep, below ~/.local/state where the variable is not set."
    ),
    (
      "STATE/recoveries",
      "How each controller was brought back, and what was tried for it."
    ),
    (
      "STATE/leases",
      "Who has each lock and each dongle, and who had it before; a number grows by one each time."
    ),
    (
      "STATE/health",
      "What the last health checks found, and what is out of use; see 'lockstep devices'."
    ),
    (
      "bench.yaml, $XDG_CONFIG_HOME/lockstep/bench.yaml",
      "The inventory of a bench, unless --bench names another. Below ~/.config where the variable is not set."
    ),
  ]

  private static let variables: [(name: String, meaning: String)] = [
    ("NO_COLOR", "Text is not coloured, whatever the value, unless --color always is given."),
    (
      "CLICOLOR_FORCE",
      "Text is coloured where no terminal is too, unless the value is 0, NO_COLOR is set or --color is given."
    ),
    ("TERM", "Text is not coloured and nothing is drawn over where it is dumb."),
    (
      "SLURM_ARRAY_TASK_ID, CI_NODE_INDEX, JOB_COMPLETION_INDEX",
      "Which part of a run this is, with SLURM_ARRAY_TASK_COUNT, CI_NODE_TOTAL or LOCKSTEP_SHARDS parts, unless "
        + "--shard is given."
    ),
    (
      "LOCKSTEP_STATE",
      "The folder STATE, whatever there is. Who names another has locks and dongles for himself among those who name it: "
        + "for tests."
    ),
    ("XDG_STATE_HOME", "Where STATE is on a machine on which no folder is shared."),
    ("XDG_CONFIG_HOME", "Where the inventory of a bench is looked for when the folder has none."),
  ]
}

extension ManPage {
  private mutating func add(_ command: Command) {
    lines.append(".SS \(Self.escaped(command.synopsis))")
    text(command.summary)
    for part in command.discussion.split(separator: "\n\n").map(String.init) {
      if part.hasPrefix("  ") {
        // Lines that are set apart stay as they are.
        lines += [".PP", ".nf"] + part.split(separator: "\n").map { Self.line(String($0)) } + [".fi"]
      } else {
        paragraph()
        text(part)
      }
    }
  }

  /// Each option once, with the commands that have it.
  private mutating func addOptions() {
    var options: [(form: OptionForm, commands: [String])] = []
    for command in Commands.all {
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

  /// A line of text, which is no request whatever it begins with.
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

extension Command {
  static var man: Command {
    Command(
      "man", "Prints the manual, as roff.",
      examples: [
        Example("lockstep man | man -l -", "Reads it."),
        Example("lockstep man > /usr/local/share/man/man1/lockstep.1", "Installs it."),
      ],
      defaults: ()
    ) { (_, console) in
      console.print(ManPage().text)
      return .agree
    }
  }
}
