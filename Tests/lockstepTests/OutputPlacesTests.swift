import Foundation
import TestSupport
import Testing

/// Where reports go, and what must not be lost by it.
@Suite("Where reports go", .timeLimit(.minutes(10)))
struct OutputPlacesTests {
  private let folder: Command.Folder

  init() throws {
    folder = try Command.Folder()
    try folder.write("door.yaml", "scenario: A\nmachine: door\ndevice: door\nsteps: [Open]\n")
    try folder.write("program.py", Self.program)
    try folder.write(
      "slow.yaml",
      "scenario: B\nmachine: door\ndevice: \"exec:python3 -u program.py\"\nsteps: [Open, wait: 1 h]\n")
  }

  /// A door.
  static let program = """
    import json, os, sys
    status = "Closed"
    for line in sys.stdin:
        message = json.loads(line)
        if "reset" in message: status = "Closed"
        elif "stimulus" in message: status = {"Open": "Opened", "Close": "Closed"}[message["stimulus"]]
        print(json.dumps({"status": status}))
        print(json.dumps({"settled": True}), flush=True)

    """

  private func run(_ line: String) throws -> Command.Result {
    try Command.line(line, in: folder.path)
  }

  /// Runs a command some of whose calls fail.
  private func faulty(_ line: String) throws -> Command.Result {
    try Command.shell("\"$WORKBENCH\" faulty \(line)", in: folder.path)
  }

  @Test(
    "no report takes the place of something else",
    arguments: [
      ("run door.yaml --junit door.yaml", "--junit: door.yaml is there already and is not a JUnit report"),
      ("run door.yaml --html door.yaml", "--html: door.yaml is there already and is not an HTML report"),
      ("run door.yaml --junit lock.yaml", "--junit: lock.yaml is there already and is not a JUnit report"),
      (
        "run door.yaml --junit ./Reports/history.sqlite",
        "--junit and the history are one file, ./Reports/history.sqlite"
      ),
      ("run door.yaml --junit a.xml --html ./a.xml", "--html and --junit are one file, ./a.xml"),
      ("fuzz door --steps 10 --junit door.yaml", "--junit: door.yaml is there already and is not"),
      ("cover door --html door.yaml", "--html: door.yaml is there already and is not"),
      ("report Reports/runs/* --junit door.yaml", "--junit: door.yaml is there already and is not"),
      (
        "run door.yaml --device lock:key.yaml --transport tcp-client:127.0.0.1:9 --capture key.yaml",
        "--capture: key.yaml is there already and is not a capture"
      ),
      (
        "replay door.yaml --device lock:key.yaml --transport tcp-client:127.0.0.1:9 --capture key.yaml",
        "--capture: key.yaml is there already and is not a capture"
      ),
      ("replay door.yaml --capture door.yaml", "--capture: door.yaml is there already and is not a capture"),
      (
        "scan --transport tcp-client:127.0.0.1:9 --capture key.yaml",
        "--capture: key.yaml is there already and is not a capture"
      ),
      (
        "gatt lock:key.yaml --transport tcp-client:127.0.0.1:9 --capture key.yaml",
        "--capture: key.yaml is there already and is not a capture"
      ),
      (
        "emulate sesame5 --transport tcp-client:127.0.0.1:9 --capture key.yaml",
        "--capture: key.yaml is there already and is not a capture"
      ),
      ("cover door --save key.yaml", "--save: key.yaml is there already and is not the tour of a machine"),
      ("cover door --save door.yaml", "--save: door.yaml is there already and is not the tour of a machine"),
      ("cover door --save a.yaml --junit a.yaml", "--save and --junit are one file, a.yaml"),
      ("run door.yaml --junit .", "--junit: . is a folder: name a file in it"),
      ("run door.yaml --html a.xml --junit a.xml", "--html and --junit are one file, a.xml"),
      ("run door.yaml --allure door.yaml", "--allure: door.yaml is no folder: name one"),
      ("run door.yaml --allure /dev/full", "--allure: /dev/full is no folder: name one"),
      ("run door.yaml --allure .", "--allure: . holds other things and no results of Allure: name a folder"),
      (
        "fuzz door --steps 10 --allure Reports",
        "--allure: Reports holds other things and no results of Allure"
      ),
      (
        "report Reports/runs/* --allure x --junit x",
        "--allure and --junit are one place, x: give each one of its own"
      ),
      ("fuzz door --capture a.btsnoop", "--capture goes with --transport"),
      ("cover door --capture a.btsnoop", "--capture goes with --transport"),
      (
        "run door.yaml --control unix:x", "--control is the socket of a lock: name it with --device lock:FILE"
      ),
    ])
  func replaced(line: String, words: String) throws {
    let lock =
      "lock: sesame5\nuuid: bc8d5a7c-c30c-a541-5f3e-d5e63b50dbea\nsecret: 6e4948392ccca36d631b84b4450984da\n"
    try folder.write("lock.yaml", lock)
    TestFolder.write(folder.path + "/key.yaml", lock, mode: 0o600)
    expect(try run("run door.yaml --quiet").status, 0)
    let runs = folder.names("Reports/runs").count
    let result = try run(line)
    expect(result.status, 2)
    #expect(result.errors.hasPrefix("lockstep: \(words)"), "\(result.errors)")
    expect(try folder.read("lock.yaml"), lock)
    expect(try folder.read("key.yaml"), lock)
    #expect(try folder.read("door.yaml").hasPrefix("scenario: A"))
    expect(folder.names("Reports/runs").count, runs)
  }

