@testable import CommandLine
@testable import System
import Foundation
import TestSupport
import Testing

@testable import lockstep

@Suite("What the command says of itself", .timeLimit(.minutes(10)))
struct DeclarationTests {
  @Test("every example of every command is a line that the command takes")
  func examples() throws {
    for command in CommandSet.lockstep.all {
      #expect(!command.examples.isEmpty, "\(command.name) has no example")
      for example in command.examples {
        let words = shellWords(example.line)
        expect(Array(words.prefix(2)), ["lockstep", command.name])
        try command.check(Array(words.dropFirst(2)))
        #expect(example.meaning.hasSuffix("."), "\(example)")
      }
    }
  }

  @Test("every option has an example that its own command takes, and help shows it")
  func options() throws {
    for command in CommandSet.lockstep.all {
      for option in command.options {
        if option.placeholder != nil { #expect(!option.example.isEmpty, "\(command.name) --\(option.name)") }
        let line = command.usage(of: option)
        try command.check(Array(shellWords(line).dropFirst(2)))
        let help = try command.help(on: "--" + option.name)
        #expect(help.contains("Example: " + line), "\(help)")
        if let short = option.short { expect(try command.help(on: "-\(short)"), help) }
        #expect(command.help.contains(option.synopsis), "\(command.name) \(option.synopsis)")
        if case .choice(let words) = option.kind, option.placeholder?.contains("|") ?? false {
          #expect(words.joined(separator: "|").hasPrefix(option.placeholder ?? "") || words.contains("fuzz:"))
        }
      }
      let shorts = command.options.compactMap(\.short)
      expect(Set(shorts).count, shorts.count)
      expect(Set(command.options.map(\.name)).count, command.options.count)
    }
  }

  @Test(
    "help is of a command or of one of its options, and knows the nearest",
    arguments: [
      ("help run --sed", "unknown option '--sed' of 'run': did you mean '--seed'?"),
      ("help rnu --seed", "unknown command 'rnu': did you mean 'run'?"),
      ("schema jornal", "unknown schema 'jornal': did you mean 'journal'?"),
      ("completions tcsh", "SHELL expects one of bash, zsh, fish, not 'tcsh'"),
      (
        "schedule cron", "KIND expects one of gitlab, github, jenkins, systemd, slurm, kubernetes, not 'cron'"
      ),
      ("schedule gitlab --name 'a b'", "'--name' expects letters, digits and _-. for a recipe, not 'a b'"),
      ("schedule gitlab --transport usb:0", "--transport leads to a lock: name it with --device lock:FILE"),
      (
        "schedule gitlab --shards 2 --transport usb:0 --device lock:a",
        "--shards: a lock can be driven by one job at a time"
      ),
      ("schedule systemd --shards 2", "--shards: a bench does all of it by itself"),
      ("schedule slurm --user me", "--user is for systemd"),
      ("schedule gitlab --time 25:00", "'--time' expects a time of the day such as 02:00, not '25:00'"),
      ("schedule gitlab --scenarios 'a\nb'", "a recipe can hold no control characters"),
      ("run --show-progress rab", "'--show-progress' expects one of auto, bar, counter, none, not 'rab'"),
    ])
  func nearest(words: String, message: String) throws {
    let result = try Command.line(words)
    expect(result.status, 2)
    #expect(result.errors.contains(message), "\(result.errors)")
    expect(result.output, "")
  }

  @Test(
    "colours: the command line, then NO_COLOR, then CLICOLOR_FORCE, then the terminal",
    arguments: [
      (ColorChoice.auto, true, "TERM=xterm", true), (.auto, true, "TERM=dumb", false),
      (.auto, false, "TERM=xterm", false), (.auto, true, "NO_COLOR=0", false),
      (.auto, false, "CLICOLOR_FORCE=1", true), (.auto, false, "CLICOLOR_FORCE=0", false),
      (.auto, true, "CLICOLOR_FORCE=0", true), (.auto, true, "CLICOLOR_FORCE=1 NO_COLOR=yes", false),
      (.always, false, "NO_COLOR=1 TERM=dumb", true), (.never, true, "CLICOLOR_FORCE=1", false),
    ])
  func colors(choice: ColorChoice, isTerminal: Bool, environment: String, isColored: Bool) {
    let pairs = environment.split(separator: " ").map { $0.split(separator: "=").map(String.init) }
    expect(
      choice.isWanted(isTerminal: isTerminal) { name in pairs.first { $0[0] == name }?[1] }, isColored)
  }

  @Test("the manual is clean to two formatters, and names every command and option", .needs(.groff, .mandoc))
  func manual() throws {
    let folder = try Command.Folder()
    let page = try Command.call("man")
    try folder.write("lockstep.1", page.output)
    let result = try Tool.shell(
      "mandoc -Tlint lockstep.1; groff -man -ww -z -Tutf8 lockstep.1; groff -man -Tutf8 -P-cbou lockstep.1 > text",
      in: folder.path)
    expect(result.output + result.errors, "")
    expect(result.status, 0)
    let sections = page.output.split(separator: "\n").filter { $0.hasPrefix(".SH") }
    expect(
      sections,
      [
        "NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "OPTIONS", "EXIT STATUS", "FILES", "ENVIRONMENT",
        "EXAMPLES",
      ].map { ".SH \"\($0)\"" })
    let text = try folder.read("text")
    for command in CommandSet.lockstep.all {
      #expect(text.contains("lockstep \(command.name)"))
      for option in command.options { #expect(text.contains("--" + option.name), "\(option.name)") }
    }
  }
}

@Suite("Completion", .timeLimit(.minutes(10)))
struct CompletionTests {
  @Test(
    "what can stand at the end of a line",
    arguments: [
      ("ru", "run"), ("", "run fuzz cover"), ("--v", "--version"), ("help sc", "schema scan schedule"),
      ("run -j", "-j"), ("run --jobs 2 -x", "-x"), ("run --for", "--format"), ("run --format ", "human json"),
      ("run --format=h", "--format=human"),
      ("run -q --color al", "always"), ("run -o ", ":folder"), ("run -qo ", ":folder"),
      ("run --out=", ":folder"),
      ("replay ", ":file"), ("replay a.yaml ", ""), ("run -- --for", ":file"), ("run --seed ", ""),
      ("run --seed=3 --quiet --junit-p", "--junit-profile"), ("machines door --format me", "mermaid"),
      ("machines do", "door :file"), ("fuzz --device emulator:ref", "emulator:reference"),
      ("fuzz --device emulator:reference?", "emulator:reference?defect= emulator:reference?loss="),
      (
        "fuzz --device=emulator:reference?loss=1&defect=deaf",
        "--device=emulator:reference?loss=1&defect=deaf-unlock"
      ),
      ("fuzz --device lock:", ":file"), ("scan --transport us", "usb:"), ("completions z", "zsh"),
      ("help run --sho", "--shown-in --show-progress --show-config"), ("nonsense ", ""),
      ("mutants sesame-table ", ":file"),
      ("schedule git", "gitlab github"), ("schema jo", "journal"),
      ("bench --only direct.os3", "direct.os3.sessions"),
    ])
  func table(line: String, words: String) {
    let typed = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    let found = Completion(typed, of: CommandSet.lockstep.all, knowing: Candidates.of).text.split(
      separator: "\n"
    ).map { String($0.prefix { $0 != "\t" }) }
    let wanted = words.split(separator: " ").map(String.init)
    expect(line.isEmpty ? Array(found.prefix(3)) : found, wanted)
  }

  /// What is typed before the tabulator, and what then stands on the line.
  static let lines = [
    ("lockstep compl", "lockstep completions "),
    ("lockstep run --format=hu", "lockstep run --format=human "),
    ("lockstep replay alp", "lockstep replay alpha.yaml "),
    ("lockstep run --out=fol", "lockstep run --out=folder/"),

    ("lockstep fuzz --device lock:alp", "lockstep fuzz --device lock:alpha.yaml "),

  ]

  private func folder() throws -> Command.Folder {
    let folder = try Command.Folder()
    try folder.write("alpha.yaml", "")
    try folder.write("folder/x", "")
    try folder.write("bin/x", "")
    try FileManager.default.createSymbolicLink(
      atPath: folder.path + "/bin/lockstep", withDestinationPath: Command.path)
    return folder
  }

  /// Types into a shell on a terminal of its own: each line, a tabulator, and Ctrl-C; prints what stands there then.
  private static let typist = #"""
    import os, pty, re, select, sys, time
    start, lines = sys.argv[1:4], sys.argv[4:]
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(TERM="dumb", PS1="> ", PATH="%s/bin:%s" % (os.getcwd(), os.environ["PATH"]), COLUMNS="200")
        os.execvp(start[0], start[:2] if start[1] else start[:1])
    def read(until, limit=20):
        text, end = "", time.time() + limit
        while time.time() < end and not until(text):
            if select.select([terminal], [], [], 0.1)[0]:
                try: text += os.read(terminal, 65536).decode(errors="replace")
                except OSError: break
        return text
    def send(text): os.write(terminal, text.encode())
    send(start[2] + "; echo re''ady\n")
    read(lambda text: "ready" in text)
    def complete(line, pause):
        send("\x15" + line + "\t")
        read(lambda text: False, pause)
        # The line is printed by the shell itself, so that nothing that moves a cursor matters.
        send("\x01echo '<\x05>'\n")
        text = read(lambda text: re.search(r"^<.*>\s*$", text.replace("\r", ""), re.M), 5)
        return (re.findall(r"^<(.*)>\s*$", text.replace("\r", ""), re.M) or [repr(text)])[-1].rstrip(" /")
    for line in lines:
        # A machine with much else to do may take longer.
        found = complete(line, 0.5)
        print(complete(line, 3) if found == line or found.startswith('"') else found)
    os.kill(pid, 9)
    """#

  @Test(
    "a real shell completes with what it reads",
    arguments: [
      ("bash", "--norc", "source <(lockstep completions bash)"),
      ("zsh", "-f", "autoload -Uz compinit; compinit -D; source <(lockstep completions zsh)"),
    ].filter { FileManager.default.fileExists(atPath: "/usr/bin/" + $0.0) || Tool.areRequired })
  func shells(shell: String, option: String, start: String) throws {
    let folder = try folder()
    try folder.write("typist.py", Self.typist)
    let words = [shell, option, start] + Self.lines.map(\.0)
    let result = try Command.shell(
      "python3 typist.py " + words.map(shellWord).joined(separator: " "), in: folder.path)
    let found = result.output.split(separator: "\n").map(String.init)
    // What a shell puts behind a word differs: a space, or a stroke that goes away again.
    expect(found, Self.lines.map { String($0.1.reversed().drop { " /".contains($0) }.reversed()) })
  }

  @Test("fish completes with what it reads", .needs(.fish))
  func fish() throws {
    let folder = try folder()
    let asked = Self.lines.map { "complete -C \(shellWord($0.0)) | string split -f1 \\t" }.joined(
      separator: "; ")
    let result = try Command.shell(
      "PATH=$PWD/bin:$PATH HOME=$PWD fish --no-config -c "
        + shellWord("lockstep completions fish | source; " + asked), in: folder.path)
    let wanted = Self.lines.map { typed, whole in
      String(whole.split(separator: " ").last ?? "")
    }
    expect(result.output.split(separator: "\n").map(String.init), wanted)
    expect(result.errors, "")
  }
}
