import Basics
import Documents
import Foundation
import TestSupport
import Testing

@Suite("cover", .timeLimit(.minutes(10)))
struct CoverTests {
  @Test("a tour of the tables visits every cell, and the saved tour does the same")
  func tour() throws {
    let folder = try Command.Folder()
    let result = try Command.call(
      "cover", "sesame-table", "--seed", "3", "--save", "tour.yaml", in: folder.path)
    expect(result.errors, "")
    expect(result.status, 0)
    let name = try #require(folder.names("Reports/runs").first)
    expect(
      result.output,
      """
        saved    tour.yaml
      cover sesame-table on emulator:reference: 318 events, 318 of them stimuli, in 1 test   seed 3
                       states   allowed   forbidden   transitions    pairs
        unregistered      6/6       6/6       72/72           6/6      7/8
        registered      10/10     25/25     105/105         29/31    36/98
        all             16/16     31/31     177/177         35/37   43/106
        report   Reports/report.html

      """)
    let journal = try folder.read("Reports/runs/\(name)/journal.jsonl").split(separator: "\n").map(
      String.init)
    expect(journal[0], #"{"run":{"format":1,"seed":3}}"#)
    #expect(
      journal[1].hasPrefix(#"{"case":{"id":"cover/sesame-table-1","name":"A tour of sesame-table, part 1""#))
    expect(
      journal[journal.count - 2],
      #"{"coverage":{"machine":"sesame-table","legal":[31,31],"empty":[177,177],"states":[16,16],"#
        + #""transitions":[35,37],"pairs":[43,106],"regions":[{"name":"unregistered","legal":[6,6],"#
        + #""empty":[72,72],"states":[6,6],"transitions":[6,6],"pairs":[7,8]},{"name":"registered","#
        + #""legal":[25,25],"empty":[105,105],"states":[10,10],"transitions":[29,31],"pairs":[36,98]}],"#
        + #""visited":["fffffffe","ffffffffffffffffffffffffffffffffffffffffffff8","fffeffdff8"]}}"#)
    #expect(
      try folder.read("Reports/junit.xml").contains("tests=\"1\" failures=\"0\" errors=\"0\" skipped=\"0\""))
    let again = try Command.call("run", "tour.yaml", "-v", in: folder.path)
    expect(again.status, 0)
    #expect(
      again.output.contains("35 of 37 transitions covered, 177 of 177 forbidden requests tried"),
      "\(again.output)")
  }

  @Test("a tour that takes several starts is several cases and several files")
  func parts() throws {
    let folder = try Command.Folder()
    let result = try Command.call("cover", "flow", "--quiet", "--save", "flow.yaml", in: folder.path)
    expect(result.output, "")
    expect(result.status, 0)
    #expect(try folder.read("Reports/junit.xml").contains("tests=\"2\""))
    let again = try Command.call("run", "flow.yaml", "flow-2.yaml", "-v", in: folder.path)
    expect(again.status, 0)
    #expect(
      again.output.contains("23 of 23 transitions covered, 322 of 322 forbidden requests tried"),
      "\(again.output)")
  }

  @Test("a divergence ends 1, is saved, and replays")
  func divergence() throws {
    let folder = try Command.Folder()
    let result = try Command.call(
      "cover", "flow", "--device", "emulator:flow?defect=late-block", in: folder.path)
    expect(result.status, 1)
    expect(result.errors, "")
    let failures = folder.names("Reports/failures")
    expect(failures.count, 1)
    #expect(result.output.contains("lockstep replay Reports/failures/\(failures[0])"), "\(result.output)")
    let replay = try Command.call("replay", "Reports/failures/\(failures[0])", in: folder.path)
    expect(replay.status, 1)
  }

  @Test("what is wrong while a lock that lives on is made ready replays, too")
  func divergenceInPreparation() throws {
    let folder = try Command.Folder()
    let device = "emulator:sesame5?as=real&loss=0.01&defect=publish-before-login"
    let result = try Command.call("cover", "sesame", "--device", device, "--seed", "3", in: folder.path)
    expect(result.status, 1)
    #expect(result.output.contains("while the device was made ready for it"), "\(result.output)")
    let failures = folder.names("Reports/failures")
    #expect(!failures.isEmpty)
    for failure in failures {
      let replay = try Command.call("replay", "Reports/failures/\(failure)", in: folder.path)
      expect(replay.status, 1)
    }
  }

  @Test("a program that stops answering diverges in a tour, as it does anywhere")
  func stopsAnswering() throws {
    let folder = try Command.Folder()
    let program = """
      import json, sys
      status = "Closed"
      for line in sys.stdin:
          message = json.loads(line)
          if "reset" in message: status = "Closed"
          elif message["stimulus"] == "Open": status = "Opened"
          else: sys.exit(3)
          print(json.dumps({"status": status}))
          print(json.dumps({"settled": True}), flush=True)
      """
    try Data(program.utf8).write(to: URL(fileURLWithPath: folder.path + "/door.py"))
    let result = try Command.call("cover", "door", "--device", "exec:python3 door.py", in: folder.path)
    expect(result.status, 1)
    let words =
      "stopped answering: the device's program ended: exit status 3, of python3 door.py, and again in two fresh starts"
    #expect(result.output.contains(words), "\(result.output)")
  }

  @Test("what is missing comes with the reason and the way, for a person and for a program")
  func missing() throws {
    let folder = try Command.Folder()
    let human = try Command.call("cover", "sesame-table", "--steps", "200", in: folder.path)
    expect(human.status, 5)
    #expect(human.output.contains("missing\n  allowed    "), "\(human.output)")
    // What the device does not take at all is one line, and not one for each state.
    let unserved = try Command.call("cover", "sesame", "--steps", "20", in: folder.path).output
    let line = "  request    in 58 states: readStatus   this device does not take it"
    #expect(unserved.split(separator: "\n").contains { $0 == line }, "\(unserved)")
    #expect(!unserved.contains("this device does not take readStatus"), "\(unserved)")
    let result = try Command.call(
      "cover", "sesame-table", "--steps", "20", "--format", "json", in: folder.path)
    expect(result.status, 5)
    let lines = try result.output.split(separator: "\n").map { try JSON(parsing: String($0)) }
    let gaps = lines.compactMap { $0["missing"] }
    let gap = try #require(gaps.first { $0["state"] == "connecting (registered)" && $0["legal"] == true })
    expect(gap["stimuli"], ["linkUp"])
    expect(gap["reason"], "not tried")
    expect(gap["path"], ["start: noSignal (registered)", "closeTo", "connect", "linkUp"])
  }

  @Test(
    "a command line that is wrong ends 2 and says what is wrong",
    arguments: [
      ("cover", "lockstep: missing MACHINE"), ("cover lift", "lockstep: unknown machine `lift`"),
      ("cover door --device emulator:socket", "lockstep: --device: socket cannot be compared with"),
    ])
  func usage(words: String, message: String) throws {
    let folder = try Command.Folder()
    let result = try Command.line(words, in: folder.path)
    expect(result.status, 2)
    #expect(result.errors.hasPrefix(message), "\(result.errors)")
  }
}
