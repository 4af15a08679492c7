import Automata
import Documents
import Basics
import TestSupport
import Testing

private let lock: MachineDefinition = {
  var machine = MachineDefinition(
    name: "lock", summary: "A lock, in brief.",
    events: [Event("lock"), Event("linkUp", .spontaneous), Event("drop", .both)],
    conditions: [
      Condition(
        "jam", faults: ["jam", "ice"], moments: ["bump"], events: ["linkUp"], until: ["moved"],
        stimuli: ["lock"],
        unsure: ["jam"], reading: "jam", delay: .seconds(2))
    ],
    starts: [
      Start("away", when: [.init("registered", false)]),
      Start("locked (registered)", when: [.init("registered", true)]),
    ])
  machine.states = [
    State("away"), State("locked (registered)", entry: ["beep"], region: "at home"),
    State("x", status: "moved"),
  ]
  machine.transitions = [
    Transition(
      .event("linkUp"), from: .states(["away"]), to: .states(["locked (registered)", "x"]),
      window: .within(.seconds(30))),
    Transition(
      .event("lock"), from: .states(["x"]), to: .states(["locked (registered)"]), before: ["turn"],
      after: ["log", "save"], unless: ["jam"]),
    Transition(.event("lock"), from: .states(["x"]), to: .stay, given: ["jam"], origin: .ours),
    Transition(.event("drop"), from: .wildcard, to: .states(["away"])),
    Transition(
      .timer, from: .states(["locked (registered)"]), to: .states(["away"]), window: .after(.seconds(3)),
      shows: "gone"),
  ]
  return machine
}()

@Suite("Formats: a machine as text")
struct FormatTests {
  @Test("the table has a column a state and a row an event, and an empty cell is a refusal")
  func table() {
    expect(
      lock.table(),
      """
      lock: A lock, in brief.

      action/status       away                   locked (registered)  x [moved]
      ------------------  ---------------------  -------------------  --------------------------------------
      linkUp within 30 s  locked (registered)/x
      lock unless jam                                                 locked (registered) ! turn ; log, save
      lock given jam                                                  = *
      drop                away                   away                 away
      after 3 s                                  away [gone]

      starts in away when not registered
      starts in locked (registered) when registered
      happen by themselves: linkUp
      happen by themselves where they have a time: drop
      entering locked (registered): beep
      condition jam, by the faults jam, ice, for a moment by bump, with linkUp, by lock, unsure given jam, as the reading jam tells, until moved, after 2 s
      * ours, where the document is silent

      """)
    let lines = lock.markdown().split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    expect(
      Array(lines[..<9]),
      [
        "# lock", "", "A lock, in brief.", "", "| action/status | away | locked (registered) | x [moved] |",
        "|:---:|:---:|:---:|:---:|", "| linkUp within 30 s | locked (registered)/x |  |  |",
        "| lock unless jam |  |  | locked (registered) ! turn ; log, save |",
        "| lock given jam |  |  | = \\* |",
      ])
  }

  @Test("a table that is wider than a terminal is told state by state, region by region")
  func narrow() {
    let regions = ["outside", "registered", "outside"]
    expect(
      lock.table(within: 60, regions: regions),
      """
      lock: A lock, in brief.

      -- outside -------------------------------------------------

      away
          linkUp within 30 s        locked (registered)/x
          drop                      away

      x
          lock unless jam
                                    locked (registered) ! turn ;
                                    log, save
          lock given jam            = *
          drop                      away

      -- registered ----------------------------------------------

      locked (registered)
          drop                      away
          after 3 s                 away [gone]

      starts in away when not registered
      starts in locked (registered) when registered
      happen by themselves: linkUp
      happen by themselves where they have a time: drop
      entering locked (registered): beep
      condition jam, by the faults jam, ice, for a moment by
          bump, with linkUp, by lock, unsure given jam, as the
          reading jam tells, until moved, after 2 s
      * ours, where the document is silent

      """)
    expect(lock.table(within: 200, regions: regions), lock.table())
  }