  @Test("a report takes the place of a report, of an empty file, and of a device's")
  func again() throws {
    for _ in 1...2 { expect(try run("run door.yaml --junit a.xml --html b.html --quiet").status, 0) }
    try folder.write("empty.xml", "")
    expect(try run("run door.yaml --junit empty.xml --html /dev/null --quiet").status, 0)
    #expect(try folder.read("empty.xml").hasPrefix("<?xml"))
  }

  @Test("the name of one of our descriptors means that, whatever file it is")
  func descriptor() throws {
    try folder.write("out", "before\n")
    expect(
      try Command.shell(
        "$LOCKSTEP run door.yaml --html none --junit /dev/fd/1 --quiet >>out", in: folder.path
      ).status, 0)
    let text = try folder.read("out")
    #expect(text.hasPrefix("before\n<?xml") && text.contains("</testsuites>"), "\(text)")
    expect(folder.names("").filter { $0.hasPrefix("out") }, ["out"])
  }

  @Test("results for Allure lie beside those of other runs, and reports that are made again are the same")
  func exchange() throws {
    expect(try run("run door.yaml --quiet --allure allure").status, 0)
    expect(try run("run door.yaml --quiet --allure allure --out again").status, 0)
    let names = folder.names("allure")
    expect(names.filter { $0.hasSuffix("-result.json") }.count, 2)
    expect(try run("report again/runs/* --quiet --allure allure").status, 0)
    expect(try run("report Reports/runs/* --quiet --allure alone").status, 0)
    expect(folder.names("allure"), names)
    for name in folder.names("alone") where name.hasSuffix("-result.json") {
      expect(try folder.read("alone/" + name), try folder.read("allure/" + name))
    }
  }

