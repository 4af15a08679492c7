import Automata
import Basics
import Foundation
import TestSupport
import Testing

/// Makes machines of regions with random rows.
private struct RandomRegions {
  var generator: SeededGenerator
  /// Whether what the device does by itself has a deadline and is seen.
  var isSeen = false

  mutating func chance(_ one: Int) -> Bool { generator.below(one) == 0 }
  mutating func pick<Member>(_ list: [Member]) -> Member { list[generator.below(list.count)] }

  mutating func next() -> RegionMachine {
    var shared = MachineDefinition(name: "random")
    let argument = ArgumentForms([ValueForm("n", .wholeNumber(0...3))])
    shared.events = [
      Event("e", arguments: argument), Event("g", arguments: argument), Event("h", .spontaneous),
      Event("k", .both),
    ]
    if isSeen { shared.events.remove(at: 2) }
    shared.conditions = [Condition("c"), Condition("d")]
    shared.choices = [DeviceChoice("choice", ["o1", "o2"])]
    shared.variables = [
      Variable(ValueForm("a", .wholeNumber(0...3)), first: "0"),
      Variable(ValueForm("b", .wholeNumber(0...3)), first: "0"),
      Variable(ValueForm("f", .flag), first: "false"),
    ]
    let names = ["x", "y", "z"].prefix(2 + generator.below(2))
    let sharesNames = chance(4)
    var regions: [Region] = []
    for (number, name) in names.enumerated() {
      let count = 2 + generator.below(2)
      var states = (0..<count).map { State(sharesNames ? "s\($0)" : "\(name)\($0)") }
      for index in states.indices {
        if chance(3) { states[index].status = "\(name) status" }
        if chance(4) { states[index].entry = [pick(["hello", "bye"])] }
      }
      let transparent = number + 1 < names.count ? states.filter { _ in chance(3) }.map(\.name) : []
      regions.append(
        Region(name, states: states, transparent: Set(transparent), start: states[0].name, rows: []))
    }
    let sets: [[String]] = names.map { _ in ["a", "b", "f"].filter { _ in chance(2) } }
    for number in regions.indices { addRows(to: number, of: &regions, sets: sets[number]) }
    for number in regions.indices {
      for index in regions[number].rows.indices {
        let row = regions[number].rows[index].transition
        // A row that must be taken and stays would be due again at once.
        if isSeen, row.window != .any {
          regions[number].rows[index].transition.window.latest = row.window.earliest + .seconds(1)
          regions[number].rows[index].transition.after = ["ring"]
        }
        if case .states = row.to { continue }
        if row.window.latest != .forever || isSeen && row.window != .any {
          regions[number].rows[index].transition.to = .states([regions[number].start])
        }
      }
    }
    return RegionMachine(shared, regions: regions)
  }

  private mutating func addRows(to number: Int, of regions: inout [Region], sets: [String]) {
    let region = regions[number]
    let states = region.states.map(\.name)
    for event in isSeen ? ["e", "g", "k"] : ["e", "g", "h", "k"] where !chance(3) {
      for state in states where !chance(3) {
        for _ in 0..<generator.below(3) {
          var row = row(.event(event), from: [state], regions, number, sets)
          if row.transition.data.when == nil { row.transition.data.when = guardText(event) }
          if event == "k", chance(2) { row.transition.window = window() }
          if event == "h", chance(4) { row.transition.window = window() }
          regions[number].rows.append(row)
        }
        if chance(2) { regions[number].rows.append(row(.event(event), from: [state], regions, number, sets)) }
      }
      if chance(4) {
        var row = row(.event(event), from: [], regions, number, sets)
        row.transition.from = .wildcard
        regions[number].rows.append(row)
      }
    }
    for state in states where chance(2) {
      var row = row(.timer, from: [state], regions, number, sets)
      row.transition.window = window()
      if chance(4) { row.transition.data.timer = "T" }
      regions[number].rows.append(row)
    }
    if number == 0, !regions[0].rows.isEmpty { regions[0].rows[0].transition.data.start = ["T"] }
  }

  private mutating func window() -> Window {
    let earliest = Interval.seconds(Int64(generator.below(4)))
    return pick([
      .after(.seconds(Int64(1 + generator.below(5)))),
      Window(earliest: earliest, latest: earliest + .seconds(2)),
      Window(earliest: .seconds(1)),
    ])
  }

  private mutating func guardText(_ event: String?) -> String? {
    let hasArgument = event == "e" || event == "g"
    return pick(RegionExpressions.guards.map(\.text).filter { hasArgument || !$0.contains("n") })
  }

