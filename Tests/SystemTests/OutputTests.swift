import Basics
import Foundation
import Secrets
import TestSupport
import Testing

@testable import System

@Suite("What is written")
struct OutputTests {
  private let folder = TestFolder()
  private var path: String { folder.path + "/out" }

  // swift-format-ignore
  private static let appended: [(before: String?, after: String)] = [
    (nil, "new\n"), ("", "new\n"), ("one\n", "one\nnew\n"), ("one\ntw", "one\nnew\n"), ("torn", "new\n"), ("\n", "\nnew\n"),
  ]

  @Test("what is added comes behind whole lines only", arguments: appended)
  func appending(before: String?, after: String) throws {
    if let before { folder.write("out", before) }
    try OutputFile(appendingTo: path).write("new\n")
    expect(folder.read("out"), after)
  }

  @Test("a file that is created is empty first, and each write is in it at once")
  func creating() throws {
    folder.write("out", "old")
    let file = try OutputFile(creating: path)
    expect(folder.read("out"), "")
    try file.write("one\n")
    expect(folder.read("out"), "one\n")
    try file.write("")
    try file.write("two\n")
    file.synchronize()
    expect(folder.read("out"), "one\ntwo\n")
    expect(file.isTerminal, false)
    expect(file.terminalSize == nil, true)
    expect(file.fault, nil)
  }

  @Test("what cannot be opened is said with its path")
  func faults() {
    for name in ["none/out", "."] {
      let place = folder.path + "/" + name
      let reason = name == "." ? "Is a directory" : "there is no such file or folder"
      for isAdded in [true, false] {
        let fault = #expect(throws: FileFault.self) {
          _ = try isAdded ? OutputFile(appendingTo: place) : OutputFile(creating: place)
        }
        expect(fault?.description, "\(place): \(reason)")
      }
    }
  }

  @Test("a disk that is full is said by each write")
  func full() throws {
    let file = try OutputFile(creating: "/dev/full")
    for _ in 0..<2 {
      expect(
        #expect(throws: FileFault.self) { try file.write("text\n") }?.description, "No space left on device")
    }
    expect(file.fault, nil)
  }

  @Test("a secret is taken out wherever the writes divide it", arguments: 1...8)
  func secrets(size: Int) throws {
    let secret = Array("7f3a-wrench-\(size)-owl".utf8)
    try Redactor.shared.register(Secret(secret))
    let file = try OutputFile(creating: path)
    let text = Array("key 7f3a-wrench-\(size)-owl!\n".utf8)
    for start in stride(from: 0, to: text.count, by: size) {
      try file.write(String(decoding: text[start..<min(start + size, text.count)], as: UTF8.self))
    }
    try file.finish()
    let written = folder.read("out")
    expect(written.contains("wrench"), false)
    expect(written.hasPrefix("key ") && written.hasSuffix("!\n"), true)
  }
}

@Suite("The console")
struct ConsoleTests {
  private let folder = TestFolder()

  /// What a console writes to its two streams.
  private func written(_ body: (Console) -> Void) throws -> [String] {
    let console = try Console(
      output: OutputFile(creating: folder.path + "/data"),
      errors: OutputFile(creating: folder.path + "/errors"))
    body(console)
    expect(console.finish(), nil)
    return [folder.read("data"), folder.read("errors")]
  }

  @Test("data end with one line feed, messages go to the other stream, and control sequences are shown")
  func streams() throws {
    expect(
      try written {
        $0.print("one")
        $0.print("two\n")
        $0.print("")
        $0.print("\u{1B}[2J\tbell\u{7}")
        $0.say("lockstep: no lock\u{9B}")
        $0.say("again\n")
      },
      ["one\ntwo\n\\u{1B}[2J\tbell\\u{07}\n", "lockstep: no lock\\u{009B}\nagain\n"])
  }

  @Test("JSON is one line each, and only in its format")
  func json() throws {
    let value = JSON.mapping([.init("name", .text("a\u{9B}b"))])
    expect(
      try written {
        $0.print(value)
        $0.print(in: .human, "text", value)
        $0.print(in: .json, "text", value)
      }, ["{\"name\":\"a\\u009bb\"}\ntext\n{\"name\":\"a\\u009bb\"}\n", ""])
  }

  @Test("a failure that ends nothing is a message")
  func attempt() throws {
    expect(
      try written { console in
        expect(console.attempt { 7 }, 7)
        let fault = FileFault(path: "lock.yaml", code: 2)
        expect(console.attempt("no report: ") { () throws -> Int in throw fault }, nil)
      }, ["", "lockstep: no report: lock.yaml: there is no such file or folder\n"])
  }

