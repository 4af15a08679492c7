import Automata
public import Basics

/// A tour through a machine: generates tests that visit every cell of its table, the empty ones included, in few
/// events.
///
/// In each state, the tour first tries every stimulus that must be refused, which changes no state, and then the
/// allowed stimuli not tried yet. Then it follows the model's cheapest path to a state with missing cells. Before
/// each choice it reads the current state, so it replans if the device has chosen another transition. It abandons a
/// goal that it does not reach in ``Settings/maximumAttempts`` attempts.
///
/// Tests without conditions come first, then those that need conditions which can be removed again. Tests whose
/// conditions last to the end of the test come last, since little is certain in them.
///
///     while !tour.isFinished { begin ─▶ (next ─▶ carry out the choice)* ─▶ end }
public struct Tour: Sendable {
  /// The options of a tour.
  public struct Settings: Sendable {
    /// The maximum number of choices in one test.
    public var length = 2_000
    /// The maximum number of choices in all tests.
    public var budget = 20_000
    /// How many times the tour tries a path that the device does not take.
    public var maximumAttempts = 4
    /// Whether the tour takes each row under each of its conditions, rather than each cell once under any.
    public var coversRows = false
    /// The longest timer for which the tour waits, up to both of its ends; `nil` if it waits for none.
    public var longestTimer: Interval?

    /// Makes the default settings.
    public init() {}
  }

  /// The conditions that a test may bring about.
  enum Scope: Int, CaseIterable {
    /// Only those that stimuli set.
    case plain
    /// Conditions that can be removed again.
    case passing
    /// All conditions.
    case lasting
  }

  /// How often each edge was tried in vain in the current scope.
  var failures: [Int] { allFailures[scope.rawValue] }

  /// Whether the tour has nothing left to do.
  public private(set) var isFinished = false
  /// The current test so far.
  public private(set) var test = TestCase(start: 0)
  /// The number of choices made in all tests.
  public private(set) var events = 0
  /// The numbers of the starts that tests may begin with, ascending.
  public private(set) var openStarts: [Int]

  private(set) var map: ModelMap
  let settings: Settings
  let starts: [ModelMap.Place]
  private let nodeStates: [Int]
  /// The cells still to be visited, by `state * events + event`, as far as the tester can try them.
  private(set) var isMissing: [Bool]
  /// The rows and the timers to be covered.
  private(set) var goals = TourGoals()
  /// The detours tried for each edge that the device did not take, by the number of the edge.
  var detours: [Int: Detour] = [:]
  /// The beginning of the next test, if it was determined when the last test ended.
  private var upcoming: (start: Int, moves: [ModelMap.Move], scope: Scope)?
  /// Whether the current move is an attempt to reach the end of a timer.
  private(set) var isAttempted = false
  /// How often each edge was tried in vain, by scope: an edge that fails under some conditions may succeed under
  /// others.
  private var allFailures: [[Int]]
  /// Whether the device diverged on each edge.
  private(set) var hasDiverged: [Bool]
  private var scope = Scope.plain

  var conditions: UInt64 = 0
  /// The conditions that have changed since the test entered a state, as bits; and the number of that state.
  private var changed: (conditions: UInt64, state: Int) = (0, -1)
  /// Whether conditions were changed since the last wait for a change to take effect.
  private var isChanging = false
  /// The moves after the current one.
  private(set) var plan: [ModelMap.Move] = []
  /// The last move made.
  private var current: ModelMap.Move?
  /// The state in which the last move was made.
  private(set) var origin = 0
  /// How often the test has let time pass for the last move.
  var waits = 0
  /// Whether the test has injected a fault for the last move.
  var hasActed = false
  /// How often the test was in each position without a known state.
  var unknownStateVisits: [UInt64: Int] = [:]
  /// The number of choices in a row that were made without a known state.
  var unknownStateCount = 0
  /// How often the tour waited in each state for what it should allow.
  private var delays: [Int: Int] = [:]
  /// Where the last choice was made; `nil` if that was not known.
  private var lastPlace: ModelMap.Place?
  /// How often the device left each state before anything could be tried there.
  private var fleetingCounts: [Int]
  /// The progress at the beginning of the test, and the number of tests in a row that made none.
  private var initialProgress = 0
  private var idleTests = 0

