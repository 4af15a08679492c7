import Basics
import Conformance
import Controllers
import Links
import TestSupport
import Testing

@testable import Programs

private let vocabulary = ScriptedPair.vocabulary

/// A driver and a peripheral that do what a few lines of Python say.
struct ScriptedPair {
  let folder = TestFolder()

  static let vocabulary = Vocabulary(
    stimuli: ["go", "press", "lost"], statuses: ["off", "on", "heard", "up", "gone"], effects: ["beep"])

  /// The program of one end: it is greeted, and for each request does what `lines` do, on `request`, `kind` (its first member),
  /// `now`, and `say`.
  private func program(_ name: String, _ hello: String, _ lines: String) -> String {
    folder.write(
      "\(name).py",
      """
      import json, os, sys, time
      told = open("\(folder.path)/\(name)", "a")
      state, due, said = {}, None, []
      def say(**line): said.append(json.dumps(line) + "\\n")
      for line in sys.stdin:
        request = json.loads(line)
        kind = list(request)[0]
        if kind != "hello":
          told.write(line)
          told.flush()
        now = request.get("at", 0)
        if kind in ("reset", "hello"): state, due = {"n": 0}, None
        if kind == "hello": said.append('{"hello":\(hello)}\\n')
        elif kind == "advance" and due is not None and due <= now: due = None
      \(lines.split(separator: "\n", omittingEmptySubsequences: false).map { "  \($0)" }.joined(separator: "\n"))
        say(settled=True, next=due)
        os.write(1, "".join(said).encode())
        said.clear()
      """)
  }

  static let hello = #"{"protocol": 2, "stimuli": ["go"], "reports": ["lost"], "linkFaults": ["lose-link"]}"#
  static let services =
    #"{"protocol": 2, "stimuli": ["press"], "advertise": {"name": "L", "services": ["fff0"]}, "#
    + #""services": [{"uuid": "fff0", "characteristics": [{"uuid": "fff1", "properties": ["write"]}, "#
    + #"{"uuid": "fff2", "properties": ["notify", "read"], "value": "07"}, "#
    + #"{"uuid": "fff3", "properties": ["indicate", "write-without-response"]}]}]}"#

  /// A driver that connects when it is told to go, and shows what it is notified of.
  static let connecting = """
    if kind == "stimulus": say(scan=True)
    if kind == "heard": say(scan=False); say(connect=True); say(status="heard")
    if kind == "link" and request["link"] == "ready": say(subscribe="fff2"); say(status="up")
    if kind == "link" and request["link"] == "disconnected": say(event="lost", detail=request["text"]); say(status="gone")
    if kind == "notified": say(status=["off", "on"][int(request["notified"]["value"], 16)])
    """
  /// A lock that says how it is when somebody subscribes, and is another way when its button is pressed.
  static let telling = """
    if kind == "subscription": say(notify={"from": "fff2", "value": "00"})
    if kind == "stimulus": say(notify={"from": "fff2", "value": "01"}); due = now + 5
    if kind == "advance": say(notify={"from": "fff2", "value": "00"})
    """

  func device(
    _ driver: String = connecting, _ lock: String = telling, hello: String = Self.hello,
    services: String = Self.services, loss: Double = 0, seed: UInt64 = 1, answerTimeout: Interval = timeLimit
  ) throws -> AirDevice<DriverClient<ProgramRadio>> {
    let programs = ProgramPool(answerTimeout: answerTimeout)
    var pair = try pair(driver, lock, hello: hello, services: services, of: programs)
    pair.loss = loss
    let device = try pair.device(seed: seed)
    device.adopt(Self.vocabulary)
    return device
  }

  /// Both programs, greeted.
  func pair(
    _ driver: String = connecting, _ lock: String = telling, hello: String = Self.hello,
    services: String = Self.services, of programs: ProgramPool
  ) throws(DriverPair.Problem) -> DriverPair {
    try DriverPair(
      programs.program("exec python3 \(program("driver", hello, driver))", as: .driver),
      peripheral(lock, services: services, of: programs))
  }

