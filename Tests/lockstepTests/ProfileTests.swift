import Foundation
import TestSupport
import Testing

@Suite("Options of a file", .timeLimit(.minutes(10)))
struct ProfileTests {
  private static let file = """
    profiles:
      default:
        run: { jobs: 2, filter: [ tag(ta), tag(tb) ] }
      ci:
        inherits: default
        run: { junit: out/junit.xml, fail-fast: true, verbose: 1 }
      loose:
        inherits: ci
        run: { fail-fast: false, filter: [] }
      fuzz: { fuzz: { steps: 300, seed: 7 }, run: { color: always } }

    """

  /// A repository with scenarios below a folder, and a file at its root.
  private func folder(_ file: String = file) throws -> Command.Folder {
    let folder = try Command.Folder()
    try folder.write(".lockstep.yaml", file)
    try folder.write(".git/HEAD", "")
    for name in ["a", "b", "c"] {
      try folder.write(
        "sub/s/\(name).yaml",
        "scenario: Door \(name)\nmachine: door\ndevice: { emulator: door }\ntags: [t\(name)]\nsteps: [Open, Close]\n"
      )
    }
    return folder
  }

  /// Calls the command with the settings files in effect.
  private func call(
    _ line: String, in folder: Command.Folder, _ place: String = "/sub"
  ) throws -> Command.Result {
    try Command.line(line, in: folder.path + place, takesSettings: true)
  }

  /// Runs a line of the shell with the settings files in effect.
  private func shell(
    _ line: String, in folder: Command.Folder, _ place: String = "/sub"
  ) throws -> Command.Result {
    try Command.shell("unset LOCKSTEP_CONFIG; " + line, in: folder.path + place)
  }

  @Test(
    "what holds, and where it was given",
    arguments: [
      (
        "run s",
        """
        lockstep run: profile 'default' of ../.lockstep.yaml
          '--filter=tag(ta)'  ../.lockstep.yaml:3:21
          '--filter=tag(tb)'  ../.lockstep.yaml:3:21
          --jobs=2            ../.lockstep.yaml:3:12
          s                   the command line

        """
      ),
      (
        "run --profile ci --jobs 3 --filter tc --filter td s",
        """
        lockstep run: profile 'ci' of ../.lockstep.yaml
          --fail-fast               ../.lockstep.yaml:6:34
          --junit=../out/junit.xml  ../.lockstep.yaml:6:12
          --verbose                 ../.lockstep.yaml:6:51
          --jobs=3                  the command line
          --filter=tc               the command line
          --filter=td               the command line
          s                         the command line

        """
      ),
      (
        "run --profile loose",
        """
        lockstep run: profile 'loose' of ../.lockstep.yaml
          --jobs=2                  ../.lockstep.yaml:3:12
          --junit=../out/junit.xml  ../.lockstep.yaml:6:12
          --verbose                 ../.lockstep.yaml:6:51

        """
      ),
      ("list", "lockstep list: profile 'default' of ../.lockstep.yaml\n"),
      ("run --no-config", "lockstep run: no .lockstep.yaml\n"),
    ])
  func shown(words: String, output: String) throws {
    let result = try call("\(words) --show-config", in: folder())
    expect(result.output, output)
    expect(result.errors, "")
    expect(result.status, 0)
  }

