import Automata
import Conformance
import Models
import Basics
import Testing

private let names = MachineDefinition.sesameTable.events.map(\.name)

@Suite("Generating tests")
struct ExplorerTests {
  @Test(
    "one seed gives one list of tests, another seed another",
    arguments: [MachineDefinition.sesameTable, .sesame])
  func determinism(machine: MachineDefinition) throws {
    let tests = try Walk(machine, events: 2_000).tests
    #expect(try Walk(machine, events: 2_000).tests == tests)
    #expect(try Walk(machine, seed: 2, events: 2_000).tests != tests)
  }

  @Test("tests are of mixed length and none is too long")
  func length() throws {
    func lengths(without strategy: Explorer.Strategy?) throws -> [Int] {
      try Walk(.sesameTable, events: 40_000) { ($0.length, $0.longest, $0.without) = (256, 768, strategy) }
        .tests.map(\.choices.count)
    }
    let usual = try lengths(without: .endurance)
    let (minimum, maximum) = (usual.min() ?? 0, usual.max() ?? 0)
    #expect(minimum < 64 && maximum > 192 && maximum <= 256, "\(minimum) and \(maximum)")
    // A test that goes around a cycle as often as devices count is longer, within a limit of its own; few are.
    let all = try lengths(without: nil)
    let (longer, longest) = (all.filter { $0 > 256 }, all.max() ?? 0)
    #expect(longest > 256 && longest <= 768 && longer.count * 8 < all.count, "\(longer.count), \(longest)")
  }

  @Test(
    "every cell of the tables, legal or empty, is come to within 6,000 events",
    arguments: 1...3 as ClosedRange<UInt64>)
  func cells(seed: UInt64) throws {
    let walk = try Walk(.sesameTable, seed: seed, events: 6_000)
    let cells = Set(
      walk.steps.filter { $0.choice.act < 13 }.map { [$0.explorationState.node, Int($0.choice.act)] })
    #expect(cells.count == 16 * 13)
    // They are spread, and cost little: about a tenth at the most at any time, and a hundredth or two afterwards.
    let refusals = walk.steps.map(\.choice.isForbidden)
    let early = [1_000, 2_000].map { refusals[..<$0].filter(\.self).count }
    #expect(early[0] < 150 && early[1] < 260, "\(early)")
    let later = try Walk(.sesameTable, seed: seed, events: 20_000).steps[10_000...]
    let share = later.count { $0.choice.isForbidden }
    #expect(share > 20 && share < 400)
  }

  @Test("a weight makes an act more frequent, and none at all leaves it out")
  func weights() throws {
    let toggle = try #require(names.firstIndex(of: "toggle"))
    let lock = try #require(names.firstIndex(of: "lock"))
    let usual = try Walk(.sesameTable, events: 10_000) { $0.repeating = 0 }
    let heavy = try Walk(.sesameTable, events: 10_000, weights: [("toggle", 4)]) { $0.repeating = 0 }
    #expect(Double(usual.count(toggle)) / Double(usual.count(lock)) < 1.5)
    #expect(Double(heavy.count(toggle)) / Double(heavy.count(lock)) > 2.5)
    let none = try Walk(.sesameTable, events: 10_000, weights: [("toggle", 0)])
    let has = none.steps.contains { Int($0.choice.act) == toggle }
    #expect(!has)
  }

  private static let commands = ["lock", "unlock", "toggle"]

  @Test("while the motor rests, what would wait for it is left for later")
  func motorRest() throws {
    func movements(_ rest: Interval, left: Int = 0) throws -> Int {
      var pace = DevicePace()
      (pace.motorRest, pace.movementsLeft) = (rest, left)
      let walk = try Walk(.sesame, events: 20_000, moving: Self.commands, pace: pace) {
        ($0.isThrifty, $0.repeating) = (true, 0)
      }
      return walk.steps.count { walk.alphabet.moves($0.choice) }
    }
    let (rested, resting) = (try movements(.zero), try movements(.seconds(2)))
    #expect(rested > 100 && resting * 20 < rested, "\(rested) and \(resting)")
    // One that may move often is not spared for long.
    let often = try movements(.zero, left: 1_000)
    #expect(often > rested + rested / 5, "\(rested) and \(often)")
  }

