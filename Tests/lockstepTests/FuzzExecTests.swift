import Foundation
import TestSupport
import Testing

/// A door in a few lines of Python; `EXTRA` is what is wrong with it.
private let door = """
  import json, os, sys, time
  status, opened = "Closed", 0
  for line in sys.stdin:
      message = json.loads(line)
      stimulus = message.get("stimulus")
      if "reset" in message: status, opened = "Closed", 0
      if (stimulus, status) == ("Open", "Closed"): status, opened = "Opened", opened + 1
      elif (stimulus, status) == ("Close", "Opened"): status = "Closed"
      EXTRA
      print(json.dumps({"status": status}))
      print(json.dumps({"settled": True}), flush=True)

  """

private func fuzz(_ extra: String, _ words: String) throws -> (Command.Result, Command.Folder) {
  let folder = try Command.Folder()
  try folder.write("door.py", door.replacingOccurrences(of: "EXTRA", with: extra))
  let line =
    "fuzz door --device 'exec:python3 door.py' --seed 1 --color never \(words.replacing("$PWD", with: folder.path))"
  return (try Command.line(line, in: folder.path), folder)
}

@Suite("Fuzzing programs", .timeLimit(.minutes(10)))
struct FuzzExecTests {
  @Test("a program that does what the machine says is given as many events as were asked for")
  func healthy() throws {
    let (result, folder) = try fuzz("pass", "--steps 300")
    expect(result.errors, "")
    expect(result.status, 0)
    #expect(result.output.contains("nothing found in 300 events"), "\(result.output)")
    #expect(try folder.read("Reports/junit.xml").contains(#"failures="0""#))
  }

  @Test("one that sticks when it is opened for the third time is found, shrunk and replayed")
  func broken() throws {
    let (result, folder) = try fuzz("if opened == 3: status = 'Closed'", "")
    expect(result.status, 1)
    #expect(result.output.contains("finding 1: reproduced 3 of 3"), "\(result.output)")
    let file = try #require(folder.names("Reports/failures").first)
    let saved = try folder.read("Reports/failures/\(file)")
    // Open, Close, Open, Close, Open.
    expect(saved.components(separatedBy: "now: Open").count - 1, 3)
    expect(saved.components(separatedBy: "now: Close").count - 1, 2)
    let replay = try Command.call("replay", "Reports/failures/\(file)", in: folder.path)
    expect(replay.status, 1)
    #expect(try folder.read("Reports/junit.xml").contains(#"failures="1""#))
  }

  @Test(
    "the page of a finding has its text, its lanes and its timeline, wherever reports lie",
    arguments: [
      "--out Reports", "--out $PWD/deep/er", "--out deep/er --allure $PWD/allure", "--out ../$OTHER",
    ])
  func page(places: String) throws {
    let other = try Command.Folder()
    let name = String(other.path.split(separator: "/").last ?? "")
    let (result, folder) = try fuzz(
      "if opened == 3: status = 'Closed'", places.replacing("$OTHER", with: name))
    expect(result.status, 1)
    let place = places.contains("deep") ? "deep/er" : places.contains("$OTHER") ? "../\(name)" : "Reports"
    let page = try folder.read("\(place)/report.html")
    func count(_ text: String) -> Int { page.components(separatedBy: text).count - 1 }
    // Open, Close, Open, Close, Open: in the scenario, between the lanes, and in the timeline.
    expect([count("{ now: Open }"), count("{ now: Close }")], [3, 2])
    expect([count(">▸ Open</text>"), count(">▸ Close</text>")], [3, 2])
    expect([count("<tr class=\"tester\">"), count("</span> Open ")], [5, 3])
    expect(count("<text class=\"badtext\""), 1)
    #expect(page.contains("<h4>Allowed and seen</h4>"))
    // The line to paste does it again.
    let replay = try #require(page.firstMatch(of: /<code>lockstep (replay [^<]*)<\/code>/)).1
    expect(try Command.line(String(replay), in: folder.path).status, 1)
  }

  @Test("one that hangs or dies in the same way again and again has stopped answering, in bounded time")
  func stopsAnswering() throws {
    for (extra, symptom) in [
      ("if opened == 2: time.sleep(1000)", "no answer"),
      ("if opened == 2: os._exit(3)", "the device's program ended"),
    ] {
      // Far more than a start takes, for it is waited for to the end.
      let (result, folder) = try fuzz(extra, "--answer-timeout 10s --shrink-budget 2")
      expect(result.status, 1)
      #expect(result.output.contains("stopped answering: \(symptom)"), "\(result.output)")
      expect(folder.names("Reports/failures").count, 1)
    }
  }

