import Automata
public import Conformance
public import Journal
public import Basics

/// Generates tests, runs them on a device, and investigates divergences, repeatedly until a budget is used up.
///
///     tour ──▶ explore ──▶ divergence ──▶ shrink ──▶ confirm ──▶ finding
///                 ▲                                                  │
///                 └──────────────── with keepsGoing ─────────────────┘
///
/// If only events count as cost, a tour comes first: it visits everything that the model can reach before tests are
/// generated.
///
/// It writes nothing and reads no clock: its caller receives progress and findings, and decides when to stop. On a
/// deterministic device one seed gives one campaign.
public struct Campaign<Device: DeviceUnderTest> {
  /// The callbacks of a campaign.
  public struct Edge {
    /// Whether to stop, asked before every choice.
    public var isStopped: () -> Bool = { false }
    /// How much time has passed.
    public var elapsed: () -> Interval = { .zero }
    /// Told after every test, and after every test of shrinking.
    public var progress: (CampaignStatus) -> Void = { _ in }
    /// Told of a new finding as soon as it is complete.
    public var found: (inout Finding) -> Void = { _ in }
    /// Told of a test that did what few others did.
    public var keep: (TestCase, [(action: TestAction, isForbidden: Bool)]) -> Void = { _, _ in }
    /// Called for a lab fault.
    public var trouble: (LabFault) -> Void = { _ in }
    /// Told what the lab has to say, one line each.
    public var diagnostic: (String) -> Void = { _ in }
    /// Told of a start that the device refuses, once: it is left out from then on.
    public var leftOut: (StartCondition, LabFault) -> Void = { _, _ in }
    /// Told of a divergence after a lost link that did not come again when the test was run with its links whole.
    public var excused: (Divergence) -> Void = { _ in }
    /// Told after every test how much of the table was tried; who looks at it copies what is needed.
    public var coverage: (borrowing CellCoverage) -> Void = { _ in }
    /// Asked after every test for rare tests that others came upon meanwhile.
    public var corpusUpdate: () -> [TestCase] = { [] }
    /// Makes a new, unused device if this one keeps its state or its process between tests; `nil` if there is none.
    public var another: () throws(LabFault) -> Device? = { () throws(LabFault) in nil }

    /// Keeps what goes over the link to the device while a finding is confirmed; `nil` where no packets are kept.
    public var link: (any LinkWatch)?

    /// Makes callbacks that never stop a campaign and report nothing.
    public init() {}
  }

  /// Where an earlier campaign stopped, when it is taken up again.
  public struct Earlier {
    /// How far it was.
    public var status = CampaignStatus()
    /// What it had found, by signature: that is counted, and not found again.
    public var findings: [(signature: String, count: Int)] = []
    /// What it had visited: the tour leaves that out.
    public var visited: CellCoverage?

    /// Nothing was done yet.
    public init() {}
  }

  /// The number of consecutive tests with faults that ends a campaign.
  static var maximumTroubles: Int { 3 }
  /// The most times that a candidate of shrinking is tried to get one run that nothing disturbed.
  static var maximumAttempts: Int { 10 }
  /// One test of so many is done again, to see whether it comes out the same.
  private static var stabilityShare: Int { 500 }

  /// Model and device.
  public var runner: TestEngine<Device, TraceHash>
  /// How far it is.
  public internal(set) var status = CampaignStatus()
  /// What was found.
  public internal(set) var findings: [Finding] = []
  /// Where an earlier campaign stopped, and how often its findings were come upon by now.
  public private(set) var earlier: Earlier
  var explorer: Explorer
  /// The tour with which the campaign begins, until it is over.
  private var tour: Tour?
  let settings: FuzzSettings
  let edge: Edge
  /// The test under way.
  private var execution = Execution()
  private var troubles = 0
  /// Until when in the device's time the finding at hand is looked into; `nil` for as long as it takes.
  var worth: Instant?
  /// What a device that lives on, or that keeps running, was asked for of late; `nil` for one of which each test finds
  /// another.
  var history: DeviceHistory?
  /// Whether the device keeps running, and resets itself.
  let keepsRunning: Bool
  /// How many tests in a row were not begun, since the device was wrong while it was made ready.
  private var unready = 0
  /// The first fault that prevented a verdict on a test.
  private var firstTrouble: LabFault?
  private let isDeterministic: Bool