  /// The maximum number of choices in a row that a test makes without knowing its state.
  static var maximumUnknownStates: Int { 40 }
  /// The maximum number of waits for one move.
  private static var maximumWaits: Int { 60 }
  /// The number of tests in a row without progress that ends the tour.
  private static var maximumIdleTests: Int { 3 }
  /// The maximum number of waits in a state for what it should allow.
  private static var maximumDelays: Int { 12 }

  /// Makes a tour.
  ///
  /// - Parameters:
  ///   - alphabet: the acts that tests may use.
  ///   - starts: the conditions that the numbers of starts stand for.
  ///   - standing: the names of the conditions that always hold with the device.
  ///   - visited: the coverage of earlier tests, whose cells need not be visited.
  public init(
    _ specification: Specification, _ alphabet: Alphabet, starts: [StartCondition], standing: [String] = [],
    visited: CellCoverage? = nil, settings: Settings = Settings()
  ) {
    let machine = specification.machine
    map = ModelMap(specification, alphabet, maximumAttempts: settings.maximumAttempts)
    self.settings = settings
    let cells = specification.cells
    nodeStates = specification.nodes.map(\.state)
    let map = map
    self.starts = starts.map { map.place(of: $0, standing: standing) }
    openStarts = Array(starts.indices)
    isMissing = machine.caused.indices.map { cell in
      let event = cell % machine.eventCount
      return machine.isStimulus(event) && !alphabet.acts[event].variants.isEmpty
        && !cells.isMomentary[cell / machine.eventCount] && (visited?.visits[cell] ?? 0) == 0
    }
    hasDiverged = [Bool](repeating: false, count: map.edgeCount)
    fleetingCounts = [Int](repeating: 0, count: machine.stateCount)
    allFailures = Scope.allCases.map { _ in [Int](repeating: 0, count: map.edgeCount) }
    goals = TourGoals(map, hasRows: settings.coversRows, longestTimer: settings.longestTimer) { [isMissing] in
      isMissing[$0]
    }
    upcoming = nextTest()
    isFinished = upcoming == nil
  }
}

extension Tour {
  /// Begins a test.
  ///
  /// - Returns: the number of its start.
  public mutating func begin() -> Int {
    let next = upcoming ?? nextTest()
    upcoming = nil
    isFinished = next == nil
    let number = next?.start ?? openStarts.last ?? starts.count - 1
    scope = next?.scope ?? scope
    test = TestCase(start: number)
    conditions = starts[number].conditions
    plan = next?.moves ?? []
    initialProgress = progress
    (current, isAttempted, isChanging) = (nil, false, false)
    changed = (0, -1)
    waits = 0
    unknownStateVisits = [:]
    unknownStateCount = 0
    return number
  }

  /// Returns the next choice; `nil` ends the test.
  public mutating func next(in explorationState: ExplorationState) -> Choice? {
    guard !isFinished, test.choices.count < settings.length, events < settings.budget else { return nil }
    guard let choice = choose(in: explorationState) else { return nil }
    test.choices.append(choice)
    events += 1
    guard !choice.isForbidden else { return choice }
    let before = conditions
    conditions = map.conditions(conditions, after: choice)
    if conditions != before { isChanging = true }
    changed.conditions |= conditions ^ before
    return choice
  }

  /// Ends a test.
  ///
  /// - Returns: `true`: every test of a tour is worth keeping.
  @discardableResult
  public mutating func end(in explorationState: ExplorationState) -> Bool {
    if explorationState.node >= 0 { arrive(at: nodeStates[explorationState.node]) } else { miss() }
    idleTests = progress == initialProgress ? idleTests + 1 : 0
    upcoming = nextTest()
    isFinished = events >= settings.budget || idleTests == Self.maximumIdleTests || upcoming == nil
    return true
  }

  /// A number that changes with every visited cell, every goal and every failed path.
  private var progress: Int {
    let done = (isMissing.count { !$0 } + goals.count) * 1_000_000
    return allFailures.joined().reduce(done, +) + fleetingCounts.reduce(0, +)
  }