  @Test("the Mermaid diagram draws every arrow, with names that Mermaid can take")
  func mermaid() {
    expect(
      lock.mermaid(),
      """
      stateDiagram-v2
        state "locked (registered)" as state1
        state1 : entry / beep
        [*] --> away : not registered
        [*] --> state1 : registered
        away --> state1 : linkUp within 30 s
        away --> x : linkUp within 30 s
        x --> state1 : lock unless jam / turn, log, save
        x --> x : lock given jam
        away --> away : drop
        state1 --> away : drop
        x --> away : drop
        state1 --> away : after 3 s/gone

      """)
  }

  @Test("YAML says everything on a line a row, and reads back equal")
  func yaml() throws {
    let text = lock.yaml()
    expect(
      text,
      """
      machine: lock
      summary: "A lock, in brief."
      states:
        - away
        - { name: locked (registered), entry: beep, region: at home }
        - { name: x, status: moved }
      events:
        - lock
        - linkUp: spontaneous
        - drop: both
      conditions:
        - name: jam
          faults: [jam, ice]
          moments: bump
          events: linkUp
          until: moved
          stimuli: lock
          unsure: jam
          reading: jam
          delay: 2 s
      starts:
        - { state: away, when: { registered: false } }
        - { state: locked (registered), when: { registered: true } }
      transitions:
        - { event: linkUp, from: away, to: [locked (registered), x], within: 30 s }
        - { event: lock, from: x, to: locked (registered), unless: jam, first: turn, then: [log, save] }
        - { event: lock, from: x, to: "=", given: jam, ours: true }
        - { event: drop, from: "*", to: away }
        - { from: locked (registered), to: away, after: 3 s, shows: gone }

      """)
    expect(try MachineDefinition(yaml: Array(text.utf8), name: "lock.yaml"), lock)
  }