  /// Prepares a campaign.
  ///
  /// - Parameters:
  ///   - corpus: rare tests of earlier campaigns.
  ///   - earlier: where an earlier campaign stopped: this one counts on from there.
  public init(
    _ target: FuzzTarget, _ device: Device, _ settings: FuzzSettings, corpus: [TestCase] = [],
    earlier: Earlier = Earlier(), edge: Edge
  ) {
    self.earlier = earlier
    status = earlier.status
    status.phase = CampaignStatus().phase
    let abilities = device.abilities
    // A thing that takes time, or that loses links by itself, is not made to do a test again for nothing.
    isDeterministic = abilities.slack == .zero && abilities.stimuli != nil && abilities.conditions.isEmpty
    runner = TestEngine(target, device, settings, recorder: TraceHash())
    self.settings = settings
    self.edge = edge
    explorer = runner.explorer(settings)
    keepsRunning = abilities.keepsRunning && !abilities.keepsState
    if abilities.keepsState || keepsRunning { history = DeviceHistory(runner.alphabet) }
    tour = runner.tour(settings, visited: earlier.visited)
    for test in corpus { explorer.learn(test) }
    runner.lockstep.held = runner.specification.machine.options(heldTo: status.shown.flatMap(\.options))
  }

  /// Why tests were left without a verdict, if any were: a person must check the lab.
  public var trouble: LabFault? {
    guard status.unjudged > 0 else { return nil }
    let tests =
      status.unjudged == status.tests ? "on any test" : "on \(status.unjudged) of \(status.tests) tests"
    let reason = firstTrouble.map { "the first because of \($0)" }
    return LabFault(.noVerdict, "\(tests), \(reason ?? "before the campaign was taken up again")")
  }

  /// What was visited.
  public var coverage: CellCoverage { runner.lockstep.tracker.coverage }

  /// Runs the campaign to its end.
  public mutating func perform() -> CampaignEnd {
    while true {
      let end = performTest()
      status.corpus = explorer.corpusCount
      status.positions = explorer.positionCount
      tell()
      if let end { return end }
      for test in edge.corpusUpdate() { explorer.learn(test) }
    }
  }

  /// Does some tests, in place of drawn ones.
  public mutating func perform(_ tests: [TestCase]) -> CampaignEnd {
    for test in tests {
      if isOver || edge.isStopped() { break }
      if runner.isRefused(test.start) { continue }
      status.tests += 1
      let before = runner.events
      var end: CampaignEnd?
      do {
        execution = try runner.run(test, isStopped: edge.isStopped)
        status.events += runner.events - before
        troubles = 0
        let done = execution.test
        if let divergence = execution.divergence {
          end = follow(divergence, of: done)
        } else {
          remember(done)
        }
      } catch {
        status.events += runner.events - before
        end = follow(error, of: test.start, mayRepeat: false)
      }
      if let end { return end }
      tell()
    }
    return edge.isStopped() ? .stopped : .done
  }

  /// Tells how far it is.
  private mutating func tell() {
    for text in runner.lockstep.takeDiagnostics() { edge.diagnostic(text) }
    account()
    edge.coverage(runner.lockstep.tracker.coverage)
    edge.progress(status)
  }

  /// Takes over what the device was asked for so far.
  mutating func account() {
    status.actuations = earlier.status.actuations + runner.actuations
    status.lockTime = earlier.status.lockTime + runner.lockTime
    status.waited = earlier.status.waited + runner.waited
    status.motorRest = earlier.status.motorRest + runner.rested
    status.air = earlier.status.air + runner.air
  }

  /// Does one test; says why when it was the last.
  private mutating func performTest() -> CampaignEnd? {
    if isOver { return hasFound ? .found : .done }
    if edge.isStopped() { return .stopped }
    status.tests += 1
    let start = beginTest()
    execution.clear()
    let before = runner.events
    do {
      defer { status.events += runner.events - before }
      let maximum = settings.steps.map { $0 - status.events } ?? .max
      try draw(from: start, maximum: maximum)
    } catch {
      return follow(error, of: start)
    }
    troubles = 0
    status.longest = max(status.longest, execution.events)
    let test = execution.test
    if let divergence = execution.divergence { return follow(divergence, of: test) }
    remember(test)
    let isRare = endTest()
    if isRare { edge.keep(test, execution.meaning) }
    if isDeterministic, status.tests % Self.stabilityShare == 1 { repeatTest(test) }
    return nil
  }