  /// The lock's program, greeted.
  func peripheral(
    _ lock: String, services: String = Self.services, of programs: ProgramPool
  ) -> ProgramConversation {
    programs.program("exec python3 \(program("lock", services, lock))", as: .peripheral)
  }

  /// What one of them was told since its greeting, without the times.
  func told(_ name: String) -> [String] {
    folder.read(name).split(separator: "\n").map { line in
      String(line).replacing(#/,"at":[0-9.]+/#, with: "")
    }
  }
}

extension AirDevice where Client == DriverClient<ProgramRadio> {
  /// Lets the driver end. The lock's program ends with it, since nothing of it is left.
  func shutDown() { wrapped.program.shutDown() }
}

@Suite("A driver and a peripheral on our radio", .timeLimit(.minutes(10)))
struct DriverTests {
  @Test("from advertisement to timer: what is shown, when, and what each end was told")
  func whole() throws {
    let pair = ScriptedPair()
    var device = try pair.device()
    try device.reset(to: StartCondition())
    expect(try observed(&device, until: seconds(3), vocabulary), [])
    try device.perform(Stimulus(0))
    let first = try observed(&device, until: seconds(10), vocabulary).map { $0.split(separator: " ")[1] }
    expect(first, ["heard", "up", "off"])
    try device.perform(Stimulus(1))
    let times = try observed(&device, until: seconds(30), vocabulary).map { $0.split(separator: " ") }
    expect(times.map { $0[1] }, ["on", "off"])
    let shown = try times.map { try #require(Double($0[0])) }
    // The lock's five seconds, as its client sees them: up to an interval of the link later.
    #expect(abs(shown[1] - shown[0] - 5) < 0.0076)
    let told = pair.told("driver")
    expect(
      told.map { $0.prefix(18) },
      [
        #"{"reset":{},"seed""#, #"{"stimulus":"go"}"#, #"{"heard":{"address"#, #"{"link":"connected"#,
        #"{"link":"ready","s"#, #"{"subscribed":{"ch"#, #"{"notified":{"char"#, #"{"notified":{"char"#,
        #"{"notified":{"char"#,
      ].map { $0.prefix(18) })
    expect(
      told[4],
      #"{"link":"ready","services":[{"uuid":"1800","characteristics":[{"uuid":"2a00","handle":3,"properties":["read"]},"#
        + #"{"uuid":"2a01","handle":5,"properties":["read"]}]},{"uuid":"1801","characteristics":[{"uuid":"2a05","handle":8,"properties":["indicate"]}]},"#
        + #"{"uuid":"fff0","characteristics":[{"uuid":"fff1","handle":12,"properties":["write"]},"#
        + #"{"uuid":"fff2","handle":14,"properties":["read","notify"]},"#
        + #"{"uuid":"fff3","handle":17,"properties":["write-without-response","indicate"]}]}]}"#)
    expect(
      Array(told[5...6]),
      [
        #"{"subscribed":{"characteristic":"fff2","handle":14}}"#,
        #"{"notified":{"characteristic":"fff2","handle":14,"value":"00"}}"#,
      ])
    expect(
      pair.told("lock").map { $0.prefix(30) },
      [
        #"{"reset":{},"seed":1}"#, #"{"link":"connected","address":""#,
        #"{"subscription":{"characterist"#, #"{"stimulus":"press"}"#, #"{"advance":0}"#,
      ].map { $0.prefix(30) })
  }

  @Test("one seed gives one trace, lossy or not, whatever was tested before")
  func deterministic() throws {
    for loss in [0, 0.2] {
      let pair = ScriptedPair()
      func trace(_ device: inout AirDevice<DriverClient<ProgramRadio>>) throws -> [String] {
        try device.reset(to: StartCondition())
        var all: [String] = []
        for stimulus in [0, 1, 1, 1] {
          try device.perform(Stimulus(stimulus))
          all += try observed(&device, until: device.now + .seconds(7), vocabulary)
        }
        try device.bring(about: Fault("lose-link"))
        return all + (try observed(&device, until: device.now + .seconds(7), vocabulary))
      }
      var device = try pair.device(loss: loss)
      let first = try trace(&device)
      #expect(first.count > 6)
      expect(try trace(&device), first)
      let others = ScriptedPair()
      var another = try others.device(loss: loss)
      expect(try trace(&another), first)
      device.shutDown()
    }
  }

  @Test("a link that is lost, and a lock that leaves: the driver is told the reason")
  func links() throws {
    let pair = ScriptedPair()
    var device = try pair.device(
      ScriptedPair.connecting, ScriptedPair.telling + "\nif kind == 'fault': say(disconnect=True)",
      services: ScriptedPair.services.replacing(
        #""protocol": 2"#, with: #""protocol": 2, "faults": {"leave": [true]}"#))
    for (fault, reason) in [
      (Fault("lose-link"), "0x08 (connection timeout)"), (Fault("leave"), "0x13 (ended by the remote user)"),
      (Fault("out-of-range"), "0x08 (connection timeout)"), (Fault("no-power"), "0x08 (connection timeout)"),
    ] {
      try device.reset(to: StartCondition())
      try device.perform(Stimulus(0))
      _ = try observed(&device, until: seconds(3), vocabulary)
      try device.bring(about: fault)
      let shown = try observed(&device, until: seconds(9), vocabulary).map {
        $0.split(separator: " ", maxSplits: 1)[1]
      }
      #expect(shown.count == 2 && shown[0].contains(reason) && shown[1] == "gone", "\(fault): \(shown)")
    }
  }

  @Test("a link is lost after so many packets of what is under way, and of nothing else")
  func countedLoss() throws {
    let pair = ScriptedPair()
    var device = try pair.device()
    let cases: [(packets: Int, pause: Int64, isLost: Bool)] = [
      (1, 0, true), (2, 0, true), (50, 0, false), (1, 1_000, false),
    ]
    for (packets, pause, isLost) in cases {
      try device.reset(to: StartCondition())
      try device.perform(Stimulus(0))
      _ = try observed(&device, until: seconds(3), vocabulary)
      try device.bring(about: Fault("lose-link", .integer(packets)))
      var shown = try observed(&device, until: device.now + .milliseconds(pause), vocabulary)
      for _ in 0..<2 { try device.perform(Stimulus(1)) }
      shown += try observed(&device, until: seconds(13), vocabulary)
      #expect(shown.contains { $0.hasSuffix("gone") } == isLost, "\(packets) \(pause): \(shown)")
    }
    device.shutDown()
  }

  static let impossibleOperations: [(operations: String, failed: String)] = [
    (
      #"say(read="2a19")"#,
      #""operation":"read","characteristic":"2a19","error":"no characteristic 2a19 was found""#
    ),
    (
      #"say(write={"to": 99, "value": "00"})"#,
      #""operation":"write","handle":99,"error":"refused with 0x01 (invalid handle) at 0x0063","code":1"#
    ),
    (
      #"say(write={"to": "fff2", "value": "00"})"#,
      #""operation":"write","characteristic":"fff2","error":"refused with 0x03 (write not permitted) at 0x000e","code":3"#
    ),
    (
      #"say(write={"to": "fff1", "value": "00" * 513})"#,
      #""operation":"write","characteristic":"fff1","error":"the value has 513 bytes; the maximum is 512""#
    ),
    (
      #"say(write={"to": "fff3", "value": "00" * 21})"#,
      #""operation":"write","characteristic":"fff3","error":"the value has 21 bytes; Write Without Response takes at most 20 at this ATT_MTU""#
    ),
    (
      #"say(subscribe="fff1")"#,
      #""operation":"subscribe","characteristic":"fff1","error":"the characteristic supports neither notifications nor indications""#
    ),
    (
      #"say(subscribe=99)"#,
      #""operation":"subscribe","handle":99,"error":"no characteristic was found there""#
    ),
    (#"say(connect=True)"#, #""operation":"connect","error":"already connected or connecting""#),
    (
      #"say(disconnect=True); say(read="fff2")"#,
      #""operation":"read","characteristic":"fff2","error":"not connected""#
    ),
  ]

  @Test("what cannot be done is told to the driver, and is no trouble", arguments: impossibleOperations)
  func impossible(operations: String, failed: String) throws {
    let pair = ScriptedPair()
    var device = try pair.device(
      ScriptedPair.connecting + "\nif kind == 'link' and request['link'] == 'ready': \(operations)")
    try device.reset(to: StartCondition())
    try device.perform(Stimulus(0))
    _ = try observed(&device, until: seconds(5), vocabulary)
    let told = pair.told("driver")
    #expect(told.contains { $0 == "{\"failed\":{\(failed)}}" }, "\(told.suffix(4))")
  }

  @Test(
    "values are read and written, with and without response, and long ones too; indications come as notifications do"
  )
  func values() throws {
    let pair = ScriptedPair()
    let long = String(repeating: "a5", count: 100)
    var device = try pair.device(
      """
      \(ScriptedPair.connecting)
      if kind == "link" and request["link"] == "ready":
        say(exchangeMTU=True)
        say(read="fff2")
        say(write={"to": "fff1", "value": "\(long)"})
        say(write={"to": "fff3", "value": "01"})
        say(subscribe="fff3")
      """,
      """
      if kind == "written": say(set={"of": "fff2", "value": "09"}); say(indicate={"from": "fff3", "value": "01"})
      if kind == "subscription" and request["subscription"]["indications"]: say(indicate={"from": "fff3", "value": "00"})
      """)
    try device.reset(to: StartCondition())
    try device.perform(Stimulus(0))
    let shown = try observed(&device, until: seconds(5), vocabulary).map { $0.split(separator: " ")[1] }
    expect(shown, ["heard", "up", "off"])
    let driver = pair.told("driver").dropFirst(5)
    expect(
      driver.sorted(),
      [
        #"{"mtu":247}"#, #"{"notified":{"characteristic":"fff3","handle":17,"value":"00"}}"#,
        #"{"read":{"characteristic":"fff2","handle":14,"value":"07"}}"#,
        #"{"subscribed":{"characteristic":"fff2","handle":14}}"#,
        #"{"subscribed":{"characteristic":"fff3","handle":17}}"#,
        #"{"wrote":{"characteristic":"fff1","handle":12}}"#,
      ])
    let lock = pair.told("lock")
    #expect(lock.contains("{\"written\":{\"characteristic\":\"fff1\",\"handle\":12,\"value\":\"\(long)\"}}"))
    #expect(lock.contains(#"{"written":{"characteristic":"fff3","handle":17,"value":"01"}}"#))
    #expect(lock.contains(#"{"confirmed":{"characteristic":"fff3","handle":17}}"#))
  }

  @Test(
    "a lock refuses a write with an error of ATT, before whatever else it sends; one without response goes by"
  )
  func rejections() throws {
    let pair = ScriptedPair()
    let long = String(repeating: "a5", count: 100)
    var device = try pair.device(
      """
      \(ScriptedPair.connecting)
      if kind == "link" and request["link"] == "ready":
        say(subscribe="fff2")
        for value in ["01", "02", "\(long)"]: say(write={"to": "fff1", "value": value})
        say(write={"to": "fff3", "value": "03"})
      """,
      """
      if kind == "written":
        if request["written"]["value"] != "02": say(reject=0x81)
        say(notify={"from": "fff2", "value": "01"})
      """)
    try device.reset(to: StartCondition())
    try device.perform(Stimulus(0))
    _ = try observed(&device, until: seconds(5), vocabulary)
    let failed =
      #"{"failed":{"operation":"write","characteristic":"fff1","error":"refused with 0x81 (application error) at 0x000c","code":129}}"#
    let told = pair.told("driver").filter { $0.hasPrefix("{\"failed") || $0.hasPrefix("{\"wrote") }
    #expect(told == [failed, #"{"wrote":{"characteristic":"fff1","handle":12}}"#, failed], "\(told)")
    expect(pair.told("driver").count { $0.hasPrefix("{\"notified") }, 4)
    expect(pair.told("lock").count { $0.hasPrefix("{\"written") }, 4)
  }

  @Test("what no client's Bluetooth would send does a correct lock no harm")
  func malformed() throws {
    let pair = ScriptedPair()
    var device = try pair.device()
    for value in MalformedBluetooth.allCases {
      try device.reset(to: StartCondition())
      try device.perform(Stimulus(0))
      _ = try observed(&device, until: seconds(3), vocabulary)
      try device.bring(about: Fault("att", .text(value.rawValue)))
      try device.perform(Stimulus(1))
      let shown = try observed(&device, until: seconds(12), vocabulary).map { $0.split(separator: " ")[1] }
      expect(shown, ["on", "off"])
    }
  }

  @Test("the answer to what no client would send is not taken for that to what the driver does next")
  func malformedBeforeAnOperation() throws {
    let pair = ScriptedPair()
    var device = try pair.device(
      """
      \(ScriptedPair.connecting.replacing("if kind == \"stimulus\": say(scan=True)", with: ""))
      if kind == "stimulus" and not state["n"]: say(scan=True)
      if kind == "stimulus" and state["n"]: say(write={"to": "fff1", "value": "5a" * 40})
      if kind == "link" and request["link"] == "ready": state["n"] = 1
      """)
    for value in MalformedBluetooth.allCases {
      try device.reset(to: StartCondition())
      try device.perform(Stimulus(0))
      _ = try observed(&device, until: seconds(3), vocabulary)
      try device.bring(about: Fault("att", .text(value.rawValue)))
      try device.perform(Stimulus(0))
      _ = try observed(&device, until: seconds(6), vocabulary)
      let told = pair.told("driver").last
      #expect(told == #"{"wrote":{"characteristic":"fff1","handle":12}}"#, "\(value): \(told ?? "nothing")")
    }
    device.shutDown()
  }

  static let badPrograms: [(driver: String, lock: String, symptom: LabFault.Symptom, words: String)] = [
    ("if kind == 'heard': sys.exit(3)", "pass", .ended, "exit status 3"),
    (
      "if kind == 'heard': time.sleep(600)", "pass", .noAnswer,
      "no end of the answer within 10 s to {\"heard\""
    ),
    ("if kind == 'heard': said.append('no line\\n')", "pass", .badAnswer, "the driver wrote 'no line'"),
    (
      "if kind == 'heard': [say(log='x') for _ in range(20000)]", "pass", .badAnswer,
      "more than 10000 lines without a pause"
    ),
    (
      "if kind == 'heard': say(notify={'from': 'fff2', 'value': '00'})", "pass", .badAnswer,
      "the driver wrote '{\"notify\""
    ),
    ("if kind == 'heard': say(status='on', at=99)", "pass", .badAnswer, "time passes on the air alone"),
    (
      "if kind == 'heard': say(refused='no')", "pass", .badAnswer,
      "the driver refuses to hear what happened: no"
    ),
    (
      "due = now", "pass", .badAnswer, "received 1001 events and has shown nothing"
    ),
    (
      "due = now + 1e-9", "pass", .badAnswer, "received 1001 events and has shown nothing"
    ),
    (
      "if kind == 'heard': say(write={'to': 'fff1', 'valeu': '00'})", "pass", .badAnswer,
      "`write` has an unknown member `valeu`; did you mean `value`?"
    ),
    ("if kind == 'heard': say(read=0)", "pass", .badAnswer, "`read` is 0, and not a UUID"),
    (
      "if kind == 'heard': say(write={'to': 'ffff1', 'value': '00'})", "pass", .badAnswer,
      "`to` is \"ffff1\", and not a UUID"
    ),
    (ScriptedPair.connecting, "if kind == 'link': sys.exit(4)", .ended, "exit status 4"),
    (
      ScriptedPair.connecting, "if kind == 'subscription': time.sleep(600)", .noAnswer,
      "no end of the answer within 10 s"
    ),
    (
      ScriptedPair.connecting, "if kind == 'link': say(read='fff2')", .badAnswer,
      "the peripheral wrote '{\"read\""
    ),
    (
      ScriptedPair.connecting, "if kind == 'subscription': say(notify={'from': 'fff2', 'value': '00' * 21})",
      .badAnswer, "the peripheral notifies 21 bytes, and 20 are possible on this link"
    ),
    (
      ScriptedPair.connecting, "if kind == 'link': say(notify={'from': 'fff9', 'value': '00'})", .badAnswer,
      "the peripheral has no characteristic fff9"
    ),
    (ScriptedPair.connecting, "due = now", .badAnswer, "has just been called then"),
  ]

  @Test("a lock that asks to be called a nanosecond later, again and again, is trouble of the lab")
  func hurried() throws {
    let pair = ScriptedPair()
    let programs = ProgramPool(answerTimeout: timeLimit)
    defer { programs.shutDown() }
    let lock = ProgramPeripheral(pair.peripheral("due = now + 1e-9", of: programs), seed: 1)
    lock.maximumCalls = 100
    _ = try lock.prepare(StartCondition(), at: .zero)
    for _ in 0..<200 where lock.fault == nil { _ = lock.advance(to: try #require(lock.deadline)) }
    expect(lock.fault?.symptom, .programFailed)
    #expect(lock.fault?.detail.contains("called by itself 100 times within a second") == true)
  }

  @Test(
    "a program that dies, hangs, floods or lies is trouble of the lab, and the next test goes on",
    arguments: badPrograms)
  func bad(driver: String, lock: String, symptom: LabFault.Symptom, words: String) throws {
    let pair = ScriptedPair()
    var device = try pair.device(
      driver == ScriptedPair.connecting ? driver : "if kind == 'stimulus': say(scan=True)\n" + driver, lock,
      // Far more than a start takes, for it is waited for to the end.
      answerTimeout: symptom == .noAnswer ? .seconds(10) : timeLimit)
    device.wrapped.maximumEvents = 1000
    for _ in 0..<2 {
      let fault = #expect(throws: LabFault.self) {
        try device.reset(to: StartCondition())
        try device.perform(Stimulus(0))
        _ = try observed(&device, until: seconds(5), vocabulary)
      }
      let words = [symptom.rawValue, words]
      #expect(
        fault?.symptom == .programFailed && words.allSatisfy { fault?.detail.contains($0) == true },
        "\(String(describing: fault))")
      try device.restart()
    }
    device.shutDown()
  }

  @Test(
    "a greeting that is none, or that cannot be used, is said before a test; one that nobody gives is trouble",
    arguments: [
      (#"{"protocol": 2, "time": "real"}"#, ScriptedPair.services, "a driver has no clock"),
      (
        ScriptedPair.hello,
        ScriptedPair.services.replacing(
          #""name": "L""#, with: #""name": "\#(String(repeating: "L", count: 300))""#),
        "the name to advertise has 300 bytes, and at most 29 fit"
      ),
      (
        #"{"protocol": 2, "requests": {"go": "fly"}, "meanings": {}}"#, ScriptedPair.services,
        "the unknown word `fly`"
      ),
    ])
  func greetings(hello: String, services: String, words: String) throws {
    let pair = ScriptedPair()
    let problem = #expect(throws: DriverPair.Problem.self) {
      _ = try pair.device(hello: hello, services: services)
    }
    guard case .unusable(let why) = problem else { return }
    #expect(why.contains(words), "\(why)")
  }

  @Test("a secret is kept from the moment at which it is named, and nobody names them without end")
  func secrets() throws {
    let pair = ScriptedPair()
    let device = try pair.device(
      "if kind == 'stimulus': [say(secret='%032x' % (7 ** 40 + n * 3 ** 60)) for n in range(600)]")
    try device.reset(to: StartCondition())
    let fault = #expect(throws: LabFault.self) { try device.perform(Stimulus(0)) }
    #expect(fault?.detail.contains("has named more than 500 secrets") == true, "\(String(describing: fault))")
    device.shutDown()
  }
}
