@testable import Bench
import SesameDevice
import Conformance
import Basics
import TestSupport
import Testing

/// A lock that shows what a script says after each stimulus: the first of its answers, then the next.
private final class ScriptedLock: StandaloneDevice {
  enum Show {
    case status(String, after: Interval)
    case trouble(LabFault)
  }

  let abilities = Abilities(stimuli: nil)
  private(set) var now = Instant.zero
  private(set) var done: [String] = []
  private var answers: [String: [Show]]
  private var queue = EventQueue<String>()
  private var vocabulary = Vocabulary(stimuli: [], statuses: [])
  /// When the motor may move next.
  var readyAt: Instant?

  init(_ answers: [String: [Show]]) { self.answers = answers }

  func adopt(_ vocabulary: Vocabulary) { self.vocabulary = vocabulary }
  func bring(about fault: Fault) {}
  func restart() {}
  func readyTime(for stimulus: Stimulus) -> Instant? {
    ["lock", "unlock"].contains(vocabulary.stimuli[stimulus.number]) ? readyAt : nil
  }

  func reset(to start: StartCondition) throws(LabFault) { try answer("reset") }

  func perform(_ stimulus: Stimulus) throws(LabFault) {
    done.append("\(vocabulary.stimuli[stimulus.number]) at \(now)")
    try answer(vocabulary.stimuli[stimulus.number])
  }

  private func answer(_ name: String) throws(LabFault) {
    guard var list = answers[name], !list.isEmpty else { return }
    // What belongs together stands in one list; each time it is asked it shows all of it.
    defer { answers[name] = list }
    for show in list {
      switch show {
      case .status(let status, let delay): queue.schedule(status, at: now + delay)
      case .trouble(let fault):
        list = []
        throw fault
      }
    }
  }

  func observe(until limit: Instant) -> Observation? {
    guard let (time, status) = queue.next(until: limit) else {
      now = max(now, limit)
      return nil
    }
    now = max(now, time)
    return vocabulary.observation(ofStatus: status)
  }
}

private func shows(_ text: String) -> [ScriptedLock.Show] {
  text.split(separator: ",").enumerated().map { number, word in
    .status(String(word), after: .milliseconds(Int64(number + 1) * 500))
  }
}

@Suite("The check of a lock's health")
struct HealthCheckTests {
  /// What a lock shows when it is told so, what is found, and what it is told.
  // swift-format-ignore
  private static let table: [(script: [String: String], finding: HealthFinding, told: String)] = [
    (["closeTo": "receivedBle", "connect": "connecting,waitingGatt,logining,locked", "unlock": "unlocked", "lock": "locked"],
     .healthy("it was unlocked and locked"), "closeTo connect unlock lock disconnect"),
    (["closeTo": "receivedBle", "connect": "connecting,waitingGatt,logining,unlocked", "unlock": "unlocked", "lock": "locked"],
     .healthy("it was locked and unlocked"), "closeTo connect lock unlock disconnect"),
    (["closeTo": "receivedBle", "connect": "connecting,waitingGatt,logining,moved", "lock": "locked"],
     .healthy("it was in neither position, and was locked"), "closeTo connect lock disconnect"),
    (["closeTo": "receivedBle", "connect": "connecting,waitingGatt,readytoRegister"],
     .healthy("it answers, and has no owner"), "closeTo connect disconnect"),
    (["closeTo": "receivedBle", "connect": "connecting,waitingGatt,logining,nosetting"],
     .healthy("it answers, and its positions were never set"), "closeTo connect disconnect"),
    ([:], .unreached("it was not heard in 20 s"), "closeTo"),
    (["closeTo": "noSignal"], .unreached("it was not heard in 20 s"), "closeTo"),
    (["closeTo": "receivedBle", "connect": "connecting,noSignal"],
     .unreached("instead of its state it showed noSignal"), "closeTo connect"),
    (["closeTo": "receivedBle", "connect": "connecting"],
     .unreached("instead of its state it showed connecting"), "closeTo connect"),
    (["closeTo": "receivedBle", "connect": "connecting,waitingGatt,logining,noSignal"],
     .unwell("instead of its state it showed noSignal"), "closeTo connect"),
    (["closeTo": "receivedBle", "connect": "connecting,waitingGatt,logining,locked"],
     .unwell("after unlock it showed nothing"), "closeTo connect unlock disconnect"),
    (["closeTo": "receivedBle", "connect": "connecting,waitingGatt,logining,locked", "unlock": "moved"],
     .unwell("after unlock it showed moved"), "closeTo connect unlock disconnect"),
    (["closeTo": "receivedBle", "connect": "connecting,waitingGatt,logining,locked", "unlock": "unlocked", "lock": "noSignal"],
     .unwell("after lock it showed noSignal"), "closeTo connect unlock lock disconnect"),
  ]