  @Test(
    "what cannot be written is said, and the run stays",
    arguments: ["--html /dev/full", "--html /proc/no/c.html", "--allure /proc/no"])
  func exchangeUnwritable(option: String) throws {
    let result = try run("run door.yaml --quiet \(option)")
    expect(result.status, 3)
    #expect(result.errors.hasPrefix("lockstep: the reports are not written: "), "\(result.errors)")
    #expect(
      result.errors.contains("once there is a place for them: lockstep report Reports/runs/"),
      "\(result.errors)")
  }

  @Test(
    "times that cannot be written cost a run none of its cases", arguments: ["/dev/full", "/tmp", "/proc/no"])
  func untimed(place: String) throws {
    // The program of the device is quicker than the first line of times.
    try folder.write(
      "door.sh",
      """
      for run in Reports/runs/*; do ln -s \(place) $run/times.jsonl 2>/dev/null; done
      exec python3 -u program.py
      """)
    for name in ["one", "two"] {
      try folder.write(
        "\(name).yaml",
        "scenario: A\nmachine: door\ndevice: \"exec:sh door.sh\"\nsteps: [Open, expect: { status: Opened }]\n"
      )
    }
    let result = try run("run one.yaml two.yaml --quiet")
    expect(result.status, 0)
    #expect(
      result.errors.hasPrefix(
        "lockstep: reports have times of the device, since those of the clock are not written: Reports/"),
      "\(result.errors)")
    #expect(try folder.read("Reports/junit.xml").contains("tests=\"2\" failures=\"0\" errors=\"0\""))
  }

  @Test("no key stands in what others read")
  func exchangeSecret() throws {
    let secret = "6e4948392ccca36d631b84b4450984da"
    TestFolder.write(
      folder.path + "/key.yaml",
      "lock: sesame5\nuuid: bc8d5a7c-c30c-a541-5f3e-d5e63b50dbea\nsecret: \(secret)\n", mode: 0o600)
    try folder.write(
      "keyed.yaml",
      "scenario: With \(secret)\nmachine: sesame\ndevice: { lock: sesame5, registered: true }\ntags: [\"k\(secret)\"]\nsteps: [closeTo]\n"
    )
    let result = try run(
      "run keyed.yaml --device lock:key.yaml --transport tcp-client:127.0.0.1:9 --allure al")
    #expect(result.status == 3, "\(result.output)\(result.errors)")
    #expect(!folder.names("al").isEmpty)
    expect(folder.files(with: secret).sorted(), ["key.yaml", "keyed.yaml"])
    expect(folder.files(with: secret.uppercased()), [])
  }

  @Test("a tour takes the place of a tour")
  func tour() throws {
    for _ in 1...2 { expect(try run("cover door --save tour.yaml --quiet").status, 0) }
    #expect(try folder.read("tour.yaml").contains("scenario: \"A tour of door"))
  }

  @Test("a pipe is waited for until somebody reads it")
  func pipe() throws {
    let result = try Command.shell(
      "mkfifo p; (sleep 0.5; cat p >got) & \"$LOCKSTEP\" run door.yaml --junit p --quiet; s=$?; wait; exit $s",
      in: folder.path)
    expect(result.status, 0)
    #expect(try folder.read("got").hasPrefix("<?xml"))
  }

  @Test("a pipe that nobody reads is given up when the end is asked for, and said")
  func deadPipe() throws {
    folder.makePipe("p")
    let process = try Command.start(
      Command.path, ["run", "door.yaml", "--junit", "p"], in: folder.path, out: folder)
    eventually(by: process) {
      let run = folder.names("Reports/runs").first { !$0.hasPrefix(".") }
      return (try? folder.read("Reports/runs/\(run ?? "")/manifest.json"))?.contains("\"end\"") == true
    }
    process.awaitRest()
    kill(process.processIdentifier, SIGTERM)
    expect(process.waitUntilExit(), 3)
    let errors = try folder.read("errors")
    #expect(errors.contains("not written: cannot write p: no process reads this pipe"), "\(errors)")
  }

  /// Whether this process may make a file system of a few megabytes.
  static let canMount =
    (try? Command.shell("unshare -m sh -c 'mount -t tmpfs -o size=1m none /mnt'").status) == 0

  @Test(
    "a disk that is full in the middle of a run costs the rest of the run, and not its report",
    .enabled(if: canMount, "a file system of its own can only be made by root"))
  func fullDisk() throws {
    let line = """
      mkdir disk && mount -t tmpfs -o size=4m none disk
      "$LOCKSTEP" run door.yaml slow.yaml --out disk/out >text 2>&1 &
      until grep -q '"status":"Opened"' disk/out/runs/*/journal.jsonl && grep -q slow disk/out/runs/*/journal.jsonl
      do sleep 0.05; done 2>/dev/null
      dd if=/dev/zero of=disk/rest bs=4k 2>/dev/null
      kill -TERM $!; wait $!; echo $? >status
      cp disk/out/junit.xml .
      """
    _ = try Command.shell(
      "exec unshare -m sh -c '\(line.replacingOccurrences(of: "'", with: "'\\''"))'", in: folder.path)
    let text = try folder.read("text")
    #expect(["3\n", "5\n"].contains(try folder.read("status")), "\(text)")
    let report = try folder.read("junit.xml")
    #expect(report.contains("tests=\"2\"") && report.hasSuffix("</testsuites>\n"), "\(text) \(report)")
  }

  @Test("a disk that is full at the start is trouble of the machine, in every command that writes")
  func noRoom() throws {
    for command in ["run door.yaml", "fuzz door --steps 10", "cover door"] {
      let line = "calls '%@' none@none#1=EIO -- \(command) --out out"
      let place = try room(command)
      let result = try faulty(line.replacingOccurrences(of: "%@", with: place + "=full-disk"))
      expect(result.status, 3)
      expect(
        result.errors,
        "lockstep: cannot write out: No space left on device; --out DIR puts reports into another folder\n")
      expect(try run("\(command) --out out --quiet").status, 0)
      // A file may not grow, as a service may be limited.
      let limited = try Command.shell("ulimit -f 100; $LOCKSTEP \(command) --out small", in: folder.path)
      expect(limited.status, 3)
      expect(
        limited.errors,
        "lockstep: cannot write small: File too large; --out DIR puts reports into another folder\n")
    }
  }

  /// The call that keeps room.
  private func room(_ command: String) throws -> String {
    try? FileManager.default.removeItem(atPath: folder.path + "/calls")
    _ = try faulty("calls - none@none#1=EIO -- \(command) --out trial --quiet")
    let call = try folder.read("calls").split(separator: "\n").first { $0.hasPrefix("allocate@") }
    return String(try #require(call))
  }

  @Test("a counterexample has the bytes that its scenario sends, though they may look like a key")
  func bytes() throws {
    let typed = "typed: \"000f404142434445464748494a4b4c4d4e4f\""
    try folder.write(
      "jam.yaml",
      """
      scenario: A jam
      machine: sesame
      device: { lock: sesame5, registered: true, configured: true, bolt: unlocked, defect: jam-reported-as-locked }
      steps: [closeTo, connect, { until: { status: unlocked, within: 15 s } }, fault: jam, lock: { \(typed) },
        { expect: { status: moved, within: 6 s } }]

      """)
    expect(try run("run jam.yaml --seed 1").status, 1)
    let name = try #require(folder.names("Reports/failures").first)
    #expect(try folder.read("Reports/failures/\(name)").contains(typed))
    expect(try run("replay Reports/failures/\(name)").status, 1)
  }

  @Test("an emulated lock keeps the key of another one")
  func key() throws {
    try folder.write("key.yaml", "lock: sesame5\nuuid: bc8d5a7c-c30c-a541-5f3e-d5e63b50dbea\n")
    for _ in 1...2 {
      let line = "emulate sesame5 --seed 3 --serve tcp-server:127.0.0.1:0 --key-file key.yaml --duration 50ms"
      expect(try run(line).status, 0)
    }
    #expect(try folder.read("key.yaml").contains("secret"))
    #expect(try folder.read("key.yaml.1").hasSuffix("bc8d5a7c-c30c-a541-5f3e-d5e63b50dbea\n"))
    #expect(!folder.has("key.yaml.2"))
  }
}

