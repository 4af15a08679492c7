import CommandLine
import Foundation
import TestSupport
import Testing

@testable import lockstep

/// What help shows is done, as it stands.
@Suite("The examples of help", .timeLimit(.minutes(10)))
struct HelpExampleTests {
  /// An example that needs something to be there first, or ends otherwise than with 0.
  struct Case {
    var line: String
    /// What is done before it.
    var before = ""
    var statuses: Set<Int32> = [0]
  }

  /// What a run leaves that has a name to be called by.
  private static let run =
    "$LOCKSTEP run Scenarios/door --quiet; mv Reports/runs/*-run Reports/runs/2026-11-22T01-00-00-run;"
  private static let shards =
    "for n in 1 2; do $LOCKSTEP run Scenarios/door --quiet --shard $n/2 --out shard-$n; done;"
  private static let bench = """
    mkdir -p nights; printf 'bench: a\\nlocks: [{ name: front-door, device: emulator:sesame5 }]\\n' > bench.yaml
    printf 'nightly: a\\nbench: ../bench.yaml\\nduration: 1 min\\nsuites: [{ name: a, scenarios: ../Scenarios/sesame5/jam.yaml }]\\n' \\
      > nights/third-floor.yaml;
    """

  static let prepared: [Case] = [
    Case(line: "lockstep fuzz sesame --device 'emulator:sesame5?defect=deaf-unlock'", statuses: [1]),
    Case(
      line: "lockstep run Scenarios/sesame5 --device 'emulator:sesame5?defect=deaf-unlock'", statuses: [1]),
    Case(line: "lockstep report 2026-11-22T01-00-00-run", before: run),
    Case(line: "lockstep report shard-1 shard-2 --out Reports", before: shards),
    Case(line: "lockstep history", before: run), Case(line: "lockstep history flaky --last 30", before: run),
    Case(line: "lockstep history case drop-during-login", before: run, statuses: [4]),
    Case(line: "lockstep history failures --since 2026-11-01 --format json", before: run),
    Case(line: "lockstep history add shard-1/runs/*", before: shards),
    Case(line: "lockstep clean --older 30d --keep-failures", before: run),
    Case(line: "lockstep clean --keep 100 --dry-run", before: run),
    Case(line: "lockstep devices", before: bench),
    Case(line: "lockstep devices restore front-door", before: bench),
    Case(line: "lockstep nightly nights/third-floor.yaml", before: bench),
    Case(
      line: "lockstep nightly nights/third-floor.yaml --bench bench.yaml --out Reports/nightly", before: bench
    ),
    // Whether this machine is fit is another question.
    // An editor that only closes its end has not said that it goes.
    // Something of so large a machine is left that could be covered.
    Case(line: "lockstep cover sesame", statuses: [5]),
    Case(line: "lockstep lsp", statuses: [1]), Case(line: "lockstep doctor", statuses: [0, 3]),
    Case(line: "lockstep doctor --quiet", statuses: [0, 3]),
    Case(line: "lockstep doctor --set-up", statuses: [0, 3]),
  ]

  /// Whether an example cannot be done in a test, and why.
  static func reason(_ line: String) -> String? {
    let reasons = [
      "usb:": "a dongle", "hci-socket:": "a dongle", "lock:": "a lock", "labgrid:": "a lab",
      "--power": "switches",
      "capture.btsnoop": "the traffic of a lock, and its key", "man -l": "a person who reads",
      "/usr/local": "the machine's own folders", "--serve": "it serves until Ctrl-C",
    ]
    if let reason = reasons.first(where: { line.contains($0.key) }) { return reason.value }
    return [
      "lockstep fuzz sesame", "lockstep fuzz sesame --duration 8h --keep-going --jobs 4", "lockstep bench",
    ]
    .contains(line) ? "a long time" : nil
  }

  static let lines = CommandSet.lockstep.all.flatMap { command in command.examples.map(\.line) }
    .filter { reason($0) == nil }

  @Test("each that needs no hardware does what it says", arguments: lines)
  func works(line: String) throws {
    let example = Self.prepared.first { $0.line == line } ?? Case(line: line)
    let folder = try Command.Folder()
    let result = try Command.shell(
      """
      mkdir bin && ln -s "$LOCKSTEP" bin/lockstep && cp -r '\(Command.root)/Scenarios' .
      export PATH="$PWD/bin:$PATH" XDG_STATE_HOME="$PWD/state" NO_COLOR=1
      { :; \(example.before)
      } >before 2>&1 || { cat before; exit 99; }
      timeout 300 \(line)
      """, in: folder.path)
    #expect(example.statuses.contains(result.status), "\(result.status): \(result.output)\(result.errors)")
  }

  @Test("what is prepared is an example, and what is not done is little")
  func whole() {
    let all = CommandSet.lockstep.all.flatMap { $0.examples.map(\.line) }
    for example in Self.prepared { #expect(Self.lines.contains(example.line), "\(example.line)") }
    #expect(Self.lines.count * 3 > all.count * 2, "\(Self.lines.count) of \(all.count)")
  }

  @Test("the help of every command ends with its examples")
  func end() throws {
    for command in CommandSet.lockstep.all {
      let examples = command.examples.map { "  \($0.line)\n      \($0.meaning)\n" }.joined()
      #expect(command.help.hasSuffix("\nExamples:\n" + examples), "\(command.name)")
    }
  }
}
