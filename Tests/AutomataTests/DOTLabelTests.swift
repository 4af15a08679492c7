import Automata
import Basics
import Documents
import TestSupport
import Testing

private func read(_ text: String) throws(DocumentError) -> MachineDefinition {
  try MachineDefinition(dot: Array(text.utf8), name: "m.dot")
}

/// The rows of a machine: `in/out`, or `in` without an output.
private func rows(_ machine: MachineDefinition) -> [String] {
  machine.transitions.map { row in
    guard case .event(let input) = row.trigger else { return "a timer" }
    return input + (row.shows.map { "/" + $0 } ?? "")
  }
}

/// The first problem of a file and its hint.
private func problem(_ text: String, name: String = "m.dot") throws -> String {
  let error = #expect(throws: DocumentError.self) { try MachineFile(Array(text.utf8), name: name) }
  let problem = try #require(error?.problems.first)
  return "\(problem.position): \(problem.message) | \(problem.hint ?? "")"
}

@Suite("DOT: labels, outputs of states, and starts")
struct DOTLabelTests {
  @Test(
    "a label has one row or several",
    arguments: [
      (#""a/x | b/y""#, ["a/x", "b/y"]),
      (#""a / x | b / y/z | c / w""#, ["a/x", "b/y/z", "c/w"]),
      (#""a/x\nb/y\lc/z\r""#, ["a/x", "b/y", "c/z"]),
      (#""a | b / x""#, ["a/x", "b/x"]),
      (#""open | unlock""#, ["open", "unlock"]),
      (#""a\nb""#, ["a", "b"]),
      ("<a/x | b/y<br/>c/z>", ["a/x", "b/y", "c/z"]),
      ("<a<br />x>", ["a/x"]),
      ("<a<br />x / y>", ["a/x / y"]),
      ("<a | b|c<BR align=\"left\"/>two<br/>words>", ["a/two words", "b/two words", "c/two words"]),
      ("<a |<br/>b<br/>| c<br/>x>", ["a/x", "b/x", "c/x"]),
      ("<a |<br/>b>", ["a", "b"]),
      // A mark inside of a name separates nothing.
      (#""a/X|Y|Z""#, ["a/X|Y|Z"]),
      (#""a / X|Y/Z""#, ["a/X|Y/Z"]),
      (#""a|b/x""#, ["a|b/x"]),
      (#""a/SYN(N/A,1),RST(N/A)""#, ["a/SYN(N/A,1),RST(N/A)"]),
      (#""a/b / c""#, ["a/b/c"]),
      // Brackets are part of a name, unless a blank is in front of them.
      (#""[1, 2]""#, ["[1, 2]"]),
      (#""key[1]/x""#, ["key[1]/x"]),
      (#""a/x [1]""#, ["a/x [1]"]),
      // Tags separate words, except those of a font.
      ("<<table><tr><td>press</td><td>twice</td></tr><tr><td>/ x</td></tr></table>>", ["press twice/x"]),
      ("<<table><tr><td>a</td><td>/</td><td><b>x</b><sub>1</sub></td></tr></table>>", ["a/x1"]),
      ("<one<img src=\"x\"/>two<hr/>three<vr/>four>", ["one two/three four"]),
      ("<<font color=\"red\">un</font><i>lock</i>>", ["unlock"]),
      ("<a<br/>\u{301}x <b>y</b>>", ["a/\u{301}x y"]),
      ("<a &lt;b&gt; &amp;lt; &#47; &#x3b5;&nbsp;&#10;&zeta; & c>", ["a <b> &lt;/ε &zeta; & c"]),
    ])
  func rowsOfLabel(label: String, expected: [String]) throws {
    let machine = try read("digraph { s0 -> s1 [label=\(label)] }")
    expect(rows(machine), expected)
    expect(rows(try read(machine.dot())), expected)
  }

  @Test(
    "a label that can be read in several ways is refused",
    arguments: [
      (#""a/x | b""#, "the row `b` of this label has no output, but another row has one"),
      (#""a/x\nmore""#, "the row `more` of this label has no output, but another row has one"),
      ("<a/x<br/>more>", "the row `more` of this label has no output, but another row has one"),
      (#""a/x|b/y""#, "this label may have one row or several"),
      (#""0/1,1/0""#, "this label may have one row or several"),
      (#""0 / 1; 1 / 0""#, "this label may have one row or several"),
      (#""a/x | b / y""#, "this label may have one row or several"),
      (#""a/x | | b/y""#, "a row of this label is empty"),
      ("<|<br/>x>", "a row of this label is empty"), ("<a |<br/>| b<br/>x>", "a row of this label is empty"),
      (#""unlock [isClosed]""#, "`[isClosed]` is a condition, and conditions of edges are not read from DOT"),
      (
        #""unlock [x > 1] / ring""#,
        "`[x > 1]` is a condition, and conditions of edges are not read from DOT"
      ),
      (#""unlock\n[ok]""#, "`[ok]` is a condition, and conditions of edges are not read from DOT"),
      ("<unlock<br/>[ok]>", "`[ok]` is a condition, and conditions of edges are not read from DOT"),
    ])
  func refusedLabels(label: String, message: String) throws {
    let found = try problem("digraph { s0 -> s1 [label=\(label)] }")
    #expect(found.hasPrefix("1:27: \(message) | "), "\(found)")
    #expect(!found.hasSuffix("| "), "the problem needs a hint")
  }

  @Test(
    "the output of a state is its status, if no edge has an output",
    arguments: [
      (#"A [shape=record label="{ A | init }"] B [shape=record label="{B|b\|c}"]"#, ["init", "b|c"]),
      (#"A [label="{<in> A|<out> 0}"] B [label="<in> B|<out>"]"#, ["0", "<out>"]),
      // AALpy escapes nothing, and begins with the name.
      (#"A [label="A|X|Y" shape=record] B [label="B|p/q" shape=record]"#, ["X|Y", "p/q"]),
      (#"A [label="A / init"] B [label="1 / x / y"]"#, ["init", "x / y"]),
      (#"A [label="A/0"] B [label="B/1"]"#, ["0", "1"]),
      (#"A [label=<<b>A</b> / 0>] B [label=<B / 1>]"#, ["0", "1"]),
      // These are only names.
      (#"A [label="on/off"] B"#, ["A", "B"]),
      (#"A [label="\N"] B [label="B\nentry / ring"]"#, ["A", "B"]),
    ])
  func moore(states: String, statuses: [String]) throws {
    let machine = try read("digraph { \(states) A -> B [label=coin] B -> A [label=\"push | pull\"] }")
    expect(machine.states, zip(["A", "B"], statuses).map { State($0, status: $1) })
    expect(rows(machine), ["coin", "push", "pull"])
  }

  @Test("a slash without blanks in the label of a state is part of its name, if the edges have outputs")
  func mealy() throws {
    let machine = try read(
      #"digraph { A [label="A/0"] B [label="B/1"] A -> B [label="x/1"] B -> A [label="x/0"] }"#)
    expect(machine.states, [State("A"), State("B")])
    expect(rows(machine), ["x/1", "x/0"])
  }

  @Test(
    "what is wrong with the states or with the start is reported with a way to correct it",
    arguments: [
      (
        #"A [label="A|x"] B A -> B [label=c]"#,
        "1:27: this state has no output, and other states have one | label each state of a Moore machine "
          + "`name|output` or `name / output`"
      ),
      (
        #"A [label="A / x"] B [label=B] A -> B [label=c]"#,
        "1:29: this state has no output, and other states have one | label each state of a Moore machine "
          + "`name|output` or `name / output`"
      ),
      (
        #"A [label="A|"] A -> A [label=c]"#,
        "1:11: this state has no output, and other states have one | label each state of a Moore machine "
          + "`name|output` or `name / output`"
      ),
      (
        #"A [label="A|x"] A -> A [label="c/y"]"#,
        "1:41: this edge has an output, and the states have some, too | a machine has outputs on its edges, or "
          + "in its states"
      ),
      (
        #"A [label="B|x|y"] A -> A [label=c]"#,
        "1:20: this label has more than a name and an output | a state of a Moore machine is labelled "
          + "`name|output`"
      ),
      (
        #"A -> A [label="c/x"] __start0 [label=""]"#,
        "1:32: no arrow leads from this start | a start is an arrow from a node without a text, drawn as a "
          + "point, or called `__start0`"
      ),
      (
        #"init -> A; A -> A [label="c/x"]"#,
        #"1:11: this edge has no label | as in `[label="in/out"]`; a start is an arrow from a node without a "#
          + "text, drawn as a point, or called `__start0`"
      ),
      (
        #"A -> A [label="c:0.5"] A -> B [label="c:0.5"] B -> B [label="c:1"]"#,
        "1:25: this edge has a probability | Markov chains, Markov decision processes and stochastic Mealy "
          + "machines are not read"
      ),
    ])
  func faults(statements: String, expected: String) throws {
    expect(try problem("digraph { \(statements) }"), expected)
  }

  @Test("a graph without a start says how a start is written, in each of the two forms of DOT")
  func noStart() {
    func hints(_ text: String) -> [String] {
      let error = #expect(throws: DocumentError.self) { try read(text) }
      return error?.problems.filter { $0.message == "no start is defined" }.compactMap(\.hint) ?? []
    }
    expect(
      hints("digraph {}"),
      ["a start is an arrow from a node without a text, drawn as a point, or called `__start0`"])
    expect(
      hints("digraph { lockstep=1; A [status=a] }"), ["the attribute `starts` of the graph lists them"])
  }

  @Test(
    "an arrow from a mark is the start",
    arguments: [
      #"__initial_7 -> B;"#, #"__start -> B [label="start"];"#, #""" -> B [label=""];"#,
      "i [shape=point]; i -> B;", "i [shape=none, label=\"\"]; i -> B;", "i [label=<>]; i -> B;",
      "  # a comment behind blanks\n i [shape=circle, label=\" \"]; i -> B;",
    ])
  func starts(mark: String) throws {
    let machine = try read("digraph { A; B;\n\(mark)\nA -> B [label=c]; B -> A [label=c] }")
    expect(machine.states.map(\.name), ["A", "B"])
    expect(machine.starts, [Start("B")])
    expect(rows(machine), ["c", "c"])
  }

  @Test("a changed file is refused with a place and a reason, or is a machine that is written and read alike")
  func mutations() throws {
    let seeds = [
      #"digraph { i [shape=point] i -> a; a -> b [label="x/1 | y/2"]; b -> a [label="x / 2\ny / 1"] }"#,
      #"digraph { a [label="{ a | in }"]; b [label="b|out"]; a -> b [label="go | run"]; b -> a [label=go] }"#,
      #"digraph { __start0 -> s; s [label="0 / on"]; t [label="1 / off"]; s -> t [label=x]; t -> s [label=x]; }"#,
      "digraph { s -> t [label=<a | b<br />x / y>]; t -> s [label=<<b>a</b>/1<br/>b/&lt;>]; t -> t [label=<c>] }",
    ].map { Array($0.utf8) }
    let marks = [
      "|", " | ", "/", " / ", "<br/>", "[x]", " [x]", "<", ">", "\"", "\\n", "\\|", "{", "}", "&#47;", "&#0;",
      ",",
      ":0.5", "__start0", "\"\"", "label=\"\"", "shape=point", "=", "->", "\u{301}", "\\",
    ].map { Array($0.utf8) }
    var generator = SeededGenerator(seed: 11)
    var read = 0
    var refused = 0
    for _ in 0..<400 {
      var bytes = seeds[generator.below(seeds.count)]
      let place = generator.below(bytes.count)
      if generator.below(3) == 0 {
        bytes.removeSubrange(place..<min(bytes.count, place + 1 + generator.below(5)))
      } else {
        bytes.insert(contentsOf: marks[generator.below(marks.count)], at: place)
      }
      let text = String(decoding: bytes, as: UTF8.self)
      do throws(DocumentError) {
        let machine = try MachineDefinition(dot: bytes, name: "m.dot")
        #expect(machine.faults() == [], "\(text)")
        #expect(try MachineDefinition(dot: Array(machine.dot().utf8), name: "m.dot") == machine, "\(text)")
        read += 1
      } catch {
        let isClear = error.problems.allSatisfy { !$0.message.isEmpty && $0.position.offset <= bytes.count }
        #expect(!error.problems.isEmpty && isClear, "\(text)")
        refused += 1
      }
    }
    #expect(read > 80 && refused > 80, "\(read) read, \(refused) refused")
  }
}

@Suite("Machine files in other languages")
struct ForeignFormatTests {
  private static let advice =
    "write the machine in YAML, in SCXML, or as a GraphViz digraph"

  @Test(
    "a file in another language is named for what it is, whatever the name of the file",
    arguments: [
      ("stateDiagram-v2\n    [*] --> Closed\n    Closed --> Open : OpenDoor\n", "a Mermaid diagram"),
      ("%% a comment\nstateDiagram\n  [*] --> a\n", "a Mermaid diagram"),
      ("---\ntitle: Door\n---\nstateDiagram-v2\n  [*] --> a\n", "a Mermaid diagram"),
      ("graph LR\n  a --> b\n", "a Mermaid diagram"), ("graph TD;\n  a{x} --> b\n", "a Mermaid diagram"),
      ("flowchart LR\n  a --> b\n", "a Mermaid diagram"),
      ("```mermaid\nstateDiagram-v2\n```\n", "a Mermaid diagram"),
      ("[*] --> Locked\n", "a diagram of Mermaid or PlantUML"),
      ("@startuml\n[*] --> Locked\n@enduml\n", "PlantUML"), ("' note\n@startuml\n", "PlantUML"),
      ("\u{FEFF}\n<!-- x -->\n<structure><type>fa</type></structure>", "a file of JFLAP"),
      ("<nta><declaration/></nta>", "a file of UPPAAL"), ("<html></html>", "XML"),
      ("<?xml version=\"1.0\"?>\n<xmi:XMI xmi:version=\"2.1\"/>", "XMI"), ("<uml:Model/>", "XMI"),
      ("<mxfile><diagram/></mxfile>", "a file of draw.io"), ("<graphml/>", "GraphML"),
    ])
  func foreign(text: String, language: String) throws {
    for name in ["door.txt", "door.yaml", "door.dot"] {
      expect(
        try problem(text, name: name),
        "1:1: this is \(language), which is not read as a machine | \(Self.advice)")
    }
  }

  @Test(
    "a file that has another form than its name says is refused with what to do",
    arguments: [
      (
        "{ \"id\": \"lock\", \"initial\": \"a\", \"states\": { \"a\": {} } }", "door.json",
        "this is JSON without the key `machine`, which is not read as a machine | \(advice)"
      ),
      (
        "digraph { a -> a [label=x] }", "door.yaml",
        "this is a GraphViz graph, and the name of its file ends in neither .dot nor .gv | rename the file"
      ),
      (
        "// by hand\nstrict digraph x{}", "door",
        "this is a GraphViz graph, and the name of its file ends in neither .dot nor .gv | rename the file"
      ),
      (
        "graph LR { a -- b }", "door.yaml",
        "this is a GraphViz graph, and the name of its file ends in neither .dot nor .gv | rename the file"
      ),
      (
        "# a door\nmachine: door\n", "door.gv",
        "this is not a GraphViz graph, and the name of its file ends in .dot or .gv | let the name of a machine "
          + "in YAML end in .yaml"
      ),
      (
        "<?xml version=\"1.0\"?><scxml initial=\"a\"><state id=\"a\"/></scxml>", "door.yaml",
        "this is SCXML, and the name of its file does not end in .scxml | rename the file"
      ),
      (
        "<scxml/>", "door.dot",
        "this is SCXML, and the name of its file does not end in .scxml | rename the file"
      ),
      (
        "machine: door\n", "door.scxml",
        "this is not SCXML, and the name of its file ends in .scxml | let the name of a machine in YAML end in .yaml"
      ),
      (
        "<nta/>", "door.scxml", "this is a file of UPPAAL, which is not read as a machine | \(advice)"
      ),
      (
        "{ \"machine\": \"door\" }", "door.dot",
        "this is not a GraphViz graph, and the name of its file ends in .dot or .gv | let the name of a machine "
          + "in YAML end in .yaml"
      ),
    ])
  func names(text: String, name: String, expected: String) throws {
    expect(try problem(text, name: name), "1:1: \(expected)")
  }

  @Test("a machine in JSON is read as YAML is, with its keys in any order")
  func json() throws {
    let filler = String(repeating: "x", count: 5000)
    let text = """
      {"events": ["go"], "summary": "\(filler)", "states": ["A"], "starts": [{"state": "A"}], "machine": "m",
       "transitions": [{"event": "go", "from": "A", "to": "A"}]}
      """
    expect(try MachineFile(Array(text.utf8), name: "m.json").definition.states, [State("A")])
  }

  @Test(
    "what only begins like another language is YAML",
    arguments: [
      "graph: 1", "'machine': door", "# <scxml>\nmachine: x", "flowchart: LR", "{ machine: x }",
      "---\nmachine: x\n",
      "machine: x\nsummary: |\n  as in\n  stateDiagram-v2\n",
    ])
  func notForeign(text: String) {
    let error = #expect(throws: DocumentError.self) { try MachineFile(Array(text.utf8), name: "door.yaml") }
    let messages = error?.problems.map(\.message) ?? []
    #expect(!messages.isEmpty && !messages.contains { $0.hasPrefix("this is ") }, "\(messages)")
  }
}
