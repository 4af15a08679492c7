import Automata
import Basics
import Testing

@testable import Conformance

@Suite("Bounds of timers")
struct TimerEdgeTests {
  /// A lock that locks itself about seven seconds after it was opened.
  private static let relocking: MachineDefinition = {
    var machine = MachineDefinition(name: "relocking", summary: "")
    machine.events = [Event("open"), Event("query")]
    machine.states = [State("locked"), State("unlocked")]
    machine.add(
      table: """
        | action/status    | locked   | unlocked |
        |:----------------:|:--------:|:--------:|
        | open             | unlocked |          |
        | query            | =        | =        |
        | within 6 s to 8 s |          | locked   |
        """)
    machine.starts = [Start("locked")]
    return machine
  }()

  @Test("an edge is counted from a bound, and parts of the time from the entry of the state")
  func moments() {
    let bounds = TimerBounds(
      entry: .zero + .seconds(1), opening: .zero + .seconds(7), expected: .zero + .seconds(8),
      closing: .zero + .seconds(9))
    let cases: [(TimerEdge, Interval)] = [
      (.past, .milliseconds(9_001)), (TimerEdge(.closing), .seconds(9)),
      (TimerEdge(.opening, .milliseconds(-1)), .milliseconds(6_999)),
      (TimerEdge(.expected, .milliseconds(-50)), .milliseconds(7_950)),
      (TimerEdge(.expected, portion: -10), .milliseconds(7_300)),
      (TimerEdge(.expected, portion: 25), .milliseconds(9_750)),
    ]
    for (edge, moment) in cases { #expect(bounds.moment(of: edge) == Instant.zero + moment, "\(edge)") }
  }

  @Test("what is nearer to a bound than times are known is no edge of its own")
  func distinct() {
    let edges = TimerEdge.worthTrying(in: Self.relocking).filter { $0.isDistinct(within: .milliseconds(60)) }
    let offsets = Set(edges.map(\.offset))
    #expect(
      offsets == Set([0, 1, -200, 200, -500, 500].map { Interval.milliseconds($0) }), "\(offsets)")
  }

  @Test("the middle between the bounds is expected, until the device was seen")
  func expected() throws {
    let specification = Specification(try Machine(Self.relocking), showsEffects: false)
    var tracker = Tracker(specification)
    func expectedAfterOpening() -> Instant? {
      tracker.start(in: 0)
      tracker.perform(Stimulus(0), at: .zero + .seconds(1))
      _ = tracker.observe(.status(1), at: .zero + .seconds(1))
      return tracker.timerBounds(at: .zero + .seconds(1))?.expected
    }
    #expect(expectedAfterOpening() == .zero + .seconds(8))
    let isLeft = tracker.observe(.status(0), at: .zero + .milliseconds(7_300))
    #expect(isLeft)
    #expect(tracker.timerBounds(at: .zero + .seconds(8)) == nil)
    #expect(expectedAfterOpening() == .zero + .milliseconds(7_300))
  }

  /// Which edges of the state `unlocked` were gone to, each with the stimuli that were given there.
  private func tried(_ walk: Walk) -> [TimerEdge: Set<String>] {
    var tried: [TimerEdge: Set<String>] = [:]
    for (step, next) in zip(walk.steps, walk.steps.dropFirst()) {
      guard step.explorationState.legal == 0b10, case .edge(let edge)? = walk.alphabet.action(of: step.choice)
      else { continue }
      if Int(next.choice.act) < 2 {
        tried[edge, default: []].insert(walk.alphabet.acts[Int(next.choice.act)].name)
      }
    }
    return tried
  }

  @Test("each edge of a timer is gone to, and each stimulus given there, within 3,000 events")
  func all() throws {
    let tried = tried(
      try Walk(Self.relocking, events: 3_000) { ($0.isThrifty, $0.isSimulated) = (true, true) })
    let before = TimerEdge.worthTrying(in: Self.relocking).filter {
      $0.anchor == .expected && ($0.offset < .zero || $0.portion < 0)
    }
    #expect(before.count == 7)
    for edge in before { #expect(tried[edge] == ["open", "query"], "\(edge)") }
    #expect(tried.count == TimerEdge.worthTrying(in: Self.relocking).count)
  }

  @Test("the weight of edges makes them more frequent, and leaves them out")
  func weights() throws {
    func edges(_ weight: Double) throws -> Int {
      let walk = try Walk(Self.relocking, events: 4_000, weights: [("edge", weight)]) {
        ($0.isThrifty, $0.isSimulated) = (true, true)
      }
      return walk.steps.count { if case .edge? = walk.alphabet.action(of: $0.choice) { true } else { false } }
    }
    let counts = try [0, 0.2, 1, 10].map(edges)
    #expect(counts[0] == 0)
    #expect(counts[1] * 2 < counts[2] && counts[2] * 2 < counts[3], "\(counts)")
  }

  @Test("where time is what is spent, edges are gone to, in the share of what is waited for windows")
  func thrifty() throws {
    let walk = try Walk(Self.relocking, events: 20_000) { $0.isThrifty = true }
    #expect(tried(walk).count > 10)
  }

  /// The longest row of each stimulus.
  private func longestRows(_ walk: Walk) -> [Int] {
    var rows = [0, 0]
    var row = (act: -1, length: 0)
    for step in walk.steps {
      let act = Int(step.choice.act)
      row = act == row.act ? (act, row.length + 1) : (act, 1)
      if act < 2 { rows[act] = max(rows[act], row.length) }
    }
    return rows
  }

  @Test(
    "a request that changes nothing is given as often in a row as a byte counts, where events alone are spent"
  )
  func wrapping() throws {
    func rows(_ change: (inout Explorer.Settings) -> Void) throws -> [Int] {
      longestRows(try Walk(Self.relocking, events: 6_000, change))
    }
    #expect(try rows { ($0.isThrifty, $0.isSimulated) = (true, true) }[1] > 256)
    #expect(try rows { ($0.isThrifty, $0.isSimulated, $0.without) = (true, true, .wrapping) }[1] < 128)
    #expect(try rows { $0.isThrifty = true }[1] < 128)
  }
}