  /// Excludes a start to which the device cannot be brought. This ends the test, and no other begins there.
  ///
  /// - Returns: whether another start is left.
  public mutating func exclude(start: Int) -> Bool {
    openStarts.removeAll { $0 == start }
    upcoming = nil
    // This knowledge is progress.
    initialProgress = -1
    return !openStarts.isEmpty
  }

  /// Records that the device diverged on the last choice. This ends the test, and no other takes the same edge: one
  /// defect is shown once.
  public mutating func diverge() {
    upcoming = nil
    guard let choice = test.choices.last else { return }
    var edges: [Int] = []
    if Int(choice.act) < map.machine.eventCount {
      if let lastPlace, !choice.isForbidden { edges = map.edges(of: Int(choice.act), in: lastPlace) }
    } else if let current, current.edge >= 0 {
      edges = [current.edge]
      if isAttempted { goals.giveUp(timer: current.edge) }
    }
    for edge in edges {
      hasDiverged[edge] = true
      for scope in allFailures.indices { allFailures[scope][edge] = map.maximumAttempts[edge] }
    }
  }

  /// Excludes the act of the last choice, which the device does not support. This ends the test.
  public mutating func exclude() {
    guard let choice = test.choices.last else { return }
    let act = Int(choice.act)
    map.remove(act)
    upcoming = nil
    (current, isAttempted) = (nil, false)
    guard act < map.machine.eventCount else { return }
    for state in 0..<map.machine.stateCount { isMissing[state * map.machine.eventCount + act] = false }
  }

  /// Returns the beginning of the cheapest test that still covers something, in the narrowest scope with such a test.
  private mutating func nextTest() -> (start: Int, moves: [ModelMap.Move], scope: Scope)? {
    guard goals.hasWantedTimers || !goals.rows.isEmpty || isMissing.contains(true), !openStarts.isEmpty
    else { return nil }
    let places = openStarts.map { starts[$0] }
    for scope in Scope.allCases {
      let failures = allFailures[scope.rawValue]
      let allowed = allowance(of: scope)
      let path = map.path(from: places, allowed: allowed, failures: failures) { isWanted($0) }
      if let path { return (openStarts[path.start], path.moves, scope) }
    }
    return settings.coversRows ? detour() : nil
  }

  /// Returns the conditions that tests of a scope may bring about, as bits.
  func allowance(of scope: Scope) -> UInt64 {
    var allowed: UInt64 = 0
    for (number, item) in map.machine.definition.conditions.enumerated() {
      switch scope {
      case .plain: if item.faults.isEmpty { allowed |= 1 << UInt64(number) }
      case .passing: if item.until.isEmpty { allowed |= 1 << UInt64(number) }
      case .lasting: allowed |= 1 << UInt64(number)
      }
    }
    return allowed
  }

  /// Returns whether something is missing that can be tried in a place.
  func isWanted(_ place: ModelMap.Place) -> Bool {
    !map.isHidden(place) && !isFleeting(place.state) && (timer(in: place) != nil || hasMissingCell(place))
  }

  /// Returns whether the device leaves a state so soon that nothing can be tried there.
  func isFleeting(_ state: Int) -> Bool { fleetingCounts[state] >= settings.maximumAttempts }

  private func hasMissingCell(_ place: ModelMap.Place) -> Bool {
    let cells = place.state * map.machine.eventCount..<(place.state + 1) * map.machine.eventCount
    return cells.contains { cell in
      isMissing[cell]
        && (map.machine.caused[cell].isEmpty
          || map.machine.caused[cell].contains { $0.guard.holds(under: place.conditions) })
    } || !goals.wantedRows(in: place.state, under: place.conditions).isEmpty
  }
}

extension Tour {
  /// Returns a timer of a place that the tour still has to wait for.
  private func timer(in place: ModelMap.Place) -> ModelMap.Move? {
    goals.timers.isEmpty ? nil : map.timers(in: place).first { goals.isWanted(timer: $0.edge) }
  }

