import Journal
import Automata
import Conformance
import Basics
import TestSupport
import Testing

@testable import Harness

/// A door in a lab: it wants its rest between two openings, speaks of itself, and has a limit.
private struct LabDoor: StandaloneDevice {
  var door: ToyDoor
  var rest = Interval.zero
  var diagnostics: [String] = []
  var budget = Int.max
  /// How much time has passed whenever somebody looks again, as it does with what is real.
  var haste = Interval.zero
  /// How much has passed when somebody looks for the first time, as where the tester's machine was busy.
  var delay = Interval.zero
  /// From when on its time is waited for no more, since the end was asked for.
  var end = Instant.never
  private var lookedAt = Instant.zero
  private var readyAt = Instant.zero
  private var openings = 0

  init(rest: Interval = .zero, budget: Int = .max, diagnostics: [String] = []) {
    var script = ToyDoor.healthy
    script["close"] = [[(.zero, .status("closed"))]]
    door = ToyDoor(script)
    self.rest = rest
    self.budget = budget
    self.diagnostics = diagnostics
  }

  var abilities: Abilities { door.abilities }
  var now: Instant { door.now }

  mutating func adopt(_ vocabulary: Vocabulary) { door.adopt(vocabulary) }
  mutating func reset(to start: StartCondition) throws(LabFault) { try door.reset(to: start) }
  mutating func bring(about fault: Fault) throws(LabFault) { try door.bring(about: fault) }
  mutating func restart() { diagnostics.append("started afresh") }

  func readyTime(for stimulus: Stimulus) -> Instant? { stimulus.number == 0 ? readyAt : nil }

  mutating func perform(_ stimulus: Stimulus) throws(LabFault) {
    if stimulus.number == 0 {
      guard openings < budget else { throw LabFault(.safetyLimit, "\(budget) openings are enough") }
      openings += 1
      readyAt = now + rest
    }
    try door.perform(stimulus)
    lookedAt = now + delay
  }

  mutating func observe(until limit: Instant) throws(LabFault) -> Observation? {
    if limit > end { throw LabFault(.stopped, "a stop was requested") }
    let observation = try door.observe(until: max(limit, lookedAt))
    if observation == nil { lookedAt = now + haste }
    return observation
  }

  mutating func takeDiagnostics() -> [String] {
    defer { diagnostics = [] }
    return diagnostics
  }
}

/// Makes lab doors.
private final class LabProvider: DeviceProvider {
  private let toys = ToyProvider()
  var door = LabDoor()
  var left = ParkReport()
  var given: [Argument] = []
  var withheld: [(stimulus: String, reason: String)] = []

  var emulators: [String] { toys.emulators }

  func describe(_ spec: DeviceSpec) throws(DeviceProblem) -> DeviceDescription {
    var description = try toys.describe(spec)
    description.given = given
    description.withheld = withheld
    return description
  }

  func usualDevice(of machine: String) -> DeviceSpec? { toys.usualDevice(of: machine) }
  func device(_ spec: DeviceSpec, seed: UInt64) throws(LabFault) -> any DeviceUnderTest { door }
  func park() -> ParkReport { left }
}

private func run(
  _ scenarios: [String], _ provider: LabProvider, on machine: MachineDefinition = doorMachine,
  retries: Int = 0, failsFlaky: Bool = false, earlier: Run.Earlier = Run.Earlier()
) throws -> (lines: [String], summary: Run.Summary) {
  let machines = MachineLibrary([machine]) { path throws(MachineLibrary.Missing) in
    throw MachineLibrary.Missing("there is no \(path)")
  }
  let reader = ScenarioReader(machines: machines, provider: provider)
  let items = try scenarios.enumerated().map { number, steps in
    let path = "toys/\(number).yaml"
    let text = "scenario: A door\ndevice: { lock: oak, ajar: false }\nsteps: [\(steps)]\n"
    return ScenarioSet.Item(
      path: path, scenario: try reader.read(Array(text.utf8), path: path),
      machine: try machines.machine("door"))
  }
  let journal = JournalList()
  let plan = try Plan(ScenarioSet(items), Plan.Selection(), provider: provider)
  let summary = Run(
    plan, in: [RunWorker(provider)], listener: journal, retries: retries, failsFlaky: failsFlaky,
    earlier: earlier
  )
  .perform()
  return (journal.lines, summary)
}

