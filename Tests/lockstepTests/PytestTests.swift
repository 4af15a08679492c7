import Foundation
import TestSupport
import Testing

// pytest alone is there with labgrid too; with the readers of reports come its workers.
@Suite("Scenarios as tests of pytest", .timeLimit(.minutes(10)), .needs(.pytest, .flakemap))
struct PytestTests {
  /// A folder with scenarios, one of which no lock can be driven by, and the plugin.
  private func folder() throws -> Command.Folder {
    let folder = try Command.Folder()
    let plugin = try Command.call("bindings", "pytest")
    expect(plugin.status, 0)
    try folder.write("lockstep_pytest.py", plugin.output)
    try folder.write("conftest.py", "pytest_plugins = [\"lockstep_pytest\"]\n")
    try folder.write("Scenarios/unlock.yaml", TestFrameworks.unlock)
    try folder.write("Scenarios/lock.yaml", TestFrameworks.lock)
    try folder.write("Scenarios/door.yaml", TestFrameworks.door)
    // No scenario, and nothing that is to be said of it.
    try folder.write("Scenarios/bench.yaml", "locks:\n  scenario: nothing\n")
    return folder
  }

  private struct Session {
    var status: Int32
    /// What became of each item, as the summary says it.
    var ends: [String]
    var output: String
  }

  /// - Parameter hasOthers: whether it loads the plugins of others that are installed, which takes it ten times as long.
  private func pytest(
    _ words: String, in folder: Command.Folder, hasOthers: Bool = false
  ) throws -> Session {
    let plugins = hasOthers ? "" : "PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 PYTEST_ADDOPTS='-p xdist.plugin'"
    let result = try Command.shell(
      "COLUMNS=400 \(plugins) '\(Tool.pytest.path)' -rA -p no:cacheprovider \(words) 2>&1", in: folder.path)
    let kinds = ["PASSED ", "FAILED ", "ERROR ", "SKIPPED ", "XFAIL "]
    let ends = result.output.split(separator: "\n").map(String.init).filter { line in
      kinds.contains { line.hasPrefix($0) }
    }
    return Session(status: result.status, ends: ends.sorted(), output: result.output)
  }

  private static let (unlock, lock, door) = (
    "Scenarios/unlock.yaml::An unlock is told", "Scenarios/lock.yaml::A lock is found",
    "Scenarios/door.yaml::A door opens"
  )
  private static let lags = "--lockstep-device '\(TestFrameworks.broken)'"
  private static let late = "the device showed nothing, although the model required something by this time"

  @Test("all agree: each is an item that passed, of one run")
  func healthy() throws {
    let folder = try folder()
    let session = try pytest("", in: folder, hasOthers: true)
    expect(session.status, 0)
    expect(session.ends, [Self.door, Self.lock, Self.unlock].map { "PASSED \($0)" })
    expect(folder.names("Reports/runs").count, 1)
    // What it leaves is collected no more than what it is told to leave out.
    expect(try pytest("--collect-only -q", in: folder).output.contains("3 tests collected"), true)
  }