  private mutating func choose(in explorationState: ExplorationState) -> Choice? {
    lastPlace = nil
    guard explorationState.node >= 0 else {
      // The result of a move to a hidden place is known only once the state is.
      if current.map({ map.isHidden($0.target) }) != true { miss() }
      return homing(in: explorationState)
    }
    unknownStateCount = 0
    let state = nodeStates[explorationState.node]
    arrive(at: state)
    let here = ModelMap.Place(state: state, conditions: conditions)
    lastPlace = here
    if state != changed.state { changed = (0, state) }
    // Refusals and self-loops must not affect a timer, so the tour waits for it before any choice that leaves the
    // state.
    let isTiming = isAttempted || current == nil && !map.isHidden(here) && timer(in: here) != nil
    if let (choice, leaves) = missingChoice(in: state, explorationState), !leaves || !isTiming {
      let edges = map.machine.caused[state * map.machine.eventCount + Int(choice.act)]
      if settings.coversRows, isChanging, edges.contains(where: { !$0.guard.isEmpty }) {
        // Until the change has taken effect, the device may behave either way.
        isChanging = false
        return waitForEffect()
      }
      // A refusal leads nowhere; any other choice leads away from the plan.
      if !choice.isForbidden { abandon() }
      let cell = state * map.machine.eventCount + Int(choice.act)
      if choice.isForbidden == edges.isEmpty { isMissing[cell] = false }
      goals.visit(cell, in: state, under: conditions)
      return choice
    }
    if current == nil, let timer = timer(in: here),
      !map.isOutdated(map.edge(timer.edge, from: state), after: changed.conditions)
    {
      abandon()
      goals.begin(timer: timer.edge, maximum: map.maximumAttempts[timer.edge])
      (current, origin, hasActed, isAttempted) = (timer, state, false, true)
      return letTimePass(for: timer, explorationState)
    }
    if !isAttempted, !map.isHidden(here), hasMissingCell(here) { return awaitPermission(in: here) }
    if let current { return letTimePass(for: current, explorationState) }
    if plan.isEmpty {
      let path = map.path(from: [here], allowed: allowance(of: scope), failures: failures) { isWanted($0) }
      plan = path?.moves ?? []
    }
    guard let move = plan.first else {
      // The timer counts from the entry of the state, so the test has to enter the state again.
      if let timer = timer(in: here) {
        goals.begin(timer: timer.edge, maximum: map.maximumAttempts[timer.edge])
      }
      return nil
    }
    if move.edge >= 0, let choice = move.choice, explorationState.legal >> UInt64(choice.act) & 1 == 0 {
      // The map allows it, but the current situation does not.
      fail(move.edge)
      abandon()
      return wait(.milliseconds(600))
    }
    plan.removeFirst()
    current = move
    origin = state
    waits = 0
    hasActed = false
    return move.choice ?? letTimePass(for: move, explorationState)
  }

  /// Returns a missing choice of a state: refusals first, then stimuli that stay in the state, then those that leave
  /// it.
  private func missingChoice(
    in state: Int, _ explorationState: ExplorationState
  ) -> (choice: Choice, leaves: Bool)? {
    let machine = map.machine
    let first = state * machine.eventCount
    let wanted = goals.wantedRows(in: state, under: conditions)
    let refusals = wanted.filter(\.isRefused).map(\.cell)
    for event in 0..<machine.eventCount where explorationState.forbidden >> UInt64(event) & 1 == 1 {
      let cell = first + event
      if isMissing[cell] && machine.caused[cell].isEmpty || refusals.contains(cell) {
        return (Choice(event, isForbidden: true), false)
      }
    }
    var best: (choice: Choice, leaves: Bool)?
    let rows = wanted.filter { !$0.isRefused }.map(\.cell)
    for event in 0..<machine.eventCount where isMissing[first + event] || rows.contains(first + event) {
      guard explorationState.legal >> UInt64(event) & 1 == 1,
        let choice = map.choices(of: event, under: conditions).first
      else { continue }
      let leaves =
        map.conditions(conditions, after: choice) != conditions
        || machine.caused[first + event].contains {
          $0.guard.holds(under: conditions) && $0.target != state
        }
      if best == nil || (best?.leaves == true && !leaves) { best = (choice, leaves) }
    }
    return best
  }

