import Foundation
import TestSupport
import Testing

@testable import lockstep

@Suite("Recipes", .timeLimit(.minutes(10)))
struct ScheduleTests {
  /// Arguments that a recipe must not fall over: quotes, expressions, variables, signs of shells and of systemd.
  private static func hostile(_ folder: Command.Folder) -> [String] {
    [
      "--scenarios", "-a b;rm", "--scenarios", "it's \"$HOME\" `id`", "--device",
      #"exec:x ${{ 1 }} \u %n $y"#, "--command", folder.path + "/it's $x",
    ]
  }
  private static let options = [
    ("", false), ("--shards 3", false), ("--transport usb:0 --device lock:a.yaml", false), ("", true),
  ]

  /// A program in place of lockstep: it writes down its words, and ends as it is told.
  private static let stub = """
    #!/bin/sh
    for word; do printf '<%s>' "$word"; done >> "$LOG"; echo >> "$LOG"
    exit "${STATUS:-0}"

    """

  private func folder() throws -> Command.Folder {
    let folder = try Command.Folder()
    TestFolder.write(folder.path + "/it's $x", Self.stub, mode: 0o755)
    return folder
  }

  private func recipe(
    _ kind: String, _ options: String = "", isHostile: Bool = false, in folder: Command.Folder
  ) throws -> String {
    let words = try ShellWords.split(options) + (isHostile ? Self.hostile(folder) : [])
    let result = try Command.call(["schedule", kind] + words, in: folder.path)
    let builds = ["gitlab", "github", "jenkins"].contains(kind) && !words.contains("--command")
    expect(result.errors, builds ? Self.note : "")
    return result.output
  }

  /// What is said where a recipe builds Lockstep, and there is nothing to build.
  private static let note =
    "lockstep: note: this recipe builds Lockstep from a checkout of its sources, and this folder is none: in your own project, give the path of lockstep with --command\n"

