import Automata
public import Basics

/// A tour through a machine: generates tests that visit every cell of its table, the empty ones too, in few events.
///
/// In each state it first tries everything that must be refused, which changes no state, then the allowed stimuli not
/// tried yet, then it follows the model's cheapest path to a state with missing cells. Before each choice it asks for
/// the current state, so that it plans again if the device has chosen another transition. A goal that is not reached
/// in ``Settings/maximumAttempts`` attempts is abandoned.
///
/// Tests without conditions come first, then those that need some, then those whose conditions last to the end of the
/// test, in which little is certain.
///
///     while !tour.isFinished { begin ─▶ (next ─▶ what the choice stands for)* ─▶ end }
public struct Tour: Sendable {
  /// How far a tour goes.
  public struct Settings: Sendable {
    /// The most choices of one test.
    public var length = 2_000
    /// The most choices of all tests.
    public var budget = 20_000
    /// How often a path that the device did not take is tried.
    public var maximumAttempts = 4
    /// Whether each row is taken under each of its conditions, and not each cell once under any.
    public var coversRows = false
    /// Whether it also waits, to both ends, for what time brings about; and how long at the most for one. `nil` for not at all.
    public var longestTimer: Interval?

    /// The usual settings.
    public init() {}
  }

  /// How much may be brought about in a test.
  enum Scope: Int, CaseIterable {
    /// Only what stimuli bring about.
    case plain
    /// Conditions that can be taken away again.
    case passing
    /// All conditions.
    case lasting
  }

  /// How often each edge was tried in vain, in the widest scope of the tour so far.
  var failures: [Int] { allFailures[scope.rawValue] }

  /// Whether there is nothing more that the tour can do.
  public private(set) var isFinished = false
  /// The current test so far.
  public private(set) var test = TestCase(start: 0)
  /// How many choices were made in all tests.
  public private(set) var events = 0
  /// The numbers of the starts that tests may begin with, ascending.
  public private(set) var openStarts: [Int]

  private(set) var map: ModelMap
  let settings: Settings
  let starts: [ModelMap.Place]
  private let nodeStates: [Int]
  /// The cells still to be visited, by `state * events + event`; those alone that the tester can try.
  private(set) var isMissing: [Bool]
  /// The rows and the timers that it is for.
  private(set) var goals = TourGoals()
  /// What was tried of each edge by which the device went elsewhere each time, by its number.
  var detours: [Int: Detour] = [:]
  /// What the next test begins with, where that was found out when the last one ended.
  private var upcoming: (start: Int, moves: [ModelMap.Move], scope: Scope)?
  /// Whether the current move is waited for because of its timer.
  private(set) var isAttempted = false
  /// How often each edge was tried in vain, by scope: what does not happen under some conditions may in others.
  private var allFailures: [[Int]]
  /// On which edges the device diverged.
  private(set) var hasDiverged: [Bool]
  private var scope = Scope.plain

  var conditions: UInt64 = 0
  /// The conditions that have changed since the state was entered, as bits; and that state.
  private var changed: (conditions: UInt64, state: Int) = (0, -1)
  /// Whether conditions were changed since the last wait for such changes to take effect.
  private var isChanging = false
  /// The moves after the current one.
  private(set) var plan: [ModelMap.Move] = []
  /// The move that was last made.
  private var current: ModelMap.Move?
  /// The state in which it was made.
  private(set) var origin = 0
  /// How often time was let pass for it.
  var waits = 0
  /// Whether a fault was brought about for it.
  var hasActed = false
  /// How often each position without a known state was met in this test.
  var unknownStateVisits: [UInt64: Int] = [:]
  /// How many choices in a row were made without knowing the state.
  var unknownStateCount = 0
  /// How often a state was waited in for what it should allow.
  private var delays: [Int: Int] = [:]
  /// Where the last choice was made; `nil` where that was not known.
  private var place: ModelMap.Place?
  /// How often each state was left before anything could be tried there.
  private var passed: [Int]
  /// What was done when the test began, and how many tests in a row did nothing new.
  private var stand = 0
  private var idleTests = 0