  @Test(
    "a lock is reached, tells its state and is turned there and back, or it is said where it stopped",
    arguments: table.indices)
  func finds(index: Int) {
    let (script, finding, told) = Self.table[index]
    let lock = ScriptedLock(script.mapValues(shows))
    let check = HealthCheck(of: lock, family: .sesame)
    expect(check.perform(), finding)
    expect(lock.done.map { String($0.prefix { $0 != " " }) }.joined(separator: " "), told)
  }

  private static let session = [
    "closeTo": shows("receivedBle"), "connect": shows("connecting,waitingGatt,logining,locked"),
    "unlock": shows("unlocked"), "lock": shows("locked"),
  ]

  // swift-format-ignore
  static let troubles: [(at: String, symptom: LabFault.Symptom, finding: HealthFinding)] = [
    ("reset", .noDevice, .transport("why")), ("closeTo", .transportLost, .transport("why")),
    ("connect", .noAnswer, .transport("why")), ("unlock", .noAnswer, .unwell("why")),
    ("unlock", .transportLost, .transport("why")), ("unlock", .safetyLimit, .limited("why")),
    ("lock", .safetyLimit, .limited("why")), ("unlock", .notPossible, .limited("why")),
  ]

  @Test("trouble on the way is the transport's, and a limit is nobody's", arguments: troubles.indices)
  func trouble(index: Int) {
    let (place, symptom, finding) = Self.troubles[index]
    var script = Self.session
    script[place] = [.trouble(LabFault(symptom, "why"))]
    let check = HealthCheck(of: ScriptedLock(script), family: .sesame)
    expect(check.perform(), finding)
  }

  @Test("the motor is given its rest before it is turned")
  func rest() {
    let lock = ScriptedLock(Self.session)
    lock.readyAt = .zero + .seconds(9)
    let check = HealthCheck(of: lock, family: .sesame)
    expect(check.perform(), .healthy("it was unlocked and locked"))
    #expect(lock.done.contains("unlock at 9.000 s"), "\(lock.done)")
  }

  @Test("a lock of another family is checked in its own words")
  func otherFamily() throws {
    let family = try LockFamily(
      machine: "hatch",
      stimuli: [("look", .listen), ("join", .connect), ("shut", .lock), ("open", .unlock), ("go", .leave)],
      statuses: [
        ("gone", .away), ("seen", .heard), ("is shut", .locked), ("is open", .unlocked),
        ("is ajar", .unlocked),
      ])
    let lock = ScriptedLock([
      "look": shows("seen"), "join": shows("is shut"), "open": shows("is ajar"), "shut": shows("is shut"),
    ])
    expect(HealthCheck(of: lock, family: family).perform(), .healthy("it was unlocked and locked"))
    expect(lock.done.count, 5)
    let silent = ScriptedLock(["look": shows("seen"), "join": shows("gone")])
    expect(
      HealthCheck(of: silent, family: family).perform(),
      .unreached("instead of its state it showed gone"))
  }
}