  @Test("a motor that needs no rest is given commands in its motion, and right after it")
  func haste() throws {
    func pairs(_ isHasty: Bool) throws -> (inMotion: Int, after: Int) {
      let walk = try Walk(.sesame, events: 20_000, moving: Self.commands) {
        ($0.isThrifty, $0.repeating, $0.isHasty) = (true, 0, isHasty)
      }
      let (steps, moves, settle) = (walk.steps, walk.alphabet.moves, walk.alphabet.settle)
      return (
        (1..<steps.count).count { moves(steps[$0].choice) && moves(steps[$0 - 1].choice) },
        (2..<steps.count).count {
          moves(steps[$0].choice) && Int(steps[$0 - 1].choice.act) == settle && moves(steps[$0 - 2].choice)
        }
      )
    }
    let (patient, hasty) = (try pairs(false), try pairs(true))
    #expect(hasty.inMotion > 3 * patient.inMotion && hasty.inMotion > 30, "\(patient) and \(hasty)")
    #expect(hasty.after > 3 * patient.after && hasty.after > 10, "\(patient) and \(hasty)")
  }

  @Test("each legal stimulus is as likely as any other, and leaves none out")
  func chance() throws {
    let walk = try Walk(.sesameTable, events: 20_000) { $0.repeating = 0 }
    let legal = walk.steps.filter { $0.choice.act < 13 && !$0.choice.isForbidden }
    #expect(Set(legal.map { [$0.explorationState.node, Int($0.choice.act)] }).count == 31)
    let (toggle, lock) = (names.firstIndex(of: "toggle"), names.firstIndex(of: "lock"))
    let both = legal.filter { step in
      [toggle, lock].allSatisfy { $0.map { step.explorationState.legal >> UInt64($0) & 1 == 1 } == true }
    }
    let toggles = Double(both.count { Int($0.choice.act) == toggle })
    let locks = Double(both.count { Int($0.choice.act) == lock })
    #expect(both.count > 2_000 && (0.85...1.15).contains(toggles / locks), "\(toggles) and \(locks)")
  }

  @Test("ways around are gone again and again, as chance would not go them")
  func repetition() throws {
    let disconnect = try #require(names.firstIndex(of: "disconnect"))
    let login = try #require(names.firstIndex(of: "loginDone"))
    // How often a login comes after four or more that were left.
    func attempts(_ repeating: Double) throws -> Int {
      var count = 0
      var aborts = 0
      for test in try Walk(.sesameTable, events: 20_000, { $0.repeating = repeating }).tests {
        aborts = 0
        var last = -1
        for choice in test.choices where !choice.isForbidden && choice.act < 13 {
          let act = Int(choice.act)
          // Only a login that was left has its way in just before the end of the link.
          if act == disconnect, last >= 0, names[last] == "gattReady" { aborts += 1 }
          if act == login {
            if aborts >= 4 { count += 1 }
            aborts = 0
          }
          last = act
        }
      }
      return count
    }
    let often = try attempts(1)
    let seldom = try attempts(0)
    #expect(often > 90 && often > 2 * seldom, "\(often) and \(seldom)")
  }

  @Test("a test that was learned is gone on with")
  func learning() throws {
    let way = ["closeTo", "connect", "linkUp", "gattReady", "disconnect"].compactMap(names.firstIndex)
    let test = TestCase(start: 1, (way + way).map { Choice($0) })
    let walk = try Walk(.sesameTable, events: 500, learned: [test]) { $0.resuming = 1 }
    #expect(walk.tests[0].start == 1)
    #expect(Array(walk.tests[0].choices.prefix(10)) == test.choices)
    #expect(walk.tests[0].choices.count > 10)
  }

  @Test("a test is rare that is the first to do something, and in time few are")
  func rarity() throws {
    let walk = try Walk(.sesameTable, events: 100_000) { $0.length = 32 }
    let first = walk.wasRare.prefix(10).filter(\.self).count
    let last = walk.wasRare.suffix(1_000).filter(\.self).count
    #expect(first > 5 && last < 500, "\(first) and \(last)")
    #expect(walk.explorer.corpusCount > 10)
    #expect(walk.explorer.positionCount == 16)
  }