  @Test(
    "what serves a real lock alone waits for one, and what excludes one another takes each other's place",
    arguments: [
      (
        "run: { transport: 'usb:0', bench: b.yaml, quiet: true }", "run --device emulator:door",
        """
          --quiet                 ../.lockstep.yaml:3:45
          --bench=../b.yaml       ../.lockstep.yaml:3:30, ignored without --device lock:… or --lab
          --transport=usb:0       ../.lockstep.yaml:3:10, ignored without --device lock:… or --lab
          --device=emulator:door  the command line

        """
      ),
      (
        "run: { transport: 'usb:0', device: 'emulator:door', tags: model=a }",
        "run --device lock:a --device lock:b",
        """
          --transport=usb:0  ../.lockstep.yaml:3:10
          --tags=model=a     ../.lockstep.yaml:3:55, ignored without --lab
          --device=lock:a    the command line
          --device=lock:b    the command line

        """
      ),
      (
        "run: { bench: b.yaml }", "run --device lock:a --device emulator:door",
        """
          --bench=../b.yaml       ../.lockstep.yaml:3:10, ignored without --device lock:… or --lab
          --device=lock:a         the command line
          --device=emulator:door  the command line

        """
      ),
      (
        "list: { bench: b.yaml }", "list",
        "  --bench=../b.yaml  ../.lockstep.yaml:3:11, ignored without --device lock:…\n"
      ),
      (
        "run: { device: 'emulator:door', capture: a.btsnoop, wait: 2min, lab-wait: 1h }",
        "run --lab labgrid://h:1",
        """
          --device=emulator:door  ../.lockstep.yaml:3:10, overridden by --lab
          --capture=../a.btsnoop  ../.lockstep.yaml:3:35
          --wait=2min             ../.lockstep.yaml:3:55
          --lab-wait=1h           ../.lockstep.yaml:3:67
          --lab=labgrid://h:1     the command line

        """
      ),
      (
        "run: { fail-fast: true, last-failed: true, verbose: 1, format: json }",
        "run --max-fail 3 --failed-first -q --watch",
        """
          --fail-fast     ../.lockstep.yaml:3:10, overridden by --max-fail
          --last-failed   ../.lockstep.yaml:3:27, overridden by --failed-first
          --format=json   ../.lockstep.yaml:3:58, overridden by --watch
          --verbose       ../.lockstep.yaml:3:46, overridden by --quiet
          --max-fail=3    the command line
          --failed-first  the command line
          --quiet         the command line
          --watch         the command line

        """
      ),
      (
        "mutants: { suite: tour }", "mutants door s",
        """
          --suite=tour  ../.lockstep.yaml:3:14, overridden by PATH
          door          the command line
          s             the command line

        """
      ),
      (
        "fuzz: { jobs: 4 }", "fuzz door --device lock:a",
        """
          --jobs=4         ../.lockstep.yaml:3:11, overridden by --device lock:…
          --device=lock:a  the command line
          door             the command line

        """
      ),
      (
        "run: { max-fail: 3, verbose: 1 }\n a:\n  inherits: default\n  run: { fail-fast: true, quiet: false }",
        "run --profile a",
        """
          --fail-fast  ../.lockstep.yaml:6:10
          --verbose    ../.lockstep.yaml:3:23

        """
      ),
    ])
  func aside(line: String, words: String, output: String) throws {
    let result = try call(
      "\(words) --show-config", in: folder("profiles:\n default:\n  \(line)\n"))
    expect(
      result.output.split(separator: "\n", omittingEmptySubsequences: false).dropFirst().joined(
        separator: "\n"), output)
    expect(result.errors, "")
    expect(result.status, 0)
  }