  /// Waits until the device allows what the map says: a condition takes a moment to have an effect. Gives up after
  /// ``maximumDelays`` waits.
  private mutating func awaitPermission(in place: ModelMap.Place) -> Choice? {
    abandon()
    delays[place.state, default: 0] += 1
    if delays[place.state, default: 0] <= Self.maximumDelays { return wait(.milliseconds(600)) }
    let cells = place.state * map.machine.eventCount..<(place.state + 1) * map.machine.eventCount
    for cell in cells { isMissing[cell] = false }
    goals.giveUpRows(in: place.state, under: place.conditions)
    return wait(.milliseconds(600))
  }

  /// Records where the last move led.
  private mutating func arrive(at state: Int) {
    guard let move = current else { return }
    if state != origin { conditions = map.conditions(conditions, entering: state) }
    if isAttempted { noteTimer(move, in: state) }
    if isAt(move.target, state), !isAttempted || state != origin || waits > 1 { return succeed(move) }
    // Time may have brought about the next moves, too.
    let run = plan.prefix { $0.choice == nil }
    if let index = run.lastIndex(where: { isAt($0.target, state) }) {
      let last = plan[index]
      plan.removeFirst(index + 1)
      return succeed(last)
    }
    // The move may still happen.
    if move.choice == nil, state == origin, waits < Self.maximumWaits { return }
    // The device obeyed, and has left the state already: it continued as planned and further, or elsewhere.
    let places = [move.target] + run.map(\.target)
    if move.choice != nil, state != origin,
      let last = places.lastIndex(where: { map.leads(from: $0, to: state) })
    {
      if last < run.count { fail(run[last].edge) } else { fleetingCounts[places[last].state] += 1 }
      return abandon()
    }
    miss()
  }

  /// Records how far the test has waited for a timer: up to its first end, if the device is still in the state; or up
  /// to its last end, together with all timers that end no later.
  private mutating func noteTimer(_ move: ModelMap.Move, in state: Int) {
    if state == origin, !isAt(move.target, state) || waits == 1 { return goals.pass(timer: move.edge) }
    // If the timer had ended before its first end, the device would have diverged.
    guard goals.isBegun(timer: move.edge) || isAt(move.target, state) else { return }
    let window = map.edge(move.edge, from: origin)
    goals.end(
      timers: map.timers(in: origin).filter { number in
        let edge = map.edge(number, from: origin)
        return number == move.edge || edge.latest <= window.latest && edge.guard.holds(under: conditions)
      })
  }

  private func isAt(_ place: ModelMap.Place, _ state: Int) -> Bool {
    place.state == state && place.conditions == conditions
  }

  private mutating func succeed(_ move: ModelMap.Move) {
    if detours[move.edge] != nil {
      // The device still does not take the edge on the shortest path.
      detours[move.edge]?.hasSucceeded = true
    } else if move.edge >= 0 {
      allFailures[scope.rawValue][move.edge] = 0
    }
    current = nil
    isAttempted = false
    waits = 0
  }

  /// Records that the last move led elsewhere. Of several moves that time brings about, the first one at which the
  /// device has a choice failed.
  private mutating func miss() {
    defer { abandon() }
    guard let move = current, move.edge >= 0 else { return }
    guard move.choice == nil else { return fail(move.edge) }
    var state = origin
    let run = [move] + plan.prefix { $0.choice == nil }
    for step in run {
      if map.machine.spontaneous[state].filter({ $0.guard.holds(under: conditions) }).count > 1 {
        return fail(step.edge)
      }
      state = step.target.state
    }
    fail(run[run.count - 1].edge)
  }

  /// Returns whether an edge has failed as often as the tour tries it, in some scope.
  func isFailed(edge: Int) -> Bool { allFailures.contains { $0[edge] >= map.maximumAttempts[edge] } }

  private mutating func fail(_ edge: Int) { allFailures[scope.rawValue][edge] += 1 }

  private mutating func abandon() {
    current = nil
    isAttempted = false
    plan = []
    waits = 0
  }
}