  @Test(
    "with a machine that knows time, the device is let do what it has to do, mostly, and time is tried out")
  func timing() throws {
    let walk = try Walk(.sesame, events: 20_000)
    let alphabet = walk.alphabet
    // What changes nothing comes before, and does not keep the device from it.
    let awaiting = walk.steps.filter {
      $0.explorationState.isAwaiting
        && ($0.choice.act >= alphabet.eventCount
          || $0.explorationState.idle >> UInt64($0.choice.act) & 1 == 0)
    }
    let settled = Double(awaiting.count { Int($0.choice.act) == alphabet.settle }) / Double(awaiting.count)
    #expect(settled > 0.5 && settled < 0.99, "\(settled)")
    let acts = Set(walk.steps.map { Int($0.choice.act) })
    #expect(acts.contains(alphabet.wait))
    let waits = walk.steps.filter { Int($0.choice.act) == alphabet.wait }.map(\.choice.variant)
    #expect(Set(waits).count > 8)
    let refusals = Double(walk.steps.count { $0.choice.isForbidden }) / Double(walk.steps.count)
    #expect(refusals > 0.01 && refusals < 0.12, "\(refusals)")
    // What is legal comes about, wherever it leads.
    let taken = Set(walk.steps.filter { !$0.choice.isForbidden }.map { Int($0.choice.act) })
    let offered = (0..<alphabet.eventCount).filter { !alphabet.acts[$0].variants.isEmpty }
    let left = offered.filter { !taken.contains($0) }.map { alphabet.acts[$0].name }
    #expect(left == [])
  }

