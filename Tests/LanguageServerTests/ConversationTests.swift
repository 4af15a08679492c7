import Automata
import Basics
import Devices
import Documents
import Models
import TestSupport
import Testing

@testable import Harness
@testable import LanguageServer

/// A conversation with a server that has one machine in a file.
struct Conversation {
  var server: EditorServer
  private var number = 0

  static let turnstile = """
    machine: turnstile
    states: [Locked, Unlocked]
    events: [coin, push]
    starts: [{ state: Locked }]
    transitions:
      - { event: coin, from: Locked, to: Unlocked }
      - { event: push, from: Unlocked, to: Locked }

    """

  init(_ encodings: [String]? = nil, isInitialized: Bool = true) throws {
    server = EditorServer(
      MachineDefinition.catalog, provider: World().devices,
      settings: SettingsFormat(form: .text) { _, _ in }, version: "1"
    ) {
      path throws(MachineLibrary.Missing) in
      do throws(DocumentError) {
        guard path == "/lab/turnstile.yaml" else {
          throw DocumentError(
            source: Source(name: path, bytes: []),
            problems: [Problem(.noSuchFile, ofLine: nil, "no such file")])
        }
        return try MachineFile(Array(Self.turnstile.utf8), name: path)
      } catch {
        throw MachineLibrary.Missing(error)
      }
    }
    guard isInitialized else { return }
    let general: JSON? = encodings.map { ["positionEncodings": .list($0.map(JSON.text))] }
    _ = ask("initialize", ["capabilities": .omittingNil(["general": general])])
    _ = tell("initialized", [:])
  }

  /// Sends a text as a message, and takes all that is answered.
  mutating func send(_ text: String) -> [String] {
    server.receive(Array(EditorServer.framed(text).utf8)).map(\.line)
  }

  mutating func tell(_ method: String, _ parameters: JSON) -> [JSON] {
    let message: JSON = ["jsonrpc": "2.0", "method": .text(method), "params": parameters]
    return server.receive(Array(EditorServer.framed(message.line).utf8))
  }

  mutating func ask(_ method: String, _ parameters: JSON) -> JSON? {
    number += 1
    let message: JSON = [
      "jsonrpc": "2.0", "id": .integer(number), "method": .text(method), "params": parameters,
    ]
    return server.receive(Array(EditorServer.framed(message.line).utf8)).first?["result"]
  }

  mutating func open(_ text: String, uri: String = "file:///lab/a.yaml") -> [JSON] {
    tell("textDocument/didOpen", ["textDocument": ["uri": .text(uri), "version": 1, "text": .text(text)]])
  }

  /// Asks about the place of the mark `|` in a text, which is opened without it.
  mutating func ask(_ method: String, at marked: String, uri: String = "file:///lab/a.yaml") -> JSON? {
    let text = marked.replacing("|", with: "")
    let before = marked.prefix { $0 != "|" }
    let lines = before.split(separator: "\n", omittingEmptySubsequences: false)
    _ = open(text, uri: uri)
    return ask(
      method,
      [
        "textDocument": ["uri": .text(uri)],
        "position": [
          "line": .integer(lines.count - 1), "character": .integer(lines.last?.utf16.count ?? 0),
        ],
      ])
  }

  mutating func labels(at marked: String, uri: String = "file:///lab/a.yaml") -> String {
    (ask("textDocument/completion", at: marked, uri: uri)?.elements ?? [])
      .compactMap { $0["textEdit"]?["newText"]?.string }.joined(separator: "|")
  }
}