  @Test(
    "what serves a real lock alone is in nobody's way",
    arguments: ["run s", "list s", "fuzz door --steps 50", "cover door"])
  func withoutLock(words: String) throws {
    let command = words.prefix { $0 != " " }
    let options = command == "list" ? "" : ", transport: 'usb:0', control: 'unix:c', capture: c, wait: 2min"
    let folder = try folder("profiles: { default: { \(command): { bench: b.yaml\(options) } } }\n")
    for device in ["", " --device emulator:door"] {
      let result = try call("\(words)\(device)", in: folder)
      expect(result.status, 0)
      expect(result.errors, "")
    }
    let named = try call("\(words) --device lock:a", in: folder)
    #expect(
      named.errors.hasPrefix("lockstep: ../b.yaml: there is no such file or folder\n"), "\(named.errors)")
    expect(named.status, 2)
  }

  @Test("a run with quiet in its file and -v typed is one without quiet")
  func verbose() throws {
    let folder = try folder("profiles: { default: { run: { quiet: true, fail-fast: true } } }\n")
    let result = try call("run s -v", in: folder)
    #expect(
      result.output.contains("✔ s/a.yaml") && result.output.contains("3 cases: 3 agree"), "\(result.output)")
    for name in ["a", "b", "c"] {
      try folder.write(
        "sub/s/\(name).yaml",
        "scenario: Door\nmachine: door\ndevice: { emulator: door }\nsteps: [Open, { expect: { status: Closed } }]\n"
      )
    }
    let failing = try call("run s -v --max-fail 2", in: folder)
    #expect(failing.output.contains("3 cases: 2 not as expected, 1 skipped"), "\(failing.output)")
  }

  @Test(
    "the part that the environment gives is shown as what holds",
    arguments: [
      (
        "CI_NODE_INDEX=2 CI_NODE_TOTAL=3 GITLAB_CI=true", "run",
        "  --shard=2/3  CI_NODE_INDEX is set\n"
      ),
      ("CI_NODE_INDEX=2 CI_NODE_TOTAL=3", "run --shard 1/2", "  --shard=1/2  the command line\n"),
      ("CI_NODE_INDEX=2 CI_NODE_TOTAL=3", "list", ""),
      (
        "SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_COUNT=3 SLURM_ARRAY_JOB_ID=7", "fuzz door",
        """
          --shard=2/3  SLURM_ARRAY_TASK_ID is set
          door         the command line

        """
      ),
      (
        "JOB_COMPLETION_INDEX=0 LOCKSTEP_SHARDS=2 LOCKSTEP_JOB=n", "run",
        "  --shard=1/2  JOB_COMPLETION_INDEX is set\n"
      ),
    ])
  func told(variables: String, words: String, output: String) throws {
    let result = try shell("\(variables) $LOCKSTEP \(words) --no-config --show-config", in: folder())
    expect(result.output, "lockstep \(words.prefix { $0 != " " }): no .lockstep.yaml\n" + output)
    expect(result.errors, "")
    expect(result.status, 0)
  }

  @Test("a link that leads nowhere is a file that cannot be read")
  func dangling() throws {
    let folder = try folder()
    let result = try shell("rm ../.lockstep.yaml; ln -s gone ../.lockstep.yaml; $LOCKSTEP run s", in: folder)
    expect(
      result.errors,
      "lockstep: ../.lockstep.yaml is a link to gone, and nothing is there: mend the link, or remove it\n"
        + "See 'lockstep run --help'.\n")
    expect(result.status, 2)
    #expect(!folder.has("sub/Reports"))
    expect(try call("list s --no-config", in: folder).status, 0)
  }

  @Test("a run does what the file says, its manifest has it in words, and the paths begin at the file")
  func run() throws {
    let folder = try folder()
    let result = try call("run s --profile ci --seed 3", in: folder)
    expect(result.status, 0)
    #expect(result.output.contains("✔ s/a.yaml") && result.output.contains("2 cases: 2 agree"))
    #expect(folder.has("out/junit.xml") && !folder.has("sub/Reports/junit.xml"))
    let name = try #require(folder.names("sub/Reports/runs").last { !$0.hasPrefix(".") })
    let manifest = try JSONSerialization.jsonObject(
      with: Data(try folder.read("sub/Reports/runs/\(name)/manifest.json").utf8))
    expect(
      (manifest as? [String: Any])?["command"] as? [String],
      [
        "run", "--no-config", "--filter=tag(ta)", "--filter=tag(tb)", "--jobs=2", "--fail-fast",
        "--junit=../out/junit.xml", "--verbose", "--seed=3", "s",
      ])
    // A run that is gone on with takes all from there.
    try folder.write(".lockstep.yaml", "profiles: { default: { run: { filter: tc } } }\n")
    let again = try call("run --resume \(name)", in: folder)
    expect(again.status, 0)
    #expect(again.output.contains("2 cases"), "\(again.output)\(again.errors)")
  }

  @Test("the profile of the environment holds, and that of the command line before it")
  func environment() throws {
    let folder = try folder()
    #expect(try shell("LOCKSTEP_PROFILE=loose $LOCKSTEP run s", in: folder).output.contains("3 cases"))
    #expect(
      try shell("LOCKSTEP_PROFILE=loose $LOCKSTEP run s --profile default", in: folder).output.contains(
        "2 cases"))
    #expect(try shell("LOCKSTEP_CONFIG=none $LOCKSTEP run s", in: folder).output.contains("3 cases"))
    try folder.write("other/o.yaml", "profiles: { default: { run: { filter: tc } } }\n")
    #expect(
      try shell("LOCKSTEP_CONFIG=../other/o.yaml $LOCKSTEP run s", in: folder).output.contains("1 case:"))
    #expect(try call("run s --config ../other/o.yaml", in: folder).output.contains("1 case:"))
  }

  @Test(
    "what cannot be meant is said, and nothing is run",
    arguments: [
      ("--profile looze", "unknown profile 'looze' of ../.lockstep.yaml: did you mean 'loose'?"),
      ("--profile ci --no-config", "--no-config leaves nothing to --profile ci: leave one of them out"),
      ("--config gone.yaml", "gone.yaml: there is no such file or folder"),
      (
        "--profile ci --resume x",
        "--profile ci: with --resume nothing is taken from a file: all is taken from the run"
      ),
    ])
  func wrong(words: String, message: String) throws {
    let folder = try folder()
    let result = try call("run s \(words)", in: folder)
    expect(result.errors, "lockstep: \(message)\nSee 'lockstep run --help'.\n")
    expect(result.status, 2)
    #expect(!folder.has("sub/Reports"))
  }

  @Test(
    "a mistake in the file is shown where it stands",
    arguments: [
      ("run: { jobbs: 2 }", "3:10: unknown key `jobbs`", "did you mean `jobs`?"),
      ("run: { jobs: many }", "3:16: expected a whole number from 1 to 1000000, found `many`", ""),
      (
        "run: { color: nevr }", "3:17: expected one of auto, always, never, found `nevr`",
        "did you mean `never`?"
      ),
      ("run: { fail-fast: yes }", "3:21: expected true or false, found `yes`", "did you mean `true`?"),
      ("fuz: { steps: 5 }", "3:3: unknown key `fuz`", "did you mean `fuzz`?"),
      ("inherits: defalt", "3:13: unknown profile `defalt`", "did you mean `default`?"),
      ("inherits: default", "3:13: a profile inherits from itself: default, default", ""),
      (
        "run: { device: 'lock:a.yaml' }",
        "3:18: `lock:a.yaml` is for the command line alone: a command that moves a motor must be typed "
          + "in full",
        ""
      ),
      (
        "run: { allow: [reset] }",
        "3:10: `allow` is for the command line alone: a command that moves a motor must be typed in full",
        ""
      ),
      ("run: { resume: a }", "3:10: `resume` is for the command line alone: all is taken from the run", ""),
      (
        "run: { no-config: true }",
        "3:10: `no-config` is for the command line alone: it says which file is read", ""
      ),
      ("run: [jobs]", "3:8: expected a mapping, found a list", ""),
      ("run: { filter: 'tag(' }", "3:18: column 1: `tag(` is not closed", ""),
      (
        "run: { filter: [~] }", "3:19: expected some text, found `~`",
        "leave the option out, or quote what is meant as it stands"
      ),
      ("list: { filter: null }", "3:19: expected some text, found `null`", "leave the option out"),
      ("run: { device: 'emulator:nope' }", "3:18: unknown device `nope`", "expected one of sesame3, "),
      (
        "cover: { device: 'emulator:sesame5?defct=x' }", "3:20: unknown setting `defct`",
        "did you mean `defect`?"
      ),
      ("run: { device: 'LOCK:a' }", "3:18: unknown kind of device `LOCK`", "did you mean `lock`?"),
      (
        "run: { history: 'mysql://x' }",
        "3:19: expected a path, postgres://… or none, found the text `mysql://x`", ""
      ),
      (
        "fuzz: { twin: 'lock:x' }",
        "3:17: `lock:x` is for the command line alone: a command that moves a motor must be typed in full",
        ""
      ),
      ("fuzz: { twin: 'emulator:nope' }", "3:17: unknown device `nope`", ""),
      ("fuzz: { without: [lnk] }", "3:21: expected one of events, messages, att, link, found `lnk`", ""),
      ("fuzz: { weight: [unlock] }", "3:20: expected NAME=W such as unlock=3, found `unlock`", ""),
      (
        "mutants: { device: 'lock:x' }", "3:22: an emulated device is needed, which has named defects", ""
      ),
    ])
  func mistakes(line: String, message: String, hint: String) throws {
    let folder = try folder("profiles:\n default:\n  \(line)\n")
    let result = try call("list s", in: folder)
    #expect(
      result.errors.hasPrefix("lockstep: ../.lockstep.yaml:\(message)\n  3 |   \(line)\n"), "\(result.errors)"
    )
    #expect(hint.isEmpty || result.errors.contains(hint))
    expect(result.status, 2)
    let checked = try call("validate ../.lockstep.yaml", in: folder)
    #expect(checked.errors.hasPrefix("../.lockstep.yaml:\(message)\n"), "\(checked.errors)")
    expect(checked.status, 2)
  }

  @Test("nothing is read from above the repository, and outside of one from the current folder alone")
  func search() throws {
    let folder = try folder("profiles: { default: { list: { filter: tc } } }\n")
    let lines = { (place: String) in
      try call("list '\(folder.path)/sub/s'", in: folder, place).output.split(separator: "\n")
        .count
    }
    expect(try lines("/sub/s"), 1)
    try FileManager.default.createDirectory(
      atPath: folder.path + "/sub/s/.git", withIntermediateDirectories: true)
    expect(try lines("/sub/s"), 3)
    expect(try lines("/sub"), 1)
    try FileManager.default.removeItem(atPath: folder.path + "/.git")
    expect(try lines("/sub"), 3)
    expect(try lines(""), 1)
    let home = try shell("HOME='\(folder.path)' $LOCKSTEP list s", in: folder)
    expect(home.output.split(separator: "\n").count, 1)
    let none = try call("run s --profile ci", in: folder)
    #expect(
      none.errors.contains("--profile ci: there is no .lockstep.yaml here, nor above"), "\(none.errors)")
    expect(none.status, 2)
  }

  @Test("a file that everybody may write is not read, unless it is named")
  func trust() throws {
    let folder = try folder()
    let result = try shell("chmod 666 ../.lockstep.yaml; $LOCKSTEP list s", in: folder)
    expect(
      result.errors,
      "lockstep: ../.lockstep.yaml may be written by everybody, and is not read: chmod o-w ../.lockstep.yaml\n"
        + "See 'lockstep list --help'.\n")
    expect(result.status, 2)
    expect(try call("list s --config ../.lockstep.yaml", in: folder).status, 0)
  }

  @Test("the file is checked like others that somebody writes, and a password in it is not shown")
  func validate() throws {
    let folder = try folder()
    let good = try call("validate ../.lockstep.yaml s", in: folder)
    expect(good.output, "3 scenarios and 1 file of settings are well-formed\n")
    try folder.write(
      "wrong.yaml", "profiles: { a: { run: { history: 'postgres://me:hunter22@h/x', jobbs: 1 } } }\n")
    let wrong = try call("validate ../wrong.yaml", in: folder)
    #expect(wrong.errors.hasPrefix("../wrong.yaml:1:64: unknown key `jobbs`\n"), "\(wrong.errors)")
    #expect(!wrong.errors.contains("hunter22"))
    expect(wrong.status, 2)
  }

  @Test("a campaign takes its options from the file, and its workers do not")
  func campaign() throws {
    let folder = try folder("profiles: { default: { fuzz: { steps: 400, seed: 7, jobs: 2 } } }\n")
    let result = try shell("$LOCKSTEP fuzz door", in: folder)
    expect(result.status, 0)
    #expect(result.output.contains("seed 7"), "\(result.output)")
    let alone = try call("fuzz door --jobs 1 --steps 100", in: folder)
    expect(alone.status, 0)
    #expect(alone.output.contains("100 events"), "\(alone.output)")
    // Whatever the file is that the environment names: the workers read none.
    try folder.write("sub/wrong.yaml", "profiles: 1\n")
    let line = "LOCKSTEP_CONFIG=wrong.yaml $LOCKSTEP fuzz door --seed 1 --jobs 2 --steps 400"
    expect(try shell(line, in: folder).status, 2)
    expect(try shell(line + " --no-config", in: folder).status, 0)
    expect(try shell("LOCKSTEP_CONFIG=wrong.yaml $LOCKSTEP tour --yes", in: folder).status, 0)
  }

  @Test("a password of the file is shown nowhere")
  func secrets() throws {
    let folder = try folder(
      "profiles: { default: { run: { history: 'postgres://me:hunter22@localhost:1/x', jobbs: 1 } } }\n")
    let wrong = try call("run s", in: folder)
    #expect(wrong.status == 2 && !wrong.errors.contains("hunter22"), "\(wrong.errors)")
    try folder.write(".lockstep.yaml", folder.read(".lockstep.yaml").replacing(", jobbs: 1", with: ""))
    let shown = try call("run s --show-config", in: folder)
    #expect(shown.output.contains("postgres://") && !shown.output.contains("hunter22"), "\(shown.output)")
  }

  @Test("a line to paste that runs a scenario again takes nothing from a file")
  func replay() throws {
    let folder = try folder("profiles: { default: { run: { jobs: 2 } } }\n")
    try folder.write(
      "sub/s/a.yaml", "scenario: Gone\nmachine: door\ndevice: exec:false\nsteps: [Open]\n")
    let result = try call("run s/a.yaml --seed 3", in: folder)
    expect(result.status, 3)
    #expect(result.output.contains("lockstep run s/a.yaml --seed 3 --no-config"), "\(result.output)")
  }
}
