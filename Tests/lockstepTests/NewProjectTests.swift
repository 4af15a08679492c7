import Foundation
import TestSupport
import Testing

/// A project for a lock of one's own, as a reader of the page on it makes it.
@Suite("A new project", .timeLimit(.minutes(10)))
struct NewProjectTests {
  /// Makes a project in a folder, and gives its own.
  private func project(
    _ name: String, kind: String = "driver", in folder: Command.Folder
  ) throws -> String {
    expect(try Command.line("new \(name) --kind \(kind) --quiet", in: folder.path).status, 0)
    return folder.path + "/" + name
  }

  /// Writes the keypad's lock with some of its text replaced.
  private func plant(_ changes: [(String, String)], _ name: String, in folder: Command.Folder) throws {
    var text = try folder.read("keypad/lock.py")
    for (line, other) in changes {
      #expect(text.contains(line))
      text = text.replacing(line, with: other)
    }
    try folder.write("keypad/" + name, text)
  }

  /// The block of the page that makes one.
  private static func lines() throws -> String {
    let page = try #require(Pages.named("Sources/lockstep/lockstep.docc/Own-lock.md"))
    let block = try #require(page.blocks.first { $0.text.hasPrefix("lockstep new keypad &&") })
    return "lockstep() { \"$LOCKSTEP\" \"$@\"; }\n" + block.text
  }

  @Test("the page's commands: all green at once, and the planted bug is found and shrunk")
  func commands() throws {
    let folder = try Command.Folder()
    let statuses = try Self.lines().split(separator: "\n").dropFirst().map { "\($0); echo \"status $?\"" }
    let result = try Command.shell(
      (["lockstep() { \"$LOCKSTEP\" \"$@\"; }"] + statuses).joined(separator: "\n"), in: folder.path)
    let lines = result.output.split(separator: "\n").map(String.init)
    expect(lines.filter { $0.hasPrefix("status") }, [0, 0, 0, 1, 0].map { "status \($0)" })
    #expect(result.output.contains("4 cases: 4 agree"), "\(result.output)\(result.errors)")
    #expect(result.output.contains("nothing found in 5,000 events"))
    #expect(result.output.contains("the device showed shutOut, which the model does not allow"))
    let steps = lines.count { $0.hasPrefix("      - ") }
    // Seven, and now and then a wait more.
    #expect((7...9).contains(steps))
    #expect(result.output.contains("8 planned: 8 agree"))
  }

