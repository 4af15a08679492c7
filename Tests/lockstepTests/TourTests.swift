import CommandLine
import Foundation
import Journal
import TestSupport
import Testing

@testable import Tours
@testable import lockstep

@Suite("Tours", .timeLimit(.minutes(10)))
struct TourTests {
  @Test("every command of every tour is one, and every text fits a terminal and needs nothing but ASCII")
  func wellFormed() throws {
    for tour in GuidedTour.all {
      for step in tour.steps {
        #expect(!step.actions.isEmpty, "\(tour.name): \(step.title)")
        for case .run(let words, _) in step.actions {
          try CommandSet.lockstep.named(words[0]).check(Array(words.dropFirst()))
        }
        #expect((step.text + step.look + step.title).allSatisfy { $0.isASCII }, "\(step.title)")
        // Of a heading, "-- 1 of 5: " stands before it.
        #expect(step.title.count <= TourGuide.width - 12, "\(step.title)")
      }
      #expect((tour.beginning + tour.end + tour.title).allSatisfy { $0.isASCII })
      #expect(tour.title.count <= TourGuide.width - 4)
      expect(tour.next.count, 3)
      for (command, what) in tour.next {
        let words = command.split(separator: " ").map(String.init)
        expect(words[0], "lockstep")
        if words[1] == "help" {
          _ = try CommandSet.lockstep.named(words[2])
        } else {
          try CommandSet.lockstep.named(words[1]).check(Array(words.dropFirst(2)))
        }
        #expect(command.count <= 78 && what.count <= 72, "\(command)")
      }
    }
    expect(Set(GuidedTour.all.map(\.name)).count, GuidedTour.all.count)
  }