/// A door whose link can be lost: to the tester it is shut then.
private let farDoorMachine: MachineDefinition = {
  var machine = doorMachine
  machine.events.append(Event("lost", .spontaneous))
  machine.conditions.append(Condition("loss"))
  // swift-format-ignore
  machine.add(table: """
    | action/status   | closed | opened | tired |
    |:---------------:|:------:|:------:|:-----:|
    | lost given loss |        | closed |       |
    """)
  return machine
}()

@Suite("A lab around a device")
struct LabTests {
  /// What the door does at its openings, the steps, the verdict, how many openings there were, and the diagnostic.
  ///
  /// `+` it opens, `-` it is tired at once, `o` it opens and the link is lost, `x` the link is lost and it is tired
  /// then, `!` it is gone.
  // swift-format-ignore
  private static let links: [(openings: String, steps: String, verdict: String, count: Int, diagnostic: String?)] = [
    ("o", "open, wait: 3 s", "agree", 1, nil),
    ("x+", "open, wait: 3 s", "agree", 2, "the link was lost in one attempt, and the case was run again"),
    ("xx+", "open, wait: 3 s", "agree", 3, "the link was lost in 2 attempts, and the case was run again"),
    ("x-", "open, wait: 3 s", "divergence", 2, nil),
    ("-+", "open, wait: 3 s", "divergence", 1, nil),
    ("xo", "open, wait: 3 s", "agree", 2, "the link was lost in one attempt, and the case was run again"),
    ("xxx+", "open, wait: 3 s", "lab-fault", 3, nil),
    ("x!", "open, wait: 3 s", "lab-fault", 2, nil),
    ("o+", "open, expect: { status: opened, for: 3 s }", "agree", 2, "the link was lost in one attempt, and the case was run again"),
    ("ooo+", "open, expect: { status: opened, for: 3 s }", "lab-fault", 3, nil),
  ]