  @Test("a broken lock fails one item, with model and device, the line, and the way back; a door is skipped")
  func broken() throws {
    let folder = try folder()
    let session = try pytest("--junitxml junit.xml --lockstep-seed 7 \(Self.lags)", in: folder)
    expect(session.status, 1)
    expect(
      session.ends.filter { !$0.hasPrefix("SKIPPED") },
      ["FAILED \(Self.unlock) - \(Self.late)", "PASSED \(Self.lock)"])
    let skipped = session.ends.filter { $0.hasPrefix("SKIPPED") }
    #expect(skipped.count == 1 && skipped[0].hasSuffix("sesame5 cannot be compared with the machine door"))
    let saved = try #require(folder.names("Reports/failures").first)
    for line in [
      "Scenarios/unlock.yaml:12   diverged at step 7, t = 5.1875 s", "    \(Self.late)", "    after   unlock",
      "    device  locked", "  lockstep replay \(folder.path)/Reports/failures/\(saved)",
    ] { #expect(session.output.contains("\n\(line)\n"), "\(line)\n\(session.output)") }
    let junit = try folder.read("junit.xml")
    #expect(junit.contains(#"errors="0" failures="1" skipped="1" tests="3""#), "\(junit)")
    #expect(junit.contains(#"<property name="lockstep.seed" value="7""#), "\(junit)")
    #expect(junit.contains(#"<failure message="\#(Self.late)""#), "\(junit)")
  }

  @Test(
    "a scenario that only another ending tells from the next has a verdict of its own, and no tag excuses it")
  func alike() throws {
    let folder = try folder()
    try folder.write("Scenarios/same.yaml", TestFrameworks.lock)
    try folder.write("Scenarios/same.yml", TestFrameworks.unlock)
    for (name, tag) in [("x", "xfail"), ("y", "skip"), ("z", "flaky")] {
      try folder.write(
        "Scenarios/\(name).yaml",
        TestFrameworks.unlock.replacing("tags: [smoke,", with: "tags: [\(tag),"))
    }
    let session = try pytest("\(Self.lags)", in: folder)
    expect(session.status, 1)
    expect(
      session.ends.filter { !$0.hasPrefix("SKIPPED") }.map { String($0.prefix { $0 != ":" }) },
      ["same.yml", "unlock.yaml", "x.yaml", "y.yaml", "z.yaml"].map { "FAILED Scenarios/\($0)" }
        + ["lock.yaml", "same.yaml"].map { "PASSED Scenarios/\($0)" })
    let marked = try pytest("--collect-only -q -m tag_xfail", in: folder)
    #expect(marked.output.contains("1/8 tests collected"), "\(marked.output)")
  }

  @Test("trouble of the lab is an error and no failure, and so is a run that dies or is not in order")
  func trouble() throws {
    let folder = try folder()
    let lab = try pytest("--junitxml junit.xml --lockstep-device exec:/nowhere/at/all", in: folder)
    expect(lab.status, 1)
    expect(lab.ends.map { String($0.prefix(6)) }, ["ERROR ", "ERROR ", "ERROR "])
    #expect(try folder.read("junit.xml").contains(#"errors="3" failures="0""#))
    #expect(lab.output.contains("trouble in the lab") && lab.output.contains("no device"), "\(lab.output)")
    for (line, ends, words) in [
      ("exit 70", ["ERROR "], "no verdict on Scenarios/lock (lockstep ended with status 70)"),
      (
        "\"$LOCKSTEP\" \"$@\"; exit 70", ["PASSED"], "the run is not in order (lockstep ended with status 70)"
      ),
    ] {
      try folder.write("command.sh", "case $1 in run) \(line) ;; *) exec \"$LOCKSTEP\" \"$@\" ;; esac\n")
      let died = try pytest("Scenarios/lock.yaml --lockstep-command 'sh command.sh'", in: folder)
      expect(died.status, 1)
      expect(died.ends.map { String($0.prefix(6)) }, ends)
      #expect(died.output.contains(words), "\(died.output)")
    }
  }

  @Test("a scenario that cannot be read, and a command that is not there, are errors of the collection")
  func collection() throws {
    let folder = try folder()
    try folder.write("Scenarios/wrong.yaml", TestFrameworks.lock.replacing("closeTo", with: "closeToo"))
    let wrong = try pytest("", in: folder)
    expect(wrong.status, 2)
    expect(wrong.ends, ["ERROR Scenarios/wrong.yaml"])
    #expect(
      wrong.output.contains("Scenarios/wrong.yaml:5:5") && wrong.output.contains("closeTo"), "\(wrong.output)"
    )
    // The others are what they are.
    let session = try pytest("--continue-on-collection-errors", in: folder)
    expect(session.ends.filter { $0.hasPrefix("PASSED") }.count, 3)
    let missing = try pytest("--junitxml junit.xml --lockstep-command /nowhere/lockstep", in: folder)
    expect(missing.status, 2)
    expect(missing.ends.count, 4)
    #expect(
      try folder.read("junit.xml").contains("lockstep cannot be started: /nowhere/lockstep: No such file"))
    let device = try pytest("--lockstep-device emulator:sesami5", in: folder)
    expect(device.status, 2)
    #expect(device.output.contains("sesame5"), "\(device.output)")
  }

  @Test("a file that is meant as a scenario and cannot be read is an error, and no other file is one")
  func meant() throws {
    let folder = try folder()
    let door = "machine: door\ndevice: door\nsteps: [Open]\n"
    let broken = [
      ("a", "scenraio: never run\n" + door), ("b", "Scenario: never run\n" + door), ("c", door),
      ("d", "device: door\nsteps:\n  # by hand\n  - Open\n"), ("e", "machine: door\nseed: 1\n"),
      ("f", "\tscenario: never run\n" + door), ("g", "machine: door\n\tscenario: never run\n"),
      ("h", "--- {machine: door, steps: [Open]}\n"), ("i", "{\n  # a comment: {\n  \"scenario\": 1\n}\n"),
      ("j", "# yaml-language-server: $schema=scenario.schema.json\n"), ("k", "\u{FEFF}Scenario : \n" + door),
    ]
    for (name, text) in broken { try folder.write("Meant/\(name).yaml", text) }
    let wide = try #require(("scenario: never run\n" + door).data(using: .utf16LittleEndian))
    for (name, bytes) in [("l", wide), ("m", Data([0xFF, 0xFE]) + wide)] {
      try bytes.write(to: URL(fileURLWithPath: "\(folder.path)/Meant/\(name).yml"))
    }
    let others = [
      "services:\n  scenario: {image: a}\n  machine: b\n  steps: [c]\n",
      "machine: door\nstates: [A]\ntags: [b]\n",
      "device: cuda\nseed: 42\nsteps: 1000\n", "steps:\n- name: gcr.io/a\ntags: [b]\n", "scenarios:\n  - a\n",
      "profiles:\n  ci: {seed: 1}\n", "locks:\n  a: {scenarios: [b], device: c}\n", "",
      "- machine: a\n  steps: [b]\n",
      "{\"a\": {\"machine\": 1, \"steps\": [1]}, \"b\": \"{scenario: 1\"}\n", "device: [\n", "machine: m1\n",
    ]
    for (index, text) in others.enumerated() { try folder.write("Meant/other-\(index).yaml", text) }
    // What is moved to the right is well-formed.
    try folder.write(
      "Meant/right.yaml", "  scenario: moved\n  machine: door\n  device: door\n  steps: [Open]\n")
    let session = try pytest("-W error --continue-on-collection-errors Meant", in: folder)
    expect(session.status, 1)
    expect(
      session.ends,
      broken.map { "ERROR Meant/\($0.0).yaml" } + [
        "ERROR Meant/l.yml", "ERROR Meant/m.yml", "PASSED Meant/right.yaml::moved",
      ])
    for words in ["did you mean `scenario`?", "the file is UTF-16", "indent with spaces, not with tabs"] {
      #expect(session.output.contains(words), "\(session.output)")
    }
  }

  @Test("nothing is left open: warnings as errors change nothing", arguments: ["", "-n 2"])
  func closed(words: String) throws {
    let folder = try folder()
    try folder.write("pytest.ini", "[pytest]\nfilterwarnings = error\n")
    try folder.write("Scenarios/wrong.yaml", TestFrameworks.lock.replacing("closeTo", with: "closeToo"))
    let session = try pytest("--continue-on-collection-errors \(words) \(Self.lags)", in: folder)
    expect(session.status, 1)
    expect(
      session.ends.map { $0.split(separator: " - ")[0].prefix(26) },
      [
        "ERROR Scenarios/wrong.yaml", "FAILED \(Self.unlock)".prefix(26), "PASSED \(Self.lock)".prefix(26),
        "SKIPPED [1] lockstep_pytest.py".prefix(26),
      ])
    #expect(!session.output.contains("ResourceWarning"), "\(session.output)")
  }

  @Test(
    "what pytest selects is what is run, and nothing else",
    arguments: [
      ("-k unlock", ["FAILED \(unlock) - \(late)"]), ("-m smoke", ["FAILED \(unlock) - \(late)"]),
      ("-m 'lockstep and not two_words'", ["PASSED \(lock)"]), ("'\(lock)'", ["PASSED \(lock)"]),
      ("-x Scenarios/unlock.yaml Scenarios/lock.yaml", ["FAILED \(unlock) - \(late)"]),
      (
        "--maxfail 2 Scenarios/unlock.yaml Scenarios/lock.yaml",
        ["FAILED \(unlock) - \(late)", "PASSED \(lock)"]
      ),
      ("-p no:randomly --strict-markers Scenarios/lock.yaml", ["PASSED \(lock)"]),
    ] as [(String, [String])])
  func selection(words: String, ends: [String]) throws {
    let folder = try folder()
    let session = try pytest("\(words) \(Self.lags)", in: folder)
    expect(session.ends.filter { !$0.hasPrefix("SKIPPED") }, ends)
    expect(session.status, ends.contains { $0.hasPrefix("FAILED") } ? 1 : 0)
    // With -x no case is begun either of which pytest would not tell.
    let run = try #require(folder.names("Reports/runs").first)
    let journal = try folder.read("Reports/runs/\(run)/journal.jsonl")
    let begun = journal.split(separator: "\n").filter { $0.contains(#""stimulus":"closeTo""#) }.count
    expect(begun, ends.count)
  }

  @Test("what failed the last time is known again")
  func lastFailed() throws {
    let folder = try folder()
    expect(try pytest("-p cacheprovider \(Self.lags)", in: folder).status, 1)
    let again = try pytest("-p cacheprovider --lf \(Self.lags)", in: folder)
    expect(again.ends, ["FAILED \(Self.unlock) - \(Self.late)"])
  }

  @Test("what agrees when it is tried again passes and is told; told to fail, it fails")
  func flaky() throws {
    let folder = try folder()
    try folder.write("door.sh", TestFrameworks.flakyDoor)
    let options = "Scenarios/door.yaml --lockstep-device 'exec:sh door.sh' --junitxml junit.xml"
    let flaky = try pytest("\(options) --lockstep-args '--retries 2'", in: folder)
    expect(flaky.status, 0)
    #expect(flaky.output.contains("\nflaky   \(Self.door)\n"), "\(flaky.output)")
    #expect(try folder.read("junit.xml").contains(#"name="lockstep.attempts" value="2""#))
    try FileManager.default.removeItem(atPath: folder.path + "/opened")
    let failed = try pytest("\(options) --lockstep-args '--retries 2 --flaky-result fail'", in: folder)
    expect(failed.ends, ["FAILED \(Self.door) - flaky: it agreed at try 2"])
  }

  @Test("rounds are one item, which is as the worst of them")
  func rounds() throws {
    let folder = try folder()
    try folder.write("door.sh", TestFrameworks.flakyDoor)
    let session = try pytest(
      "Scenarios/door.yaml --lockstep-device 'exec:sh door.sh' --lockstep-args '--repeat 3'", in: folder)
    #expect(session.ends.count == 1 && session.ends[0].hasPrefix("FAILED \(Self.door)"), "\(session.output)")
  }

  @Test("beside tests in Python, and by several workers")
  func others() throws {
    let folder = try folder()
    // It is not run while a scenario is: the one that came before has its reports by then.
    try folder.write(
      "Scenarios/test_between.py",
      "import os\n\ndef test_it():\n    assert os.path.exists('Reports/junit.xml')\n")
    let order = "Scenarios/unlock.yaml Scenarios/test_between.py Scenarios/lock.yaml"
    let session = try pytest(order, in: folder)
    expect(
      session.ends,
      ["PASSED \(Self.lock)", "PASSED Scenarios/test_between.py::test_it", "PASSED \(Self.unlock)"])
    expect(folder.names("Reports/runs").count, 1)
    let workers = try pytest("-n 2 \(order) \(Self.lags)", in: folder)
    expect(workers.status, 1)
    expect(
      workers.ends.map { $0.split(separator: " - ")[0] },
      ["FAILED \(Self.unlock)", "PASSED \(Self.lock)", "PASSED Scenarios/test_between.py::test_it"].map {
        $0[...]
      })
  }

  @Test("of several workers one report is made, in place of that of another session")
  func workers() throws {
    let folder = try folder()
    expect(try pytest("Scenarios/lock.yaml", in: folder).status, 0)
    for words in ["Scenarios/lock.yaml Scenarios/unlock.yaml \(Self.lags)", "Scenarios/unlock.yaml"] {
      let session = try pytest("-n 2 \(words)", in: folder)
      #expect(session.output.contains("\nreports in \(folder.path)/Reports\n"), "\(session.output)")
      let fails = words.contains("lags")
      expect(session.status, fails ? 1 : 0)
      let junit = try folder.read("Reports/junit.xml")
      #expect(
        junit.contains("tests=\"\(fails ? 2 : 1)\" failures=\"\(fails ? 1 : 0)\" errors=\"0\" skipped=\"0\""),
        "\(junit)")
    }
    // What a worker's run says was wrong makes the session fail, and so does a report that cannot be made.
    for (line, words) in [
      ("run) \"$LOCKSTEP\" \"$@\"; exit 70", "the run is not in order (lockstep ended with status 70)"),
      ("report) exit 70", "the reports of the workers cannot be merged (lockstep ended with status 70)"),
    ] {
      try folder.write("command.sh", "case $1 in \(line) ;; *) exec \"$LOCKSTEP\" \"$@\" ;; esac\n")
      let session = try pytest("-n 1 Scenarios/lock.yaml --lockstep-command 'sh command.sh'", in: folder)
      expect(session.status, 1)
      #expect(session.output.contains(words), "\(session.output)")
    }
  }

  @Test(
    "options that pytest has its own for are refused",
    arguments: [
      ("--filter=jam", "--filter is not taken here: use -k or -m of"),
      ("--retries 2 --last-failed", "--last-failed is not taken here: use --lf of"),
      ("--max-fail 1", "--max-fail is not taken here: use --maxfail of"),
      ("--fail-fast", "--fail-fast is not taken here: use -x of"),
      ("--shard 1/2", "--shard is not taken here: use paths"),
      ("--device door", "--device is not taken here: use --lockstep-device of"),
      ("--transport \"usb:0", "No closing quotation"),
    ])
  func refused(options: String, words: String) throws {
    let folder = try folder()
    for more in ["", " -n 1"] {
      let session = try pytest("--lockstep-args='\(options)'\(more)", in: folder)
      expect(session.status, 4)
      #expect(session.output.contains("ERROR: --lockstep-args: \(words)"), "\(session.output)")
    }
    expect(folder.has("Reports"), false)
  }

  @Test("in one job of several of a pipeline all that pytest has is run", arguments: ["", "-n 2"])
  func pipeline(words: String) throws {
    let folder = try folder()
    let gitlab = "GITLAB_CI=true CI_PIPELINE_ID=1 CI_JOB_NAME=a CI_NODE_INDEX=2 CI_NODE_TOTAL=4"
    let result = try Command.shell(
      "export \(gitlab); '\(Tool.pytest.path)' -q -p no:cacheprovider \(words)", in: folder.path)
    expect(result.status, 0)
    #expect(result.output.contains("3 passed"), "\(result.output)")
  }

  @Test("two names of one scenario are two items, and a session that is interrupted ends its run in order")
  func edges() throws {
    let folder = try folder()
    try FileManager.default.createSymbolicLink(
      atPath: folder.path + "/Scenarios/same.yaml", withDestinationPath: "lock.yaml")
    expect(try pytest("Scenarios/same.yaml Scenarios/lock.yaml", in: folder).ends.count, 2)
    try folder.write(
      "door.sh",
      """
      while read -r line; do
        case $line in
          *reset*) echo '{"status":"Closed"}' ;;
          *Open*) touch begun; sleep 2; echo '{"status":"Opened"}' ;;
        esac
        echo '{"settled":true}'
      done

      """)
    try folder.write("Scenarios/slow/1.yaml", TestFrameworks.door)
    try folder.write("Scenarios/slow/2.yaml", TestFrameworks.door)
    try folder.write(
      "interrupted.py",
      """
      import os, signal, subprocess, sys, time

      signal.signal(signal.SIGINT, signal.default_int_handler)
      session = subprocess.Popen(sys.argv[1:])
      while not os.path.exists("begun"):
          time.sleep(0.05)
      session.send_signal(signal.SIGINT)
      sys.exit(session.wait())

      """)
    let result = try Command.shell(
      """
      '\(Command.root)/.build/peers/venv/bin/python' interrupted.py '\(Tool.pytest.path)' -p no:cacheprovider \
        Scenarios/slow --lockstep-device 'exec:sh door.sh' --lockstep-out out
      """, in: folder.path)
    expect(result.status, 2)
    let run = try #require(folder.names("out/runs").first)
    #expect(try folder.read("out/runs/\(run)/journal.jsonl").hasSuffix(#""status":5}}"# + "\n"))
    #expect(folder.has("out/junit.xml"))
  }

  /// What of twister's own plugin the recipe meets: its options, and a board that is started once, which is a lock of ours.
  private static let twister = """
    import os
    import signal
    import subprocess

    import pytest


    def pytest_addoption(parser):
        for name in ("--device-type", "--build-dir", "--dut-scope"):
            parser.addoption(name)


    @pytest.fixture(scope="session")
    def dut():
        words = [os.environ["LOCKSTEP"], "emulate", os.environ["FIRMWARE"], "--seed", "5", "--key-file", "other.yaml"]
        board = subprocess.Popen(words + ["--transport", "tcp-client:127.0.0.1:9001"], stdout=subprocess.PIPE)
        assert board.stdout.readline()
        yield board
        board.send_signal(signal.SIGINT)
        board.wait()

    """

  @Test(
    "the recipe for twister, with a stand-in for it and for the firmware",
    arguments: [
      ("sesame5", 0, "PASSED"), (TestFrameworks.broken.replacing("emulator:", with: ""), 1, "FAILED"),
    ])
  func twister(firmware: String, status: Int32, end: String) throws {
    let page = try #require(Pages.named("Sources/lockstep/lockstep.docc/Test-frameworks.md"))
    let folder = try folder()
    let ports = ["9001": "\(try freePort())", "9002": "\(try freePort())"]
    func write(_ name: String, _ text: String) throws {
      try folder.write(name, ports.reduce(text) { $0.replacing($1.key, with: $1.value) })
    }
    let files = page.blocks.filter { $0.file?.hasPrefix("firmware/") == true }
    expect(
      files.map { $0.file! }.sorted(),
      ["conftest.py", "test_boot.py"].map { "firmware/pytest/\($0)" } + ["firmware/testcase.yaml"])
    for block in files { try write(block.file!, block.text) }
    let plugin = try folder.read("lockstep_pytest.py")
    try write("firmware/pytest/twister_stand_in.py", Self.twister)
    try folder.write("firmware/pytest/lockstep_pytest.py", plugin)
    try folder.write("firmware/pytest/pytest.ini", "[pytest]\n")
    try folder.write("firmware/pytest/scenarios/unlock.yaml", TestFrameworks.unlock)
    // What twister reads is what is given to pytest here.
    let harness = try Command.shell(
      """
      '\(Command.root)/.build/peers/venv/bin/python' -c "import yaml
      harness = yaml.safe_load(open('firmware/testcase.yaml'))['tests']['lock.lockstep']['harness_config']
      print(*harness['pytest_root'], *harness['pytest_args'], '--dut-scope=' + harness['pytest_dut_scope'])"
      """, in: folder.path)
    let words = harness.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    expect(words, "pytest/test_boot.py pytest/scenarios --lockstep-device=lock:lock.yaml --dut-scope=session")
    let result = try Command.shell(
      """
      export LOCKSTEP_STATE=$PWD/state FIRMWARE='\(firmware)' PYTHONPATH=$PWD/firmware/pytest COLUMNS=400
      cd firmware/pytest
      $LOCKSTEP emulate "$FIRMWARE" --seed 5 --serve tcp-server:127.0.0.1:\(ports["9002"]!) --key-file lock.yaml \\
        --duration 1s > made
      cd ..
      '\(Tool.pytest.path)' -rA -p no:cacheprovider -p twister_stand_in --device-type=native --build-dir=build \(words)
      """, in: folder.path)
    expect(result.status, status)
    let ends = result.output.split(separator: "\n").filter {
      $0.hasPrefix("PASSED") || $0.hasPrefix("FAILED")
    }
    expect(
      ends.map { $0.split(separator: " - ")[0] }.sorted(),
      [
        "\(end) pytest/scenarios/unlock.yaml::An unlock is told"[...],
        "PASSED pytest/test_boot.py::test_the_lock_starts",
      ]
      .sorted())
    #expect(!result.output.contains("not in order"), "\(result.output)")
  }
}