@Suite("What is not there", .timeLimit(.minutes(10)))
struct MissingTests {
  private let folder: Command.Folder

  init() throws { folder = try Command.Folder() }

  private func run(_ line: String) throws -> Command.Result {
    try Command.line(line, in: folder.path)
  }

  /// Runs a command some of whose calls fail.
  private func faulty(_ line: String) throws -> Command.Result {
    try Command.shell("\"$WORKBENCH\" faulty \(line)", in: folder.path)
  }

  @Test("a manifest that is gone is missed, and one that says nothing makes the report incomplete")
  func noManifest() throws {
    expect(try run("run '\(Command.root)/Scenarios/door' --quiet").status, 0)
    let name = try #require(folder.names("Reports/runs").first { !$0.hasPrefix(".") })
    let path = "Reports/runs/\(name)/manifest.json"
    for text in ["", "{", "null", "\u{0}\u{1}"] {
      try folder.write(path, text)
      let result = try run("report \(name)")
      expect(result.status, 5)
      let words = "\(path): what it says cannot be understood"
      #expect(result.output.contains("  journal  \(words)\n"), "\(result.output)")
      #expect(try folder.read("Reports/junit.xml").contains(words))
    }
    try FileManager.default.removeItem(atPath: folder.path + "/" + path)
    let result = try run("report \(name)")
    expect(result.status, 0)
    let words = "\(path) is not there: which run it was, and whether it is part of one, is not known"
    #expect(result.output.contains("  journal  \(words)\n"), "\(result.output)")
  }