  @Test("where time is what is spent, no kind of waiting takes more than its share of it")
  func shares() throws {
    let walk = try Walk(.sesame, events: 60_000) { $0.isThrifty = true }
    let alphabet = walk.alphabet
    let longest = alphabet.acts[alphabet.wait].variants.firstIndex { $0 == .wait(.seconds(30)) } ?? 0
    var kinds: [Int: Double] = [:]
    for (step, time) in zip(walk.steps, walk.times) {
      let act = Int(step.choice.act)
      // The waits beyond all windows count each for itself, the others together.
      if act == alphabet.wait { kinds[max(Int(step.choice.variant), longest), default: 0] += time.seconds }
    }
    let total = walk.times.reduce(0) { $0 + $1.seconds }
    for (kind, time) in kinds {
      // Two purposes share the shorter waits: windows, and what was called off. The last one may go beyond it.
      #expect(time / total < (kind == longest ? 0.4 : 0.2), "\(kind): \(time) of \(total) s")
    }
    #expect(kinds[longest].map { $0 / total > 0.05 } == true)
    // Ten minutes of silence come, and only where most can be asked for.
    let silences = walk.steps.filter {
      alphabet.action(of: $0.choice) == .wait(.seconds(660))
    }
    let maximum = walk.steps.map(\.explorationState.legal.nonzeroBitCount).max() ?? 0
    #expect(
      !silences.isEmpty
        && silences.allSatisfy { 4 * $0.explorationState.legal.nonzeroBitCount >= 2 * maximum })
  }

  /// What the tests of a walk are like: the parts that strategies stand for, each of all choices.
  private func parts(_ walk: Walk) -> [Explorer.Strategy: Double] {
    let alphabet = walk.alphabet
    func share(_ isMeant: (ExplorationState, Choice, Int) -> Bool) -> Double {
      Double(walk.steps.count { isMeant($0.explorationState, $0.choice, Int($0.choice.act)) })
        / Double(walk.steps.count)
    }
    func wait(_ choice: Choice) -> Interval? {
      if case .wait(let length)? = alphabet.action(of: choice) { length } else { nil }
    }
    return [
      .selfLoops: share { explorationState, choice, act in
        act < alphabet.eventCount && !choice.isForbidden && explorationState.idle >> UInt64(act) & 1 == 1
      },
      .refusals: share { _, choice, _ in choice.isForbidden },
      .waits: share { explorationState, choice, _ in
        explorationState.legal & ~explorationState.idle != 0 && wait(choice).map { $0 < .seconds(60) } == true
      },
      .silences: share { _, choice, _ in wait(choice).map { $0 > .seconds(60) } == true },
      .sparing: -share { _, choice, _ in alphabet.moves(choice) },
      .impatience: share { explorationState, _, act in
        explorationState.isAwaiting && explorationState.hasDeadline && act != alphabet.settle
      },
    ]
  }

  @Test(
    "a strategy that is left out leaves less of what it stands for",
    arguments: [Explorer.Strategy.selfLoops, .refusals, .waits, .silences, .sparing, .impatience])
  func without(strategy: Explorer.Strategy) throws {
    let moving = ["lock", "unlock", "toggle"]
    // Where time is what is spent, waits with a meaning take the place of those that are sprinkled.
    let isThrifty = strategy != .waits
    let usual = try Walk(.sesame, events: 24_000, moving: moving) { $0.isThrifty = isThrifty }
    let other = try Walk(.sesame, events: 24_000, moving: moving) {
      $0.isThrifty = isThrifty
      $0.without = strategy
    }
    let (share, left) = (try #require(parts(usual)[strategy]), try #require(parts(other)[strategy]))
    #expect(left < share - 0.2 * abs(share), "\(left) of \(share)")
  }

  @Test("each strategy can be left out, and what is drawn is then otherwise", arguments: [false, true])
  func strategies(isThrifty: Bool) throws {
    let definition: MachineDefinition = isThrifty ? .sesame : .sesameTable
    let moving = isThrifty ? ["lock", "unlock", "toggle"] : []
    func tests(_ strategy: Explorer.Strategy?) throws -> [TestCase] {
      try Walk(definition, events: isThrifty ? 6_000 : 4_000, moving: moving) {
        // Short tests, so that there are many: what a test is like is drawn for each.
        ($0.isThrifty, $0.length) = (isThrifty, isThrifty ? $0.length : 128)
        $0.without = strategy
      }.tests
    }
    let usual = try tests(nil)
    // What only time, wear and disturbances call for, and what this machine offers nothing for; a share of the time is
    // used up only where much is called off.
    let timed: [Explorer.Strategy] = [
      .selfLoops, .impatience, .sparing, .doubts, .resetting, .silences, .kinds, .probes, .shares,
      .disturbances, .edges,
    ]
    // No part of these machines is left behind for good, and what is repeated a hundred times, or as often as a byte counts, comes
    // later.
    let unused: [Explorer.Strategy] = [.narrowing, .endurance, .wrapping, .omission, .probing]
    for strategy in Explorer.Strategy.allCases
    where !unused.contains(strategy)
      && (isThrifty
        ? ![.kinds, .probes, .shares, .disturbances].contains(strategy) : !timed.contains(strategy))
    {
      #expect(try tests(strategy) != usual, "\(strategy)")
    }
  }

  @Test("after a long silence the device is asked for something")
  func afterSilence() throws {
    let walk = try Walk(.sesame, events: 60_000, moving: ["lock", "unlock", "toggle"]) { $0.isThrifty = true }
    let alphabet = walk.alphabet
    func wait(_ choice: Choice) -> Interval? {
      if case .wait(let length)? = alphabet.action(of: choice) { length } else { nil }
    }
    func isTime(_ choice: Choice) -> Bool { wait(choice) != nil || Int(choice.act) == alphabet.settle }
    var silences = 0
    for test in walk.tests {
      for place in test.choices.indices where wait(test.choices[place]) == .seconds(660) {
        silences += 1
        let after = test.choices[(place + 1)...].drop(while: isTime)
        let asked = try #require(after.first, "a test ended in silence")
        #expect(Int(asked.act) < alphabet.eventCount && !asked.isForbidden)
      }
    }
    #expect(silences > 10, "\(silences)")
  }

  @Test("where wear is what is spent, what moves is a small part of what is chosen, and yet comes")
  func wear() throws {
    let walk = try Walk(.sesame, events: 40_000, moving: ["lock", "unlock", "toggle"]) { $0.isThrifty = true }
    let share = Double(walk.steps.count { walk.alphabet.moves($0.choice) }) / Double(walk.steps.count)
    #expect((0.01...0.1).contains(share), "\(share)")
  }

  @Test(
    "a machine to which time means nothing is given no waits where time is the clock's, and others none for hours"
  )
  func waits() throws {
    func waits(_ definition: MachineDefinition, slack: Interval) throws -> [TestAction] {
      let alphabet = Alphabet(
        Specification(try Machine(definition), showsEffects: false), Abilities(stimuli: nil, slack: slack))
      return alphabet.acts[alphabet.wait].variants
    }
    #expect(try waits(.sesameTable, slack: .milliseconds(100)) == [])
    #expect(try waits(.sesameTable, slack: .zero).last == .wait(.seconds(4 * 3600)))
    #expect(try waits(.sesame, slack: .milliseconds(100)).last == .wait(.seconds(660)))
    #expect(try waits(.sesame, slack: .zero).last == .wait(.seconds(4 * 3600)))
  }
}