  /// Does one drawn test, and follows nothing up: what diverges is left to ``perform(_:)``.
  ///
  /// - Returns: the test that diverged.
  mutating func drawTest() -> TestCase? {
    status.tests += 1
    let start = explorer.begin()
    execution.clear()
    let before = runner.events
    defer { status.events += runner.events - before }
    do {
      try runner.perform(&explorer, from: start, isStopped: { false }, &execution)
    } catch {
      _ = explorer.end(in: runner.lockstep.explorationState)
      if runner.isRefused(start) { leaveOut(start, because: error) }
      return nil
    }
    let isRare = explorer.end(in: runner.lockstep.explorationState)
    if execution.divergence != nil { return execution.test }
    if isRare { edge.keep(execution.test, execution.meaning) }
    return nil
  }

  /// Begins a test of the tour, or one that is drawn; gives the number of its start.
  private mutating func beginTest() -> Int {
    guard tour?.isFinished == false, let start = tour?.begin() else {
      tour = nil
      return explorer.begin()
    }
    return start
  }

  /// Makes the choices of the test that was begun.
  private mutating func draw(from start: Int, maximum: Int) throws(LabFault) {
    guard var tour else {
      return try runner.perform(
        &explorer, from: start, maximum: maximum, isStopped: edge.isStopped, &execution)
    }
    // Out of the campaign meanwhile, so that nothing of it is copied.
    self.tour = nil
    defer { self.tour = tour }
    try runner.perform(&tour, from: start, maximum: maximum, isStopped: edge.isStopped, &execution)
  }

  /// Ends the test that was begun; says whether it is worth keeping. What a tour does any tour does again.
  @discardableResult
  private mutating func endTest() -> Bool {
    guard tour != nil else { return explorer.end(in: runner.lockstep.explorationState) }
    tour?.end(in: runner.lockstep.explorationState)
    return false
  }

  /// Keeps a test that was done, where the device remembers it too.
  private mutating func remember(_ test: TestCase) {
    unready = 0
    holdToWhatIsShown()
    history?.add(test, madeReadyBy: runner.lockstep.preparations)
  }

  /// From now on holds the device to the permanent choices that it showed in a test that passed.
  private mutating func holdToWhatIsShown() {
    let machine = runner.specification.machine
    guard !machine.choices.isEmpty else { return }
    let held = machine.narrowed(runner.lockstep.held, by: runner.lockstep.tracker.options)
    guard held != runner.lockstep.held else { return }
    runner.lockstep.held = held
    status.shown = machine.shown(in: held).map { Record.ShownChoice($0.name, $0.options) }
  }

  /// Whether something was found that ends the campaign.
  private var hasFound: Bool { !settings.keepsGoing && findings.contains(where: \.endsCampaign) }

  private var isOver: Bool { settings.steps.map { status.events >= $0 } ?? false }

  /// Does a test again and compares the traces.
  private mutating func repeatTest(_ test: TestCase) {
    let hash = runner.lockstep.recorder.value
    guard let again = attempt(test) else { return }
    history?.add(test, madeReadyBy: runner.lockstep.preparations)
    status.stability.tried += 1
    if again.divergence == nil, runner.lockstep.recorder.value == hash { status.stability.same += 1 }
  }

  /// Runs a test outside of exploration; `nil` after a fault.
  mutating func attempt(_ test: TestCase) -> Execution? {
    let before = runner.events
    defer { status.extraEvents += runner.events - before }
    do {
      return try runner.run(test)
    } catch {
      edge.trouble(error)
      status.labFaults += 1
      return nil
    }
  }

  /// Leaves a start out that the device refuses, and says so.
  ///
  /// - Returns: whether another is left.
  @discardableResult
  mutating func leaveOut(_ start: Int, because fault: LabFault) -> Bool {
    edge.leftOut(runner.starts[start], fault)
    _ = tour?.exclude(start: start)
    return explorer.exclude(start: start)
  }

