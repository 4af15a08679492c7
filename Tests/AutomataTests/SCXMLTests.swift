import Automata
import Basics
import Documents
import TestSupport
import Testing

private let header = """
  <scxml xmlns="http://www.w3.org/2005/07/scxml" xmlns:lockstep="urn:lockstep" version="1.0" initial="a">
  """

private func read(_ body: String) throws(DocumentError) -> MachineFile {
  try MachineFile(Array("\(header)\n\(body)\n</scxml>\n".utf8), name: "charts/m.scxml")
}

@Suite("State charts in SCXML")
struct SCXMLTests {
  /// A chart, and the machine that it means.
  private static let charts: [(chart: String, machine: String)] = [
    // Prefixes of events, wildcards, a transition without a target, and one to its own state.
    (
      """
      <state id="a"><transition event="go.*" target="b"/><transition event="stay"/></state>
      <state id="b"><transition event="go.on" target="b"/><transition event="*" target="a"/></state>
      """,
      """
      states: [a, b]
      events: [go, stay, go.on]
      starts: [{ state: a }]
      transitions:
        - { event: go, from: a, to: b }
        - { event: stay, from: a, to: "=" }
        - { event: go.on, from: a, to: b }
        - { event: go, from: b, to: a }
        - { event: stay, from: b, to: a }
        - { event: go.on, from: b, to: b }
      """
    ),
    // Inner transitions come first; a compound state is entered at its start; entry and exit run in order.
    (
      """
      <state id="a"><transition event="on" target="b"/></state>
      <state id="b" initial="d">
        <onentry><send event="enter b" target="#out"/></onentry>
        <onexit><send event="exit b" target="#out"/></onexit>
        <transition event="off" target="a"><send event="off b" target="#out"/></transition>
        <transition event="next" target="a"/>
        <state id="c"/>
        <state id="d">
          <onentry><send event="enter d" target="#out"/></onentry>
          <onexit><send event="exit d" target="#out"/></onexit>
          <transition event="next" target="c"/>
        </state>
      </state>
      """,
      """
      states: [a, { name: c, region: b }, { name: d, region: b }]
      events: ["on", "off", next]
      starts: [{ state: a }]
      transitions:
        - { event: "on", from: a, to: d, then: [enter b, enter d] }
        - { event: "off", from: c, to: a, then: [exit b, off b] }
        - { event: next, from: c, to: a, then: [exit b] }
        - { event: "off", from: d, to: a, then: [exit d, exit b, off b] }
        - { event: next, from: d, to: c, then: [exit d] }
      """
    ),
    // Variables: types from first values, conditions as a list, constants put in, what nothing reads left out.
    (
      """
      <datamodel>
        <data id="most" expr="3"/><data id="tries" expr="0"/><data id="pin" expr="'12'"/><data id="seen" expr="0"/>
        <data id="level" expr="1"/>
      </datamodel>
      <state id="a">
        <transition event="enter" cond="_event.data.code === pin &amp;&amp; !(tries >= most)" target="b"/>
        <transition event="enter" cond="tries &lt; most - 1"><assign location="tries" expr="tries + 1"/></transition>
        <transition event="enter"><script>tries = 0; seen++; level = level / 2</script></transition>
      </state>
      <state id="b">
        <transition event="change" cond="_event.data.pin.length > 1"><assign location="pin" expr="_event.data.pin"/></transition>
        <transition event="raise" cond="level &lt; 0.5 || _event.data.force" target="a"/>
      </state>
      """,
      """
      states: [a, b]
      variables:
        tries: { form: integer, first: 0 }
        pin_: { form: text, first: "'12'" }
        level: { form: number, first: "1.0" }
      events:
        - enter: { arguments: { code: text } }
        - change: { arguments: { pin: text } }
        - raise: { arguments: { force: flag } }
      starts: [{ state: a }]
      transitions:
        - { event: enter, from: a, to: b, when: code == pin_ && tries < 3 }
        - { event: enter, from: a, to: "=", when: tries < 2, set: { tries: tries + 1 } }
        - { event: enter, from: a, to: "=", set: { tries: 0, level: level / 2.0 } }
        - { event: change, from: b, to: "=", when: pin.size() > 1, set: { pin_: pin } }
        - { event: raise, from: b, to: a, when: level < 0.5 || force }
      """
    ),
    // Transitions without an event, and events of the chart itself, are carried out at once.
    (
      """
      <datamodel><data id="n" expr="0"/></datamodel>
      <state id="a">
        <transition event="go" target="b"><assign location="n" expr="n + 1"/><raise event="again"/></transition>
      </state>
      <state id="b">
        <transition cond="n > 2" target="c"/>
        <transition event="again" cond="n == 2" target="a"/>
        <transition event="back" target="a"/>
      </state>
      <final id="c"/>
      """,
      """
      states: [a, b, c]
      variables: { n: { form: integer, first: 0 } }
      events: [go, back]
      starts: [{ state: a }]
      transitions:
        - { event: go, from: a, to: c, when: n + 1 > 2, set: { n: n + 1 } }
        - { event: go, from: a, to: a, when: n + 1 == 2, set: { n: n + 1 } }
        - { event: go, from: a, to: b, set: { n: n + 1 } }
        - { event: back, from: b, to: a }
      """
    ),
    // A delayed event that its state cancels is a time of the state; with a condition, its event is discarded otherwise.
    (
      """
      <datamodel><data id="busy" expr="false"/></datamodel>
      <state id="a">
        <onentry><send id="t" event="over" delay=".5s"/></onentry><onexit><cancel sendid="t"/></onexit>
        <transition event="over go" target="b"/>
      </state>
      <state id="b">
        <onentry><send event="late" delay="2s"/></onentry>
        <transition event="late" cond="!busy" target="c"/>
        <transition event="work"><assign location="busy" expr="!busy"/></transition>
      </state>
      <final id="c"/>
      """,
      """
      states: [a, b, c]
      variables: { busy: { form: flag, first: "false" } }
      events: [go, work]
      starts: [{ state: a }]
      transitions:
        - { event: go, from: a, to: b, start: late }
        - { from: a, to: b, after: 500 ms, start: late }
        - { event: work, from: b, to: "=", set: { busy: "!busy" } }
        - { from: b, to: c, after: 2 s, timer: late, when: "!busy" }
        - { from: b, to: "=", after: 2 s, timer: late, when: busy }
      """
    ),
    // A timer that runs on in other states, from the start; one that a state without a transition discards; its length a value.
    (
      """
      <datamodel><data id="wait" expr="3"/></datamodel>
      <state id="a">
        <onentry><send id="x" event="alarm" delay="10s"/></onentry>
        <transition event="next" target="b"><assign location="wait" expr="wait + 1"/></transition>
      </state>
      <state id="b">
        <transition event="alarm" target="c"/>
        <transition event="next" target="c"><cancel sendid="x"/><send event="tick" delayexpr="wait + 's'"/></transition>
      </state>
      <state id="c"><transition event="tick" target="c"><send event="ding"/></transition></state>
      """,
      """
      states: [a, b, c]
      variables: { wait: { form: integer, first: 3 }, delay1: { form: duration, first: "duration('0s')" } }
      events: [next]
      starts: [{ state: a, start: x }]
      transitions:
        - { event: next, from: a, to: b, set: { wait: wait + 1 } }
        - { from: a, to: "=", after: 10 s, timer: x }
        - { event: next, from: b, to: c, set: { delay1: seconds(wait) }, start: tick, stop: x }
        - { from: b, to: c, after: 10 s, timer: x }
        - { from: c, to: c, after: delay1, timer: tick, then: ding }
      """
    ),
    // A parallel state is the product of its regions; `In`, and the event at its end.
    (
      """
      <parallel id="a">
        <state id="door" lockstep:status="door"><state id="shut"><transition event="pull" target="open"/></state>
          <final id="open"/></state>
        <state id="bolt"><state id="out"><transition event="turn" cond="In('shut')" target="in"/></state><final id="in"/></state>
        <transition event="done.state.a" target="end"/>
      </parallel>
      <state id="end"><transition event="turn" target="a"/></state>
      """,
      """
      states:
        - { name: shut+out, status: door+out }
        - { name: shut+in, status: door+in }
        - { name: open+out, status: door+out }
        - end
      events: [pull, turn]
      starts: [{ state: shut+out }]
      transitions:
        - { event: pull, from: shut+out, to: open+out }
        - { event: turn, from: shut+out, to: shut+in }
        - { event: pull, from: shut+in, to: end }
        - { event: turn, from: end, to: shut+out }
      """
    ),
    // A history returns to where its state was left.
    (
      """
      <state id="a"><history id="h"><transition target="one"/></history>
        <state id="one"><transition event="next" target="two"/></state>
        <state id="two"/>
        <transition event="pause" target="b"/>
      </state>
      <state id="b"><transition event="pause" target="h"/></state>
      """,
      """
      states: [{ name: one, region: a }, { name: two, region: a }, b, b (after two)]
      events: [next, pause]
      starts: [{ state: one }]
      transitions:
        - { event: next, from: one, to: two }
        - { event: pause, from: one, to: b }
        - { event: pause, from: two, to: b (after two) }
        - { event: pause, from: b, to: one }
        - { event: pause, from: b (after two), to: two }
      """
    ),
    // Lists have a limit; parameters of effects are readings.
    (
      """
      <datamodel><data id="log">[]</data></datamodel>
      <state id="a">
        <transition event="open"><assign location="log" expr="[{user: _event.data.user, n: log.length}].concat(log).slice(0, 2)"/></transition>
        <transition event="read"><send event="log" target="#out"><param name="log" expr="log"/></send></transition>
      </state>
      """,
      """
      states: [a]
      variables: { log: { form: &log { list: { record: { user: text, n: integer } }, size: 2 }, first: "[]" } }
      readings: { log: *log }
      events: [open: { arguments: { user: text } }, read]
      starts: [{ state: a }]
      transitions:
        - { event: open, from: a, to: "=", set: { log: "log.prepend({'user': user, 'n': log.size()}).take(2)" } }
        - { event: read, from: a, to: "=", then: [{ reading: log, is: log }] }
      """
    ),
    // A chart whose only events are its own.
    (
      """
      <state id="a"><onentry><send event="tick" delay="1s"/></onentry><transition event="tick" target="b"/></state>
      <state id="b"><onentry><send event="tock" delay="200ms"/></onentry><transition event="tock" target="a"/></state>
      """,
      """
      states: [a, b]
      events: [tick: spontaneous, tock: spontaneous]
      starts: [{ state: a }]
      transitions:
        - { event: tick, from: a, to: b, after: 1 s }
        - { event: tock, from: b, to: a, after: 200 ms }
      """
    ),
    // Branches of actions, and rows that are the same in several states.
    (
      """
      <datamodel><data id="n" expr="0"/></datamodel>
      <state id="a">
        <transition event="go">
          <if cond="n == 0"><send event="zero"/><elseif cond="n > 9"/><send event="many"/><else/><log expr="n"/></if>
          <assign location="n" expr="Math.floor(n / 2) + Math.max(n, _event.data.by)"/>
        </transition>
      </state>
      """,
      """
      states: [a]
      variables: { n: { form: integer, first: 0 } }
      events: [go: { arguments: { by: integer } }]
      starts: [{ state: a }]
      transitions:
        - { event: go, from: a, to: "=", when: n == 0, then: zero, set: { n: &n "(n - (n % 2 + 2) % 2) / 2 + max(n, by)" } }
        - { event: go, from: a, to: "=", when: n > 9, then: many, set: { n: *n } }
        - { event: go, from: a, to: "=", set: { n: *n } }
      """
    ),
  ]

