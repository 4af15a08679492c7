import Foundation
import TestSupport
import Testing

@testable import Benchmarks

/// The lock with a keypad that figures are measured with, of which tests change a line; it tells what it is asked.
private let keypad = ExecKeypad.python.program.replacing(
  "    lock.reading(", with: "    lock.log(\"asked for the battery\")\n    lock.reading(")

private let hasCPlusPlus = (try? Program.run("/usr/bin/env", ["c++", "--version"]))?.status == 0

@Suite("A lock of one's own", .timeLimit(.minutes(10)))
struct OwnLockTests {
  /// A folder with the module, the machine, a lock, of which a line may be another one, and a scenario.
  private func folder(
    time: String = "virtual", _ line: String = "", _ other: String = ""
  ) throws -> Command.Folder {
    let folder = try Command.Folder()
    let module = try Command.call("bindings", "python")
    expect(module.status, 0)
    try folder.write("lockstep_device.py", module.output)
    try folder.write("keypad.yaml", ExecKeypad.machine)
    let lock = keypad.replacing("\"virtual\"", with: "\"\(time)\"")
    #expect(line.isEmpty || lock.contains(line))
    try folder.write("keypad.py", line.isEmpty ? lock : lock.replacing(line, with: other))
    try folder.write(
      "Scenarios/out.yaml",
      """
      scenario: Three wrong codes lock it out
      machine: ../keypad.yaml
      device: exec:python3 keypad.py
      steps:
        - enterWrong
        - enterWrong
        - enterWrong
        - expect: { status: LockedOut }
        \(time == "virtual" ? "- expect: { status: Locked, within: 31 s }" : "- wait: 100 ms")
        - readBattery
        - expect: { battery: 5.9 }
        \(time == "virtual" ? "- wait: 10 h" : "")
      """)
    return folder
  }

  @Test("in virtual time and in real time, with readings, effects and a log", arguments: ["virtual", "real"])
  func agrees(time: String) throws {
    let folder = try folder(time: time)
    let result = try Command.call("run", "-v", in: folder.path)
    expect(result.status, 0)
    #expect(result.output.contains("1 case: 1 agree"), "\(result.output)\(result.errors)")
    let run = try #require(folder.names("Reports/runs").first)
    expect(try folder.read("Reports/runs/\(run)/programs.log"), "asked for the battery\n")
    #expect(result.errors.contains("program: asked for the battery"), "\(result.errors)")
  }

  @Test("one seed gives one trace, timers and all, and ten hours take no time")
  func deterministic() throws {
    let folder = try folder()
    var journals: [String] = []
    for out in ["one", "two"] {
      let result = try Command.call(
        "fuzz", "keypad.yaml", "--device", "exec:python3 keypad.py", "--seed", "5", "--steps", "3000",
        "--out", out,
        in: folder.path)
      expect(result.status, 0)
      let corpus = folder.names("\(out)/corpus/keypad")
      #expect(corpus.count > 5, "\(result.output)")
      journals.append(try corpus.map { try $0 + folder.read("\(out)/corpus/keypad/\($0)") }.joined())
    }
    expect(journals[0], journals[1])
  }

  @Test(
    "a bug in its timers is found and replayed",
    arguments: [
      // Locked out for too short, and a counter that nothing resets.
      ("turn(\"LockedOut\", 30.0)", "turn(\"LockedOut\", 29.0)", "the device showed Locked"),
      ("lock.timer = lock.after(60.0, forget)", "lock.timer = None", "the device showed LockedOut"),
      ("turn(\"Unlocked\", 5.0)", "turn(\"Unlocked\")", "the device showed nothing"),
    ])
  func bug(line: String, other: String, words: String) throws {
    let folder = try folder(line, other)
    let result = try Command.call(
      "fuzz", "keypad.yaml", "--device", "exec:python3 keypad.py", "--seed", "1", "--steps", "20k",
      in: folder.path)
    expect(result.status, 1)
    #expect(result.output.contains(words), "\(result.output)")
    let failure = try #require(folder.names("Reports/failures").first)
    expect(try Command.call("replay", "Reports/failures/" + failure, in: folder.path).status, 1)
  }