  @Test("what fails after a lost link proves nothing and is run again", arguments: links.indices)
  func lostLinks(index: Int) throws {
    let (openings, steps, verdict, count, diagnostic) = Self.links[index]
    let provider = LabProvider()
    var script = ToyDoor.healthy
    script["open"] = openings.map { letter in
      let opened: [(Interval, Show)] = [(.zero, .status("opened")), (.zero, .effect("ring"))]
      let lost: [(Interval, Show)] = opened + [(.seconds(1), .status("closed"))]
      switch letter {
      case "o": return lost
      case "x": return lost + [(.seconds(2), .status("tired"))]
      case "-": return [(.zero, .status("tired"))]
      case "!": return [(.zero, .trouble(LabFault(.noDevice, "unplugged")))]
      default: return opened
      }
    }
    provider.door.door = ToyDoor(script)
    provider.door.door.abilities.conditions = ["loss"]
    let result = try run([steps], provider, on: farDoorMachine)
    let line = try #require(result.lines.last { $0.hasPrefix(#"{"verdict""#) })
    #expect(line.hasPrefix(#"{"verdict":"\#(verdict)""#), "\(result.lines)")
    expect(provider.door.door.log.used["open"], count)
    let diagnostics = result.lines.filter { $0.contains(#""diagnostic""#) }
    expect(diagnostics.count, diagnostic == nil ? 0 : 1)
    #expect(diagnostics.allSatisfy { $0.contains(diagnostic ?? "") }, "\(diagnostics)")
    let losses = result.lines.filter { $0.contains(#""lab":"link lost: this attempt ended with: "#) }
    expect(losses.count, verdict == "lab-fault" && !openings.contains("!") ? 3 : count - 1)
    if openings == "xxx+" {
      let words =
        "link lost: something was lost on the air in each of 3 attempts; the last ended with: the device showed tired"
      #expect(line.contains(words), "\(line)")
    }
  }

  /// How long the motor rests, what becomes of a `refuse:` in a state that lasts two seconds, and how often it was given.
  // swift-format-ignore
  private static let refusals: [(rest: Int64, verdict: String, openings: Int)] = [
    (0, "agree", 2), (1, "agree", 2), (3, "skipped", 1),
  ]

  @Test("a refusal that a motor's rest outlasts is skipped, and never diverges", arguments: refusals.indices)
  func pace(index: Int) throws {
    let (rest, verdict, openings) = Self.refusals[index]
    let provider = LabProvider()
    var script = ToyDoor.healthy
    script["open"] = [ToyDoor.healthy["open"]![0], []]
    provider.door = LabDoor(rest: .seconds(rest))
    provider.door.door.script = script
    let result = try run(["open, fault: wind, refuse: open"], provider)
    let line = try #require(result.lines.last { $0.hasPrefix(#"{"verdict""#) })
    #expect(line.hasPrefix(#"{"verdict":"\#(verdict)""#), "\(result.lines)")
    if verdict == "skipped" {
      #expect(
        line.contains("step 3 cannot be done with this lock: open may be given only 3 s later"), "\(line)")
    }
    expect(provider.door.door.log.used["open"], openings)
    // What the model allows from the beginning is a fault of the scenario, however long the motor rests.
    let allowed = try run(["open, close, until: { status: closed }, refuse: open"], provider)
    expect(allowed.summary.exitStatus, .divergence)
  }

  @Test("what a step led to meets what is expected right after it, also when the door has gone on meanwhile")
  func realTime() throws {
    let provider = LabProvider()
    provider.door.haste = .seconds(9)
    // Who expected nothing between has not looked, and so it counts that the door is shut by then.
    let table: [(expected: String, CommandStatus)] = [
      ("expect: { status: tired }", .agree), ("expect: { status: closed }", .agree),
      ("expect: { status: tired }, expect: { status: closed }", .agree),
      ("expect: { status: opened }", .divergence),
    ]
    for (expected, status) in table {
      expect(try run(["open, tire, \(expected)"], provider).summary.exitStatus, status)
    }
  }

  /// The door is tired and, by the time that anybody looks, closed.
  // swift-format-ignore
  private static let passing: [(steps: String, seen: String?)] = [
    ("expect: { status: tired }", nil),
    ("expect: { status: tired, within: 1 s }", nil),
    ("until: { status: tired }", nil),
    ("expect: { status: closed }", nil),
    ("expect: { status: tired }, expect: { status: closed }", nil),
    ("expect: { status: closed }, expect: { status: tired }", "got closed"),
    ("expect: { status: tired }, expect: { status: tired }", "got closed"),
    ("expect: { status: opened }", "got closed"),
    ("expect: { status: tired, for: 1 s }", "got closed"),
    ("expect: { status: closed, for: 1 s }", nil),
    // Whoever lets time pass asks for what is shown after it.
    ("wait: 1 s, expect: { status: tired }", "got closed"),
    ("wait: settled, expect: { status: tired }", "got closed"),
  ]

  @Test(
    "what was shown in passing, in one look, was shown, in its order and once", arguments: passing.indices)
  func shownInPassing(index: Int) throws {
    let provider = LabProvider()
    provider.door.delay = .seconds(9)
    let (steps, seen) = Self.passing[index]
    let result = try run(["open, tire, \(steps)"], provider)
    expect(result.summary.exitStatus, seen == nil ? .agree : .divergence)
    if let seen { #expect(result.lines.contains { $0.contains(seen) }, "\(result.lines)") }
  }

  @Test("what is to last has not lasted where something else was shown in passing")
  func interlude() throws {
    var swinging = doorMachine
    swinging.events.append(Event("swing", .spontaneous))
    swinging.add(
      table: """
        | action/status | closed | opened | tired |
        |:-------------:|:------:|:------:|:-----:|
        | swing         | opened | closed |       |
        """)
    let provider = LabProvider()
    var script = ToyDoor.healthy
    script["open"] = [
      [
        (.zero, .status("opened")), (.zero, .effect("ring")), (.seconds(17), .status("closed")),
        (.seconds(17), .status("opened")),
      ]
    ]
    provider.door.door = ToyDoor(script)
    let steps = "open, expect: { status: opened }, expect: { status: opened, for: 20 s }"
    let result = try run([steps], provider, on: swinging)
    expect(result.summary.exitStatus, .divergence)
    #expect(
      result.lines.contains { $0.contains("expected status opened for 20 s, got closed") }, "\(result.lines)")
  }

  @Test("the model is told of a stimulus when the device is ready for it, and not before")
  func readyTime() throws {
    let provider = LabProvider()
    provider.door = LabDoor(rest: .seconds(3))
    let result = try run(
      ["open, close, until: { status: closed }, open, close, until: { status: closed }, refuse: close"],
      provider)
    let times = result.lines.filter { $0.contains(#""stimulus":"open""#) }.map { $0.prefix(12) }
    expect(times, [#"{"t":"0.000""#, #"{"t":"3.000""#])
    expect(result.summary.exitStatus, .agree)
  }

  /// What the door does at its openings, how many retries there are, the verdicts, how many cases are flaky, and what
  /// the run ends with where flaky cases pass and where they fail.
  // swift-format-ignore
  private static let tries: [(openings: String, retries: Int, verdicts: String, flaky: Int, CommandStatus, CommandStatus)] = [
    ("+", 3, "agree", 0, .agree, .agree),
    ("-", 0, "divergence", 0, .divergence, .divergence),
    ("-+", 1, "divergence again, agree", 1, .agree, .divergence),
    ("--+", 1, "divergence again, divergence", 0, .divergence, .divergence),
    ("--+", 2, "divergence again, divergence again, agree", 1, .agree, .divergence),
    ("x+", 1, "lab-fault again, agree", 1, .agree, .divergence),
    ("xx", 1, "lab-fault again, lab-fault", 0, .labFault, .labFault),
    ("-x", 1, "divergence again, lab-fault", 0, .divergence, .divergence),
  ]

  @Test(
    "a case is tried again until it agrees, and then it is flaky", arguments: tries.indices, [false, true])
  func retries(index: Int, failsFlaky: Bool) throws {
    let (openings, retries, verdicts, flaky, passing, failing) = Self.tries[index]
    let provider = LabProvider()
    var script = ToyDoor.healthy
    script["open"] = openings.map { letter in
      switch letter {
      case "+": [(.zero, .status("opened")), (.zero, .effect("ring"))]
      case "x": [(.zero, .trouble(LabFault(.noDevice, "unplugged")))]
      default: []
      }
    }
    provider.door.door = ToyDoor(script)
    let result = try run(["open"], provider, retries: retries, failsFlaky: failsFlaky)
    let words = result.lines.filter { $0.hasPrefix(#"{"verdict""#) }.map { line in
      line.split(separator: "\"")[3] + (line.contains(#""again":true"#) ? " again" : "")
    }
    expect(words.joined(separator: ", "), verdicts)
    let attempts = result.lines.filter { $0.hasPrefix(#"{"case""#) }.map { $0.contains(#""attempt""#) }
    expect(attempts, words.indices.map { $0 > 0 })
    expect([result.summary.tally.cases, result.summary.tally.flaky], [1, flaky])
    expect(result.summary.exitStatus, failsFlaky ? failing : passing)
  }

  @Test("a case that fails before it begins says so, and what the case before did, where the device goes on")
  func before() throws {
    for keepsState in [true, false] {
      let provider = LabProvider()
      var script = ToyDoor.healthy
      script["reset"] = [[], [(.zero, .trouble(LabFault(.noDevice, "the door cannot be made ready")))]]
      script["close"] = [[(.zero, .status("closed"))]]
      provider.door.door = ToyDoor(script)
      provider.door.door.abilities.keepsState = keepsState
      let result = try run(["open, close, fault: { wind: 2 }, open", "open"], provider)
      let verdict = try #require(
        result.lines.last { $0.hasPrefix(#"{"verdict":"lab-fault""#) }, "\(result.lines)")
      let words =
        "the fault lies before the case: no device: the door cannot be made ready; the case before, toys/0, "
        + "ended with: close, wind 2, open"
      expect(verdict.contains(#""message":"\#(words)""#), keepsState)
      let data = #""before":true,"earlier":{"case":"toys/0","actions":["close","wind 2","open"]}"#
      expect(verdict.contains(data), keepsState)
      expect(verdict.contains("the fault lies before"), keepsState)
    }
  }

  @Test("a run that is taken up again does what is missing, and its end counts all")
  func resumed() throws {
    var earlier = Run.Earlier()
    earlier.isThere = true
    earlier.judged = ["toys/0", "toys/2"]
    earlier.tally.count(.flaky)
    earlier.tally.count(.diverged)
    earlier.tally.observations = 40
    let result = try run(["open", "open, close", "open", "open"], LabProvider(), earlier: earlier)
    let lines = result.lines.filter { ["{\"run", "{\"ver", "{\"end"].contains($0.prefix(5)) }
    expect(
      lines,
      [
        #"{"run":{"format":1,"seed":0,"cases":4,"resumed":true}}"#,
        #"{"verdict":"agree","case":"toys/1","t":"0.000","observations":3}"#,
        #"{"verdict":"agree","case":"toys/3","t":"0.000","observations":2}"#,
        #"{"end":{"cases":4,"agree":3,"flaky":1,"divergences":1,"labFaults":0,"skipped":0,"incomplete":0,"observations":45,"status":1}}"#,
      ])
  }

  @Test("a safety limit ends the run: the case is incomplete and says so, and no other is begun")
  func limit() throws {
    let provider = LabProvider()
    provider.door = LabDoor(budget: 1)
    let result = try run(["open", "open, close, until: { status: closed }, open", "open"], provider)
    expect(result.summary.exitStatus, .safetyLimit)
    let verdicts = result.lines.filter { $0.hasPrefix(#"{"verdict""#) }
    let words = "stopped by a safety limit: 1 openings are enough"
    expect(verdicts.count, 3)
    #expect(verdicts[0].hasPrefix(#"{"verdict":"agree""#))
    #expect(
      verdicts[1].hasPrefix(#"{"verdict":"incomplete","#) && verdicts[1].contains(#""message":"\#(words)""#))
    #expect(verdicts[2].contains(#""message":"not begun: \#(words)""#))
    #expect(result.lines.last?.contains(#""incomplete":2,"observations":2,"status":6"#) ?? false)
  }

  @Test(
    "what ends in the middle of a wait leaves the step undone, whatever was waited for",
    arguments: [
      "wait: 1 h", "expect: { status: closed, for: 1 h }", "until: { status: opened, within: 1 h }",
    ])
  func stoppedInStep(step: String) throws {
    let provider = LabProvider()
    provider.door.end = .zero + .seconds(5)
    let result = try run(["wait: 1 s, \(step), open"], provider, retries: 3)
    expect(result.summary.exitStatus, .incomplete)
    let verdicts = result.lines.filter { $0.hasPrefix(#"{"verdict""#) }
    expect(verdicts.count, 1)
    #expect(
      verdicts[0].hasPrefix(#"{"verdict":"incomplete","case":"toys/0""#)
        && verdicts[0].contains(#""message":"stopped in step 2""#), "\(verdicts)")
    #expect(!result.lines.contains { $0.contains(#""lab""#) }, "\(result.lines)")
  }

  /// The exit status of a tally: a divergence outranks the limit, and the limit outranks trouble.
  @Test("a safety limit has its place among the exit statuses")
  func precedence() {
    var tally = Tally()
    tally.count(.agreed)
    tally.isInTrouble = true
    expect(tally.exitStatus, .labFault)
    tally.count(.labFault)
    tally.count(.incomplete)
    expect(tally.exitStatus, .incomplete)
    tally.count(.limited)
    expect(tally.exitStatus, .safetyLimit)
    tally.count(.diverged)
    expect(tally.exitStatus, .divergence)
  }

  @Test("what the lab says stands in the journal where it was said, and at the end before the end")
  func diagnostics() throws {
    let provider = LabProvider()
    provider.door = LabDoor(diagnostics: ["the door was oiled"])
    provider.left.diagnostics = ["the door is shut"]
    provider.left.locks = [("oak", .parked), ("elm", .elsewhere("it is stuck"))]
    let result = try run(["open"], provider)
    expect(result.lines[3], #"{"t":"0.000","diagnostic":"the door was oiled"}"#)
    let end = result.lines.firstIndex(of: #"{"t":"0.000","diagnostic":"the door is shut"}"#)
    let verdict = result.lines.firstIndex { $0.hasPrefix(#"{"verdict""#) }
    expect(end, verdict.map { $0 + 1 })
    expect(
      result.lines.filter { $0.contains(#""left""#) },
      [
        #"{"left":{"lock":"oak","parked":true}}"#,
        #"{"left":{"lock":"elm","parked":false,"message":"it is stuck"}}"#,
      ])
    expect(result.summary.park, ["the door is shut"])
    expect(result.summary.exitStatus, .agree)
  }

  @Test("a device that could not be left as it should be is trouble of the lab")
  func leaving() throws {
    let provider = LabProvider()
    provider.left.diagnostics = ["the door stands open"]
    provider.left.fault = LabFault(.noAnswer, "it is stuck")
    expect(try run(["open"], provider).summary.exitStatus, .labFault)
  }

  @Test(
    "a lost transport is brought back at once, for whoever comes next, and the case stays trouble of the lab")
  func transport() throws {
    let provider = LabProvider()
    var script = ToyDoor.healthy
    script["open"] = [[(.zero, .trouble(LabFault(.transportLost, "unplugged")))]]
    provider.door.door = ToyDoor(script)
    let result = try run(["open"], provider)
    let lines = result.lines.filter { $0.contains("lab") || $0.contains("diagnostic") }
    expect(lines[0], #"{"t":"0.000","lab":"transport lost: unplugged","attempt":1}"#)
    expect(lines[1], #"{"t":"0.000","diagnostic":"started afresh"}"#)
    expect(result.summary.exitStatus, .labFault)
  }

  @Test("what is not as a scenario wants it, and what is withheld, is a reason to skip")
  func skips() throws {
    let provider = LabProvider()
    provider.given = [Argument("ajar", .flag(true))]
    let given = try run(["open"], provider)
    #expect(
      given.lines[2].contains("needs ajar: no at the start, but oak starts with ajar: yes"), "\(given.lines)")
    provider.given = [Argument("ajar", .flag(false))]
    provider.withheld = [("open", "it needs --allow open")]
    let withheld = try run(["open"], provider)
    #expect(withheld.lines[2].contains("needs the stimulus open: it needs --allow open"), "\(withheld.lines)")
    expect(withheld.summary.exitStatus, .nothingSelected)
  }
}