  /// Investigates a fault: one that recurs after restarts is caused by the device.
  ///
  /// - Parameter mayRepeat: whether the test was run only once.
  private mutating func follow(_ fault: LabFault, of start: Int, mayRepeat: Bool = true) -> CampaignEnd? {
    // What the device cannot do, the tour does not ask for again.
    if fault.symptom == .notPossible, !execution.performed.isEmpty { tour?.exclude() }
    endTest()
    if fault.symptom == .safetyLimit { return .limited(fault.detail) }
    if fault.symptom == .stopped { return .stopped }
    if runner.isRefused(start) {
      // Nothing was begun, and nothing is wrong.
      status.tests -= 1
      return leaveOut(start, because: fault) ? nil : .trouble(fault)
    }
    edge.trouble(fault)
    status.labFaults += 1
    troubles += 1
    do {
      if mayRepeat {
        var attempts = Attempts.ofCampaign
        execution = try runner.run(execution.test, &attempts, following: (execution, fault))
        if let divergence = execution.divergence {
          let end = follow(divergence, of: execution.test)
          guard divergence.isOfLab, end == nil else { return end }
          // What leads there is known now. The test has no verdict all the same.
          noteUnjudged(fault)
          return troubles >= Self.maximumTroubles ? .trouble(fault) : nil
        }
      }
    } catch {
      if error.symptom == .safetyLimit {
        noteUnjudged(fault)
        return .limited(error.detail)
      }
      if error.symptom == .stopped { return .stopped }
    }
    noteUnjudged(fault)
    do {
      try runner.recover()
    } catch  where error.symptom == .noDevice || error.symptom == .transportLost {
      return .trouble(error)
    } catch {}
    return troubles >= Self.maximumTroubles ? .trouble(fault) : nil
  }

  /// Notes that a test came to no verdict.
  private mutating func noteUnjudged(_ fault: LabFault) {
    status.unjudged += 1
    if firstTrouble == nil { firstTrouble = fault }
  }

  /// The finding that something is again. One that did not come again when it was tried is looked for a few times more.
  func known(where isSame: (Finding) -> Bool) -> Int? {
    let same = findings.indices.filter { isSame(findings[$0]) }
    let sure = same.first { findings[$0].confirmation.shown > 0 }
    return sure ?? (same.count >= Self.maximumTroubles ? same[0] : nil)
  }

  /// Whether a divergence was come upon before; it is counted then.
  private mutating func isKnown(_ divergence: Divergence) -> Bool {
    if let known = known(where: { $0.divergence.isLike(divergence) || $0.isKnown(as: divergence.signature) })
    {
      findings[known].count += 1
    } else {
      return countAgain(divergence.signature)
    }
    status.repeats += 1
    return true
  }

  /// Counts what an earlier campaign has found under a signature; says whether there is such a thing.
  mutating func countAgain(_ signature: String) -> Bool {
    guard let known = earlier.findings.firstIndex(where: { $0.signature == signature }) else { return false }
    earlier.findings[known].count += 1
    status.repeats += 1
    return true
  }

  /// Follows up a divergence.
  ///
  /// One that came after a lost link proves nothing: the first run of its test with all its links decides.
  private mutating func follow(_ divergence: Divergence, of test: TestCase) -> CampaignEnd? {
    endTest()
    let sessions = runner.lockstep.preparations
    defer { history?.add(test, madeReadyBy: sessions) }
    unready = divergence.isInPreparation ? unready + 1 : 0
    if divergence.isInPreparation { runner.knownPreparationFaults.append(divergence) }
    let isExplained = findings.last?.confirmation.verdict == .confirmed
    if unready > 1, isExplained {
      // What is wrong with it was found, and this follows from it.
      findings[findings.count - 1].count += 1
      status.repeats += 1
      if unready <= Self.maximumTroubles { return nil }
    }
    if unready > (isExplained ? Self.maximumTroubles : Self.maximumAttempts) {
      let fault = LabFault(
        .noDevice, "the device cannot be made ready for a test any more: \(divergence.summary)")
      edge.trouble(fault)
      return .trouble(fault)
    }
    if isKnown(divergence) { return nil }
    do {
      var (divergence, test, failure) = (divergence, test, execution)
      if execution.wasDisturbed, !divergence.isInPreparation {
        status.phase = "trying again what came after a lost link"
        defer { status.phase = CampaignStatus().phase }
        guard let calm = try calmRun(of: test) else {
          let fault = LabFault(
            .linkLost, "no run of a test had all its links that had ended with: \(divergence.summary)")
          edge.trouble(fault)
          status.labFaults += 1
          noteUnjudged(fault)
          return nil
        }
        guard let shown = calm.divergence else {
          edge.excused(divergence)
          return nil
        }
        if isKnown(shown) { return nil }
        (divergence, failure) = (shown, calm)
        test.choices = calm.performed
      }
      try investigate(divergence, of: test, failure, madeReadyBy: sessions)
    } catch {
      return .limited(error.reason)
    }
    status.phase = "exploring"
    return hasFound ? .found : nil
  }
}

/// A safety limit was reached.
struct LimitReached: Error {
  var reason: String
}

extension Execution {
  /// What was done, with whether it was to be refused.
  var meaning: [(action: TestAction, isForbidden: Bool)] {
    zip(actions, performed).map { ($0, $1.isForbidden) }
  }
}