  @Test("what is saved of a machine in a file finds it again: corpus, counterexample, tour")
  func machineFile() throws {
    let folder = try folder()
    let device = ["--device", "exec:python3 keypad.py"]
    let fuzz = ["fuzz", "keypad.yaml", "--seed", "1", "--steps", "2000"] + device
    expect(try Command.call(fuzz, in: folder.path).status, 0)
    let kept = folder.names("Reports/corpus/keypad").count
    let again = try Command.call(fuzz + ["-v"], in: folder.path)
    #expect(again.output.contains("corpus  Reports/corpus/keypad: \(kept) tests"), "\(again.output)")
    try folder.write(
      "Reports/corpus/keypad/a.yaml", "scenario: A\nmachine: keypad.yaml\nsteps: [now: kick]\n")
    let told = try Command.call(fuzz, in: folder.path)
    expect(told.status, 0)
    #expect(
      told.output.contains("1 cannot be used: Reports/corpus/keypad/a.yaml: unknown stimulus `kick`"),
      "\(told.output)")
    let tour = ["cover", "keypad.yaml", "--save", "Scenarios/tour.yaml", "--seed", "1"] + device
    expect(try Command.call(tour, in: folder.path).status, 0)
    let replayed = try Command.call("run", "Scenarios/tour.yaml", in: folder.path)
    expect(replayed.status, 0)
    #expect(replayed.output.contains("agree"), "\(replayed.output)")
  }

  @Test("a reading that is not what the machine says is a divergence, in a scenario and in a campaign")
  func reading() throws {
    let folder = try folder("    lock.reading(\"battery\", 5.9)", "    lock.reading(\"battery\", \"5.9\")")
    let words = "battery is the text '5.9', and not a number"
    let run = try Command.call("run", in: folder.path)
    expect(run.status, 1)
    #expect(run.output.contains(words), "\(run.output)")
    let fuzz = try Command.call(
      "fuzz", "keypad.yaml", "--device", "exec:python3 keypad.py", "--seed", "1", "--steps", "2000",
      in: folder.path)
    expect(fuzz.status, 1)
    #expect(fuzz.output.contains(words), "\(fuzz.output)")
  }

  @Test("the last that it said stands beside a case that failed")
  func lastWords() throws {
    let folder = try folder(
      "    lock.reading(\"battery\", 5.9)", "    print('it is warm'); lock.show(\"Unlocked\")")
    let result = try Command.call("run", in: folder.path)
    expect(result.status, 1)
    #expect(
      result.output.contains("the program said: asked for the battery")
        && result.output.contains("the program said: it is warm"), "\(result.output)")
    #expect(try folder.read("Reports/junit.xml").contains("programs.log"))
  }

  @Test("what is printed before it runs goes to the standard error, and who tests a lock in Python keeps it")
  func printed() throws {
    let folder = try folder(
      "lock.run()",
      """
      import subprocess
      print("firmware 1.2", flush=True)
      # A program that it starts is not driven: it has its output, and knows nothing of Lockstep.
      child = "import lockstep_device; print('kept', flush=True); print(lockstep_device._output)"
      kept = subprocess.run([sys.executable, "-c", child], stdout=subprocess.PIPE, text=True).stdout
      assert kept == "kept\\nNone\\n", kept
      if __name__ == "__main__": lock.run()
      """)
    try folder.write("keypad.py", "import sys\n" + (try folder.read("keypad.py")))
    let result = try Command.call("run", in: folder.path)
    expect(result.status, 0)
    let test = try Program.run(
      "/usr/bin/env", ["python3", "-c", "import keypad; print('tested')"], in: folder.path)
    expect(String(decoding: test.output, as: UTF8.self), "firmware 1.2\ntested\n")
    // Before the module is there nobody takes what is printed.
    try folder.write("keypad.py", "print('started', flush=True)\n" + (try folder.read("keypad.py")))
    try folder.write(
      "Scenarios/out.yaml",
      "scenario: Early\nmachine: ../keypad.yaml\ndevice: exec:python3 keypad.py\nsteps: [enterWrong]\n")
    let early = try Command.call("run", in: folder.path)
    expect(early.status, 3)
    #expect(
      early.output.contains(
        "the device wrote 'started': expected a JSON value at byte 0; a program prints nothing on its standard output but answers"
      ), "\(early.output)")
  }

  @Test(
    "a greeting that is wrong, or that the machine knows nothing of, is said before anything is run",
    arguments: [
      (
        ", moves=[\"enter\"]", ", moves=[\"entre\"]",
        "greeting cannot be used: `entre` is not among its `stimuli`"
      ),
      (", moves=[\"enter\"]", ", reports=[\"readBatery\"]", "did you mean `readBattery`?"),
      (", moves=[\"enter\"]", ", conditions=[\"cold\"]", "unknown condition of the device `cold`"),
      (
        ", moves=[\"enter\"]", ", reports=[\"readBattery\"]",
        "the device reports the event `readBattery`, which only the tester brings about in `keypad.yaml`"
      ),
      (
        "def enterWrong", "def enterWorng", "did you mean `enterWrong`?"
      ),
    ])
  func misunderstood(line: String, other: String, words: String) throws {
    let folder = try folder(line, other)
    let fuzz = ["fuzz", "keypad.yaml", "--device", "exec:python3 keypad.py", "--steps", "10"]
    for command in [["run"], fuzz] {
      let result = try Command.call(command, in: folder.path)
      expect(result.status, 2)
      #expect(result.errors.contains(words), "\(result.errors)")
    }
    // A run says where, and leaves no report of an earlier one behind.
    #expect(try Command.call("run", in: folder.path).errors.contains("Scenarios/"))
    #expect(try folder.read("Reports/junit.xml").contains("errors=\"1\""))
  }

  @Test("a rule that it says was broken ends the test, in scenarios and in generated tests")
  func violation() throws {
    let folder = try folder(
      "lock.reading(\"battery\", 5.9)", "lock.violation(\"no-battery\", \"it is flat\")")
    for words in [
      ["run"],
      ["fuzz", "keypad.yaml", "--device", "exec:python3 keypad.py", "--seed", "1", "--steps", "500"],
    ] {
      let result = try Command.call(words, in: folder.path)
      expect(result.status, 1)
      #expect(result.output.contains("the device broke a rule: no-battery"), "\(result.output)")
    }
  }

  @Test(
    "a timer that refuses does nothing, a reading that is no number is shown so, and arguments that it does not take are refused"
  )
  func strange() throws {
    let folder = try folder(
      "    lock.reading(\"battery\", 5.9)",
      """
          lock.after(1.0, lambda: lock.refuse("in a timer"))
          lock.after(float("inf"), lambda: None)
          lock.reading("battery", float("nan"))
      """)
    // What a machine says nothing of may be anything.
    let machine = try folder.read("keypad.yaml")
    #expect(machine.contains("readings: { battery: number }\n"))
    try folder.write("keypad.yaml", machine.replacing("readings: { battery: number }\n", with: ""))
    try folder.write(
      "Scenarios/out.yaml",
      """
      scenario: Strange
      machine: ../keypad.yaml
      device: exec:python3 keypad.py
      steps:
        - readBattery
        - wait: 5 s
        - enter
        - expect: { status: Unlocked }
      """)
    expect(try Command.call("run", in: folder.path).status, 0)
    let lines = """
      printf '%s\\n' '{"reset":{}}' '{"stimulus":"enter","arguments":{"speed":3}}' '{"stimulus":"readBattery"}' | python3 keypad.py
      """
    let result = try Command.shell(lines, in: folder.path)
    #expect(
      result.output.contains("got an unexpected keyword argument 'speed'")
        && result.output.contains(#"{"reading":{"battery":"not a number"}}"#),
      "\(result.output)\(result.errors)")
  }

  @Test("who asks for the end while it is greeted leaves no program behind")
  func interrupted() throws {
    let folder = try folder(
      "lock.run()",
      """
      import os, time
      with open("begun", "w") as file: file.write(str(os.getpid()))
      os.rename("begun", "greeted")
      time.sleep(600)
      """)
    let out = try Command.Folder()
    let process = try Command.start(
      Command.path, ["run", "--answer-timeout", "600"], in: folder.path, out: out)
    eventually(by: process) { folder.has("greeted") }
    let program = try #require(Int32(try folder.read("greeted")))
    process.signal(SIGINT)
    expect(process.waitUntilExit(), 5)
    // It may be killed while it waits for a disk, and whoever takes over an orphan may be late to let it go: it has no
    // command line any more then.
    eventually { ((try? Data(contentsOf: URL(filePath: "/proc/\(program)/cmdline"))) ?? Data()).isEmpty }
  }

  @Test(
    "the header for C is compiled without a warning, and its lock agrees in both times",
    arguments: ["1", "0"])
  func c(isVirtual: String) throws {
    let folder = try folder(time: isVirtual == "1" ? "virtual" : "real")
    try folder.write("lockstep_device.h", try Command.call("bindings", "c").output)
    try folder.write(
      "keypad.c", ExecKeypad.c.program.replacing(".is_virtual=1", with: ".is_virtual=\(isVirtual)"))
    try compile(
      "cc -std=c99 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Wpedantic -Werror -O1 -fsanitize=undefined -o keypad keypad.c -lm",
      in: folder)
    let device = "exec:./keypad"
    let result = try Command.call("run", "--device", device, in: folder.path)
    expect(result.status, 0)
    if isVirtual == "1" { try expectSame(as: device, in: folder) }
  }

  @Test("the header for C is compiled as C++, too", .enabled(if: hasCPlusPlus, "needs c++"))
  func cPlusPlus() throws {
    let folder = try Command.Folder()
    try folder.write("lockstep_device.h", try Command.call("bindings", "c").output)
    try folder.write(
      "door.cpp",
      """
      #define LOCKSTEP_DEVICE
      #include "lockstep_device.h"
      static void reset(const lockstep_values *) { lockstep_show("Closed"); }
      static void stimulus(const char *name, const lockstep_values *) {
        lockstep_show(strcmp(name, "Open") ? "Closed" : "Opened");
      }
      int main() {
        static const char *const stimuli[] = {"Open", "Close", NULL};
        lockstep_device door = {};
        door.name = "door";
        door.is_virtual = 1;
        door.stimuli = stimuli;
        door.reset = reset;
        door.stimulus = stimulus;
        return lockstep_run(&door);
      }

      """)
    try folder.write(
      "door.yaml", "scenario: A\nmachine: door\ndevice: \"exec:./door\"\nsteps: [Open, Close]\n")
    try compile("c++ -std=c++11 -Wall -Werror -o door door.cpp", in: folder)
    expect(try Command.call("run", "door.yaml", in: folder.path).status, 0)
  }

  /// Runs a compiler, which has nothing to complain of.
  private func compile(_ line: String, in folder: Command.Folder) throws {
    let built = try Program.run("/usr/bin/env", ShellWords.split(line), in: folder.path)
    expect([String(decoding: built.errors, as: UTF8.self), "\(built.status)"], ["", "0"])
  }

  /// A lock in another language does what that in Python does.
  private func expectSame(as device: String, in folder: Command.Folder) throws {
    var corpora: [[String]] = []
    for (program, out) in [(device, "other"), ("exec:python3 keypad.py", "python")] {
      let fuzzed = try Command.call(
        "fuzz", "keypad.yaml", "--device", program, "--seed", "1", "--steps", "5000", "--out", out,
        in: folder.path)
      expect(fuzzed.status, 0)
      let steps = try folder.names("\(out)/corpus/keypad").map { name in
        String(try folder.read("\(out)/corpus/keypad/\(name)").split(separator: "steps:").last ?? "")
      }
      #expect(steps.count > 5)
      corpora.append(steps.sorted())
    }
    expect(corpora[0], corpora[1])
  }

  @Test("a language that there is no file for")
  func bindings() throws {
    let result = try Command.call("bindings", "pyton")
    expect(result.status, 2)
    #expect(result.errors.contains("did you mean 'python'?"), "\(result.errors)")
  }
}
