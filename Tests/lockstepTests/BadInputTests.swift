import Foundation
import TestSupport
import Testing

@testable import Harness

private let head = "scenario: A\nmachine: sesame-table\nsteps:\n"

@Suite("Bad input", .timeLimit(.minutes(10)))
struct BadInputTests {
  /// What stands in the file, and everything that is said of it.
  // swift-format-ignore
  static let files: [(text: String, message: String)] = [
    (head + "  - conect\n", """
      bad.yaml:4:5: unknown step `conect`
        4 |   - conect
          |     ^~~~~~ did you mean `connect`?
      """),
    (head + "  - expect: { statuss: noSignal }\n", """
      bad.yaml:4:15: unknown key `statuss`
        4 |   - expect: { statuss: noSignal }
          |               ^~~~~~~ did you mean `status`?
      """),
    ("scenario: A\nmachine: sesame\ndevice: { lock: sesame5, defect: deaf-unlok }\nsteps: [closeTo]\n", """
      bad.yaml:3:34: `deaf-unlok` is not a value of `defect`
        3 | device: { lock: sesame5, defect: deaf-unlok }
          |                                  ^~~~~~~~~~ did you mean `deaf-unlock`?
      """),
    (head + "  - wait: soon\n  - wait: 3\n", """
      bad.yaml:4:11: expected a duration such as 3 s, found `soon`
        4 |   - wait: soon
          |           ^~~~
      bad.yaml:5:11: expected a duration such as 3 s, found `3`
        5 |   - wait: 3
          |           ^ a unit is missing: `3 s`
      """),
    ("scenario: A\nmachine: sesame\nsteps:\n  - setAutolock: { dleay: 3 s }\n  - refuse: { connect: 3 }\n"
      + "  - fault: { jam: banana }\n", """
      bad.yaml:4:20: unknown argument `dleay`
        4 |   - setAutolock: { dleay: 3 s }
          |                    ^~~~~ did you mean `delay`?
      bad.yaml:5:24: `connect` takes nothing
        5 |   - refuse: { connect: 3 }
          |                        ^
      bad.yaml:6:19: the fault 'jam' takes yes or no, and not 'banana'
        6 |   - fault: { jam: banana }
          |                   ^~~~~~
      """),
    ("scenario: A\nmachine: sesame\ndevice: { lock: sesame5, bolt: sideways, jam: banana }\n"
      + "steps:\n  - expect: { battery: { above: 9, below: 1 } }\n  - expect: { refused: no }\n", """
      bad.yaml:3:32: `bolt` is one of locked, unlocked, moved, and not 'sideways'
        3 | device: { lock: sesame5, bolt: sideways, jam: banana }
          |                                ^~~~~~~~
      bad.yaml:3:47: `jam` is yes or no, and not 'banana'
        3 | device: { lock: sesame5, bolt: sideways, jam: banana }
          |                                               ^~~~~~
      bad.yaml:5:24: nothing is above 9.0 and below 1.0
        5 |   - expect: { battery: { above: 9, below: 1 } }
          |                        ^~~~~~~~~~~~~~~~~~~~~~
      bad.yaml:6:24: `refused` is true or words of the reason
        6 |   - expect: { refused: no }
          |                        ^~ use `quiet` where nothing may be shown
      """),
    ("scenario: A\nmachine: sesame\ndevice: { lock: sesame3, login-order: status-first }\nsteps:\n"
      + "  - unlock: { tag: null }\n  - expect: { battery: low }\n  - expect: { btatery: 5 }\n", """
      bad.yaml:3:26: `login-order` is a setting of OS3 locks, and has no effect on this one
        3 | device: { lock: sesame3, login-order: status-first }
          |                          ^~~~~~~~~~~
      bad.yaml:5:20: `tag` is a text, and not `null`
        5 |   - unlock: { tag: null }
          |                    ^~~~ for text, write it in quotes: `tag: "null"`
      bad.yaml:6:24: `battery` is a number, and not `low`
        6 |   - expect: { battery: low }
          |                        ^~~
      bad.yaml:7:15: unknown key `btatery`
        7 |   - expect: { btatery: 5 }
          |               ^~~~~~~ did you mean `battery`?
      """),
    ("scenario: A\nmachine: socket\nsteps:\n  - { write: { slowly: yes } }\n", """
      bad.yaml:4:16: `write` takes nothing
        4 |   - { write: { slowly: yes } }
          |                ^~~~~~
      """),
    (head + "  - connect\nsteps: []\n", """
      bad.yaml:5:1: duplicate key `steps`
        5 | steps: []
          | ^~~~~ it is given on line 3 already
      """),
    ("scenario: A\nmachine: sesame-table\nsteps: &a\n  - repeat: { times: 2, steps: *a }\n", """
      bad.yaml:4:32: `*a` stands inside the node it names
        4 |   - repeat: { times: 2, steps: *a }
          |                                ^~
      """),
    ("", "bad.yaml:1:1: the document is empty"),
    ("\u{0}\u{1}\u{2}\u{7F}ELF", "bad.yaml:1:1: "),
    ("scenario: [", "bad.yaml:1:"), ("- a\n- b\n", "bad.yaml:1:1: expected a mapping, found a list"),
  ]

