import Journal
import Automata
import Conformance
import Documents
import Harness
import Basics

/// A door that a hand can open and close; it rings when it is opened, and a draught may shut it.
let doorMachine: MachineDefinition = {
  var machine = MachineDefinition(name: "door", summary: "A door.")
  machine.events = [Event("open"), Event("close"), Event("tire"), Event("shut", .spontaneous)]
  machine.conditions = [Condition("draught", faults: ["wind"])]
  // swift-format-ignore
  machine.add(table: """
    | action/status                 | closed        | opened | tired  |
    |:-----------------------------:|:-------------:|:------:|:------:|
    | open                          | opened ; ring |        |        |
    | close                         |               | closed |        |
    | tire                          |               | tired  |        |
    | shut given draught within 5 s |               | closed |        |
    | shut within 9 s               |               |        | closed |
    """)
  machine.starts = [
    Start("opened", when: [.init("ajar", true)]), Start("closed", when: [.init("ajar", false)]),
  ]
  return machine
}()

/// What a toy device shows, and when.
enum Show: Equatable {
  case status(String)
  case effect(String)
  case refused(String)
  case reading(String, Value)
  case violation(Violation)
  case trouble(LabFault)
}

/// A door by script: what each stimulus, fault or start leads to, after a delay.
///
/// An answer is used up by being given, and the last of several goes on for ever.
struct ToyDoor: StandaloneDevice {
  /// What was done to all copies of a door, since a runner keeps its own.
  final class Log {
    var resets: [StartCondition] = []
    var restarts = 0
    var used: [String: Int] = [:]
  }

  var script: [String: [[(Interval, Show)]]]
  var abilities = Abilities(
    stimuli: ["open", "close", "tire"], faults: ["wind"], settings: ["ajar"], showsEffects: true)
  let log = Log()
  /// Until a reset, the time of an earlier test.
  private(set) var now = Instant.zero + .seconds(7)
  private var queue = EventQueue<Show>()
  private var vocabulary = Vocabulary(stimuli: [], statuses: [])

  init(_ script: [String: [[(Interval, Show)]]]) { self.script = script }

  /// A door that does what its machine says.
  static let healthy: [String: [[(Interval, Show)]]] = [
    "open": [[(.zero, .status("opened")), (.zero, .effect("ring"))]],
    "close": [[(.milliseconds(10), .status("closed"))]],
    "tire": [[(.zero, .status("tired")), (.seconds(8), .status("closed"))]],
    "wind": [[(.seconds(2), .status("closed"))]],
  ]

  mutating func adopt(_ vocabulary: Vocabulary) { self.vocabulary = vocabulary }

  mutating func reset(to start: StartCondition) throws(LabFault) {
    log.resets.append(start)
    let earlier = now
    now = .zero
    queue = EventQueue()
    do {
      try answer("reset")
    } catch {
      now = earlier
      throw error
    }
  }

  mutating func perform(_ stimulus: Stimulus) throws(LabFault) {
    try answer(vocabulary.stimuli[stimulus.number])
  }

  mutating func bring(about fault: Fault) throws(LabFault) { try answer(fault.name) }

  mutating func restart() { log.restarts += 1 }

  private mutating func answer(_ name: String) throws(LabFault) {
    guard let answers = script[name], !answers.isEmpty else { return }
    let number = log.used[name, default: 0]
    log.used[name] = number + 1
    for (delay, show) in answers[min(number, answers.count - 1)] {
      if case .trouble(let fault) = show { throw fault }
      queue.schedule(show, at: now + delay)
    }
  }

  mutating func observe(until limit: Instant) throws(LabFault) -> Observation? {
    guard let (time, show) = queue.next(until: limit) else {
      now = max(now, limit)
      return nil
    }
    now = max(now, time)
    switch show {
    case .status(let name): return vocabulary.observation(ofStatus: name)
    case .effect(let name): return vocabulary.observation(ofEffect: name)
    case .refused(let reason): return .refused(reason)
    case .reading(let name, let value): return .reading(Reading(name, value))
    case .violation(let rule): return .violation(rule)
    case .trouble(let fault): throw fault
    }
  }
}

/// Three doors: an oak one, a glass one of another family, and whatever a command makes of it.
final class ToyProvider: DeviceProvider {
  var script = ToyDoor.healthy
  /// What is known of any program.
  var program = DeviceDescription(
    family: nil, machines: nil,
    abilities: Abilities(stimuli: nil, settings: nil, slack: .milliseconds(100)))
  /// Whether the door's time is the clock's.
  var isInRealTime = false
  private(set) var seeds: [UInt64] = []
  private(set) var last: ToyDoor?

  let emulators = ["oak", "glass", "hatch"]

  func describe(_ spec: DeviceSpec) throws(DeviceProblem) -> DeviceDescription {
    if spec.kind == .exec { return program }
    guard emulators.contains(spec.name) else { throw .unknown(.name, "device", spec.name, of: emulators) }
    let creaks = ["loud", "silent"]
    for setting in spec.settings where setting.name == "defect" && !creaks.contains(setting.value) {
      throw .unknown(.value(of: "defect"), "defect", setting.value, of: creaks)
    }
    return DeviceDescription(
      family: spec.name == "glass" ? "glass doors" : "wooden doors",
      machines: spec.name == "hatch" ? ["hatch"] : ["door"], abilities: ToyDoor([:]).abilities,
      options: spec.name == "oak" ? ["defect", "paint"] : ["defect"], readings: ["battery"])
  }

  func usualDevice(of machine: String) -> DeviceSpec? {
    machine == "door" ? DeviceSpec(.emulator, "oak") : nil
  }

  func device(_ spec: DeviceSpec, seed: UInt64) throws(LabFault) -> any DeviceUnderTest {
    seeds.append(seed)
    var door = ToyDoor(script)
    door.abilities.isInVirtualTime = !isInRealTime
    last = door
    return door
  }
}

func toyMachines() -> MachineLibrary {
  MachineLibrary([doorMachine]) { path throws(MachineLibrary.Missing) in
    var machine = doorMachine
    machine.name = "own"
    guard path == "toys/own.yaml", let file = try? MachineFile(Array(machine.yaml().utf8), name: path) else {
      throw MachineLibrary.Missing("there is no such file", hint: "look again")
    }
    return file
  }
}

/// A journal in memory.
final class JournalList: JournalListener {
  private(set) var lines: [String] = []

  func take(_ record: Record) { lines.append(record.line()) }
}