  @Test(
    "each goes to its end by itself, in a folder with nothing in it", arguments: GuidedTour.all.map(\.name))
  func end(name: String) throws {
    let folder = try Command.Folder()
    let result = try Command.run("tour", name, "--yes", in: folder.path)
    expect(result.status, 0)
    let tour = try #require(GuidedTour.all.first { $0.name == name })
    // Every step was shown, with each command, and none stopped it.
    for (index, step) in tour.steps.enumerated() {
      #expect(result.output.contains("-- \(index + 1) of \(tour.steps.count): \(step.title) -"))
    }
    for (command, _) in tour.next { #expect(result.output.contains("\n  \(command)\n")) }
    #expect(!result.errors.contains("the tour"), "\(result.errors)")
    expect(folder.names(""), ["lockstep-tour"])
    expect(folder.names("lockstep-tour"), [".lockstep-tour", name])
  }

  @Test("the whole text of one")
  func text() throws {
    let folder = try Command.Folder()
    let result = try Command.shell(
      "ln -s $LOCKSTEP lockstep; PATH=$PWD:$PATH; lockstep tour own-lock --in t", in: folder.path)
    expect(result.status, 0)
    let shown = Self.ownLock.split(separator: "\n", omittingEmptySubsequences: false)
    let printed = result.output.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(PageCheck.matches(shown[...], printed[...]), "\(result.output)")
  }

  @Test("Enter goes on, step by step, and another tour in the same place moves aside what is there")
  func enter() throws {
    let folder = try Command.Folder()
    let enters = String(repeating: "\\n", count: 12)
    let tour = "printf '\(enters)' | script -qec \"exec $LOCKSTEP tour\" /dev/null"
    let result = try Command.shell("\(tour) && touch lockstep-tour/bug/mine && \(tour)", in: folder.path)
    expect(result.status, 0)
    expect(
      result.output.components(separatedBy: "[Enter runs it; q and Enter end the tour]").count, 2 * 4 + 1)
    #expect(result.output.contains("It works in lockstep-tour/bug and nowhere else.\r\n"))
    #expect(result.output.contains("what an earlier tour left\r\nthere is moved aside first."))
    #expect(result.output.contains("What an earlier tour left is in lockstep-tour/bug-1 now.\r\n"))
    expect(result.output.components(separatedBy: "What next:").count, 3)
    #expect(folder.has("lockstep-tour/bug-1/mine") && !folder.has("lockstep-tour/bug/mine"))
  }

  @Test("the reports of a night have the times that somebody waited, of each case that was driven")
  func nightTimes() throws {
    let folder = try Command.Folder()
    expect(try Command.run("tour", "night", "--yes", in: folder.path).status, 0)
    let reports = "lockstep-tour/night/Reports"
    let run = try #require(folder.names(reports + "/runs").first { $0.hasSuffix("-nightly") })
    let cases = "\(reports)/runs/\(run)/cases"
    let waited = try folder.names(cases).flatMap { number in
      let runs = "\(cases)/\(number)/runs"
      return try folder.names(runs).flatMap { run in
        try folder.read("\(runs)/\(run)/times.jsonl").matches(of: /"seconds":([0-9.]+)/).compactMap {
          Double($0.output.1)
        }
      }
    }
    let junit = try folder.read(reports + "/junit.xml")
    let times = junit.matches(of: /<testcase [^>]*time="([0-9.]+)"/).compactMap { Double($0.output.1) }
    // The locks count other times, some twenty seconds in all.
    expect(waited.count, 9)
    for (time, wait) in zip(times.sorted(), waited.sorted()) { #expect(abs(time - wait) < 0.001) }
    expect(times.count, waited.count)
  }

  /// Waits until the terminal, of which `script` writes everything to the file `said`, has shown something.
  private static let seen =
    #"seen() { timeout 240 sh -c 'until grep -qs -e "$0" said; do sleep 0.05; done' "$1"; sleep 0.2; }"#

  /// What is typed at the third question, and how the tour ends then.
  static let answers: [(typed: String, status: Int32)] = [
    ("q\\n", 0), ("  Quit\\n", 0), ("\\004", 0), ("\\003", 5),
  ]

  @Test("q ends it, and the end of what is typed, and Ctrl-C", arguments: answers)
  func quit(typed: String, status: Int32) throws {
    let folder = try Command.Folder()
    let result = try Command.shell(
      """
      \(Self.seen)
      mkfifo keys; exec 3<>keys
      (printf '\\n\\n'; seen '-- 2 of 5'; printf '\(typed)') >&3 &
      script -qefc "exec $LOCKSTEP tour" said <keys
      """, in: folder.path)
    expect(result.status, status)
    #expect(result.output.contains("-- 2 of 5") && !result.output.contains("-- 3 of 5"), "\(result.output)")
    #expect(result.output.contains("  rm -r lockstep-tour\r\n") && !result.output.contains("What next"))
  }

  @Test("colours are for terminals, and NO_COLOR takes them away")
  func colors() throws {
    let folder = try Command.Folder()
    let line =
      "printf 'q\\n' | env -u NO_COLOR -u CLICOLOR_FORCE TERM=xterm script -qec 'exec $LOCKSTEP tour' /dev/null"
    #expect(try Command.shell(line, in: folder.path).output.contains("\u{1B}[1m-- A bug"))
    let plain = try Command.shell(line.replacing("env -u NO_COLOR", with: "env NO_COLOR=1"), in: folder.path)
    #expect(!plain.output.contains("\u{1B}["), "\(plain.output)")
  }

  @Test("a signal ends it with what it runs, and nothing is left behind", arguments: ["INT", "TERM", "HUP"])
  func interrupted(signal: String) throws {
    let folder = try Command.Folder()
    let result = try Command.shell(
      """
      $LOCKSTEP tour --yes > said 2>&1 & tour=$!
      until grep -q '^[$] lockstep fuzz' said; do sleep 0.01; done
      kill -\(signal) $tour; wait $tour; echo "status $?"
      for process in /proc/[0-9]*; do readlink $process/cwd; done 2>/dev/null | grep -c "$PWD/lockstep-tour"
      """, in: folder.path)
    expect(result.output, "status 5\n0\n")
    let said = try folder.read("said")
    #expect(
      said.contains("lockstep: the tour was stopped\n") && said.contains("  rm -r lockstep-tour\n"), "\(said)"
    )
    #expect(!said.contains("-- 3 of 5"))
  }

  @Test("a command that ends otherwise than it should is said, and the tour stops")
  func otherwise() throws {
    let folder = try Command.Folder()
    let result = try Command.shell(
      """
      mkdir bin; printf '#!/bin/sh\\nexit 7\\n' > bin/python3; chmod +x bin/python3
      PATH=$PWD/bin:$PATH; $LOCKSTEP tour own-lock --yes
      """, in: folder.path)
    expect(result.status, 3)
    #expect(
      result.errors.contains(
        "lockstep: the command ended with status 3, and not with 0 as it should: the tour stops here"),
      "\(result.errors)")
    #expect(result.output.hasSuffix("  rm -r lockstep-tour\n\n"))
    let without = try Command.shell("PATH=/nowhere; $LOCKSTEP tour own-lock --yes", in: folder.path)
    expect(without.status, 3)
    expect(without.errors, "lockstep: this tour needs python3, and there is none on the PATH\n")
  }