  @Test("one that dies at the third message of every start is found, and what is saved shows it again")
  func diesAtTheThirdMessage() throws {
    let (result, folder) = try fuzz(
      "count = globals().get('count', 0) + 1\n    if count == 3: os._exit(1)", "")
    expect(result.status, 1)
    #expect(result.output.contains("finding 1: reproduced 3 of 3"), "\(result.output)")
    let file = try #require(folder.names("Reports/failures").first)
    #expect(try !folder.read("Reports/failures/\(file)").contains("wait: settled"))
    expect(try Command.call("replay", "Reports/failures/\(file)", in: folder.path).status, 1)
  }

  @Test("one that dies once costs one lab fault, and not the campaign, whose end says so")
  func diesOnce() throws {
    let (result, folder) = try fuzz(
      "if opened == 2 and not os.path.exists('died'): open('died', 'w'); os._exit(3)", "--steps 300")
    expect(result.status, 3)
    #expect(result.output.contains("trouble  1 lab fault, 1 test without a verdict"), "\(result.output)")
    #expect(result.output.contains("nothing found in 300 events"), "\(result.output)")
    #expect(result.output.contains("  ended    no verdict: on 1 of "), "\(result.output)")
    #expect(try folder.read("Reports/junit.xml").contains(#"failures="0" errors="1""#))
  }

  @Test(
    "one that has never answered is trouble of the lab, in every command",
    arguments: ["time.sleep(1000)", "os._exit(3)", "print('hello', flush=True); continue"])
  func neverAnswers(extra: String) throws {
    // One that ends need not be waited for, however long Python takes to begin.
    let timeout = extra.contains("_exit") ? "30s" : "500ms"
    let (result, folder) = try fuzz(extra, "--answer-timeout \(timeout)")
    expect(result.status, 3)
    // Of one that does not start nothing is claimed, not even that nothing was found.
    let words = extra.contains("_exit") ? "the program did not start" : "the program has not answered once"
    #expect(result.output.contains("\n⚡ no device: \(words)"), "\(result.output)")
    #expect(!result.output.contains(" in 0 events"), "\(result.output)")
    expect(folder.names("Reports/failures"), [])
    try folder.write("s.yaml", "scenario: A\nmachine: door\nsteps: [Open, Close]\n")
    for command in ["run", "replay"] {
      let line = "\(command) s.yaml --device 'exec:python3 door.py' --answer-timeout \(timeout)"
      let result = try Command.line(line, in: folder.path)
      expect(result.status, 3)
      #expect(result.output.contains(words), "\(result.output)")
    }
  }

  @Test("a campaign that comes to no verdict in its time has not gone well")
  func onlyTrouble() throws {
    // It says what it is, and comes to the end of no answer: each start is waited for.
    let (result, folder) = try fuzz(
      #"if "hello" in message: print(json.dumps({"hello": {"protocol": 2}}), flush=True)"#
        + "\n    time.sleep(1000)", "--duration 1s --answer-timeout 1500ms")
    expect(result.status, 3)
    #expect(result.output.contains("no verdict in "), "\(result.output)")
    #expect(result.output.contains("  ended    no verdict: on any test, the first because of no device: "))
    #expect(try folder.read("Reports/junit.xml").contains(#"failures="0" errors="1""#))
  }

  @Test("a start that it refuses is left out, and said once, by however many workers", arguments: [1, 3])
  func refusedStart(jobs: Int) throws {
    let folder = try Command.Folder()
    let lock = """
      import json, sys
      for line in sys.stdin:
          message = json.loads(line)
          if message.get("reset", {}).get("registered") is REFUSED:
              print(json.dumps({"refused": "I have my owner"}), flush=True)
          elif message.get("stimulus", "") not in ("", "closeTo"):
              print(json.dumps({"refused": "no"}), flush=True)
          else:
              print(json.dumps({"status": "noSignal" if "reset" in message else "receivedBle"}))
              print(json.dumps({"settled": True}), flush=True)

      """
    try folder.write("some.py", lock.replacingOccurrences(of: "REFUSED", with: "False"))
    try folder.write("all.py", lock.replacingOccurrences(of: "is REFUSED", with: "is not None"))
    func fuzz(_ program: String) throws -> Command.Result {
      try Command.shell(
        "$LOCKSTEP fuzz sesame-table --device 'exec:python3 \(program)' --jobs \(jobs) --seed 1 --steps 3k "
          + "--keep-going --weight connect=0 --weight wait=0 --weight edge=0 --length 4",
        in: folder.path)
    }
    let some = try fuzz("some.py")
    let words = "left out tests that start with registered: no"
    expect(some.output.components(separatedBy: words).count - 1, 1)
    #expect(some.output.contains("the device refuses this start: I have my owner"), "\(some.output)")
    #expect(!some.output.contains("lab fault"), "\(some.output)")
    let all = try fuzz("all.py")
    expect(all.status, 3)
    #expect(
      all.output.contains("not possible with this device: the device refuses this start"), "\(all.output)")
  }
}