  @Test("the parts of a run that are not among those that are reported are missed")
  func parts() throws {
    let scenarios = Command.root + "/Scenarios/door"
    for part in 1...3 {
      expect(try run("run '\(scenarios)' --shard \(part)/3 --seed 5 --out s\(part) --quiet").status, 0)
      let named =
        "LOCKSTEP_JOB=j $LOCKSTEP run '\(scenarios)' --shard \(part)/3 --seed 5 --out j\(part) --quiet"
      expect(try Command.shell(named, in: folder.path).status, 0)
    }
    // Each part that is started by hand draws a seed of its own, unless it is given one.
    for part in 1...3 {
      expect(try run("run '\(scenarios)' --shard \(part)/3 --out o\(part) --quiet").status, 0)
    }
    for (line, words) in [
      ("s1/runs/* s3/runs/*", "part 2/3 is not among the runs"),
      ("s1/runs/* o2/runs/* s2/runs/*", "part 3/3 is not among the runs"),
      ("j1/runs/* j3/runs/*", "part 2/3 of the job j is not among the runs"),
    ] {
      let result = try run("report \(line) --out r")
      expect(result.status, 5)
      #expect(result.output.contains("  journal  \(words)\n"), "\(result.output)")
      #expect(try folder.read("r/junit.xml").contains(words))
    }
    for (line, errors) in [
      ("s1/runs/*", "lockstep: this is one part of a run: the parts 2/3, 3/3 are not among the runs\n"),
      (
        "j2/runs/*",
        "lockstep: this is one part of a run: the parts 1/3, 3/3 of the job j are not among the runs\n"
      ),
      ("s1/runs/* s2/runs/* s3/runs/*", ""), ("o1/runs/* o2/runs/* o3/runs/*", ""),
      ("j3/runs/* j1/runs/* j2/runs/*", ""),
    ] {
      let result = try run("report \(line) --out r --quiet")
      expect(result.status, 0)
      expect(result.errors, errors)
    }
  }

  @Test("a copy of the folder of a run is the run, which is said once")
  func copies() throws {
    expect(try run("run '\(Command.root)/Scenarios/door' --quiet --out v1").status, 0)
    try folder.copy("v1", to: "v2")
    let name = try #require(folder.names("v1/runs").first)
    let result = try run("report v1/runs/* v2/runs/* --out v3")
    expect(result.status, 0)
    expect(
      result.errors,
      "lockstep: v1/runs/\(name) and v2/runs/\(name) are one run, which counts once, as it is in v1/runs/\(name)\n"
    )
    #expect(result.output.contains("3 cases of 1 run: 3 agree\n"), "\(result.output)")
    #expect(try folder.read("v3/junit.xml").contains("tests=\"3\""))
  }