  private mutating func row(
    _ trigger: Transition.Trigger, from: [String], _ regions: [Region], _ number: Int, _ sets: [String]
  ) -> Region.Row {
    let region = regions[number]
    let states = region.states.map(\.name)
    var event: String?
    if case .event(let name) = trigger { event = name }
    var row = Transition(trigger, from: .states(from), to: .states([pick(states)]))
    if chance(3) { row.to = .stay }
    if chance(6) { row.to = .states(Array(states.prefix(2))) }
    if let state = region.states.first(where: { $0.name == from.first }), chance(4) {
      let same = region.states.filter {
        $0.status == state.status
          && region.transparent.contains($0.name) == region.transparent.contains(state.name)
      }
      row.to = .shift([pick(same).name])
    }
    if chance(3) { row.data.when = guardText(event) }
    let hasArgument = event == "e" || event == "g"
    let changes = RegionExpressions.changes.filter {
      sets.contains($0.variable) && (hasArgument || $0.text != "n")
    }
    if !changes.isEmpty, chance(2) {
      let change = pick(changes)
      row.data.set = [Assignment(change.variable, change.text)]
    }
    if chance(4) { row.before = [pick(["creak", "click"])] }
    if chance(3) { row.after = [pick(["beep", "buzz"])] }
    if chance(12) { row.shows = "output" }
    if chance(8) { row.given = pick([["c"], ["d"], ["c", "d"]]) }
    if chance(8) { row.unless = pick([["c"], ["d"], ["c", "d"]]) }
    if chance(16) { row.options = [pick(["o1", "o2"])] }
    if chance(12) { row.data.start = ["T"] }
    if chance(16) { row.data.stop = ["T"] }
    var inside: [Region.Requirement] = []
    if chance(3) {
      let other = regions[pick(regions.indices.filter { $0 != number })]
      inside = [Region.Requirement(other.name, other.states.map(\.name).filter { _ in !chance(3) })]
      if inside[0].states.isEmpty { inside = [] }
    }
    return Region.Row(row, in: inside)
  }
}

@Suite("The product of regions")
struct RegionProductTests {
  /// Walks through a machine and its product side by side, and returns a difference.
  private func difference(_ machine: RegionMachine, _ product: RegionProduct, seed: UInt64) -> String? {
    var generator = SeededGenerator(seed: seed)
    var around = RegionSurroundings()
    if generator.below(2) == 0 { around.option = "o2" }
    var left = RegionInterpreter(machine)
    var right = ProductInterpreter(product, of: machine)
    for step in 0..<40 {
      let deadlines = (left.deadline(around), right.deadline(around))
      if deadlines.0 != deadlines.1 { return "\(step): deadlines \(deadlines) in \(right.state)" }
      let lefts: [RegionInterpreter]
      let rights: [ProductInterpreter]
      switch generator.below(6) {
      case 0:
        let name = ["c", "d"][generator.below(2)]
        if around.conditions.remove(name) == nil { around.conditions.insert(name) }
        continue
      case 1, 2:
        let later = around.now + .milliseconds(Int64(500 * (1 + generator.below(8))))
        around.now = max(around.now, min(later, deadlines.0))
        (lefts, rights) = (left.free(around), right.outcomes(around))
      case let number:
        let event = ["e", "g", "k"][number % 3]
        let n = generator.below(4)
        (lefts, rights) = (left.outcomes(of: event, n, around), right.outcomes(of: event, n, around))
      }
      let all = Dictionary(grouping: Set(lefts), by: \.outcome)
      let found = Dictionary(grouping: rights, by: \.outcome)
      guard Set(all.keys) == Set(found.keys) else {
        return "\(step): \(all.keys.map { "\($0)" }.sorted()) and \(found.keys.map { "\($0)" }.sorted())"
      }
      // Where two ends look alike, the next step could go on from different ones.
      let next = lefts.filter { all[$0.outcome]?.count == 1 }
      guard let state = next.randomElement(using: &generator), let other = found[state.outcome]?.first else {
        continue
      }
      (left, right) = (state, other)
      (left.shows, right.shows) = ([], [])
    }
    return nil
  }

  @Test("the product does what its regions do side by side")
  func agree() throws {
    let count = ProcessInfo.processInfo.environment["REGION_MACHINES"].flatMap(Int.init) ?? 150
    var random = RandomRegions(generator: SeededGenerator(seed: 1, for: "regions"))
    var (accepted, refused) = (0, 0)
    while accepted < count {
      let machine = random.next()
      guard let product = machine.product() else {
        refused += 1
        continue
      }
      accepted += 1
      for seed in 1...3 as ClosedRange<UInt64> {
        if let difference = difference(machine, product, seed: seed) {
          Issue.record("\(accepted): \(difference)\n\(machine)\n\(product.definition.yaml())")
          return
        }
      }
    }
    #expect(refused < 40 * accepted)
  }
}
