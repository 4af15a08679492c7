import System
import CommandLine
import Journal

extension Command {
  static var man: Command {
    Command(
      "man", "Prints the manual page, as roff.",
      examples: [
        Example("lockstep man | man -l -", "Reads it."),
        Example("lockstep man > /usr/local/share/man/man1/lockstep.1", "Installs it."),
      ],
      defaults: ()
    ) { (_, console) in
      console.print(ManPage(.lockstep, .lockstep).text)
      return .agree
    }
  }
}

extension ManPage.Parts {
  fileprivate static var lockstep: ManPage.Parts {
    ManPage.Parts(
      name: "lockstep - tests Bluetooth locks against a model of them", description: description,
      statuses: CommandSet.statuses.map { ("\($0.status.rawValue)", $0.meaning) } + [
        (
          "130, 143",
          "Interrupted twice, by Ctrl-C or SIGTERM: it exited at once. For another signal, 128 plus its number"
        )
      ],
      files: files, variables: variables)
  }

  private static let description = """
    The lock can be a real one, reached through a Bluetooth dongle; an emulated one, which speaks the real protocol in \
    virtual time; or any program that speaks one line of JSON per event. Data goes to standard output and messages to \
    standard error. Every failure ends with a line to paste that replays it.
    """

  /// The files that lockstep writes, with their locations.
  private static let files: [(path: String, meaning: String)] = [
    ("Reports/junit.xml", "The latest run, as CI systems read it. Reports is the folder of --out."),
    (
      "Reports/runs/NAME/",
      "A run: journal.jsonl, written first, a JSON object a line; manifest.json, what differs from run to run; captures."
    ),
    ("Reports/failures/", "Each divergence as a scenario that replays it."),
    ("Reports/corpus/", "Rare tests of 'lockstep fuzz', which the next campaign uses again."),
    ("Scenarios/", "Where scenarios are looked for unless a path is given."),
    (
      "STATE/state.sqlite",
      "How often the motor of each real lock has moved, its jams and battery, and whether it is to be parked; what the "
        + "last health checks found, and what is out of use (see 'lockstep devices'); what was tried to bring a "
        + "controller back; the latest day that was seen. A database of SQLite, with two more files beside it. STATE is "
        + "/var/lib/lockstep where it is set up (lockstep doctor --set-up) and may be written, else "
        + "$XDG_STATE_HOME/lockstep, below ~/.local/state where the variable is not set."
    ),
    (
      "STATE/leases",
      "Which process holds each lock and each dongle, and which one held it before; a number grows by one each time."
    ),
    (
      ".lockstep.yaml",
      "Options by profile, for where a command line says nothing: of the folder, or of the nearest one above it in the "
        + "repository or the home folder."
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
    ("LOCKSTEP_PROFILE", "The profile of .lockstep.yaml that applies, unless --profile is given."),
    ("LOCKSTEP_CONFIG", "The file that is read in place of .lockstep.yaml, or none."),
    (
      "LOCKSTEP_STATE",
      "The folder STATE, in place of the usual one. Processes that use different folders do not share locks, dongles and "
        + "counts: for tests."
    ),
    ("XDG_STATE_HOME", "Where STATE is on a machine on which no folder is shared."),
    ("XDG_CONFIG_HOME", "Where the inventory of a bench is looked for when the folder has none."),
  ]
}
