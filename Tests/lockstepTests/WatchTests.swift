import Foundation
import TestSupport
import Testing

@Suite("Runs that watch", .timeLimit(.minutes(10)))
struct WatchTests {
  /// A run that watches, and the folder in which somebody works.
  private final class Watching {
    struct Late: Error { var said: String }

    let folder: Command.Folder
    private let out: Command.Folder
    private let program: Program
    private let keys: FileHandle
    /// How much of what was said was seen.
    private var seen = 0

    /// Starts it, and waits until its first run is over.
    init(_ folder: Command.Folder, _ words: String = "", terminal: Bool = false) throws {
      self.folder = folder
      out = try Command.Folder()
      out.makePipe("keys")
      let line = "exec $LOCKSTEP run s --watch --seed 1 " + words
      let command =
        terminal
        ? "unset NO_COLOR; export LINE='stty rows 24 cols 90; \(line)' TERM=xterm; "
          + "exec script -qec 'sh -c \"$LINE\"' /dev/null" : line
      program = try Command.start(
        "/bin/sh", ["-c", "exec <>'\(out.path)/keys'; " + command], in: folder.path, out: out)
      keys = try #require(FileHandle(forUpdatingAtPath: out.path + "/keys"))
      try wait()
    }

    deinit { if program.isRunning { kill(program.processIdentifier, SIGKILL) } }

    /// What is said until it waits again.
    @discardableResult
    func wait() throws -> String {
      var said = ""
      var end: String.Index?
      try eventually(by: program) {
        said = try all()
        end = said.dropFirst(seen).range(of: "waiting for changes")?.upperBound
        return end != nil
      }
      guard let end else { throw Late(said: said) }
      let new = said.dropFirst(seen)[..<end]
      seen = said.distance(from: said.startIndex, to: end)
      return String(new)
    }

    private func all() throws -> String { try out.read("output") + out.read("errors") }

    func type(_ text: String) throws { try keys.write(contentsOf: Data(text.utf8)) }

    func signal(_ number: Int32) { program.signal(number) }

    func status() -> Int32 { program.waitUntilExit() }

    var descriptors: Int {
      (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(program.processIdentifier)/fd").count)
        ?? 0
    }

    /// How many runs left a folder.
    var runs: Int { folder.names("Reports/runs").filter { !$0.hasPrefix(".") }.count }

    /// Saves a scenario as editors do: beside, and then in its place.
    func save(_ name: String, _ steps: String = "[Open, Close]") throws {
      try folder.write(".new", WatchTests.scenario(steps))
      folder.move(".new", to: name)
    }
  }

  private static func scenario(_ steps: String) -> String {
    "scenario: Door\nmachine: door\ndevice: { emulator: door }\nsteps: \(steps)\n"
  }

  private static let diverging = "[Open, { expect: { status: Closed } }]"

  private func folder() throws -> Command.Folder {
    let folder = try Command.Folder()
    for name in ["a", "b", "c"] { try folder.write("s/\(name).yaml", Self.scenario("[Open, Close]")) }
    return folder
  }

  /// The scenarios in the order in which they ended.
  private func order(_ said: String) -> [String] {
    said.split(separator: "\n").compactMap { line in
      guard line.hasPrefix("✔ s/") || line.hasPrefix("✘ s/"), line.contains("t =") else { return nil }
      return line.contains("diverged") ? nil : String(line.dropFirst(4).prefix { $0 != "." })
    }
  }

  @Test(
    "what was saved is run first, then what failed, then the rest; q ends with the status of the latest run")
  func order() throws {
    let watching = try Watching(folder(), "-v 2>&1")
    let descriptors = watching.descriptors
    try watching.save("s/c.yaml", Self.diverging)
    let broken = try watching.wait()
    #expect(broken.contains("lockstep: changed: s/c.yaml\n"), "\(broken)")
    expect(order(broken), ["c", "a", "b"])
    try watching.save("s/b.yaml")
    expect(try order(watching.wait()), ["b", "c", "a"])
    try watching.type("\n")
    expect(try order(watching.wait()), ["c", "a", "b"])
    expect(watching.runs, 4)
    expect(watching.descriptors, descriptors)
    try watching.type("q\n")
    expect(watching.status(), 1)
  }

  @Test("a scenario that comes, goes or breaks is noticed, also in a folder that comes")
  func comingAndGoing() throws {
    let watching = try Watching(folder(), "-v 2>&1")
    try watching.save("s/d.yaml")
    expect(try order(watching.wait()), ["d", "a", "b", "c"])
    try watching.save("s/d.yaml", "[Opne]")
    let broken = try watching.wait()
    #expect(broken.contains("s/d.yaml:4:9: unknown step `Opne`"), "\(broken)")
    #expect(broken.contains("lockstep: nothing was run"))
    try FileManager.default.removeItem(atPath: watching.folder.path + "/s/d.yaml")
    expect(try order(watching.wait()), ["a", "b", "c"])
    try watching.folder.write("new/deep/e.yaml", Self.scenario("[Open]"))
    try FileManager.default.moveItem(
      atPath: watching.folder.path + "/new", toPath: watching.folder.path + "/s/new")
    expect(try order(watching.wait()).count, 4)
    try watching.save("s/new/deep/e.yaml")
    #expect(try watching.wait().contains("lockstep: changed: s/new/deep/e.yaml\n"))
    try FileManager.default.moveItem(atPath: watching.folder.path + "/s", toPath: watching.folder.path + "/t")
    #expect(try watching.wait().contains("s: there is no such file or folder"))
    try FileManager.default.moveItem(atPath: watching.folder.path + "/t", toPath: watching.folder.path + "/s")
    expect(try order(watching.wait()).count, 4)
    watching.signal(SIGINT)
    expect(watching.status(), 0)
  }