  @Test(
    "a pipe or a device that is called a scenario is not passed over",
    arguments: [("/dev/null", "a device"), (nil, "a pipe")] as [(String?, String)])
  func device(target: String?, what: String) throws {
    try folder.copy(Command.root + "/Scenarios/door", to: "d")
    if let target {
      try FileManager.default.createSymbolicLink(
        atPath: folder.path + "/d/x.yaml", withDestinationPath: target)
    } else {
      folder.makePipe("d/x.yaml")
    }
    for command in ["run d", "validate d"] {
      let result = try run(command)
      expect(result.status, 2)
      #expect(
        (result.errors + result.output).contains("d/x.yaml: expected a file, and it is \(what)"),
        "\(result.errors)\(result.output)")
    }
  }

  @Test(
    "what is no file is refused as any document that is read, and not waited for",
    arguments: [
      "run door.yaml --device lock:p --transport tcp-client:127.0.0.1:9", "devices --bench p",
      "doctor --bench p",
      "machines p.yaml", "fuzz p.yaml --steps 1", "run p.yaml", "nightly p.yaml",
      "nightly plan.yaml --bench p",
      "packets p",
    ])
  func document(line: String) throws {
    for name in ["p", "p.yaml"] { folder.makePipe(name) }
    try folder.write("door.yaml", "scenario: A\nmachine: door\ndevice: door\nsteps: [Open]\n")
    try folder.write(
      "plan.yaml", "nightly: N\nduration: 1 h\nsuites: [{ name: a, scenarios: door.yaml, tags: [a] }]\n")
    let result = try run(line)
    expect(result.status, 2)
    #expect((result.errors + result.output).contains("expected a file"), "\(result.errors)\(result.output)")
    #expect((result.errors + result.output).contains("it is a pipe"), "\(result.errors)\(result.output)")
  }

  @Test("what a shell hands over is read as ever, and a signal ends the wait for it")
  func handedOver() throws {
    let bytes = "btsnoop\\0\\0\\0\\0\\1\\0\\0\\3\\352"
    for line in [
      "printf '\(bytes)' >f; \"$LOCKSTEP\" packets f", "printf '\(bytes)' | \"$LOCKSTEP\" packets /dev/stdin",
      "bash -c '\"$LOCKSTEP\" packets <(printf \"\(bytes)\")'",
    ] {
      let result = try Command.shell(line, in: folder.path)
      expect([result.errors, result.output], ["", ""])
      expect(result.status, 0)
    }
    // A thread of these tests may have signals blocked.
    let unblock =
      "import os, signal, sys; signal.pthread_sigmask(signal.SIG_SETMASK, []); os.execvp(sys.argv[1], sys.argv[1:])"
    let result = try Command.shell(
      "mkfifo q; sleep 600 >q & python3 -c '\(unblock)' timeout -k 200 1 \"$LOCKSTEP\" packets /dev/stdin <q; "
        + "s=$?; kill -KILL $!; exit $s", in: folder.path)
    expect(result.status, 124)
  }

  @Test(
    "a manifest that cannot be read now is not taken for none: the run is gone on with later as what it is")
  func manifest() throws {
    try folder.write("a/door.yaml", "scenario: A\nmachine: door\ndevice: door\nsteps: [Open]\n")
    expect(try run("run a --quiet").status, 0)
    let name = try #require(folder.names("Reports/runs").first { !$0.hasPrefix(".") })
    let before = try folder.read("Reports/runs/\(name)/manifest.json")
    _ = try faulty("calls - none@none#1=EIO -- run --resume \(name) --quiet")
    let opens = try folder.read("calls").split(separator: "\n").filter {
      $0.hasPrefix("open@System/WholeFile")
    }
    #expect(opens.count > 1)
    var refusals = 0
    for open in opens {
      try folder.write("Reports/runs/\(name)/manifest.json", before)
      let result = try faulty("calls2 '\(open)=EIO' none@none#1=EIO -- run --resume \(name) --quiet")
      if result.errors.hasPrefix("lockstep: --resume: ") {
        expect(result.status, 3)
        refusals += 1
      }
      let words = try folder.read("Reports/runs/\(name)/manifest.json")
      #expect(words.contains(#""command": ["run", "a", "--quiet"]"#), "\(open): \(words)")
    }
    #expect(refusals > 0)
  }

  @Test("a run is not greener than its report, whatever that cannot read")
  func unreadForReport() throws {
    try folder.write("a/door.yaml", "scenario: A\nmachine: door\ndevice: door\nsteps: [Open]\n")
    _ = try faulty("calls - none@none#1=EIO -- run a --out trial --quiet")
    let calls = try folder.read("calls").split(separator: "\n").filter {
      $0.hasPrefix("open@System/WholeFile") || $0.hasPrefix("read@System/Descriptors")
    }
    var troubles = 0
    for (number, call) in calls.enumerated() {
      let result = try faulty("calls2 '\(call)=EIO' none@none#1=EIO -- run a --out out\(number) --quiet")
      guard folder.has("out\(number)/junit.xml") else { continue }
      let xml = try folder.read("out\(number)/junit.xml")
      #expect(result.status != 0 || xml.contains("errors=\"0\""), "\(call): \(result.status), \(xml)")
      if result.status != 0 { troubles += 1 }
    }
    #expect(troubles > 0)
  }

  @Test("a program that cannot start any more is trouble of the lab, in every case and for a campaign")
  func program() throws {
    let ending = """
      if os.path.exists("down"): sys.exit("No route to host")
      count = 0
      status
      """
    var program = OutputPlacesTests.program.replacingOccurrences(
      of: "status = \"Closed\"\nfor", with: ending + " = \"Closed\"\nfor")
    program = program.replacingOccurrences(
      of: "    if \"reset\" in message: status = \"Closed\"\n",
      with: "    if \"reset\" in message:\n        status = \"Closed\"\n        count += 1\n"
        + "        if count == 2: open(\"down\", \"w\"); sys.exit(255)\n")
    try folder.write("program.py", program)
    for line in [
      "run '\(Command.root)/Scenarios/door' --device 'exec:python3 program.py' --retries 1",
      "fuzz door --device 'exec:python3 program.py' --steps 300 --seed 1",
    ] {
      folder.remove("down")
      let result = try run(line)
      expect(result.status, 3)
      #expect(
        result.output.contains("the program ended before it was asked anything: exit status 1"),
        "\(result.output)")
      #expect(!result.output.contains("diverged") && !result.output.contains("finding"), "\(result.output)")
    }
  }
}
