import Basics
import Conformance
import TestSupport
import Testing

@testable import Programs

/// What becomes of a line that a program writes.
private enum Fate: Equatable {
  /// It is compared with the machine, when it was shown.
  case compared
  /// It is done.
  case done
  /// It is kept: for people, beside a packet, or out of what is written.
  case kept
  /// It ends an answer, or says what the program is.
  case read
  /// It is refused where it is written, with these words.
  case refused(String)
}

/// The three kinds of programs.
private let roles: [ProgramConversation.Role] = [.device, .driver, .peripheral]

private let noLine = Fate.refused("expected {\"status\":\"…\"}")

/// Every line that a program may write, with each of its members, and what becomes of it from a device, a driver and a
/// peripheral.
// swift-format-ignore
private let lines: [(line: String, device: Fate, driver: Fate, peripheral: Fate)] = [
  (#"{"status":"on"}"#, .compared, .compared, .refused("a peripheral shows no `status`: its driver does")),
  (#"{"effect":"beep"}"#, .compared, .compared, .compared),
  (#"{"reading":{"battery":5.9}}"#, .compared, .compared, .compared),
  (#"{"reading":{"battery":{"duration":"3 s"}}}"#, .compared, .compared, .compared),
  (#"{"reading":{"battery":null}}"#, .refused("a reading is true, false"), .refused("a reading is true, false"), .refused("a reading is true, false")),
  (#"{"reading":{"battery":1,"wind":2}}"#, noLine, noLine, noLine),
  (#"{"event":"lost"}"#, .compared, .compared, .compared),
  (#"{"event":"lost","detail":"0x08"}"#, .compared, .compared, .compared),
  (#"{"event":"lost","detail":8}"#, .refused("`detail` is 8, and not a text"), .refused("`detail` is 8, and not a text"), .refused("`detail` is 8, and not a text")),
  (#"{"violation":"twice","of":"open","detail":"pull 2"}"#, .compared, .compared, .compared),
  (#"{"violation":"twice","of":true}"#, .refused("`of` is true, and not a text"), .refused("`of` is true, and not a text"), .refused("`of` is true, and not a text")),
  (#"{"violation":"twice","packet":"00"}"#, noLine, noLine, noLine),
  (#"{"status":"on","at":2.5}"#, .compared, .compared, .refused("a peripheral shows no `status`")),
  (#"{"effect":"beep","at":2.5}"#, .compared, .compared, .compared),
  (#"{"effect":"beep","at":-1}"#, .refused("`at` is -1"), .refused("`at` is -1"), .refused("`at` is -1")),
  (#"{"status":"on","detail":"x"}"#, noLine, noLine, .refused("a peripheral shows no `status`")),
  (#"{"log":"a word"}"#, .kept, .kept, .kept),
  (#"{"log":"a word","at":2.5}"#, .kept, .kept, .kept),
  (#"{"settled":true}"#, .read, .read, .read),
  (#"{"settled":true,"next":2.5}"#, .read, .read, .read),
  (#"{"settled":true,"next":null}"#, .read, .read, .read),
  (#"{"settled":true,"at":2.5}"#, .refused("a line of `settled` shows nothing"), .refused("a line of `settled` shows nothing"), .refused("a line of `settled` shows nothing")),
  (#"{"settled":false}"#, noLine, noLine, noLine),
  (#"{"refused":"no"}"#, .read, .read, .read),
  (#"{"refused":"no","next":2.5}"#, .read, .read, .read),
  (#"{"hello":{"protocol":2}}"#, .read, .read, .read),
  (#"{"hello":{"protocol":2},"at":0}"#, .refused("a line of `hello` shows nothing"), .refused("a line of `hello` shows nothing"), .refused("a line of `hello` shows nothing")),
  (#"{"scan":true}"#, noLine, .done, noLine),
  (#"{"scan":"changes"}"#, noLine, .done, noLine),
  (#"{"scan":"everything"}"#, noLine, .done, noLine),
  (#"{"scan":false}"#, noLine, .done, noLine),
  (#"{"scan":"some"}"#, noLine, .refused("`scan` is \"some\", and not true, false, changes or everything"), noLine),
  (#"{"connect":true}"#, noLine, .done, noLine),
  (#"{"connect":["fff0"]}"#, noLine, .done, noLine),
  (#"{"disconnect":true}"#, noLine, .done, .done),
  (#"{"exchangeMTU":true}"#, noLine, .done, noLine),
  (#"{"read":"2a19"}"#, noLine, .done, noLine),
  (#"{"read":12}"#, noLine, .done, noLine),
  (#"{"write":{"to":"fff1","value":"01","response":true,"text":"unlock"}}"#, noLine, .done, noLine),
  (#"{"write":{"to":"fff1","value":"01","meaning":"x"}}"#, noLine, .refused("`write` has an unknown member `meaning`"), noLine),
  (#"{"subscribe":"fff2"}"#, noLine, .done, noLine),
  (#"{"unsubscribe":"fff2"}"#, noLine, .done, noLine),
  (#"{"meaning":"it is locked"}"#, noLine, .kept, noLine),
  (#"{"secret":"0011223344556677"}"#, noLine, .kept, .kept),
  (#"{"advertise":{"name":"L","services":["fff0"],"manufacturer":"ffff01","interval":0.1,"connectable":true}}"#, noLine, noLine, .done),
  (#"{"advertise":false}"#, noLine, noLine, .done),
  (#"{"set":{"of":"2a19","value":"64"}}"#, noLine, noLine, .done),
  (#"{"notify":{"from":"fff2","value":"01"}}"#, noLine, noLine, .done),
  (#"{"indicate":{"from":"fff2","value":"01"}}"#, noLine, noLine, .done),
  (#"{"reject":128}"#, noLine, noLine, .done),
  (#"{"reject":0}"#, noLine, noLine, .refused("`reject` is 0, and not the number of an error of ATT")),
]

/// Every member of a greeting, and whether it means something from a device, a driver and a peripheral.
// swift-format-ignore
private let members: [(member: String, device: Bool, driver: Bool, peripheral: Bool)] = [
  (#""name":"L""#, true, true, true),
  (#""time":"virtual""#, true, true, true),
  (#""time":"real""#, true, false, false),
  (#""stimuli":["go"]"#, true, true, true),
  (#""stimuli":["go"],"arguments":{"go":[{"far":1}]}"#, true, true, true),
  (#""faults":{"jam":[true]}"#, true, true, true),
  (#""faults":{"jam":{"level":"messages","values":["2 s"]}}"#, true, true, true),
  (#""settings":["registered"]"#, true, true, true),
  (#""conditions":["old"]"#, true, true, true),
  (#""reports":["lost"]"#, true, true, true),
  (#""readings":["battery"]"#, true, true, true),
  (#""effects":true"#, true, true, true),
  (#""moves":[]"#, true, true, true),
  (#""secrets":["pin"]"#, false, true, true),
  (#""advertises":{"name":"L","services":["fff0"]}"#, false, true, false),
  (#""requests":{}"#, false, true, false),
  (#""meanings":{}"#, false, true, false),
  (#""linkFaults":["lose-link"]"#, false, true, false),
  (#""services":[]"#, false, false, true),
  (#""advertise":{"name":"L"}"#, false, false, true),
  (#""colour":"red""#, false, false, false),
]

private func fate(of line: String, _ role: ProgramConversation.Role) -> Fate {
  do throws(ProgramAnswer.Malformed) {
    switch try ProgramLine(parsing: Array(line.utf8), of: role).answer {
    case .status, .effect, .reading, .event, .violation: return .compared
    case .log, .operation(.secret), .operation(.meaning): return .kept
    case .operation: return .done
    case .hello, .settled, .refused: return .read
    }
  } catch {
    return .refused(error.reason)
  }
}

@Suite("What becomes of each line of a program", .timeLimit(.minutes(10)))
struct ProgramLinesTests {
  @Test("every line of every kind of program is compared, done, kept, read or refused, and none is dropped")
  func table() {
    for (line, device, driver, peripheral) in lines {
      for (role, wanted) in zip(roles, [device, driver, peripheral]) {
        let fate = fate(of: line, role)
        if case .refused(let words) = wanted {
          guard case .refused(let reason) = fate else {
            Issue.record("\(line) of a \(role) is not refused")
            continue
          }
          #expect(reason.contains(words), "\(line) of a \(role): \(reason)")
        } else {
          #expect(fate == wanted, "\(line) of a \(role) is \(fate)")
        }
      }
    }
  }

  @Test("every member of a greeting is for those who make something of it, and refused of others")
  func greetings() {
    for (member, device, driver, peripheral) in members {
      for (role, isKnown) in zip(roles, [device, driver, peripheral]) {
        let line = #"{"hello":{"protocol":2,\#(member)}}"#
        let isRead = fate(of: line, role) == .read
        #expect(isRead == isKnown, "\(member) of a \(role)")
      }
    }
  }

  /// A peripheral that shows effects and a reading, and reports an event.
  private static let showing = ScriptedPair.services.replacing(
    #""protocol": 2"#, with: #""protocol": 2, "effects": true, "readings": ["pulls"], "reports": ["lost"]"#)

  @Test(
    "what a peripheral shows is observed when it is shown, in its order, before what the driver makes of it")
  func order() throws {
    let pair = ScriptedPair()
    var device = try pair.device(
      ScriptedPair.connecting,
      """
      if kind == "reset": say(reading={"pulls": 0}); due = 1.25
      if kind == "advance" and now == 1.25: say(effect="beep"); say(event="lost", detail="by hand")
      if kind == "subscription": say(reading={"pulls": 1}); say(notify={"from": "fff2", "value": "00"})
      if kind == "stimulus": say(violation="twice", of="press", detail="pull 2"); say(effect="beep")
      if kind == "stimulus": say(notify={"from": "fff2", "value": "01"}); due = now + 0.5
      if kind == "advance" and now != 1.25: say(effect="beep")
      """, services: Self.showing)
    try device.reset(to: StartCondition())
    // A stop at the moment of what is shown is none for whoever waits on.
    expect(
      try observed(&device, until: seconds(3), ScriptedPair.vocabulary),
      ["0.000 pulls 0", "1.250 beep", "1.250 lost (by hand)"])
    expect(device.now, seconds(3))
    try device.perform(Stimulus(0))
    let connected = try observed(&device, until: seconds(6), ScriptedPair.vocabulary).map {
      $0.split(separator: " ", maxSplits: 1)[1]
    }
    expect(connected, ["heard", "up", "pulls 1", "off"])
    try device.perform(Stimulus(1))
    expect(device.now, seconds(6))
    let pressed = try observed(&device, until: seconds(9), ScriptedPair.vocabulary)
    expect(pressed.count, 4)
    expect(Array(pressed.prefix(2)), ["6.000 broke twice: pull 2", "6.000 beep"])
    #expect(pressed[2].hasSuffix(" on") && pressed[2] > pressed[1], "\(pressed)")
    expect(pressed[3], "6.500 beep")
    // What was shown after the last look belongs to no test.
    try device.perform(Stimulus(1))
    try device.reset(to: StartCondition())
    expect(try observed(&device, until: .zero, ScriptedPair.vocabulary), ["0.000 pulls 0"])
    device.shutDown()
  }

  @Test("what the two show is one seed's trace, also where packets are lost and what is asked for is held up")
  func deterministic() throws {
    func trace() throws -> [String] {
      let pair = ScriptedPair()
      var device = try pair.device(
        ScriptedPair.connecting,
        ScriptedPair.telling + "\nif kind in ('subscription', 'stimulus', 'advance'): say(effect='beep')",
        services: Self.showing, loss: 0.2)
      try device.reset(to: StartCondition())
      try device.perform(Stimulus(0))
      var all = try observed(&device, until: seconds(4), ScriptedPair.vocabulary)
      try device.bring(about: Fault("att", .text("unknown-request")))
      try device.perform(Stimulus(1))
      all += try observed(&device, until: seconds(20), ScriptedPair.vocabulary)
      device.shutDown()
      return all
    }
    let first = try trace()
    #expect(first.count { $0.hasSuffix("beep") } == 3, "\(first)")
    expect(try trace(), first)
  }

  @Test("a stimulus that a peripheral refuses is no trouble: the machine says whether it may")
  func refusal() throws {
    let pair = ScriptedPair()
    let refusing = ScriptedPair.telling.replacing(
      #"if kind == "stimulus": say(notify={"from": "fff2", "value": "01"}); due = now + 5"#,
      with: #"if kind == "stimulus": refusal = "it is jammed""#)
    var device = try pair.device(
      ScriptedPair.connecting,
      "refusal = None\n" + refusing
        + "\nif refusal: said.append('{\"refused\":\"%s\"}\\n' % refusal); os.write(1, ''.join(said).encode()); said.clear(); continue"
    )
    try device.reset(to: StartCondition())
    try device.perform(Stimulus(1))
    expect(try observed(&device, until: seconds(1), ScriptedPair.vocabulary), ["0.000 refused: it is jammed"])
    device.shutDown()
  }

  static let wrongPrograms: [(driver: String, lock: String, services: String, words: String)] = [
    (
      ScriptedPair.connecting, #"if kind == "link": say(status="on")"#, showing,
      "a peripheral shows no `status`: its driver does"
    ),
    (
      ScriptedPair.connecting, #"if kind == "link": say(effect="beep")"#, ScriptedPair.services,
      "its greeting does not say that it shows effects: \"effects\":true"
    ),
    (
      #"if kind == "stimulus": say(effect="beep")"#, "pass", showing,
      "its greeting does not say that it shows effects: \"effects\":true"
    ),
    (
      ScriptedPair.connecting, #"if kind == "link": say(event="lost")"#, ScriptedPair.services,
      "its greeting does not say that it reports this event: \"reports\":[\"lost\"]"
    ),
    (
      #"if kind == "stimulus": say(event="press")"#, "pass", showing,
      "its greeting does not say that it reports this event: \"reports\":[\"press\"]"
    ),
    (
      ScriptedPair.connecting, #"if kind == "link": say(effect="beep", at=99)"#, showing,
      "time passes on the air alone"
    ),
    (
      ScriptedPair.connecting, #"if kind == "subscription": say(reject=128)"#, showing,
      "it received no write"
    ),
    (
      ScriptedPair.connecting + "\n"
        + #"if kind == "link" and request["link"] == "ready": say(write={"to": "fff1", "value": "00"})"#,
      #"if kind == "written": say(reject=128); say(reject=129)"#, showing, "it has refused that write already"
    ),
    (
      ScriptedPair.connecting, #"if kind == "link": said.append('{"hello":{"protocol":2}}\n')"#, showing,
      "it said something else of itself when it was greeted"
    ),
  ]

  @Test(
    "what a program may not show is refused where it does so, and it is said what to do",
    arguments: wrongPrograms)
  func wrong(driver: String, lock: String, services: String, words: String) throws {
    let pair = ScriptedPair()
    var device = try pair.device(driver, lock, services: services)
    let fault = #expect(throws: LabFault.self) {
      try device.reset(to: StartCondition())
      try device.perform(Stimulus(0))
      _ = try observed(&device, until: seconds(5), ScriptedPair.vocabulary)
    }
    #expect(
      fault?.symptom == .programFailed && fault?.detail.contains(words) == true,
      "\(String(describing: fault))")
    device.shutDown()
  }

  @Test("a program that fails while something waits to be asked for is heard at once")
  func failureWhileWaiting() throws {
    let pair = ScriptedPair()
    var device = try pair.device(
      ScriptedPair.connecting
        + "\nif kind == 'stimulus' and state['n']: say(read='fff2')\nif kind == 'link': state['n'] = 1",
      ScriptedPair.telling.replacing("due = now + 5", with: "due = now + 0.05")
        + "\nif kind == 'advance': sys.exit(3)")
    try device.reset(to: StartCondition())
    try device.perform(Stimulus(0))
    _ = try observed(&device, until: seconds(3), ScriptedPair.vocabulary)
    try device.perform(Stimulus(1))
    try device.bring(about: Fault("att", .text("unknown-request")))
    try device.perform(Stimulus(0))
    let fault = #expect(throws: LabFault.self) {
      _ = try observed(&device, until: seconds(9), ScriptedPair.vocabulary)
    }
    #expect(fault?.detail.contains("exit status 3") == true, "\(String(describing: fault))")
    device.shutDown()
  }

  @Test("what is of no use to anybody is said once")
  func remarks() throws {
    let pair = ScriptedPair()
    var device = try pair.device(
      ScriptedPair.connecting.replacing("say(scan=True)", with: #"say(scan=True); say(meaning="hello")"#)
        + "\nif kind == 'notified': say(reading={'volts': 6})",
      ScriptedPair.telling + "\nif kind == 'subscription': say(reading={'wind': 3})",
      hello: ScriptedPair.hello.replacing(#"["go"]"#, with: #"["go", "whistle"]"#))
    var said: [String] = []
    for _ in 0..<2 {
      try device.reset(to: StartCondition())
      try device.perform(Stimulus(0))
      _ = try observed(&device, until: seconds(9), ScriptedPair.vocabulary)
      said += device.takeDiagnostics()
    }
    expect(
      said,
      [
        "the peripheral reports the reading wind, which its greeting does not name: no scenario can expect it",
        "the driver offers the stimulus whistle, which the machine does not have: it is never given",
        "the driver says `meaning` although it received no packet, such as 'hello': nothing shows it",
        "the driver reports the reading volts, which its greeting does not name: no scenario can expect it",
      ])
    device.shutDown()
  }

  @Test(
    "what both greetings offer is offered; a name that both have reaches one of them alone, and is refused")
  func offers() throws {
    let pair = ScriptedPair()
    let programs = ProgramPool(answerTimeout: .seconds(5))
    defer { programs.shutDown() }
    let services = Self.showing.replacing(
      #""protocol": 2"#, with: #""protocol": 2, "conditions": ["old"], "moves": ["press"]"#)
    let offered = try pair.pair(services: services, of: programs)
    expect(offered.nameConflict, nil)
    expect(offered.abilities.showsEffects, true)
    expect(offered.abilities.reports, ["lost", "lost"])
    expect(offered.abilities.conditions, ["old"])
    expect(offered.readings, ["pulls"])
    expect(offered.moving(usually: ["turn"]), ["turn", "press"])

    func clash(_ hello: String, _ services: String) throws(DriverPair.Problem) -> String? {
      let pair = ScriptedPair()
      defer { withExtendedLifetime(pair) {} }
      return try pair.pair(hello: hello, services: services, of: programs).nameConflict
    }
    expect(
      try clash(ScriptedPair.hello, services.replacing(#""press""#, with: #""go""#)),
      "both the driver and its lock's side have the stimulus `go`, and only one can be given it")
    for (mine, its) in [("jam", "jam"), ("att", "jam"), ("lose-link", "jam")] {
      expect(
        try clash(
          #"{"protocol": 2, "faults": {"\#(mine)": [true]}}"#,
          services.replacing(#""protocol": 2"#, with: #""protocol": 2, "faults": {"\#(its)": [true]}"#)),
        "the driver's fault `\(mine)` has the name of one of its lock's side: give it another name")
    }
  }

  @Test("a driver that listens to everything hears each advertisement once, whatever it listened to before")
  func everything() throws {
    let pair = ScriptedPair()
    var device = try pair.device(
      """
      if kind == "stimulus" and request["stimulus"] == "go": say(scan=True if not state["n"] else "everything"); state["n"] = 1
      """, "pass")
    try device.reset(to: StartCondition())
    // The first scan tells of changes: the advertisement, and what its scan response adds.
    try device.perform(Stimulus(0))
    _ = try observed(&device, until: seconds(4), ScriptedPair.vocabulary)
    func heard() -> Int { pair.told("driver").count { $0.hasPrefix("{\"heard") } }
    let before = heard()
    #expect((1...2).contains(before))
    try device.perform(Stimulus(0))
    _ = try observed(&device, until: seconds(9), ScriptedPair.vocabulary)
    // Ten times a second, and up to 10 ms later each time (Core 5.4, Vol 6 Part B §4.4.2.2.1).
    let count = heard() - before
    #expect((44...51).contains(count), "\(count)")
    device.shutDown()
  }

  @Test("a program that has a clock says no moment of its own")
  func clocks() throws {
    for line in [#"{\"status\":\"off\",\"at\":1}"#, #"{\"settled\":true,\"next\":2}"#] {
      let device = ExecDevice(command: #"while read line; do echo "\#(line)"; echo '{"settled":true}'; done"#)
      device.adopt(ScriptedPair.vocabulary)
      let fault = labFault { try device.reset(to: StartCondition()) }
      #expect(
        fault?.detail.contains(#"is for a program whose greeting says "time":"virtual""#) == true,
        "\(String(describing: fault))")
    }
  }

  /// What a program in Python makes of each line that it is told.
  // swift-format-ignore
  static let told: [(role: ProgramConversation.Role, program: String, lines: [(line: String, words: [String])])] = [
    (
      .driver,
      """
      import lockstep_device
      end = lockstep_device.Driver("d")
      def say(*words): end.log(" ".join(str(word) for word in words))
      @end.reset
      def reset(): pass
      @end.stimulus
      def go():
        end.read("fff2", then=lambda value: say("read", value.hex()))
        end.write("fff1", b"\u{5C}1", then=lambda: say("wrote"))
        end.subscribe("fff2", then=lambda: say("subscribed"))
        end.unsubscribe("fff2", then=lambda: say("unsubscribed"))
      @end.heard
      def heard(advertisement): say("heard", advertisement["name"])
      @end.connected
      def connected(): say("connected", end.peer)
      @end.ready
      def ready(services): say("ready", len(services))
      @end.notified("fff2")
      def notified(value): say("notified", value.hex())
      @end.mtu
      def mtu(count): say("mtu", count)
      @end.failed
      def failed(operation, error, code): say("failed", operation, error, code, end.failure["characteristic"])
      @end.disconnected
      def disconnected(reason, text): say("disconnected", reason, text)
      end.run()
      """,
      [
        (#"{"heard":{"address":"c7","name":"L","services":["fff0"],"data":"","rssi":-60}}"#, ["heard L"]),
        (#"{"link":"connected","address":"c7"}"#, ["connected c7"]),
        (#"{"link":"ready","services":[{"uuid":"fff0","characteristics":[]}]}"#, ["ready 1"]),
        (#"{"stimulus":"go"}"#, []),
        (#"{"notified":{"characteristic":"fff2","handle":14,"value":"01"}}"#, ["notified 01"]),
        (#"{"read":{"characteristic":"fff2","handle":14,"value":"02"}}"#, ["read 02"]),
        (#"{"wrote":{"characteristic":"fff1","handle":12}}"#, ["wrote"]),
        (#"{"subscribed":{"characteristic":"fff2","handle":14}}"#, ["subscribed"]),
        (#"{"unsubscribed":{"characteristic":"fff2","handle":14}}"#, ["unsubscribed"]),
        (#"{"mtu":247}"#, ["mtu 247"]),
        (#"{"failed":{"operation":"read","characteristic":"fff2","error":"no","code":3}}"#, ["failed read no 3 fff2"]),
        (#"{"link":"disconnected","reason":8,"text":"gone"}"#, ["disconnected 8 gone"]),
        (#"{"whistled":true}"#, [#"this module does not know the message {"whistled":true,"at":0.0}"#]),
      ]
    ),
    (
      .peripheral,
      """
      import lockstep_device
      end = lockstep_device.Peripheral("l", services={"fff0": {"fff1": ["write"], "fff2": ["notify"]}})
      def say(*words): end.log(" ".join(str(word) for word in words))
      @end.reset
      def reset(): pass
      @end.stimulus
      def press(hard=False): say("press", hard)
      @end.fault
      def jam(value): say("jam", value)
      @end.connected
      def connected(): say("connected", end.peer)
      @end.written("fff1")
      def written(value): say("written", value.hex())
      @end.subscription("fff2")
      def subscription(isOn): say("subscription", isOn)
      @end.confirmed("fff2")
      def confirmed(): say("confirmed")
      @end.mtu
      def mtu(count): say("mtu", count)
      @end.disconnected
      def disconnected(reason, text): say("disconnected", reason, text)
      end.run()
      """,
      [
        (#"{"stimulus":"press","arguments":{"hard":true}}"#, ["press True"]),
        (#"{"fault":"jam","value":false}"#, ["jam False"]),
        (#"{"link":"connected","address":"c7"}"#, ["connected c7"]),
        (#"{"written":{"characteristic":"fff1","handle":12,"value":"01"}}"#, ["written 01"]),
        (#"{"subscription":{"characteristic":"fff2","handle":14,"notifications":true,"indications":false}}"#, ["subscription True"]),
        (#"{"confirmed":{"characteristic":"fff2","handle":14}}"#, ["confirmed"]),
        (#"{"mtu":247}"#, ["mtu 247"]),
        (#"{"link":"disconnected","reason":8,"text":"gone"}"#, ["disconnected 8 gone"]),
        (#"{"whistled":true}"#, [#"this module does not know the message {"whistled":true,"at":0.0}"#]),
      ]
    ),
  ]

  private static let module = Binding.all.first { $0.language == "python" }?.text ?? ""

  @Test(
    "each line that a program is told reaches a function of the module for Python", arguments: told.indices)
  func bindings(index: Int) throws {
    let (role, program, lines) = Self.told[index]
    let folder = TestFolder()
    folder.write("lockstep_device.py", Self.module)
    let path = folder.write("end.py", program)
    let conversation = ProgramConversation(command: "exec python3 \(path)", as: role)
    let output = ProgramOutput(in: nil)
    conversation.output = output
    conversation.greet()
    expect(conversation.misunderstanding, nil)
    try conversation.restart()
    for (line, words) in [(#"{"reset":{},"seed":1}"#, [])] + lines {
      output.begin()
      _ = try conversation.ask(conversation.timed(Array((line + "\n").utf8), at: .zero)) { _, _ in }
      expect(output.lastLines, words)
    }
    conversation.shutDown()
  }

  @Test("a program of one kind that is used as another says so when it is greeted")
  func kinds() throws {
    let folder = TestFolder()
    folder.write("lockstep_device.py", Self.module)
    for (kind, role, words) in [
      ("Device", ProgramConversation.Role.driver, "this program is a device, and is used as a driver"),
      ("Driver", .peripheral, "this program is a driver, and is used as a peripheral"),
      ("Peripheral", .driver, "this program is a peripheral, and is used as a driver"),
    ] {
      let path = folder.write("end.py", "import lockstep_device\nlockstep_device.\(kind)('x').run()\n")
      let conversation = ProgramConversation(command: "exec python3 \(path)", as: role)
      conversation.greet()
      expect(
        conversation.misunderstanding?.detail,
        "the \(role) does not say what it is when it is greeted: it refuses: \(words)")
    }
  }
}