  @Test("cursor moves and text are one write with the cursor hidden")
  func drawing() throws {
    expect(
      try written {
        $0.draw("", "")
        $0.draw("\u{1B}[1A", "row\u{1B}")
      }, ["\u{1B}[?25l\u{1B}[1Arow\\u{1B}\u{1B}[?25h", ""])
  }

  @Test("marks of a painter become colours, and what looks like them does not")
  func colours() throws {
    let painter = Painter(isOn: true)
    expect(
      try written {
        for style in Painter.Style.allCases { $0.print(painter(style, "x")) }
        $0.print("\u{1B}[32mx\u{1B}[0m")
        $0.print(Painter(isOn: false)(.good, "x"))
      },
      [
        ["32", "31", "33", "2", "1"].map { "\u{1B}[\($0)mx\u{1B}[0m\n" }.joined()
          + "\\u{1B}[32mx\\u{1B}[0m\nx\n", "",
      ])
    expect(visibleWidth(painter(.bad, "four") + "é"), 5)
  }

  @Test(
    "a progress line is erased before and drawn behind everything else, and not drawn again when it is the same"
  )
  func progress() throws {
    let erase = "\r\u{1B}[J"
    let line = String(repeating: "x", count: 200)
    let file = try OutputFile(creating: folder.path + "/status")
    let status = StatusLine(file)
    status.show("1 of 9")
    status.show("1 of 9")
    status.say("seen")
    status.hidden {}
    status.show(line)
    status.show("")
    status.say("end")
    status.finish()
    expect(
      folder.read("status"),
      "1 of 9" + erase + "seen\n1 of 9" + erase + "1 of 9" + erase + line + "\u{1B}[2A" + erase + "end\n")
    expect(status.columns, 80)
    expect(status.isTerminal, false)
  }

  // swift-format-ignore
  private static let choices: [(ColorChoice, isTerminal: Bool, [String: String], Bool)] = [
    (.always, false, ["NO_COLOR": "1"], true), (.never, true, ["CLICOLOR_FORCE": "1"], false),
    (.auto, true, [:], true), (.auto, false, [:], false), (.auto, true, ["TERM": "dumb"], false),
    (.auto, true, ["NO_COLOR": "0", "CLICOLOR_FORCE": "1"], false), (.auto, false, ["CLICOLOR_FORCE": "1"], true),
    (.auto, false, ["CLICOLOR_FORCE": "0"], false), (.auto, true, ["CLICOLOR_FORCE": "0"], true),
  ]

  @Test("the command line decides on colours, then NO_COLOR, then CLICOLOR_FORCE, then the terminal")
  func choice() {
    for (choice, isTerminal, variables, isWanted) in Self.choices {
      expect(choice.isWanted(isTerminal: isTerminal) { variables[$0] }, isWanted)
    }
  }

  // swift-format-ignore
  private static let texts: [(String, inert: String, oneLine: String)] = [
    ("plain é 鍵", "plain é 鍵", "plain é 鍵"), ("a\r\nb\nc\rd", "a\\r\nb\nc\\rd", "a\\r\\nb\\nc\\rd"),
    ("\u{202E}evil\u{2069}", "\\u{202E}evil\\u{2069}", "\u{202E}evil\u{2069}"), ("\0\u{7F}\u{85}", "\\0\\u{7F}\\u{0085}", "\0\u{7F}\u{85}"),
  ]

  @Test("what a terminal obeys is shown instead", arguments: texts)
  func inert(text: String, inert: String, oneLine: String) {
    expect(text.inert, inert)
    expect(text.inOneLine, oneLine)
  }

  @Test("output that cannot be written is said once, at the end; a reader that has enough is no failure")
  func broken() async {
    await #expect(processExitsWith: .success) {
      FailedWrites.ignore()
      let folder = TestFolder()
      let full = unsafe open("/dev/full", O_WRONLY)
      try #require(dup2(full, STDOUT_FILENO) == STDOUT_FILENO)
      let errors = folder.path + "/errors"
      let console = try Console(errors: OutputFile(creating: errors))
      console.print("one")
      console.print("two")
      #expect(console.isBroken)
      #expect(console.finish()?.code == ENOSPC)
      #expect(
        folder.read("errors") == "lockstep: not all of the output could be written: No space left on device\n"
      )
      var ends: [Int32] = [0, 0]
      try #require(unsafe Glibc.pipe(&ends) == 0)
      close(ends[0])
      try #require(dup2(ends[1], STDOUT_FILENO) == STDOUT_FILENO)
      let next = try Console(errors: OutputFile(creating: errors))
      next.print("one")
      #expect(next.isBroken)
      #expect(next.finish() == nil)
      #expect(folder.read("errors") == "")
    }
  }
}