  @Test("what is wrong is shown with its place, and nothing is run", arguments: files.indices)
  func messages(index: Int) throws {
    let folder = try Command.Folder()
    try folder.write("bad.yaml", Self.files[index].text)
    try folder.write("good.yaml", head + "  - closeTo\n")
    for command in ["run good.yaml bad.yaml", "validate bad.yaml", "replay bad.yaml", "list bad.yaml"] {
      let result = try Command.line(command, in: folder.path)
      expect(result.status, 2)
      expect(result.output, "")
      #expect(result.errors.hasPrefix(Self.files[index].message), "\(result.errors)")
    }
    let run = try #require(folder.names("Reports/runs").first)
    #expect(try !folder.read("Reports/runs/\(run)/journal.jsonl").contains("case\":{"))
    let (page, suite) = (try folder.read("Reports/report.html"), try folder.read("Reports/junit.xml"))
    #expect(suite.contains("errors=\"1\""))
    // What is wrong is said wherever the run is told of.
    for line in Self.files[index].message.split(separator: "\n") where line.hasPrefix("bad.yaml:") {
      let plain = String(line.prefix { !"<&\"'`".contains($0) })
      #expect(page.contains(plain) && suite.contains(plain), "\(line)")
    }
  }

  @Test(
    "bytes that are no text, and text that is no UTF-8, are refused",
    arguments: [
      Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]), Data([0xFF, 0xFE, 0x61, 0x00]),
      Data(repeating: 0, count: 5000),
      Data("scenario: \u{FFFD}".utf8.map { $0 == 0xEF ? 0xC0 : $0 }),
    ])
  func binary(bytes: Data) throws {
    let folder = try Command.Folder()
    try bytes.write(to: URL(filePath: folder.path + "/bad.yaml"))
    let result = try Command.call("validate", "bad.yaml", in: folder.path)
    expect(result.status, 2)
    #expect(result.errors.hasPrefix("bad.yaml:1:"), "\(result.errors)")
  }

  @Test("a file of 100 MB is refused by its size, before it is read")
  func huge() throws {
    let folder = try Command.Folder()
    let path = try folder.write("huge.yaml", head)
    let handle = try FileHandle(forWritingTo: URL(filePath: path))
    try handle.truncate(atOffset: 100_000_000)
    let result = try Command.call("validate", "huge.yaml", in: folder.path)
    expect(result.status, 2)
    expect(result.errors, "huge.yaml:1:1: the file has 100000000 bytes, and at most 4194304 are read\n")
  }

  @Test(
    "paths that are no files are told apart",
    arguments: [
      ("gone.yaml", "gone.yaml: there is no such file or folder"),
      ("''", ": there is no such file or folder"),
      ("pipe", "pipe: expected a file or a folder, and it is a pipe"),
      ("/dev/zero", "/dev/zero: expected a file or a folder, and it is a device"),
      ("loop.yaml", "loop.yaml: Too many levels of symbolic links"),
    ])
  func paths(path: String, message: String) throws {
    let folder = try Command.Folder()
    folder.makePipe("pipe")
    try FileManager.default.createSymbolicLink(
      atPath: folder.path + "/loop.yaml", withDestinationPath: "loop.yaml")
    let result = try Command.line("validate \(path)", in: folder.path)
    expect(result.status, 2)
    expect(result.errors, message + "\n")
  }

  @Test("a machine that is wrong is told with every fault of it")
  func machine() throws {
    let folder = try Command.Folder()
    try folder.write(
      "m.yaml",
      "machine: m\nstates: [a]\nevents: [go]\nstarts: [{ state: a }]\ntransitions: [{ event: go, from: a, to: b }]\n"
    )
    try folder.write("s.yaml", "scenario: A\nmachine: ./m.yaml\ndevice: exec:true\nsteps: [go]\n")
    let result = try Command.call("validate", "s.yaml", in: folder.path)
    expect(result.status, 2)
    #expect(
      result.errors.hasPrefix("s.yaml:2:10: ") && result.errors.contains("m.yaml:5:"), "\(result.errors)")
  }

  /// Each way to name a file that is not there.
  static let absent = [
    "run gone.yaml", "run gone.yaml:3", "validate gone.yaml", "list gone.yaml", "replay gone.yaml",
    "mutants door gone.yaml",
    "machines gone.yaml", "machines ./gone.yaml", "fuzz gone.yaml", "cover gone.yaml", "mutants gone.yaml",
    "schema scenario --machine gone.yaml", "packets gone.yaml", "nightly gone.yaml",
    "devices --bench gone.yaml",
    "doctor --bench gone.yaml", "run there.yaml --bench gone.yaml --device lock:front",
    "run there.yaml --device lock:gone.yaml --transport usb:0", "gatt lock:gone.yaml --transport usb:0",
  ]

  @Test("a file that is not there is said in one way, whoever looks for it", arguments: absent)
  func absence(line: String) throws {
    let folder = try Command.Folder()
    try folder.write("there.yaml", "scenario: A\nmachine: sesame\nsteps: [connect]\n")
    let result = try Command.line(line, in: folder.path)
    expect(result.status, 2)
    let first = result.errors.split(separator: "\n").first.map(String.init) ?? ""
    let name = line.contains("yaml:3") ? "gone.yaml:3" : "gone.yaml"
    #expect(first.hasSuffix("\(name): there is no such file or folder"), "\(first)")
  }
}