  /// The most choices that a test may make in a row without knowing its state.
  static var maximumUnknownStates: Int { 40 }
  /// How often time is let pass for one thing to happen.
  private static var maximumWaits: Int { 60 }
  /// So many tests in a row that do nothing new end the tour.
  private static var maximumIdleTests: Int { 3 }
  /// How often a state is waited in for what it should allow.
  private static var maximumDelays: Int { 12 }

  /// Prepares a tour.
  ///
  /// - Parameters:
  ///   - alphabet: what may be done.
  ///   - starts: the conditions that the numbers of starts stand for.
  ///   - standing: the conditions that always hold with the device, by name.
  ///   - visited: the cells that need not be visited.
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
    passed = [Int](repeating: 0, count: machine.stateCount)
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
    stand = progress
    (current, isAttempted, isChanging) = (nil, false, false)
    changed = (0, -1)
    waits = 0
    unknownStateVisits = [:]
    unknownStateCount = 0
    return number
  }

  /// The next choice; `nil` ends the test.
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
  /// - Returns: true: every test of a tour is worth keeping.
  @discardableResult
  public mutating func end(in explorationState: ExplorationState) -> Bool {
    if explorationState.node >= 0 { arrive(at: nodeStates[explorationState.node]) } else { miss() }
    idleTests = progress == stand ? idleTests + 1 : 0
    upcoming = nextTest()
    isFinished = events >= settings.budget || idleTests == Self.maximumIdleTests || upcoming == nil
    return true
  }

  /// A number that every visited cell and every failed path changes.
  private var progress: Int {
    let done = (isMissing.count { !$0 } + goals.count) * 1_000_000
    return allFailures.joined().reduce(done, +) + passed.reduce(0, +)
  }

  /// Says that the device cannot be brought to a start. The test is over, and none begins there again.
  ///
  /// - Returns: whether another start is left.
  public mutating func exclude(start: Int) -> Bool {
    openStarts.removeAll { $0 == start }
    upcoming = nil
    // To know that is progress.
    stand = -1
    return !openStarts.isEmpty
  }

  /// Says that the device diverged on what was last chosen. The test is over, and none goes there again: one defect is shown once.
  public mutating func diverge() {
    upcoming = nil
    guard let choice = test.choices.last else { return }
    var edges: [Int] = []
    if Int(choice.act) < map.machine.eventCount {
      if let place, !choice.isForbidden { edges = map.edges(of: Int(choice.act), in: place) }
    } else if let current, current.edge >= 0 {
      edges = [current.edge]
      if isAttempted { goals.giveUp(timer: current.edge) }
    }
    for edge in edges {
      hasDiverged[edge] = true
      for scope in allFailures.indices { allFailures[scope][edge] = map.maximumAttempts[edge] }
    }
  }

  /// Says that the device cannot do what was last chosen. The test is over.
  public mutating func exclude() {
    guard let choice = test.choices.last else { return }
    let act = Int(choice.act)
    map.remove(act)
    upcoming = nil
    (current, isAttempted) = (nil, false)
    guard act < map.machine.eventCount else { return }
    for state in 0..<map.machine.stateCount { isMissing[state * map.machine.eventCount + act] = false }
  }

  /// What the cheapest test begins with that still finds something, in the narrowest scope in which there is one.
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

  /// The conditions that may be brought about.
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

  /// Whether something is missing that can be tried in a place.
  func isWanted(_ place: ModelMap.Place) -> Bool {
    !map.isHidden(place) && !isFleeting(place.state) && (timer(in: place) != nil || hasMissingCell(place))
  }

  /// Whether the device leaves a state so soon that nothing can be tried there.
  func isFleeting(_ state: Int) -> Bool { passed[state] >= settings.maximumAttempts }

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
  /// What time brings about in a place and was not waited for.
  private func timer(in place: ModelMap.Place) -> ModelMap.Move? {
    goals.timers.isEmpty ? nil : map.timers(in: place).first { goals.isWanted(timer: $0.edge) }
  }

  private mutating func choose(in explorationState: ExplorationState) -> Choice? {
    place = nil
    guard explorationState.node >= 0 else {
      // A move to a hidden place is judged once the state is known again.
      if current.map({ map.isHidden($0.target) }) != true { miss() }
      return homing(in: explorationState)
    }
    unknownStateCount = 0
    let state = nodeStates[explorationState.node]
    arrive(at: state)
    let here = ModelMap.Place(state: state, conditions: conditions)
    place = here
    if state != changed.state { changed = (0, state) }
    // What was refused, and what changes nothing, must leave a timer alone: it is waited for before anything leads away.
    let isTiming = isAttempted || current == nil && !map.isHidden(here) && timer(in: here) != nil
    if let (choice, leaves) = missingChoice(in: state, explorationState), !leaves || !isTiming {
      let edges = map.machine.caused[state * map.machine.eventCount + Int(choice.act)]
      if settings.coversRows, isChanging, edges.contains(where: { !$0.guard.isEmpty }) {
        // Until the change has taken effect, the device may behave either way.
        isChanging = false
        return waitForEffect()
      }
      // Refusals lead nowhere; everything else leads away from the plan.
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
      // The timer counts as it was when the state was entered, so that the state has to be entered again.
      if let timer = timer(in: here) {
        goals.begin(timer: timer.edge, maximum: map.maximumAttempts[timer.edge])
      }
      return nil
    }
    if move.edge >= 0, let choice = move.choice, explorationState.legal >> UInt64(choice.act) & 1 == 0 {
      // What the map allows and the situation does not.
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

  /// What is missing in a state: refusals first, then what stays, then what leads on.
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

  /// Waits until the device may do what the map says it may: conditions take a moment.
  private mutating func awaitPermission(in place: ModelMap.Place) -> Choice? {
    abandon()
    delays[place.state, default: 0] += 1
    if delays[place.state, default: 0] <= Self.maximumDelays { return wait(.milliseconds(600)) }
    let cells = place.state * map.machine.eventCount..<(place.state + 1) * map.machine.eventCount
    for cell in cells { isMissing[cell] = false }
    goals.giveUpRows(in: place.state, under: place.conditions)
    return wait(.milliseconds(600))
  }

  /// Notes where the last move led.
  private mutating func arrive(at state: Int) {
    guard let move = current else { return }
    if state != origin { conditions = map.conditions(conditions, entering: state) }
    if isAttempted { noteTimer(move, in: state) }
    if isAt(move.target, state), !isAttempted || state != origin || waits > 1 { return succeed(move) }
    // Time may have brought about the next thing too.
    let run = plan.prefix { $0.choice == nil }
    if let index = run.lastIndex(where: { isAt($0.target, state) }) {
      let last = plan[index]
      plan.removeFirst(index + 1)
      return succeed(last)
    }
    // What did not happen so far may still.
    if move.choice == nil, state == origin, waits < Self.maximumWaits { return }
    // The device did what it was asked for, and has left the state already: it went on as planned and further, or elsewhere.
    let places = [move.target] + run.map(\.target)
    if move.choice != nil, state != origin,
      let last = places.lastIndex(where: { map.leads(from: $0, to: state) })
    {
      if last < run.count { fail(run[last].edge) } else { passed[places[last].state] += 1 }
      return abandon()
    }
    miss()
  }

  /// Notes how far a timer was waited for: up to its first end, where the device is still where it was; or to its end, as all that end
  /// no later.
  private mutating func noteTimer(_ move: ModelMap.Move, in state: Int) {
    if state == origin, !isAt(move.target, state) || waits == 1 { return goals.pass(timer: move.edge) }
    // Had it come before its first end, that would be a divergence.
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
      detours[move.edge]?.hasLed = true
    } else if move.edge >= 0 {
      allFailures[scope.rawValue][move.edge] = 0
    }
    current = nil
    isAttempted = false
    waits = 0
  }

  /// The last move led elsewhere: of several that time brings about, the first at which the device has a choice.
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

  /// Whether an edge was tried in vain as often as it is tried.
  func isFailed(edge: Int) -> Bool { allFailures.contains { $0[edge] >= map.maximumAttempts[edge] } }

  private mutating func fail(_ edge: Int) { allFailures[scope.rawValue][edge] += 1 }

  private mutating func abandon() {
    current = nil
    isAttempted = false
    plan = []
    waits = 0
  }
}