  @Test(
    "each line that names a schema leads to one, of the project and of what is saved",
    arguments: ["driver", "exec"])
  func schemas(kind: String) throws {
    let folder = try Command.Folder()
    let device =
      kind == "driver" ? "driver:python3 driver.py?peripheral=python3 lock.py" : "exec:python3 device.py"
    let project = try project("pad", kind: kind, in: folder)
    for line in [
      "fuzz pad.yaml --device '\(device) bug' --steps 3000 --seed 3 --quiet --keep-going",
      "mutants pad.yaml scenarios --sample 20 --out survivors",
      "cover pad.yaml --device '\(device)' --save tours/tour.yaml --quiet",
    ] { _ = try Command.line(line, in: project) }
    let job = try Command.shell(
      "LOCKSTEP_JOB=one/1 \"$LOCKSTEP\" fuzz pad.yaml --device '\(device)' --steps 300 --seed 3 --quiet --shard 1/2",
      in: project)
    expect(job.status, 0)
    for line in ["schema --out schema", "validate pad.yaml scenarios"] {
      let result = try Command.line(line, in: project)
      #expect(result.status == 0, "\(result)")
    }
    var count: [String: Int] = [:]
    for case let path as String in try #require(FileManager.default.enumerator(atPath: project)) {
      guard path.hasSuffix(".yaml"), !path.hasSuffix(".lock.yaml") else { continue }
      let text = try String(contentsOfFile: project + "/" + path, encoding: .utf8)
      let line = try #require(text.firstMatch(of: /^# yaml-language-server: \$schema=(.*)\n/), "\(path)")
      let schema = URL(fileURLWithPath: project + "/" + path).deletingLastPathComponent()
        .appendingPathComponent(String(line.1)).standardizedFileURL.path
      #expect(FileManager.default.fileExists(atPath: schema), "\(path): \(line.1)")
      let kind =
        path.contains("/") ? path.split(separator: "/").dropLast().prefix(2).joined(separator: "/") : "."
      count[kind, default: 0] += 1
    }
    expect(count["."], 3)
    expect(count["scenarios"], kind == "driver" ? 4 : 3)
    #expect(
      ["Reports/failures", "Reports/corpus", "survivors"].allSatisfy { count[$0] ?? 0 > 0 }, "\(count)")
  }

  @Test("a project that cannot be written says so, names the option, and leaves nothing behind")
  func unwritable() throws {
    let folder = try Command.Folder()
    try folder.write("file", "")
    let results =
      try ["new file/pad", "new pad --out some/where --quiet", "new pad --out some/where"].map {
        try Command.line($0, in: folder.path)
      } + [Command.shell("ulimit -f 16; \"$LOCKSTEP\" new full", in: folder.path)]
    expect(results.map(\.status), [3, 0, 2, 3])
    expect(
      results.map(\.errors),
      [
        "lockstep: the project cannot be written: file/pad: Not a directory; --out DIR makes it in another folder\n",
        "",
        "lockstep: some/where/pad is there already: nothing is overwritten; --out DIR makes it in another folder\n"
          + "See 'lockstep new --help'.\n",
        "lockstep: the project cannot be written: full/lockstep_device.py: File too large; --out DIR makes it in "
          + "another folder\n",
      ])
    #expect(folder.has("some/where/pad/schema/bench.schema.json"))
    expect(folder.names(""), ["file", "some"])
  }

  @Test("driver and lock may write a UUID in any of its forms, each in another one")
  func uuids() throws {
    let folder = try Command.Folder()
    let pad = try project("pad", in: folder)
    let base = "0000-1000-8000-00805F9B34FB"
    let plain = base.replacing("-", with: "")
    for (file, forms) in [
      ("driver.py", ["0000FFF0-\(base)", "0000fff1\(plain)", "FFF2"]),
      ("lock.py", ["0000fff0", "0000FFF1-\(base)", "0000fff2\(plain)"]),
    ] {
      var text = try folder.read("pad/" + file)
      for (number, form) in forms.enumerated() {
        #expect(text.contains("fff\(number)"))
        text = text.replacing("fff\(number)", with: form)
      }
      try folder.write("pad/" + file, text)
    }
    let result = try Command.line("run scenarios", in: pad)
    #expect(result.output.contains("4 cases: 4 agree"), "\(result.output)\(result.errors)")
  }

  @Test("what is planted is found again by a replay of what was saved, and the healthy lock agrees with it")
  func replay() throws {
    let folder = try Command.Folder()
    let keypad = try project("keypad", in: folder)
    let device = "driver:python3 driver.py?peripheral=python3 lock.py"
    let statuses = try [
      "fuzz keypad.yaml --device '\(device) bug' --steps 5000 --seed 3 --quiet",
      "replay Reports/failures/*.yaml", "run Reports/failures/*.yaml --quiet --device '\(device)'",
    ].map { try Command.line($0, in: keypad).status }
    expect(statuses, [1, 1, 0])
  }

  /// What can be wrong with the lock's timers, as what is replaced by what in its file.
  static let timers =
    [
      ("it locks too late", [("turn(UNLOCKED, 5)", "turn(UNLOCKED, 5.2)")]),
      ("it locks too early", [("turn(UNLOCKED, 5)", "turn(UNLOCKED, 4.8)")]),
      ("it hangs up too late", [("after(20, ", "after(20.2, ")]),
      (
        "a message does not restart its time",
        [
          ("cancel(lock.idle)\n", "pass\n"),
          ("lock.idle = lock.after", "lock.idle = lock.idle or lock.after"),
        ]
      ),
    ] as [(String, [(String, String)])]

  @Test(
    "waiting costs nothing where programs play the lock: each wrong timer is found soon, and none where there is none",
    arguments: timers)
  func timer(what: String, changes: [(String, String)]) throws {
    let folder = try Command.Folder()
    let keypad = try project("keypad", in: folder)
    try plant(changes, "bad.py", in: folder)
    let statuses = try ["bad", "lock"].map { lock in
      try Command.line(
        "fuzz keypad.yaml --device 'driver:python3 driver.py?peripheral=python3 \(lock).py' --steps 1500 --seed 5",
        in: keypad
      ).status
    }
    expect(statuses, [1, 0])
  }

  @Test("a tour waits for each timer, too, and goes on where none is wrong")
  func cover() throws {
    let folder = try Command.Folder()
    let keypad = try project("keypad", in: folder)
    let changes = [
      [], [("turn(UNLOCKED, 5)", "turn(UNLOCKED, 5.2)")], [("turn(SHUT_OUT, 30)", "turn(SHUT_OUT, 29)")],
      [("after(20, ", "after(21, ")], [("after(20, ", "after(19, ")],
    ]
    let results = try changes.map { changes in
      try plant(changes, "other.py", in: folder)
      return try Command.line(
        "cover keypad.yaml --device 'driver:python3 driver.py?peripheral=python3 other.py' --seed 5",
        in: keypad)
    }
    // One cell is left: the lock is seldom found shut out.
    expect(results.map(\.status), [5, 1, 1, 1, 1])
    let missing = results[0].output.split(separator: "\n").filter {
      $0.hasPrefix("  allowed ") || $0.hasPrefix("  timer ")
    }
    #expect(missing.count == 1 && missing[0].contains("shutOut (found so): leave"), "\(results[0])")
  }

  @Test("wrong machines are counted, one that is wrong before anything is asked of it too")
  func mutants() throws {
    let folder = try Command.Folder()
    let pad = try project("pad", kind: "exec", in: folder)
    try folder.write(
      "pad/small.yaml",
      """
      machine: small
      states: [away, locked]
      events: [approach, { linkLost: spontaneous }]
      starts: [{ state: away }]
      transitions:
        - { event: approach, from: away, to: locked }
        - { event: linkLost, from: "*", to: away }

      """)
    let result = try Command.line("mutants small.yaml --suite fuzz:100 --format json", in: pad)
    expect(result.status, 0)
    #expect(
      result.output.contains("\"start → locked: the device showed locked, which the model does not allow\""))
  }

  @Test(
    "a machine that has come by the name of a known one is judged by its own rows alone",
    arguments: [("driver", 4), ("exec", 3)])
  func knownName(kind: String, count: Int) throws {
    let folder = try Command.Folder()
    let result = try Command.line("run scenarios", in: project("sesame", kind: kind, in: folder))
    expect(result.status, 0)
    #expect(result.output.contains("\(count) cases: \(count) agree"), "\(result.output)\(result.errors)")
  }

  @Test("a program that something ends while it is greeted is greeted once more; twice, and it is trouble")
  func endedInGreeting() throws {
    let folder = try Command.Folder()
    let pad = try project("pad", kind: "exec", in: folder)
    try folder.write(
      "pad/dies.sh",
      """
      echo start >> starts
      [ $(wc -l < starts) -gt $1 ] || eval "$2"
      exec python3 device.py

      """)
    // A program of the first protocol that ends twice by itself may do so.
    let statuses = try [(1, "kill -9 $$"), (1, "exit 1"), (2, "kill -9 $$")].map { times, death in
      folder.remove("pad/starts")
      let device = "exec:sh -c '. ./dies.sh' dies.sh \(times) '\(death)'"
      return try Command.call("run", "scenarios/opens.yaml", "--quiet", "--device", device, in: pad).status
    }
    expect(statuses, [0, 0, 3])
  }

  @Test("the fingerprint of a trace does not hang on how its file is named")
  func trace() throws {
    let folder = try Command.Folder()
    let pad = try project("pad", in: folder)
    let traces = try ["scenarios", "./scenarios/../scenarios", pad + "/scenarios"].map {
      try Command.line("replay '\($0)/opens.yaml' --seed 7", in: pad).output.split(separator: "\n").last
    }
    expect(traces.map { $0?.hasPrefix("  trace") }, [true, true, true])
    expect(Set(traces).count, 1)
  }

  @Test("a lock that is one program: green at once, and its bug is found")
  func exec() throws {
    let folder = try Command.Folder()
    let pad = try project("my-pad_2", kind: "exec", in: folder)
    let results =
      try [
        "run scenarios", "fuzz my-pad_2.yaml --device 'exec:python3 device.py' --steps 5000",
        "fuzz my-pad_2.yaml --device 'exec:python3 device.py bug' --steps 5000 -v",
      ].map { try Command.line($0, in: pad) } + [Command.run("nightly", "nightly.yaml", in: pad)]
    expect(results.map(\.status), [0, 0, 1, 0])
    #expect(results[1].output.contains("8 of 8 transitions covered"), "\(results[1])")
    #expect(results[2].output.contains("buzz was due, the device showed shutOut."), "\(results[2])")
    // No name was left out.
    let unnamed = folder.files(with: "NAME").filter { !$0.contains("/Reports/") && !$0.contains("/schema/") }
    expect(unnamed, [])
  }

  @Test(
    "nothing is overwritten, and a name is one",
    arguments: [
      (
        "there",
        "lockstep: there is there already: nothing is overwritten; --out DIR makes it in another folder"
      ),
      (
        "2pad",
        "lockstep: a name has up to 40 letters, digits, '-' and '_', a letter first, and is not '2pad'"
      ),
      ("a b", "lockstep: a name has up to 40 letters, digits, '-' and '_', a letter first, and is not 'a b'"),
      ("/", "lockstep: a name has up to 40 letters, digits, '-' and '_', a letter first, and is not ''"),
      ("bench", "lockstep: a project is not called 'bench': one of its files is"),
    ])
  func refused(name: String, message: String) throws {
    let folder = try Command.Folder()
    try folder.write("there", "mine")
    let result = try Command.call("new", name, in: folder.path)
    expect(result.status, 2)
    expect(result.errors.split(separator: "\n").first.map(String.init), message)
    expect(try String(contentsOfFile: folder.path + "/there", encoding: .utf8), "mine")
  }
}