  @Test("DOT draws the machine, holds all of it, and reads back equal")
  func dot() throws {
    let text = lock.dot()
    expect(
      text,
      #"""
      digraph "lock" {
        graph [lockstep=1, summary="A lock%2C in brief.", events="lock,linkUp:spontaneous,drop:both", conditions="jam:fault=jam:fault=ice:moment=bump:event=linkUp:until=moved:stimulus=lock:unsure=jam:reading=jam:delay=2 s", starts="away:registered=no,locked (registered):registered=yes"];
        "away";
        "locked (registered)" [entry="beep", region="at home"];
        "x" [status="moved"];
        "__start0" [label="", shape="none"];
        "__start0" -> "away" [label="not registered"];
        "__start1" [label="", shape="none"];
        "__start1" -> "locked (registered)" [label="registered"];
        "__any" [label="any state", shape="plaintext"];
        "away" -> "locked (registered)" [label="linkUp within 30 s", row=0, event="linkUp", within="30 s"];
        "away" -> "x" [label="linkUp within 30 s", row=0, event="linkUp", within="30 s"];
        "x" -> "locked (registered)" [label="lock unless jam / turn, log, save", row=1, event="lock", unless="jam", first="turn", then="log,save"];
        "x" -> "x" [label="lock given jam", row=2, event="lock", given="jam", stay="true", ours="true"];
        "__any" -> "away" [label="drop", row=3, event="drop"];
        "locked (registered)" -> "away" [label="after 3 s/gone", row=4, after="3 s", shows="gone"];
      }

      """#)
    expect(try MachineDefinition(dot: Array(text.utf8), name: "lock.dot"), lock)
  }

  @Test("whatever a definition says comes back from YAML and from DOT as it was", arguments: 0..<4)
  func roundTrip(part: Int) throws {
    var machines = RandomMachines(seed: UInt64(part))
    for _ in 0..<50 {
      let machine = machines.next()
      try #require(machine.faults() == [])
      expect(try MachineDefinition(yaml: Array(machine.yaml().utf8), name: "m.yaml"), machine)
      expect(try MachineDefinition(dot: Array(machine.dot().utf8), name: "m.dot"), machine)
      for format in MachineFormat.allCases { #expect(machine.text(in: format).hasSuffix("\n")) }
    }
  }

  @Test("every fault of a machine in a file is reported, at its line and column")
  func located() {
    let yaml = """
      machine: door
      states: [Closed, Closed]
      events: [open, shut]
      starts: [{ state: Ajar }]
      transitions:
        - { event: open, from: Closed, to: Opened }
        - { event: open, from: Closed, to: Closed, given: wind }
      """
    #expect(throws: DocumentError.self) { try MachineDefinition(yaml: Array(yaml.utf8), name: "door.yaml") }
    do throws(DocumentError) {
      _ = try MachineDefinition(yaml: Array(yaml.utf8), name: "door.yaml")
    } catch {
      expect(
        error.problems.map { "\($0.position): \($0.message)" },
        [
          "2:18: state 'Closed' is defined twice", "3:16: event 'shut' has no transitions",
          "4:19: the machine starts in 'Ajar', which is not defined",
          "6:38: 'open' leads to 'Opened', which is not defined",
          "7:53: 'open' depends on condition 'wind', which is not defined",
        ])
    }
    do throws(DocumentError) {
      _ = try MachineDefinition(
        yaml: Array("machine: a\nstats: []\nevents: {}\ntransitions:\n  - {to: b}".utf8), name: "a.yaml")
    } catch {
      expect(
        error.problems.map { "\($0.position): \($0.message)" },
        [
          "1:1: missing key `states` or `regions`", "1:1: missing key `starts`", "2:1: unknown key `stats`",
          "3:9: expected a list, found a mapping", "5:5: missing key `from`",
        ])
    }
  }
}

@Suite("DOT: machines of learners, and files of strangers")
struct DOTTests {
  private func read(_ text: String) throws(DocumentError) -> MachineDefinition {
    try MachineDefinition(dot: Array(text.utf8), name: "m.dot")
  }

  private let angluin = MachineDefinition(
    name: "Angluin_Mealy", states: [State("s0"), State("s1")], events: [Event("a"), Event("b")],
    transitions: [
      Transition(.event("a"), from: .states(["s0"]), to: .states(["s1"]), shows: "False"),
      Transition(.event("b"), from: .states(["s0"]), to: .states(["s0"]), shows: "True"),
      Transition(.event("a"), from: .states(["s1"]), to: .states(["s0"]), shows: "x/y"),
    ], starts: [Start("s1")])

  @Test("a Mealy machine as AALpy writes it becomes states, inputs and what is shown")
  func aalpy() throws {
    let machine = try read(
      """
      digraph Angluin_Mealy {
      s0 [label=s0];
      s1 [label=s1];
      s0 -> s1  [label="a/False"];
      s0 -> s0  [label="b/True"];
      s1 -> s0  [label="a/x/y"];
      __start0 [label="", shape=none];
      __start0 -> s1  [label=""];
      }
      """)
    expect(machine, angluin)
    // Written out, it is still one to other tools, and comes back as it was.
    let text = machine.dot()
    #expect(text.contains(#""s0" -> "s1" [label="a/False","#))
    #expect(text.contains(#""__start0" -> "s1""#))
    expect(try read(text), machine)
  }

  @Test(
    "the same machine with all that the language allows: comments, quotes, HTML, ports, chains, subgraphs")
  func language() throws {
    let machine = try read(
      """
      # made by hand
      strict digraph Angluin_Mealy { // a comment
        rankdir=LR; graph [bgcolor="white" fontsize=10]; node [shape=circle, label=none]
        __start0 [label="" shape="none"]
        /* and
        another */
        subgraph cluster_all { label="all"; s0 [label="s" + "0"]; s1 [style="bold\\
      er"] }
        edge [color=red];
        s0:e -> s1:w [label=<<table><tr><td>a</td><td>/</td><td>False</td></tr></table>>, pos="1,2"][penwidth=-1.5];
        s0 -> s0 [label="b / True"]
        {s1} -> {s0} [label="a/x/y"]; "__start0" -> s1;
      }
      """)
    expect(machine, angluin)
  }

  @Test("a start may be missing, an edge may carry several labels, and one output may lead to several states")
  func variants() throws {
    let machine = try read(
      #"digraph { 0 -> 1 [label="a / 1\nb / 2\l"]; 0 -> 0 [label="a/1"]; 1 -> 1 [label="turn"] }"#)
    expect(machine.starts, [Start("0")])
    expect(
      machine.transitions,
      [
        Transition(.event("a"), from: .states(["0"]), to: .states(["1", "0"]), shows: "1"),
        Transition(.event("b"), from: .states(["0"]), to: .states(["1"]), shows: "2"),
        Transition(.event("turn"), from: .states(["1"]), to: .states(["1"])),
      ])
    expect(machine.name, "m.dot")
    let moore = try read(
      #"digraph M { s0 [label="s0|locked"]; s1 [label="{ s1 | open }"]; s0 -> s1 [label=go] }"#)
    expect(moore.states, [State("s0", status: "locked"), State("s1", status: "open")])
  }

  @Test("an HTML label has inputs in its first line and their output below, or a label in each line")
  func htmlLines() throws {
    let machine = try read(
      """
      digraph { s0 -> s1 [label=<Hello<br />ServerHello / Done>]; s1 -> s1 [label=<Hello | Bye<BR/>Empty>]
      s1 -> s0 [label=<<b>a / 1</b><br align="left"/>b / 2>]; s0 -> s0 [label=<turn>] }
      """)
    expect(
      machine.transitions,
      [
        Transition(.event("Hello"), from: .states(["s0"]), to: .states(["s1"]), shows: "ServerHello / Done"),
        Transition(.event("Hello"), from: .states(["s1"]), to: .states(["s1"]), shows: "Empty"),
        Transition(.event("Bye"), from: .states(["s1"]), to: .states(["s1"]), shows: "Empty"),
        Transition(.event("a"), from: .states(["s1"]), to: .states(["s0"]), shows: "1"),
        Transition(.event("b"), from: .states(["s1"]), to: .states(["s0"]), shows: "2"),
        Transition(.event("turn"), from: .states(["s0"]), to: .states(["s0"])),
      ])
  }

  @Test(
    "a Moore machine's outputs are the statuses of its states, as each program writes them",
    arguments: [
      #"A [shape="record", style="rounded", label="{ A | init }"]; B [shape="record", label="{ B | beep }"];"#,
      #"A [label="A|init", shape=record, style=rounded]; B [label="B|beep", shape=record, style=rounded];"#,
      #"A [shape="circle" label="0 / init"]; B [shape="circle" label="1 / beep"];"#,
    ])
  func moore(states: String) throws {
    let machine = try read(
      #"digraph g { __start0 [label="", shape=none]; __start0 -> A; \#(states) A -> B [label="coin"]; B -> A [label="button"] }"#
    )
    expect(machine.states, [State("A", status: "init"), State("B", status: "beep")])
    expect(machine.starts, [Start("A")])
    expect(machine.transitions.map(\.shows), [nil, nil])
    let table = machine.table()
    #expect(table.contains("A [init]") && table.contains("B [beep]"), "\(table)")
    // Written out, it is read back as it was.
    expect(try read(machine.dot()), machine)
  }

  @Test(
    "the start is where a mark points, whatever the mark is called",
    arguments: [
      "init [shape=point]; init -> b", "\"\" -> b",
      #"__start0 [label="" shape="none" width="0"]; __start0 -> b;"#,
      #"subgraph __initial_1_sg { __initial_1 [label="", shape=circle, style=filled] } __initial_1 -> b [label=""];"#,
      "begin [style=invis]; begin -> b", "start [shape=plaintext]; start -> b", "node [shape=none]; x -> b",
    ])
  func starts(mark: String) throws {
    let machine = try read(
      #"digraph { a [shape=box]; b [shape=box]; a -> b [label="x/1"]; b -> a [label="x/2"]; \#(mark) }"#)
    expect(machine.starts, [Start("b")])
    expect(machine.states, [State("a"), State("b")])
  }

  @Test("what python-statemachine draws is read: a start in a subgraph, labels in tables, empty rows")
  func tables() throws {
    func label(_ event: String) -> String {
      #"<<table border="0"><tr><td cellpadding="4"><font point-size="9">\#(event)</font></td></tr><tr><td></td></tr></table>>"#
    }
    func graph(_ unlock: String) -> String {
      """
      digraph Lock { label=Lock; subgraph __initial_1_sg { label=""; __initial_1 [label="", shape=circle]; }
      __initial_1 -> locked [label="", minlen=1]; subgraph cluster_1 { locked [label=Locked];
      unlocked [label=<<table><tr><td>Unlocked</td></tr><hr/><tr><td>entry / ring</td></tr></table>>]; }
      locked -> unlocked [label=\(label(unlock))]; unlocked -> locked [label=\(label("Lock"))]; }
      """
    }
    let machine = try read(graph("Unlock"))
    expect(machine.starts, [Start("locked")])
    expect(machine.states, [State("locked"), State("unlocked")])
    expect(machine.events, [Event("Unlock"), Event("Lock")])
    expect(machine.transitions.map(\.shows), [nil, nil])
    let error = #expect(throws: DocumentError.self) { try read(graph("Unlock<br/>[ok]")) }
    expect(
      error?.problems.first?.message, "`[ok]` is a condition, and conditions of edges are not read from DOT")
  }

  @Test(
    "what is wrong with a file is said with its line and column",
    arguments: [
      ("", "1:1: expected `digraph`, found the end of the file"),
      ("graph { a -- b }", "1:1: this graph has no directions, found `graph`"),
      ("digraph {\n a -- b }", "2:4: this edge has no direction, found `--`"),
      ("digraph {\n  a -> b", "2:9: a closing `}` is missing, found the end of the file"),
      ("digraph { a -> }", "1:16: expected a node, found `}`"),
      ("digraph { a [label=\"x }", "1:20: this text does not end"),
      ("digraph { /* a }", "1:11: this comment does not end"),
      ("digraph { a [label=<x<y> }", "1:20: this text in angle brackets does not end"),
      ("digraph { é$ }", "1:12: this character cannot stand here"),
      ("digraph { a -> b }", "1:11: this edge has no label"),
      (
        "digraph { a -> b [label=\"x/1\"] } digraph {}",
        "1:34: only one graph can stand in a file, found `digraph`"
      ),
      ("digraph { __start0 -> a __start1 -> b a -> b [label=x] }", "1:25: this is a second start"),
      ("digraph { a -> b [label=\"x/1\"]\n a -> c [label=\"x/2\"] }", "2:2: 'x' has two rows from 'a'"),
      ("digraph { __start0 -> b; a }", "1:1: no events are defined"),
      ("digraph { p [shape=point] p -> a p -> b a -> b [label=x] }", "1:34: this is a second start"),
      ("digraph { p [shape=point] p -> p }", "1:27: this edge has no label"),
      (
        "digraph { a [label=\"0 / x\"] b [label=\"1 / y\"] a -> b [label=\"c / z\"] }",
        "1:61: this edge has an output, and the states have some, too"
      ),
      (
        "digraph { a [label=\"b|c|d\"] a -> a [label=x] }",
        "1:20: this label has more than a name and an output"
      ),
      ("digraph { a -> a [label=\"i:0.8\"] a -> b [label=\"i:0.2\"] }", "1:25: this edge has a probability"),
      (
        "digraph { a -> a [label=\"i/o:0.8\"] a -> b [label=\"i/p:0.2\"] }",
        "1:25: this edge has a probability"
      ),
      ("digraph { a -> a [label=0.5] a -> b [label=0.5] }", "1:25: this edge has a probability"),
      (
        "digraph { a -> b [label=<a / 1<br/>more>] }",
        "1:25: the row `more` of this label has no output, but another row has one"
      ),
      ("digraph { a -> b [modality=MAY label=x] }", "1:11: this edge says what a machine may or must do"),
      ("digraph { lockstep=2 }", "1:20: only version 1 of a machine is known"),
      ("digraph { lockstep=1 a -> b [event=x] }", "1:22: this edge does not say which `row` it belongs to"),
      (
        "digraph { lockstep=1 a -> b [row=0 after=\"soon\"] }",
        "1:42: expected a duration such as 3 s, found `soon`"
      ),
      ("digraph { lockstep=1 events=\"a:never\" }", "1:29: `a:never` is no event and its kind"),
      ("digraph { lockstep=1 starts=\"a:b\" }", "1:29: `b` is no setting with yes or no"),
      ("digraph { lockstep=1 conditions=\"a:b\" }", "1:33: `b` says nothing of a condition"),
      ("digraph { lockstep=1 summary=\"100%\" }", "1:30: a `%` stands for itself as `%25`"),
    ])
  func faults(text: String, problem: String) throws {
    let error = #expect(throws: DocumentError.self) { try read(text) }
    let first = try #require(error?.problems.first)
    expect("\(first.position): \(first.message)", problem)
  }

  @Test("deep nesting, huge products and sheer size are refused, and no bytes stop the program")
  func hostile() throws {
    let deep = "digraph { " + String(repeating: "{ ", count: 100_000)
    #expect(throws: DocumentError.self) { try read(deep) }
    let crowd = (0..<2000).map { "n\($0)" }.joined(separator: " ")
    let product = #expect(throws: DocumentError.self) {
      try read("digraph { {\(crowd)} -> {\(crowd)} [label=x] }")
    }
    expect(product?.problems[0].message, "the file draws more than 2000000 edges, found `}`")
    #expect(throws: DocumentError.self) {
      try MachineDefinition(dot: [UInt8](repeating: 32, count: 33 << 20), name: "big.dot")
    }
    #expect(throws: DocumentError.self) { try MachineDefinition(dot: [0x64, 0xFF, 0xFE], name: "x") }

    var generator = SeededGenerator(seed: 7)
    let seeds = [lock.dot(), lock.yaml(), RandomMachines(seed: 3).dot, "digraph{a->b[label=<x<y>/z>]}"].map {
      Array($0.utf8)
    }
    let marks = Array("[]{}<>:,-;=\"\\%/*#+ \n\r\u{FF}a0".utf8)
    var sound = 0
    for _ in 0..<1000 {
      var bytes = seeds[generator.below(seeds.count)]
      for _ in 0...generator.below(3) {
        let place = generator.below(bytes.count)
        switch generator.below(3) {
        case 0: bytes[place] = marks[generator.below(marks.count)]
        case 1: bytes.removeSubrange(place..<min(bytes.count, place + 1 + generator.below(9)))
        default: bytes.insert(marks[generator.below(marks.count)], at: place)
        }
      }
      for file in [try? MachineFile(bytes, name: "x.dot"), try? MachineFile(bytes, name: "x.yaml")] {
        guard let file else { continue }
        sound += 1
        _ = file.warnings(of: try Machine(file.definition))
      }
    }
    #expect(sound > 30)
  }
}

extension RandomMachines {
  fileprivate var dot: String {
    var machines = self
    return machines.next().dot()
  }
}