  @Test("a chart is the machine of its configurations", arguments: charts.indices)
  func machines(number: Int) throws {
    let (chart, machine) = Self.charts[number]
    let file = try read(chart)
    let wanted = try MachineDefinition(yaml: Array("machine: m\n\(machine)\n".utf8), name: "m.yaml")
    expect(file.definition.yaml(), wanted.yaml())
    _ = try Machine(file.definition)
  }

  /// A chart in which `‹` and `›` stand around what is refused, and what is said of it.
  private static let refused: [(chart: String, message: String)] = [
    (#"<state id="a">‹<invoke type="x">›</invoke></state>"#, "`<invoke>` is not read"),
    (
      #"<state id="a"><onentry>‹<foreach array="x" item="y">›</foreach></onentry></state>"#,
      "`<foreach>` is not read"
    ),
    (
      #"<state id="a"><script>x</script></state>"#.replacing("<script>", with: "‹<script>›"),
      "`<script>` is not possible in `<state>`"
    ),
    (
      #"<state id="a"><onentry><script>‹if› (true) x = 1</script></onentry></state>"#,
      "`if` is not read in a script"
    ),
    (
      #"<state id="a"><onentry><script src="‹a.js›"/></onentry></state>"#,
      "a script from another file is not read"
    ),
    (
      #"<state id="a">‹<transitoin event="x"/>›</state>"#,
      "unknown element `<transitoin>` | did you mean `transition`?"
    ),
    (
      #"<state id="a"><transition ‹evnt›="x"/></state>"#,
      "unknown attribute `evnt` of `<transition>` | did you mean `event`?"
    ),
    (#"<state id="a" ‹lockstep:x›="y"/>"#, "unknown attribute `x` of a machine"),
    (
      #"<state id="a"><transition event="x" target="a ‹opne›"/></state><state id="open"/>"#,
      "state 'opne' is not defined | did you mean `open`?"
    ),
    (#"<state id="a"/><state id="‹a›"/>"#, "state 'a' is defined twice"),
    (
      #"<state id="a"><state id="b"/></state><state id="c" initial="‹b›"><state id="d"/></state>"#,
      "'b' is not within 'c'"
    ),
    (
      #"<datamodel><data id="tries" expr="0"/></datamodel><state id="a"><transition event="x" cond="1 &lt; 2 &amp;&amp; ‹trise› > 0"/></state>"#,
      "unknown name `trise` | did you mean `tries`?"
    ),
    (#"<state id="a"><transition event="x" cond="1 &gt; ‹)›"/></state>"#, "unexpected `)`"),
    (
      #"<state id="a"><transition event="x" cond="_event.data.f = ‹›1"/></state>"#.replacing(
        "= ‹›", with: "‹=› "), "`=` assigns a value, which is not possible here | compare with `==`"
    ),
    (
      #"<state id="a"><transition event="x" cond="‹typeof› y"/></state>"#,
      "`typeof` is not read in expressions"
    ),
    (
      #"<state id="a"><transition event="x" cond="‹_event.origin› == 'x'"/></state>"#,
      "`_event.origin` is not read"
    ),
    (
      #"<state id="a"/><state id="open"><transition event="x" cond="In(‹'opne'›)"/></state>"#,
      "state 'opne' is not defined | did you mean `open`?"
    ),
    (
      #"<datamodel><data id="n" expr="0"/></datamodel><state id="a"><transition event="x" cond="‹n == 'a'›"><assign location="n" expr="1"/></transition></state>"#,
      "an integer and a text have no type in common"
    ),
    (
      #"<datamodel><data id="n" expr="0"/></datamodel><state id="a"><transition event="x" cond="n == ‹null›"><assign location="n" expr="1"/></transition></state>"#,
      "a value of a machine is never `null` or `undefined`"
    ),
    (
      #"<datamodel><data id="l" expr="[]"/></datamodel><state id="a"><transition event="x" cond="l.length > 3"><assign location="l" expr="‹l.concat([1])›"/></transition></state>"#,
      "the list can become longer without a limit"
    ),
    (
      #"<state id="a"><onentry><send event="x" delay="‹5 minutes›"/></onentry></state>"#,
      "`5 minutes` is no delay | as in 5s, 0.5s or 200ms"
    ),
    (
      #"<state id="a"><transition event="x" target="b"/></state><state id="b">‹<transition target="c"/>›</state><state id="c"><transition target="b"/></state>"#
        .replacing("‹", with: "").replacing("›", with: "").replacing(
          #"<transition event="x" target="b"/>"#, with: #"‹<transition event="x" target="b"/>›"#),
      "transitions without an event, and events of the machine itself, follow this without an end"
    ),
    (
      #"<datamodel><data id="n"/></datamodel><state id="a"><transition cond="‹n > 1›" target="b"/></state><state id="b"/>"#,
      "the first state depends on this condition, which the first values do not decide"
    ),
    (
      "<state id=\"a\">‹›",
      "this is not well-formed XML: mismatched tag"
    ),
    (
      "<state id=\"a\"><transition event=\"x\" cond=\"" + String(repeating: "1+", count: 600)
        + "1‹›\"/></state>",
      "the expression has more than 500 parts"
    ),
    (
      "<state id=\"a\"><transition event=\"x\" cond=\"" + String(repeating: "(", count: 600)
        + "1‹›\"/></state>",
      "the expression is nested too deeply"
    ),
  ]

  @Test("what has no counterpart in a machine is refused where it is", arguments: refused.indices)
  func refusals(number: Int) throws {
    let (marked, message) = Self.refused[number]
    let chart = marked.replacing("‹", with: "").replacing("›", with: "")
    let error = #expect(throws: DocumentError.self) { try read(chart) }
    let problem = try #require(error?.problems.first)
    let hint = message.contains(" | ") ? " | \(problem.hint ?? "")" : ""
    expect(problem.message + hint, message)
    guard let start = marked.firstIndex(of: "‹"), let end = marked.firstIndex(of: "›"),
      marked.index(after: start) < end
    else { return }
    let column = marked.distance(from: marked.startIndex, to: start) + 1
    let width = marked.distance(from: start, to: end) - 1
    expect("\(problem.position)", "2:\(column)")
    expect(problem.end.map { "\($0)" }, "2:\(column + width)")
  }

  @Test("an event that is sent again while it is pending starts its timer again, which is said")
  func restarted() throws {
    let file = try read(
      """
      <state id="a"><transition event="go" target="b"/></state>
      <state id="b"><onentry><send event="late" delay="9s"/></onentry><transition event="back late" target="a"/></state>
      """)
    let warnings = file.warnings(of: try Machine(file.definition)).map { "\($0)" }
    expect(warnings.count, 1)
    #expect(
      warnings[0].hasPrefix(
        "charts/m.scxml:3:24: warning: this event may be sent again while it is pending; the machine then starts its "
          + "timer again\n"), "\(warnings)")
  }

  @Test("a document type is refused, and so are elements too deep and configurations too many")
  func limits() throws {
    func message(_ text: String) -> String? {
      do throws(DocumentError) {
        _ = try MachineFile(Array(text.utf8), name: "m.scxml")
        return nil
      } catch { return error.problems.first.map { "\($0.position): \($0.message)" } }
    }
    expect(
      message("<!DOCTYPE scxml [<!ENTITY a \"aaaa\">]>\n<scxml name=\"&a;\"/>"),
      "1:1: a document type is not read, nor are its entities")
    let deep = String(repeating: "<state>", count: 100)
    expect(message("<scxml>\(deep)"), "1:449: the elements are nested more than 64 levels deep")
    let regions = (0..<14).map { number in
      "<state><state id=\"s\(number)\"><transition event=\"e\(number)\" target=\"t\(number)\"/></state><state id=\"t\(number)\"/></state>"
    }
    expect(
      message("<scxml><parallel>\(regions.joined())</parallel></scxml>"),
      "1:1: this chart has more than 3000 configurations")
  }

  @Test("a changed chart is refused with a place and a reason, or is a machine")
  func mutations() throws {
    let seeds = Self.charts.map { Array("\(header)\n\($0.chart)\n</scxml>\n".utf8) }
    let marks = [
      "<", ">", "\"", "'", "&", "&amp;", "&#10;", "/>", "</state>", "<state>", " id=\"a\"", "(", ")", "[",
      "]", "{",
      "}", "!", "+", "-", ".", "?", ":", ",", "0", "1e9", "9223372036854775807", "null", "x", "_event",
      "_event.data",
      "In('a')", " || ", "\u{301}", "*", "#_internal", "target=\"\"", "cond=\"1\"", "delay=\"0s\"",
      "type=\"internal\"",
    ].map { Array($0.utf8) }
    var generator = SeededGenerator(seed: 7)
    var (read, refused) = (0, 0)
    for _ in 0..<600 {
      var bytes = seeds[generator.below(seeds.count)]
      let place = header.utf8.count + generator.below(bytes.count - header.utf8.count)
      if generator.below(3) == 0 {
        bytes.removeSubrange(place..<min(bytes.count, place + 1 + generator.below(8)))
      } else {
        bytes.insert(contentsOf: marks[generator.below(marks.count)], at: place)
      }
      let text = String(decoding: bytes, as: UTF8.self)
      do throws(DocumentError) {
        let machine = try MachineFile(bytes, name: "m.scxml").definition
        #expect(machine.faults() == [], "\(text)")
        #expect(try MachineDefinition(yaml: Array(machine.yaml().utf8), name: "m.yaml") == machine, "\(text)")
        read += 1
      } catch {
        let isClear = error.problems.allSatisfy { !$0.message.isEmpty && $0.position.offset <= bytes.count }
        #expect(!error.problems.isEmpty && isClear, "\(text)")
        refused += 1
      }
    }
    #expect(read > 60 && refused > 60, "\(read) read, \(refused) refused")
  }
}