@Suite("The language server")
struct ConversationTests {
  @Test("a conversation from its beginning to its end")
  func whole() throws {
    var talk = try Conversation(isInitialized: false)
    expect(
      talk.send(#"{"jsonrpc":"2.0","id":1,"method":"textDocument/hover","params":{}}"#),
      [
        #"{"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":"`initialize` comes before `textDocument/hover`"}}"#
      ])
    expect(talk.send(#"{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{}}"#), [])
    expect(
      talk.send(#"{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"capabilities":{}}}"#),
      [
        #"{"jsonrpc":"2.0","id":"a","result":{"capabilities":{"positionEncoding":"utf-16","textDocumentSync":{"openClose":true,"change":2,"save":true},"completionProvider":{"triggerCharacters":[" ","{","[",","]},"hoverProvider":true,"definitionProvider":true,"codeActionProvider":{"codeActionKinds":["quickfix"]}},"serverInfo":{"name":"lockstep","version":"1"}}}"#
      ])
    expect(talk.send(#"{"jsonrpc":"2.0","method":"initialized","params":{}}"#), [])
    expect(talk.send(#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}"#), [])
    expect(
      talk.send(
        #"{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"file:///lab/a.yaml","languageId":"yaml","version":4,"text":"scenario: A\nmachine: door\nsteps:\n  - Opne\n"}}}"#
      ),
      [
        #"{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{"uri":"file:///lab/a.yaml","version":4,"diagnostics":[{"range":{"start":{"line":3,"character":4},"end":{"line":3,"character":8}},"severity":1,"code":"unknown-step","source":"lockstep","message":"unknown step `Opne`\ndid you mean `Open`?"}]}}"#
      ])
    expect(
      talk.send(
        #"{"jsonrpc":"2.0","id":2,"method":"textDocument/codeAction","params":{"textDocument":{"uri":"file:///lab/a.yaml"},"range":{"start":{"line":3,"character":5},"end":{"line":3,"character":5}},"context":{"diagnostics":[]}}}"#
      ),
      [
        #"{"jsonrpc":"2.0","id":2,"result":[{"title":"change to `Open`","kind":"quickfix","diagnostics":[{"range":{"start":{"line":3,"character":4},"end":{"line":3,"character":8}},"severity":1,"code":"unknown-step","source":"lockstep","message":"unknown step `Opne`\ndid you mean `Open`?"}],"isPreferred":true,"edit":{"changes":{"file:///lab/a.yaml":[{"range":{"start":{"line":3,"character":4},"end":{"line":3,"character":8}},"newText":"Open"}]}}}]}"#
      ])
    expect(
      talk.send(
        #"{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"file:///lab/a.yaml","version":5},"contentChanges":[{"range":{"start":{"line":3,"character":4},"end":{"line":3,"character":8}},"text":"Open"}]}}"#
      ),
      [
        #"{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{"uri":"file:///lab/a.yaml","version":5,"diagnostics":[]}}"#
      ])
    expect(
      talk.send(
        #"{"jsonrpc":"2.0","method":"textDocument/didClose","params":{"textDocument":{"uri":"file:///lab/a.yaml"}}}"#
      ),
      [
        #"{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{"uri":"file:///lab/a.yaml","diagnostics":[]}}"#
      ])
    expect(
      talk.send(#"{"jsonrpc":"2.0","id":3,"method":"shutdown"}"#),
      [#"{"jsonrpc":"2.0","id":3,"result":null}"#])
    expect(
      talk.send(#"{"jsonrpc":"2.0","id":4,"method":"shutdown"}"#),
      [#"{"jsonrpc":"2.0","id":4,"error":{"code":-32600,"message":"nothing is answered behind `shutdown`"}}"#]
    )
    expect(talk.server.status, nil)
    expect(talk.send(#"{"jsonrpc":"2.0","method":"exit"}"#), [])
    expect(talk.server.status, 0)
  }

  @Test(
    "what is no request is answered as JSON-RPC says",
    arguments: [
      (
        "{",
        #"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"this is no JSON: expected a name in quotes at byte 1"}}"#
      ),
      ("[]", #"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"a message has a `method`"}}"#),
      (
        #"{"id":7}"#,
        #"{"jsonrpc":"2.0","id":7,"error":{"code":-32600,"message":"a message has a `method`"}}"#
      ),
      (
        #"{"id":7,"method":"textDocument/rename"}"#,
        #"{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"there is no method `textDocument/rename`"}}"#
      ),
      (
        #"{"id":7,"method":"textDocument/hover","params":{"textDocument":{"uri":"file:///no"},"position":{"line":0,"character":0}}}"#,
        #"{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"file:///no is not open"}}"#
      ),
      (
        #"{"id":7,"method":"textDocument/hover","params":{}}"#,
        #"{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"a `position` has a `line` and a `character`"}}"#
      ),
      (
        #"{"id":7,"method":"initialize"}"#,
        #"{"jsonrpc":"2.0","id":7,"error":{"code":-32600,"message":"`initialize` was asked for already"}}"#
      ),
      (#"{"method":"workspace/unheardOf"}"#, nil), (#"{"id":"watched-files","result":null}"#, nil),
      (#"{"method":"textDocument/didChange","params":{"textDocument":{"uri":"file:///no"}}}"#, nil),
    ])
  func wrong(text: String, answer: String?) throws {
    var talk = try Conversation()
    expect(talk.send(text), answer.map { [$0] } ?? [])
    expect(talk.server.status, nil)
    // And it goes on.
    expect(talk.send(#"{"id":8,"method":"shutdown"}"#), [#"{"jsonrpc":"2.0","id":8,"result":null}"#])
  }

  @Test("it ends with 0 behind shutdown and else with 1, by exit or by the end of its input")
  func ends() throws {
    for (isShutDown, isExit) in [(true, true), (true, false), (false, true), (false, false)] {
      var talk = try Conversation()
      if isShutDown { _ = talk.ask("shutdown", .null) }
      if isExit { _ = talk.tell("exit", .null) } else { talk.server.end() }
      expect(talk.server.status, isShutDown ? 0 : 1)
      expect(talk.send(#"{"id":8,"method":"shutdown"}"#), [])
    }
  }

  @Test(
    "a stream that is not one of messages ends it, and holds no more than a message",
    arguments: [
      ("Content-Length: 99999999999\r\n\r\n", "a message has more than 33554432 bytes"),
      ("Content-Length: 99999999999999999999999\r\n\r\n", "Content-Length is no number of bytes"),
      ("Content-Length: -1\r\n\r\n", "Content-Length is no number of bytes"),
      ("Content-Type: x\r\n\r\n{}", "a header has no Content-Length"),
      ("GET\r\n\r\n", "a line of a header has no colon"),
      (String(repeating: "x", count: 5000), "a header has more than 4096 bytes"),
    ])
  func hostile(stream: String, reason: String) throws {
    var talk = try Conversation()
    expect(
      talk.server.receive(Array(stream.utf8)).map(\.line),
      [#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"\#(reason)"}}"#])
    expect(talk.server.status, 1)
  }

  @Test("messages may come in any pieces, several at once, with other headers")
  func pieces() throws {
    let one = #"{"id":1,"method":"a"}"#
    let stream =
      EditorServer.framed(one)
      + "content-length:  \(one.utf8.count)\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n\(one)"
    for size in [1, 2, 7, 1000] {
      var talk = try Conversation()
      var answers: [JSON] = []
      var rest = Array(stream.utf8)[...]
      while !rest.isEmpty {
        answers += talk.server.receive(rest.prefix(size))
        rest = rest.dropFirst(size)
      }
      expect(answers.compactMap { $0["error"]?["code"]?.int }, [-32601, -32601])
    }
  }

  @Test("columns are of UTF-16, or of UTF-8 where the editor knows it")
  func encodings() throws {
    let text = "scenario: A\nmachine: door\nsteps: [note: \"🔓é\", Opne]\n"
    for (offered, encoding, column) in [(nil, "utf-16", 21), (["utf-32", "utf-8"], "utf-8", 24)] {
      var talk = try Conversation(offered, isInitialized: true)
      let start = talk.open(text).first?["params"]?["diagnostics"]?.elements?.first?["range"]?["start"]
      expect(start, ["line": 2, "character": .integer(column)])
      expect(talk.server.encodingName, encoding)
    }
  }

  @Test("of many changes that come at once the problems are told once")
  func coalesced() throws {
    var talk = try Conversation()
    _ = talk.open("scenario: A\nmachine: door\nsteps: [Open]\n")
    var stream: [UInt8] = []
    for letter in ["x", "y", "z"] {
      let change: JSON = [
        "method": "textDocument/didChange",
        "params": [
          "textDocument": ["uri": "file:///lab/a.yaml", "version": 9],
          "contentChanges": [
            [
              "range": ["start": ["line": 2, "character": 8], "end": ["line": 2, "character": 8]],
              "text": .text(letter),
            ]
          ],
        ],
      ]
      stream += Array(EditorServer.framed(change.line).utf8)
    }
    let answers = talk.server.receive(stream)
    expect(answers.count, 1)
    expect(
      answers[0]["params"]?["diagnostics"]?.elements?.first?["message"]?.string?.hasPrefix(
        "unknown step `zyxOpen`"), true)
  }

  @Test("a machine that is open counts more than its file, and scenarios of it are looked at again")
  func overlay() throws {
    var talk = try Conversation()
    let scenario = "scenario: A\nmachine: turnstile.yaml\ndevice: exec:true\nsteps: [coin, kick]\n"
    func messages(_ answers: [JSON]) -> [[String]] {
      answers.map { ($0["params"]?["diagnostics"]?.elements ?? []).compactMap { $0["message"]?.string } }
    }
    expect(
      messages(talk.open(scenario)),
      [
        [
          "unknown step `kick`\nexpected until, expect, wait, fault, refuse, now, fuzz, repeat, note, coin, push"
        ]
      ])
    let changed = Conversation.turnstile.replacing("push", with: "kick")
    let answers = talk.open(changed, uri: "file:///lab/turnstile.yaml")
    expect(messages(answers), [[], []])
    let closed = talk.tell(
      "textDocument/didClose", ["textDocument": ["uri": "file:///lab/turnstile.yaml"]])
    expect(messages(closed).map(\.count), [0, 1])
    // What is wrong with the machine is told where it is wrong.
    let broken = talk.open(changed.replacing("[Locked", with: "[locked"), uri: "file:///lab/turnstile.yaml")
    let related = broken[0]["params"]?["diagnostics"]?.elements?[0]["relatedInformation"]?.elements ?? []
    expect(related.first?["location"]?["uri"], "file:///lab/turnstile.yaml")
    expect(
      related.first?["message"]?.string, "the machine starts in 'Locked', which is not defined")
  }

  @Test("files that have nothing to do with Lockstep are left alone, and no program is started")
  func others() throws {
    var talk = try Conversation()
    for text in ["steps:\n  - script: make\n", "on: push\njobs: {}\n", "", "\u{0}"] {
      expect(talk.open(text)[0]["params"]?["diagnostics"], [])
    }
    // Whoever starts this waits for an answer for 5 s, and says that there was none.
    let text = "scenario: A\nmachine: door\ndevice: exec:sleep 100\nsteps: [Open, { fault: anything }]\n"
    expect(talk.open(text)[0]["params"]?["diagnostics"], [])
  }
}

@Suite("What the language server knows of a place")
struct PlaceTests {
  private static let head = "scenario: A\nmachine: turnstile.yaml\ndevice: exec:true\nsteps:\n"

  // swift-format-ignore
  private static let completions: [(text: String, offered: String)] = [
    ("scenario: A\nmachine: turnstile.yaml\n|", "device: |seed: |tags: |assume: |steps: "),
    ("scenario: A\nma|", "machine: |device: |seed: |tags: |assume: |steps: "),
    (head + "  - until: { status: |", "Locked|Unlocked"),
    (head + "  - until: { status: Lo|", "Locked|Unlocked"),
    (head + "  - until: { status: [Locked, |", "Locked|Unlocked"),
    (head + "  - until: { status: Locked, |", "within: "),
    (head + "  - until:\n      |", "status: |within: "),
    (head + "  - until:\n      status: Locked\n      |", "within: "),
    (head + "  - wait: |", "settled|next"),
    (head + "  - note: |", ""),
    (head + "  - now: |", "coin|push"),
    (head + "  - coin # |", ""),
    (head + "  - note: >\n      some |", ""),
    (head + "  - repeat:\n      times: 2\n      steps:\n        - until: { |", "status: |within: "),
    ("scenario: A\nmachine: |", "sesame|sesame-table|socket|launcher|flow|door"),
    ("scenario: A\nmachine: door\nsteps: [Open, { until: { status: |", "Closed|Opened"),
  ]

  @Test("what may stand at a place is offered", arguments: completions.indices)
  func completion(index: Int) throws {
    var talk = try Conversation()
    expect(talk.labels(at: Self.completions[index].text), Self.completions[index].offered)
  }

  @Test("a step may be a stimulus or a key, and brings its dash where it has none")
  func steps() throws {
    var talk = try Conversation()
    let dashed = talk.labels(at: Self.head + "  - |")
    #expect(dashed.hasPrefix("coin|push|until: |expect: |wait: |"), "\(dashed)")
    for text in ["  |", "  - coin\n  |"] {
      let lines = talk.labels(at: Self.head + text)
      #expect(lines.hasPrefix("- coin|- push|- until: |- expect: |"), "\(lines)")
    }
  }

  // swift-format-ignore
  private static let machine: [(text: String, offered: String)] = [
    ("machine: m\nstates: [a, { name: b (x), status: c }]\nevents: [go, come: spontaneous]\nconditions: [wind]\ntransitions:\n  - { event: |", "go|come"),
    ("machine: m\nstates: [a, b]\ntransitions:\n  - { from: [a, |", "a|b|\"*\""),
    ("machine: m\nstates:\n  - a\n  - b\nstarts: [{ state: |", "a|b"),
    ("machine: m\nstates: [a]\nconditions: [wind]\ntransitions:\n  - { from: a, given: |", "wind"),
    ("machine: m\nstates: [a]\nevents: [go: { kind: |", "stimulus|spontaneous|both"),
    ("machine: m\nstates: [a]\nconditions:\n  - name: wind\n    ur|", "faults: |moments: |events: |until: |stimuli: |unsure: |reading: |from-entry: |delay: "),
  ]

  @Test("the file of a machine is completed with its own names", arguments: machine.indices)
  func machines(index: Int) throws {
    var talk = try Conversation()
    expect(talk.labels(at: Self.machine[index].text), Self.machine[index].offered)
  }

  // swift-format-ignore
  private static let hovers: [(text: String, said: String?)] = [
    ("scenario: A\nmach|ine: door\nsteps: [Open]\n", "**machine**: The machine with which the device is compared: a name, or a path relative to this file. By default, that of the device."),
    (head + "  - co|in\n", "**coin** of the machine `turnstile`\n\n```text\ncoin: Locked → Unlocked\n```"),
    (head + "  - until: { status: |Locked }\n", "**Locked** of the machine `turnstile`\n\n```text\ncoin: Locked → Unlocked\npush: Unlocked → Locked\n```"),
    (head + "  - un|til: { status: Locked }\n", "**until**: Lets time pass until the device shows a status; it fails after a minute, or the time of `within`."),
    (head + "  - note: co|in\n", nil),
    (head + "  - coin # co|in\n", nil),
  ]

  @Test("a word is explained", arguments: hovers.indices)
  func hover(index: Int) throws {
    var talk = try Conversation()
    let answer = talk.ask("textDocument/hover", at: Self.hovers[index].text)
    expect(answer?["contents"]?["value"]?.string, Self.hovers[index].said)
  }

  // swift-format-ignore
  private static let definitions: [(text: String, lines: [Int])] = [
    ("scenario: A\nmachine: turn|stile.yaml\ndevice: exec:true\nsteps: [coin]\n", [0]),
    (head + "  - pu|sh\n", [2]),
    (head + "  - until: { status: Unl|ocked }\n", [1]),
    (head + "  - note: coin|\n", []),
    ("scenario: A\nmachine: do|or\nsteps: [Open]\n", []),
  ]

  @Test("what a name stands for is found", arguments: definitions.indices)
  func definition(index: Int) throws {
    var talk = try Conversation()
    let answer = talk.ask("textDocument/definition", at: Self.definitions[index].text)
    expect(
      answer?.elements?.compactMap { $0["range"]?["start"]?["line"]?.int }, Self.definitions[index].lines)
    for place in answer?.elements ?? [] { expect(place["uri"], "file:///lab/turnstile.yaml") }
  }

  @Test("any text and any place are answered, whole or not")
  func anything() throws {
    let text =
      Self.head
      + "  - until: { status: [Locked, \"Unlocked\"], within: 3 s } # a\n  - note: |\n      é🔓\n  - coin\n"
    var talk = try Conversation()
    var generator = SeededGenerator(seed: 1)
    for _ in 0..<60 {
      var bytes = Array(text.utf8)
      for _ in 0..<generator.below(6) { bytes[generator.below(bytes.count)] = UInt8(generator.below(128)) }
      _ = talk.open(String(decoding: bytes, as: UTF8.self))
      for method in ["completion", "hover", "definition"] {
        let answer = talk.ask(
          "textDocument/" + method,
          [
            "textDocument": ["uri": "file:///lab/a.yaml"],
            "position": ["line": .integer(generator.below(9)), "character": .integer(generator.below(40))],
          ])
        #expect(answer != nil)
      }
    }
  }
}

@Suite("Texts that editors change")
struct EditorTextTests {
  @Test("pieces that are changed give the text that was meant", arguments: 0..<100)
  func incremental(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let pieces = ["a", "é", "🔓", "\n", "\r\n", "\r", "鍵", " ", "{ b: c }\n"]
    func draw(_ most: Int) -> String {
      (0..<generator.below(most + 1)).map { _ in pieces[generator.below(pieces.count)] }.joined()
    }
    for encoding in [PositionEncoding.utf8, .utf16] {
      var meant = Array(draw(20).unicodeScalars)
      var document = OpenDocument(
        uri: "file:///a", version: nil, text: String(String.UnicodeScalarView(meant)))
      for _ in 0..<20 {
        let (one, other) = (generator.below(meant.count + 1), generator.below(meant.count + 1))
        let range = min(one, other)..<max(one, other)
        // Within CR LF there is no place.
        func isWithin(_ place: Int) -> Bool {
          place > 0 && place < meant.count && meant[place - 1] == "\r" && meant[place] == "\n"
        }
        guard !isWithin(range.lowerBound), !isWithin(range.upperBound) else { continue }
        let new = draw(5)
        let change: JSON = [
          "range": [
            "start": Self.position(meant[..<range.lowerBound], encoding).json,
            "end": Self.position(meant[..<range.upperBound], encoding).json,
          ], "text": .text(new),
        ]
        let isUnderstood = document.apply([change], encoding)
        #expect(isUnderstood)
        meant.replaceSubrange(range, with: Array(new.unicodeScalars))
        expect(document.text.bytes, Array(String(String.UnicodeScalarView(meant)).utf8))
        expect(document.text, EditorText(document.text.bytes))
      }
    }
  }

  /// The place behind some characters, counted without any table.
  private static func position(
    _ scalars: ArraySlice<Unicode.Scalar>, _ encoding: PositionEncoding
  ) -> EditorPosition {
    var place = EditorPosition(line: 0, character: 0)
    for (index, scalar) in zip(scalars.indices, scalars) {
      let isEnd =
        scalar == "\n" || (scalar == "\r" && !(index + 1 < scalars.endIndex && scalars[index + 1] == "\n"))
      if isEnd {
        place = EditorPosition(line: place.line + 1, character: 0)
      } else if scalar != "\r" {
        place.character += encoding == .utf8 ? UTF8.width(scalar) : UTF16.width(scalar)
      }
    }
    return place
  }

  @Test("a place beyond a line is its end, and one within a character its start")
  func clamped() {
    let text = EditorText(Array("é🔓\nb".utf8))
    let cases: [(line: Int, character: Int, encoding: PositionEncoding, offset: Int)] = [
      (0, 99, .utf16, 6), (0, 2, .utf16, 2), (0, 3, .utf16, 6), (0, 1, .utf8, 0), (0, 4, .utf8, 2),
      (1, 1, .utf16, 8),
      (1, 9, .utf8, 8), (7, 0, .utf16, 8),
    ]
    for test in cases {
      expect(
        text.offset(of: EditorPosition(line: test.line, character: test.character), test.encoding),
        test.offset)
    }
  }

  @Test(
    "addresses of files lead to their paths and back",
    arguments: [
      ("file:///a/b.yaml", "/a/b.yaml"), ("file:///a%20b/%C3%A9%25.yaml", "/a b/é%.yaml"),
    ])
  func uris(uri: String, path: String) {
    expect(FileURI.path(of: uri), path)
    expect(FileURI.uri(of: path), uri)
  }
}