  @Test("nothing of anybody's is overwritten, and what cannot be written is the machine's trouble")
  func places() throws {
    let folder = try Command.Folder()
    try folder.write("mine/notes", "mine")
    try folder.write("file", "mine")
    try FileManager.default.createDirectory(atPath: folder.path + "/empty", withIntermediateDirectories: true)
    let cases: [(place: String, status: Int32, message: String)] = [
      (
        "mine", 2,
        "mine is no folder of a tour, and not empty: nothing is overwritten; --in names another one"
      ),
      ("file", 2, "file is no folder: nothing is overwritten; --in names another one"),
      ("file/below", 3, "file/below: Not a directory"),
      ("/proc/tour", 3, "/proc/tour: there is no such file or folder"),
      ("", 2, "'--in' expects some text, not ''"),
    ]
    for (place, status, message) in cases {
      let result = try Command.call("tour", "--yes", "--in", place, in: folder.path)
      expect(result.status, status)
      expect(result.errors.split(separator: "\n").first.map(String.init), "lockstep: " + message)
      expect(result.output, "")
    }
    expect(try folder.read("mine/notes"), "mine")
    expect(try folder.read("file"), "mine")
    expect(try Command.run("tour", "--yes", "--in", "empty", in: folder.path).status, 0)
  }

  @Test("a link in the place of a tour's own folder is moved aside, and not followed")
  func link() throws {
    let folder = try Command.Folder()
    try folder.write("mine/notes", "mine")
    try folder.write("tours/.lockstep-tour", "")
    let result = try Command.shell(
      "ln -s ../mine tours/bug; $LOCKSTEP tour --yes --in tours", in: folder.path)
    expect(result.status, 0)
    expect(folder.names("mine"), ["notes"])
    expect(try folder.read("tours/bug-1/notes"), "mine")
  }

  @Test("two at a time in one place are one too many")
  func held() throws {
    let folder = try Command.Folder()
    let result = try Command.shell(
      """
      mkdir lockstep-tour && exec 9> lockstep-tour/.lockstep-tour && flock 9
      $LOCKSTEP tour --yes 9>&-; echo "status $?"
      """, in: folder.path)
    expect(result.output, "status 2\n")
    expect(
      result.errors, "lockstep: another tour goes on in lockstep-tour; --in names another folder\n")
  }

  @Test("what is changed in the middle by who looks on stays as it is")
  func changed() throws {
    let folder = try Command.Folder()
    // Four questions: the beginning, new, run, fuzz; at the fifth the line is to be changed.
    let script = """
      \(Self.seen)
      mkfifo keys; exec 3<>keys
      (printf '\\n\\n\\n\\n'; seen 'Enter does it'
       sed -i 's/< TRIES/<= TRIES/' lockstep-tour/own-lock/keypad/device.py
       printf '\\n\\n\\n\\n') >&3 &
      script -qefc "exec $LOCKSTEP tour own-lock" said <keys
      """
    let result = try Command.shell(script, in: folder.path)
    expect(result.status, 0)
    #expect(result.output.contains("You have changed device.py: so it stays."), "\(result.output)")
    #expect(result.output.contains("shutOut"), "\(result.output)")
    #expect(result.output.contains("4 cases: 4 agree"))
  }