  @Test("the machine and the program of a scenario count, and what has nothing to do with one does not")
  func needs() throws {
    let folder = try folder()
    let machine = try Command.call("machines", "door", "--format", "yaml").output
    try folder.write("m/door.yaml", machine)
    try folder.write(
      "s/b.yaml", Self.scenario("[Open]").replacing("machine: door", with: "machine: ../m/door.yaml"))
    let program = """
      import json, sys
      for line in sys.stdin:
          if json.loads(line).get("stimulus") == "Open":
              print('{"status":"Opened"}')
          print('{"settled":true}', flush=True)

      """
    try folder.write("p/door.py", program)
    try folder.write(
      "s/c.yaml", Self.scenario("[Open]").replacing("{ emulator: door }", with: "exec:python3 p/door.py"))
    let watching = try Watching(folder, "-v 2>&1")
    try folder.write("m/door.yaml", machine + "# changed\n")
    #expect(try watching.wait().contains("lockstep: changed: m/door.yaml\n"))
    try folder.write("p/door.py", program + "# changed\n")
    #expect(try watching.wait().contains("lockstep: changed: p/door.py\n"))
    for name in ["s/notes.txt", "p/other.py", "m/other.txt", "Reports/failures/x.yaml"] {
      try folder.write(name, "text")
    }
    usleep(700_000)
    expect(watching.runs, 3)
    try watching.type("q\n")
    expect(watching.status(), 0)
  }

  @Test("q ends a run under way in its step, as a signal does", arguments: ["q\n", nil])
  func hanging(text: String?) throws {
    let watching = try Watching(folder(), "--answer-timeout 1h")
    try watching.folder.write(
      "s/d.yaml",
      "scenario: Door\nmachine: door\ndevice: 'exec:echo >begun; exec sleep 3600'\nsteps: [Open]\n"
    )
    eventually { watching.folder.has("begun") }
    if let text { try watching.type(text) } else { watching.signal(SIGINT) }
    expect(watching.status(), 5)
    expect(watching.runs, 2)
  }

  @Test("Enter during a run is one more run after it")
  func typedAhead() throws {
    let watching = try Watching(folder(), "2>&1")
    try watching.folder.write(
      "s/d.yaml", "scenario: Door\nmachine: door\ndevice: 'exec:echo >begun; exec sleep 2'\nsteps: [Open]\n")
    eventually { watching.folder.has("begun") }
    try watching.type("\n")
    try watching.wait()
    try watching.wait()
    expect(watching.runs, 3)
    try watching.type("q\n")
    _ = watching.status()
  }

  @Test("a terminal is cleared before a further run, and q ends there too")
  func terminal() throws {
    let watching = try Watching(folder(), terminal: true)
    try watching.save("s/a.yaml")
    #expect(try watching.wait().contains("\u{1B}[H\u{1B}[2J"))
    try watching.type("q\n")
    expect(watching.status(), 0)
  }

  @Test(
    "what nobody should watch is refused",
    arguments: [
      (
        "--device lock:front.yaml",
        "--watch is for emulated locks and programs: a file that is saved moves no real lock"
      ),
      ("--transport usb:0", "--watch runs again and again for a person: leave --transport out"),
      ("--format json", "--watch runs again and again for a person: leave --format json out"),
      ("--resume x", "--watch runs again and again for a person: leave --resume out"),
    ])
  func refused(words: String, message: String) throws {
    let folder = try folder()
    let result = try Command.line("run s --watch \(words)", in: folder.path)
    expect(result.errors, "lockstep: \(message)\nSee 'lockstep run --help'.\n")
    expect(result.status, 2)
    #expect(!folder.has("Reports"))
  }

  @Test("a lock that a scenario names is refused as one that is named to the command")
  func namedLock() throws {
    let folder = try folder()
    let made = try Command.line(
      "emulate sesame5 --key-file lock.yaml --serve tcp-server:127.0.0.1:0 --duration 100ms",
      in: folder.path)
    expect(made.status, 0)
    try folder.write(
      "s/real.yaml", "scenario: A\nmachine: sesame\ndevice: \"lock:lock.yaml\"\nsteps: [closeTo]\n")
    let result = try Command.line("run s --watch --history none", in: folder.path)
    expect(
      result.errors,
      "lockstep: --watch is for emulated locks and programs: a file that is saved moves no real lock\n"
        + "See 'lockstep run --help'.\n")
    expect(result.status, 2)
    #expect(!folder.has("Reports"))
  }

  @Test(
    "a limit of the system that is used up is named, and ends with 3",
    .enabled(
      if: ownNamespaces,
      "needs a machine that lets a user have a namespace of his own, as `unshare -Ur` makes it"),
    arguments: [("max_inotify_instances", "max_user_instances"), ("max_inotify_watches", "max_user_watches")])
  func limits(limit: String, name: String) throws {
    let folder = try folder()
    let line = "unshare -Ur sh -c 'echo 0 >/proc/sys/user/\(limit) && exec $LOCKSTEP run s --watch'"
    let result = try Command.shell(line, in: folder.path)
    expect(result.status, 3)
    #expect(result.errors.contains("fs.inotify.\(name)"), "\(result.errors)")
  }

  /// Whether the limits of the system can be lowered for one process.
  private static let ownNamespaces =
    (try? Command.shell("unshare -Ur sh -c 'echo 9 >/proc/sys/user/max_inotify_instances'", in: "/").status)
    == 0
}
