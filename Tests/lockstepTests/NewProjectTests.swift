import Foundation
import TestSupport
import Testing

/// A project for a lock of one's own, as a reader of the page on it makes it.
@Suite("A new project", .timeLimit(.minutes(10)))
struct NewProjectTests {
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
    #expect(result.output.contains("3 cases: 3 agree"), "\(result.output)\(result.errors)")
    #expect(result.output.contains("nothing found in 5,000 events"))
    #expect(result.output.contains("the device showed shutOut, which the model does not allow"))
    let steps = lines.count { $0.hasPrefix("      - ") }
    // Seven, and now and then a wait more.
    #expect((7...9).contains(steps))
    #expect(result.output.contains("6 planned: 6 agree"))
  }

  @Test(
    "each line that names a schema leads to one, of the project and of what is saved",
    arguments: ["driver", "exec"])
  func schemas(kind: String) throws {
    let folder = try Command.Folder()
    let device =
      kind == "driver" ? "driver:python3 driver.py?peripheral=python3 lock.py" : "exec:python3 device.py"
    let script = """
      "$LOCKSTEP" new pad --kind \(kind) --quiet && cd pad
      "$LOCKSTEP" fuzz pad.yaml --device '\(device) bug' --steps 3000 --seed 3 --quiet --keep-going > said
      LOCKSTEP_JOB=one/1 "$LOCKSTEP" fuzz pad.yaml --device '\(device)' --steps 300 --seed 3 --quiet --shard 1/2 > said
      "$LOCKSTEP" mutants pad.yaml scenarios --out survivors > said
      "$LOCKSTEP" cover pad.yaml --device '\(device)' --save tours/tour.yaml --quiet > said
      "$LOCKSTEP" schema --out schema && "$LOCKSTEP" validate pad.yaml scenarios; echo "status $?"
      """
    let result = try Command.shell("mkdir -p pad-tours; " + script, in: folder.path)
    #expect(result.output.hasSuffix("status 0\n"), "\(result.output)\(result.errors)")
    let project = folder.path + "/pad"
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
    expect(count["scenarios"], 3)
    #expect(
      ["Reports/failures", "Reports/corpus", "survivors"].allSatisfy { count[$0] ?? 0 > 0 }, "\(count)")
  }

  @Test("a project that cannot be written says so, names the option, and leaves nothing behind")
  func unwritable() throws {
    let folder = try Command.Folder()
    try folder.write("file", "")
    let result = try Command.shell(
      """
      "$LOCKSTEP" new file/pad; echo $? >&2
      "$LOCKSTEP" new pad --out some/where --quiet && test -f some/where/pad/schema/bench.schema.json; echo $? >&2
      "$LOCKSTEP" new pad --out some/where; echo $? >&2
      (ulimit -f 8; "$LOCKSTEP" new full); echo $? >&2; ls
      """, in: folder.path)
    expect(
      result.errors,
      """
      lockstep: the project cannot be written: file/pad: Not a directory; --out DIR makes it in another folder
      3
      0
      lockstep: some/where/pad is there already: nothing is overwritten; --out DIR makes it in another folder
      See 'lockstep new --help'.
      2
      lockstep: the project cannot be written: full/lockstep_device.py: File too large; --out DIR makes it in another folder
      3

      """)
    expect(result.output, "file\nsome\n")
  }

  @Test("driver and lock may write a UUID in any of its forms, each in another one")
  func uuids() throws {
    let folder = try Command.Folder()
    let script = """
      "$LOCKSTEP" new pad --quiet && cd pad
      base=0000-1000-8000-00805F9B34FB; plain=$(echo $base | tr -d -)
      sed -i "s/fff0/0000FFF0-$base/g; s/fff1/0000fff1$plain/g; s/fff2/FFF2/g" driver.py
      sed -i "s/fff0/0000fff0/g; s/fff1/0000FFF1-$base/g; s/fff2/0000fff2$plain/g" lock.py
      grep -c FFF driver.py lock.py; "$LOCKSTEP" run scenarios
      """
    let result = try Command.shell(script, in: folder.path)
    #expect(!result.output.contains(":0\n"), "\(result.output)")
    #expect(result.output.contains("3 cases: 3 agree"), "\(result.output)\(result.errors)")
  }

  @Test("what is planted is found again by a replay of what was saved, and the healthy lock agrees with it")
  func replay() throws {
    let folder = try Command.Folder()
    let script = """
      "$LOCKSTEP" new keypad --quiet && cd keypad
      "$LOCKSTEP" fuzz keypad.yaml --device 'driver:python3 driver.py?peripheral=python3 lock.py bug' --steps 5000 --seed 3 --quiet
      "$LOCKSTEP" replay Reports/failures/*.yaml; echo "status $?"
      "$LOCKSTEP" run Reports/failures/*.yaml --quiet \
        --device 'driver:python3 driver.py?peripheral=python3 lock.py'; echo "status $?"
      """
    let result = try Command.shell(script, in: folder.path)
    expect(result.output.split(separator: "\n").filter { $0.hasPrefix("status") }, ["status 1", "status 0"])
  }

  /// What can be wrong with the lock's timers, as what is replaced by what in its file.
  static let timers = [
    ("it locks too late", "s/turn(UNLOCKED, 5)/turn(UNLOCKED, 5.2)/"),
    ("it locks too early", "s/turn(UNLOCKED, 5)/turn(UNLOCKED, 4.8)/"),
    ("it hangs up too late", "s/after(20, /after(20.2, /"),
    (
      "what is said does not begin its time anew",
      "s/cancel(lock.idle)$/pass/; s/lock.idle = lock.after/lock.idle = lock.idle or lock.after/"
    ),
  ]

  @Test(
    "waiting costs nothing where programs play the lock: each wrong timer is found soon, and none where there is none",
    arguments: timers)
  func timer(what: String, replacement: String) throws {
    let folder = try Command.Folder()
    let script = """
      "$LOCKSTEP" new keypad --quiet && cd keypad
      sed '\(replacement)' lock.py > bad.py
      ! cmp -s lock.py bad.py || exit 99
      for lock in bad lock; do
        "$LOCKSTEP" fuzz keypad.yaml --device "driver:python3 driver.py?peripheral=python3 $lock.py" --steps 1500 --seed 5
        echo "status $?"
      done
      """
    let result = try Command.shell(script, in: folder.path)
    expect(
      result.output.split(separator: "\n").filter { $0.hasPrefix("status") }, ["status 1", "status 0"])
  }

  @Test("a tour waits for each timer, too, and goes on where none is wrong")
  func cover() throws {
    let folder = try Command.Folder()
    let script = """
      "$LOCKSTEP" new keypad --quiet && cd keypad
      for change in s/x/x/ 's/turn(UNLOCKED, 5)/turn(UNLOCKED, 5.2)/' 's/turn(SHUT_OUT, 30)/turn(SHUT_OUT, 29)/' 's/after(20, /after(21, /' 's/after(20, /after(19, /'; do
        sed "$change" lock.py > other.py
        "$LOCKSTEP" cover keypad.yaml --device "driver:python3 driver.py?peripheral=python3 other.py" --seed 5
        echo "status $?"
      done
      """
    let result = try Command.shell(script, in: folder.path)
    expect(
      result.output.split(separator: "\n").filter { $0.hasPrefix("status") },
      ["status 0", "status 1", "status 1", "status 1", "status 1"])
  }

  @Test("wrong machines are counted, one that is wrong before anything is asked of it too")
  func mutants() throws {
    let folder = try Command.Folder()
    let script = """
      "$LOCKSTEP" new keypad --quiet && cd keypad && "$LOCKSTEP" mutants keypad.yaml scenarios --format json
      """
    let result = try Command.shell(script, in: folder.path)
    expect(result.status, 0)
    #expect(
      result.output.contains("\"start → locked: the device showed locked, which the model does not allow\""))
  }

  @Test(
    "a machine that has come by the name of a known one is judged by its own rows alone",
    arguments: ["driver", "exec"])
  func knownName(kind: String) throws {
    let folder = try Command.Folder()
    let script = """
      "$LOCKSTEP" new sesame --kind \(kind) --quiet && cd sesame && "$LOCKSTEP" run scenarios
      """
    let result = try Command.shell(script, in: folder.path)
    expect(result.status, 0)
    #expect(result.output.contains("3 cases: 3 agree"), "\(result.output)\(result.errors)")
  }

  @Test("a program that something ends while it is greeted is greeted once more; twice, and it is trouble")
  func endedInGreeting() throws {
    let folder = try Command.Folder()
    let script = """
      "$LOCKSTEP" new pad --kind exec --quiet && cd pad
      cat > dies.sh <<'END'
      echo start >> starts
      [ $(wc -l < starts) -gt $1 ] || eval "$2"
      exec python3 device.py
      END
      for times in 1 2; do
        for death in 'kill -9 $$' 'exit 1'; do
          rm -f starts
          "$LOCKSTEP" run scenarios/opens.yaml --quiet --device "exec:sh -c '. ./dies.sh' dies.sh $times '$death'" > said 2>&1
          echo "status $?"
          # One of the first protocol may end by itself.
          [ $times = 1 ] || break
        done
      done
      """
    let result = try Command.shell(script, in: folder.path)
    expect(
      result.output.split(separator: "\n").filter { $0.hasPrefix("status") }.map { $0.prefix(8) },
      ["status 0", "status 0", "status 3"])
  }

  @Test("the fingerprint of a trace does not hang on how its file is named")
  func trace() throws {
    let folder = try Command.Folder()
    let script = """
      "$LOCKSTEP" new pad --quiet && cd pad
      for file in scenarios/opens.yaml ./scenarios/../scenarios/opens.yaml "$PWD/scenarios/opens.yaml"; do
        "$LOCKSTEP" replay "$file" --seed 7 | tail -n 1
      done
      """
    let result = try Command.shell(script, in: folder.path)
    let lines = result.output.split(separator: "\n").filter { $0.hasPrefix("  trace") }
    expect(lines.count, 3)
    expect(Set(lines).count, 1)
  }

  @Test("a lock that is one program: green at once, and its bug is found")
  func exec() throws {
    let folder = try Command.Folder()
    let script = """
      "$LOCKSTEP" new my-pad_2 --kind exec --quiet && cd my-pad_2
      "$LOCKSTEP" run scenarios; echo "status $?"
      "$LOCKSTEP" fuzz my-pad_2.yaml --device 'exec:python3 device.py' --steps 5000; echo "status $?"
      "$LOCKSTEP" fuzz my-pad_2.yaml --device 'exec:python3 device.py bug' --steps 5000 -v; echo "status $?"
      "$LOCKSTEP" nightly nightly.yaml; echo "status $?"
      grep -rl NAME . | grep -v -e Reports -e schema/; true
      """
    let result = try Command.shell(script, in: folder.path)
    expect(
      result.output.split(separator: "\n").filter { $0.hasPrefix("status") },
      [0, 0, 1, 0].map { "status \($0)" })
    #expect(result.output.contains("12 of 12 transitions covered"), "\(result.output)\(result.errors)")
    #expect(result.output.contains("shrunk to 2"))
    #expect(!result.output.contains("./"), "a name was left out: \(result.output)")
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