  @Test("where nobody reads what it says, it stops")
  func closedOutput() throws {
    let folder = try Command.Folder()
    let result = try Command.shell("$LOCKSTEP tour --yes >&-; echo status $? >&2", in: folder.path)
    #expect(result.errors.hasSuffix("status 5\n"), "\(result.errors)")
    #expect(!folder.has("lockstep-tour/bug/Reports"))
    let full = try Command.shell("$LOCKSTEP tour --yes >/dev/full; echo status $? >&2", in: folder.path)
    #expect(full.errors.hasSuffix("status 5\n"), "\(full.errors)")
  }
}

extension TourTests {
  /// What the tour of a lock of one's own says, on a machine whose PATH has the command.
  static let ownLock = """
    -- A lock of your own as a program: you break it, it is found, you mend it. --

    Your lock can be any program: it reads what is done to it and answers with
    what it shows, a line of JSON each. This tour makes one in Python, breaks a
    line of it, and has Lockstep find out.

    It works in t/own-lock and nowhere else.

    -- 1 of 6: A project ---------------------------------------------------------

    'new' lays out a folder: a machine, which says what the lock may do, a
    program, which is the lock, and some scenarios.

    $ cd t/own-lock
    $ lockstep new keypad --kind exec
      keypad/README.md
    …
    $ cd keypad
    Look: keypad.yaml is the machine, device.py the lock: a door with a keypad for
    two users. It locks by itself five seconds after the right code, accepts no
    code for a while after three wrong ones, and keeps a log.

    -- 2 of 6: It works ----------------------------------------------------------

    The scenarios of the project, and then five thousand random events:

    $ lockstep run scenarios
    3 cases: 3 agree     … s   seed …
      report   Reports/report.html

    $ lockstep fuzz keypad.yaml --device 'exec:python3 device.py' --steps 5000 --seed 1
    …
    nothing found in 5,000 events of … tests     … s   seed 1
      coverage keypad.yaml: 8 of 8 transitions covered, … of 6 forbidden requests tried
      report   Reports/report.html

    Look: '8 of 8 transitions covered': everything that the machine allows was
    tried, and nothing was wrong.

    -- 3 of 6: Break it ----------------------------------------------------------

    Now the lock gets a bug: its log says of a wrong code that it opened the door.
    The tour changes the line when you go on. Or break something yourself: first
    open keypad/device.py of the tour's folder in an editor, change what you like,
    and save it.

    $ cp device.py good.py
    $ sed -i 's/"refused"/"opened"/' device.py

    -- 4 of 6: It is found -------------------------------------------------------

    The same search as before, on the lock with the bug:

    $ lockstep fuzz keypad.yaml --device 'exec:python3 device.py' --steps 5000 --seed 1
    …
    ✘ finding 1: reproduced 3 of 3
        log[0].event is opened, and refused is due, as enter at … s left it
        after   readLog
        model   log[0].event refused, as enter at … s left it
        device  log[0].event opened
          - { now: { enter: { user: anna, code: "7036" } } }
          - { now: readLog }
        enter user anna code 7036, readLog: refused was due as log[0].event, as enter at … s left it, the device showed opened.
      lockstep replay Reports/failures/fuzz-keypad-….yaml
    …

    Look: the first line says what is wrong in the log, and since when. 'after',
    'model' and 'device': what was done last, what the machine allows then, and
    what the lock did. Below stand the few events that show it.

    -- 5 of 6: Mend it -----------------------------------------------------------

    The good program is put back. Do it yourself in your editor, or go on and the
    tour does it.

    $ cp good.py device.py

    -- 6 of 6: It stays mended ---------------------------------------------------

    What was found is a scenario now. It is run with the others from here on, and
    fails if the bug comes back.

    $ lockstep run Reports/failures scenarios
    4 cases: 4 agree     … s   seed …
    …

    Look: all agree, including the generated test. The page is
    Reports/report.html.

    You have a project: from here keypad.yaml says what your lock may do, and
    device.py is your lock.

    What the tour made is in t. This removes it:

      rm -r t

    What next:

      lockstep help new
          a project for a lock with Bluetooth; page 'Your own lock'
      lockstep schema machine
          what stands in a machine file; page 'Machine files'
      lockstep tour night
          many locks, unattended

    """
}
