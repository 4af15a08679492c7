import Benchmarks
import Devices
import System
import Conformance
import Emulator
import Harness
import Basics

extension Figure {
  /// How devices are fuzzed whose time passes and whose motor wears. `make bench-air` has the whole table.
  static var air: [Figure] {
    let device = "emulator:sesame5?link=radio&loss=0.01"
    let table = AirSearches(device: device, seeds: 1...1, workers: 2)
    let walk = "\(LockDefect.allCases.count) defects on \(device), one seed each, up to 8 h of lock time"
    return table.figures("air", walk)
      + [falseAlarms(device), sessions("emulator:sesame5?as=real&loss=0.01"), exec]
  }

  private static func falseAlarms(_ device: String) -> Figure {
    Figure(
      name: "air.false-alarms", unit: "in 100,000 events", better: .lower,
      method: "Findings that were not dismissed, on the healthy lock \(device).",
      measure: {
        AirSearch(device: device, defect: nil, seed: 1, events: 100_000).perform()
          .map { Double($0.findings) }
      })
  }

  private static func sessions(_ device: String) -> Figure {
    Figure(
      name: "air.sessions", unit: "sessions/min", better: .higher,
      method: """
        Connections begun in generated tests that leave the motor alone, and to make the lock ready for them, on \(device), \
        by the minutes of its time that were not waited; 20,000 events.
        """,
      measure: { SessionPace.sessions(on: device, events: 20_000) })
  }

  private static var exec: Figure {
    Figure(
      name: "air.exec", unit: "ratio", better: .higher,
      method: """
        Events of generated tests a second on a program that answers at once, over bare round trips through the two \
        pipes of the same program, by turns; the best of 5 rounds of 20,000 each.
        """,
      measure: { ExecPace.ofReference?.ratio(rounds: 5, events: 20_000) })
  }
}

extension ExecPace {
  /// That of the reference lock; `nil` where this program cannot be started again.
  static var ofReference: ExecPace? {
    Host.program.flatMap {
      ExecPace(
        command: "exec \(shellWord($0)) exec-reference", machine: "sesame-table",
        request: ["stimulus": "lock"])
    }
  }
}

/// Generated tests that leave the motor alone.
private enum SessionPace {
  /// The connections that are begun in a minute of the lock's time in which nothing is waited for.
  static func sessions(on device: String, events: Int) -> Double? {
    let world = World(lab: AirSearch.lab)
    defer { world.devices.shutDown() }
    guard let machine = try? world.machines.machine("sesame"), let spec = try? DeviceSpec(text: device),
      let target = try? FuzzTarget(machine, spec, seed: 1, provider: world.devices),
      let lock = try? world.devices.device(target.device, seed: 1)
    else { return nil }
    return try? sessions(of: target, lock, events: events)
  }

  private static func sessions<Device: DeviceUnderTest>(
    of target: FuzzTarget, _ lock: Device, events: Int
  ) throws(LabFault) -> Double? {
    var settings = FuzzSettings()
    settings.seed = 1
    settings.weights = ["lock", "unlock", "toggle", "setAutolock"].map { ($0, 0) }
    var runner = TestEngine(target, lock, settings, recorder: NoRecorder())
    guard let connect = runner.specification.vocabulary.stimulus("connect") else { return nil }
    var source = CountedChoices(source: runner.explorer(settings), counted: connect)
    while runner.events < events {
      guard try runner.perform(all: &source, maximum: events - runner.events) == nil else { return nil }
    }
    let sessions = runner.preparationCount + source.count
    return Double(sessions) / ((runner.lockTime - runner.waited).seconds / 60)
  }
}

/// What a source says, and how often it says one stimulus.
private struct CountedChoices<Source: ChoiceSource>: ChoiceSource {
  var source: Source
  let counted: Int
  private(set) var count = 0

  var isFinished: Bool { source.isFinished }

  mutating func begin() -> Int { source.begin() }

  mutating func next(in explorationState: ExplorationState) -> Choice? {
    let choice = source.next(in: explorationState)
    if let choice, Int(choice.act) == counted, !choice.isForbidden { count += 1 }
    return choice
  }

  mutating func take(_ pace: DevicePace) { source.take(pace) }

  mutating func spend(_ time: Interval) { source.spend(time) }

  mutating func end(in explorationState: ExplorationState) -> Bool { source.end(in: explorationState) }

  mutating func exclude(start: Int) -> Bool { source.exclude(start: start) }
}