  @Test(
    "A recipe that builds Lockstep says so, and whether there is something to build",
    arguments: [("gitlab", "#"), ("github", "#"), ("jenkins", "//")])
  func checkout(kind: String, sign: String) throws {
    let folder = try folder()
    let own = "\(sign) It is for a checkout of Lockstep itself, which it builds."
    let lines = try recipe(kind, "", in: folder).split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines[1].hasPrefix(own) && lines[2].isEmpty, "\(lines[0...2])")
    let elsewhere = try recipe(kind, "--command lockstep", in: folder)
    #expect(!elsewhere.contains("checkout of Lockstep") && !elsewhere.contains("make build"), "\(elsewhere)")
    expect(elsewhere.contains("# Its runner must have lockstep"), kind == "gitlab")
    try folder.write("Package.swift", "")
    expect(try Command.line("schedule \(kind)", in: folder.path).errors, Self.note)
    try folder.write(".ci/dependencies", "")
    expect(try Command.line("schedule \(kind)", in: folder.path).errors, "")
  }

  /// The shell's part of a recipe: what is moved to the right behind a line such as `run: |`.
  private func blocks(_ text: String, after head: String) -> [String] {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    return lines.indices.filter { lines[$0].hasSuffix(head) }.map { start in
      let width = lines[start + 1].prefix { $0 == " " }.count
      return lines[(start + 1)...].prefix { $0.prefix { $0 == " " }.count >= width && !$0.isEmpty }
        .map { String($0.dropFirst(width)) }.joined(separator: "\n") + "\n"
    }
  }

  /// Runs the shell's part with the stub; what it was called with, and the status.
  private func run(
    _ script: String, _ environment: String = "", status: Int = 0, in folder: Command.Folder
  ) throws -> (words: String, status: Int32, output: String) {
    try folder.write("script.sh", script)
    try folder.write("log", "")
    let result = try Tool.shell(
      "export LOG=$PWD/log STATUS=\(status) \(environment); bash -e script.sh", in: folder.path)
    return (try folder.read("log"), result.status, result.output)
  }

  @Test(
    "GitLab's and GitHub's files are as their schemas say, whatever they hold", .needs(.schemas),
    arguments: [("gitlab", "vendor.gitlab-ci"), ("github", "vendor.github-workflows")])
  func schemas(kind: String, schema: String) throws {
    let folder = try folder()
    for (index, (options, isHostile)) in Self.options.enumerated() {
      try folder.write("\(index).yml", try recipe(kind, options, isHostile: isHostile, in: folder))
    }
    let result = try Tool.shell(
      "'\(Tool.schemas.path)' --builtin-schema \(schema) [0-9].yml", in: folder.path)
    expect(result.status, 0)
    expect(result.output + result.errors, "ok -- validation done\n")
  }

  /// A page about one shard helps nobody, nor a history of its own.
  private static let plain = "<--html=none><--history=none>"
  private static let words = #"<-->"# + "<-a b;rm><it's \"$HOME\" `id`>\n"

  @Test("GitLab runs what was asked for, word by word, and passes its status on")
  func gitlab() throws {
    let folder = try folder()
    let text = try recipe("gitlab", "--shards 2", isHostile: true, in: folder)
    let parts = blocks(text, after: "- |")
    let shard = try run(parts[0], "CI_NODE_INDEX=2", status: 3, in: folder)
    expect(
      shard.words,
      "<run><--out=Reports/shard-2>" + Self.plain + "<--device=exec:x ${{ 1 }} \\u %n $y>" + Self.words)
    expect(shard.status, 3)
    try folder.write("Reports/shard-1/runs/a/journal.jsonl", "")
    try folder.write("Reports/shard-2/runs/a/journal.jsonl", "")
    let report = try run(parts[1], status: 1, in: folder)
    expect(
      report.words,
      "<report><--out=Reports><Reports/shard-1/runs/a><Reports/shard-2/runs/a>\n"
        + "<history><add><--out=Reports><Reports/shard-1/runs/a><Reports/shard-2/runs/a>\n")
    expect(report.status, 1)
    #expect(text.contains("exit_codes: [3]") && text.contains("when: always"))
    #expect(try recipe("gitlab", "--shards 2", in: folder).contains("needs: [build, lockstep]"))
    let whole = try recipe("gitlab", "--out a", in: folder)
    #expect(whole.contains("run --out=a -- ") && whole.contains("junit: a/junit.xml"))
  }

  @Test("GitHub too; trouble of the lab is a warning there")
  func github() throws {
    let folder = try folder()
    let text = try recipe("github", "--shards 2", isHostile: true, in: folder)
    // GitHub puts in what stands in its braces, and then there is what was given.
    let parts = blocks(text, after: "run: |").map { $0.replacingOccurrences(of: "${{ '${{' }}", with: "${{") }
    let shard = try run(parts[0], "SHARD=2", status: 3, in: folder)
    expect(
      shard.words,
      "<run><--out=Reports/shard-2><--shard=2/2>" + Self.plain + "<--device=exec:x ${{ 1 }} \\u %n $y>"
        + Self.words)
    expect(shard.status, 0)
    #expect(shard.output.hasPrefix("::warning title=Trouble in the lab::"))
    expect(try run(parts[0], "SHARD=1", status: 1, in: folder).status, 1)
    try folder.write("Reports/shard-1/runs/a/journal.jsonl", "")
    expect(
      try run(parts[1], status: 5, in: folder).words,
      "<report><--annotations=github><--out=Reports><Reports/shard-1/runs/a>\n"
        + "<history><add><--out=Reports><Reports/shard-1/runs/a>\n")
    // The lines stand in the log of the step that is not cut into parts.
    #expect(
      try recipe("github", "", in: folder).contains("run --out=Reports --annotations=github -- Scenarios"))
    #expect(text.contains("          SHARD: ${{ matrix.shard }}\n"))
  }

  /// Splits a Groovy program: its strings, and what is left with each string as `''`; `nil` when brackets do not match.
  private func groovy(_ text: String) -> (code: String, strings: [String])? {
    var (code, strings, open) = ("", [String](), [Character]())
    var rest = text[...]
    while let character = rest.popFirst() {
      if character == "/", rest.first == "/" {
        rest = rest.drop { $0 != "\n" }
      } else if character == "'" || character == "\"" {
        var string = ""
        while let next = rest.popFirst(), next != character {
          guard next != "\n" else { return nil }
          if next == "\\" { string.append(rest.removeFirst()) } else { string.append(next) }
        }
        strings.append(string)
        code += "''"
      } else {
        code.append(character)
        if "([{".contains(character) { open.append(character) }
        if let close = ")]}".firstIndex(of: character) {
          guard let last = open.popLast(), last == "([{"[close] else { return nil }
        }
      }
    }
    return open.isEmpty ? (code, strings) : nil
  }

  @Test("Jenkins: a declarative pipeline whose brackets match, and whose strings are what a shell runs")
  func jenkins() throws {
    let folder = try folder()
    for (options, isHostile) in Self.options {
      let text = try recipe("jenkins", options, isHostile: isHostile, in: folder)
      let (code, strings) = try #require(groovy(text))
      for part in ["pipeline {", "agent {", "options {", "triggers {", "stages {", "post {", "always {"] {
        #expect(code.contains(part), "\(part)")
      }
      #expect(!text.contains("\\u") || text.contains("\\\\u"), "Groovy reads \\u everywhere")
      for script in strings where script.contains(" run --out") || script.contains(" report --out") {
        try folder.write("s.sh", script)
        expect(try Tool.shell("bash -n s.sh", in: folder.path).errors, "")
      }
    }
    let text = try recipe("jenkins", "--shards 2", isHostile: true, in: folder)
    let scripts = try #require(groovy(text)).strings.filter { $0.hasPrefix("timeout ") }
    expect(
      try run(scripts[1], in: folder).words,
      "<run><--out=Reports/shard-2><--shard=2/2>" + Self.plain + "<--device=exec:x ${{ 1 }} \\u %n $y>"
        + Self.words)
  }

  @Test(
    "systemd takes the service and the timer, and the shell their installation", .needs(.systemd, .shellcheck)
  )
  func systemd() throws {
    let folder = try folder()
    try folder.write("units/x", "")
    let own = "--command \(Command.path) --folder \(folder.path)"
    for options in [
      "--time 01:30 " + own, "--limit 90min --transport hci-socket:0 --device lock:a.yaml " + own,
    ] {
      try folder.write("install.sh", try recipe("systemd", options, in: folder))
      let result = try Tool.shell(
        "shellcheck install.sh && UNITS=units sh install.sh && systemd-analyze verify units/lockstep.service units/lockstep.timer",
        in: folder.path)
      expect(result.output + result.errors, "")
      expect(result.status, 0)
    }
    let service = try folder.read("units/lockstep.service")
    for line in [
      "Restart=no", "RuntimeMaxSec=5400", "KillSignal=SIGTERM", "TimeoutStopSec=5min",
      "AmbientCapabilities=CAP_NET_ADMIN CAP_NET_RAW",
    ] { #expect(service.contains(line + "\n"), "\(line)") }
    // What systemd makes of the words is what was given: it is asked, since nothing else reads them so.
    try folder.write("hostile.sh", try recipe("systemd", isHostile: true, in: folder))
    let result = try Tool.shell(
      """
      systemd-analyze calendar --iterations=1 "$(sed -n 's/^OnCalendar=//p' units/lockstep.timer)"
      UNITS=units sh hostile.sh
      """, in: folder.path)
    #expect(result.output.contains("*-*-* 02:00:00"), "\(result.output)")
    let lines = try folder.read("units/lockstep.service").split(separator: "\n")
    let start = lines.filter { $0.hasPrefix("ExecStart=") }.joined()
    #expect(
      start.contains(#""--device=exec:x $${{ 1 }} \\u %%n $$y" -- "-a b;rm" "it's \"$$HOME\" `id`""#),
      "\(start)")
  }

  @Test(
    "systemd starts nights, feeds on their signs of life and takes them up again",
    .needs(.systemd, .shellcheck))
  func nightly() throws {
    let folder = try folder()
    try folder.write("units/x", "")
    let own = "--plan 'nights/a b.yaml' --command \(Command.path) --folder \(folder.path)"
    try folder.write("install.sh", try recipe("systemd", own, in: folder))
    let result = try Tool.shell(
      "shellcheck install.sh && UNITS=units sh install.sh && systemd-analyze verify units/lockstep*.*",
      in: folder.path)
    expect(result.output + result.errors, "")
    let (service, resumption) = (
      try folder.read("units/lockstep.service"), try folder.read("units/lockstep-resume.service")
    )
    for line in [
      "Type=notify", "WatchdogSec=2min", "Restart=on-failure", "RestartPreventExitStatus=1 2 3 4 5 6",
    ] {
      #expect(service.contains(line + "\n") && resumption.contains(line + "\n"), "\(line)")
    }
    #expect(service.contains("nightly --out=Reports -- \"nights/a b.yaml\"\n"), "\(service)")
    #expect(
      resumption.contains("nightly --out=Reports --resume -- ")
        && resumption.contains("WantedBy=multi-user.target\n"))
    for words in ["gitlab --plan a.yaml", "systemd --bench a.yaml", "systemd --plan a.yaml --limit 2h"] {
      expect(try Command.line("schedule \(words)").status, 2)
    }
  }

  @Test(
    "Where the history is kept, each system's jobs find it again", arguments: ["gitlab", "github", "slurm"])
  func history(kind: String) throws {
    let folder = try folder()
    let own = try recipe(kind, "--shards 2", in: folder)
    #expect(own.contains("history add --out=Reports Reports/"))
    if kind != "slurm" { #expect(own.contains("Reports/history.sqlite") && own.contains("lockstep-history")) }
    // A red job is one of those that the history is for.
    for options in ["", "--shards 2"] {
      let text = try recipe(kind, options, in: folder)
      let key = "key: lockstep-history-${{ github.run_id }}-${{ github.run_attempt }}\n"
      switch kind {
      case "gitlab": #expect(text.contains("paths: [Reports/history.sqlite]\n    when: always\n"), "\(text)")
      case "github":
        let parts = text.components(separatedBy: key)
        expect(parts.count, 3)
        #expect(parts[0].contains("uses: actions/cache/restore@v4\n"), "\(text)")
        #expect(parts[1].hasPrefix("          restore-keys: lockstep-history-\n"), "\(text)")
        #expect(parts[1].contains("uses: actions/cache/save@v4\n        if: always()\n"), "\(text)")
      default: #expect(!text.contains("cache"))
      }
    }
    // A server needs none of that: every run adds itself.
    let server = try recipe(kind, "--shards 2 --history postgres://me:secret@db/lockstep", in: folder)
    #expect(server.contains("--html=none --history=postgres://me:secret@db/lockstep"))
    #expect(server.contains(" --out=Reports --history=postgres://me:secret@db/lockstep Reports/"))
    #expect(!server.contains("history add") && !server.contains("history.sqlite"))
    #expect(
      server.contains("--history=postgres://db/lockstep"), "how it was made is said without the password")
    let none = try recipe(kind, "--history none", in: folder)
    #expect(
      none.contains("--history=none") && !none.contains("history add") && !none.contains("history.sqlite"))
  }

  @Test(
    "Kubernetes takes the manifest, in the oldest version that can do it and the newest", .needs(.kubernetes))
  func kubernetes() throws {
    let folder = try folder()
    let history = "--history postgres://me@db/lockstep"
    for (index, (options, isHostile)) in [
      ("", false), ("--shards 16 \(history) --folder /locks --claim reports", false), ("", true),
    ].enumerated() {
      let image = "--image registry/lockstep:1 \(options)"
      try folder.write(
        "\(index).yaml", try recipe("kubernetes", image, isHostile: isHostile, in: folder))
    }
    // A schema that takes anything would prove nothing.
    let wrong = try folder.read("0.yaml").replacingOccurrences(of: "completionMode", with: "completionMood")
    try folder.write("wrong.yaml", wrong)
    for (name, status) in [("0", 0), ("1", 0), ("2", 0), ("wrong", 1)] as [(String, Int32)] {
      for version in ["1.33", "1.37"] {
        let result = try Tool.shell(
          "'\(Tool.kubernetes.path)' --strict --no-warn -k \(version) \(name).yaml", in: folder.path)
        expect(result.status, status)
        #expect(status != 0 || !result.output.contains("ERROR"), "\(result.output)")
      }
    }
    let text = try folder.read("1.yaml")
    for line in [
      "completions: 16", #"- "--history=postgres://me@db/lockstep""#, "claimName: reports",
      #"workingDir: "/locks""#,
      #"- "--out=/reports/jobs/$(LOCKSTEP_JOB)/shard-$(LOCKSTEP_INDEX)""#, "suspend: true",
      "name: lockstep-history",
    ] { #expect(text.contains(line), "\(line)") }
    // The pod that merges takes the job that was started last.
    let script = try #require(blocks(text, after: "- |").first).replacingOccurrences(
      of: "/reports", with: "reports"
    )
    .replacingOccurrences(of: "lockstep report", with: "'../it'\\''s $x' report")
    for (index, name) in ["old", "new"].enumerated() {
      try folder.write("reports/jobs/\(name)/shard-0/runs/a/journal.jsonl", "")
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSince1970: TimeInterval(index))],
        ofItemAtPath: folder.path + "/reports/jobs/\(name)")
    }
    expect(
      try run(script, in: folder).words,
      "<report><--out=.><--history=postgres://me@db/lockstep><jobs/new/shard-0/runs/a>\n")
  }

  @Test(
    "Kubernetes is not asked for what it cannot do",
    arguments: [
      ("", "--image"), ("--image a --device lock:a.yaml --transport usb:0", "kubernetes drives no real lock"),
      ("--image a --name Night_1", "small letters"), ("--image a --user me", "--user is for systemd"),
    ])
  func kubernetesRefusals(options: String, words: String) throws {
    let result = try Command.line("schedule kubernetes \(options)")
    expect(result.status, 2)
    #expect(result.errors.contains(words), "\(result.errors)")
  }

  @Test(
    "Slurm runs the array on a real cluster of one node, and merges what it left",
    .needs(.slurm, .shellcheck),
    .enabled(if: getuid() == 0, "Slurm's node needs root"))
  func slurm() throws {
    let folder = try folder()
    for number in 1...4 {
      try folder.write("Scenarios/\(number).yaml", "scenario: A\nmachine: sesame-table\nsteps: [closeTo]\n")
    }
    try folder.write(
      "Scenarios/5.yaml",
      "scenario: B\nmachine: sesame-table\nsteps: [closeTo, { expect: { status: connecting } }]\n")
    try folder.write(
      "nightly.sh", try recipe("slurm", "--shards 3 --command \(Command.path)", in: folder))
    let result = try Command.shell(
      "shellcheck nightly.sh; timeout 300 '\(Command.root)/Tests/Peers/slurm/cluster.sh' bash nightly.sh",
      in: folder.path)
    expect(result.status, 1)
    #expect(result.errors.hasPrefix("lockstep: array 1 ended with status 1;"), "\(result.errors)")
    #expect(try folder.read("Reports/junit.xml").contains(#"tests="5" failures="1" errors="0""#))
    expect(folder.names("Reports/1"), ["shard-1", "shard-2", "shard-3"])
    // Hostile words are the words of the task, and a lock is driven by one at a time.
    let task = try recipe("slurm", isHostile: true, in: folder)
    try folder.write("Reports/x", "")
    let body = try #require(task.split(separator: "'TASK'\n").last?.split(separator: "\nTASK\n").first)
    let words = try run(
      String(body), "SLURM_ARRAY_JOB_ID=7 SLURM_ARRAY_TASK_ID=2", in: folder
    ).words
    expect(
      words,
      "<run><--out=Reports/7/shard-2>" + Self.plain + "<--device=exec:x ${{ 1 }} \\u %n $y>" + Self.words)
    let bench = try recipe(
      "slurm", "--shards 2 --transport usb:0 --device lock:a.yaml --name front-door", in: folder)
    #expect(bench.contains("#SBATCH --licenses=front-door:1\n") && bench.contains("#SBATCH --array=1-2%1\n"))
  }
}
