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
/// It writes nothing and reads no clock: its caller receives progress and findings, and decides when to stop.
/// On a deterministic device, one seed gives one campaign.
public struct Campaign<Device: DeviceUnderTest> {
  /// The callbacks of a campaign.
  public struct Edge {
    /// Whether to stop; called before every choice.
    public var isStopped: () -> Bool = { false }
    /// The elapsed time.
    public var elapsed: () -> Interval = { .zero }
    /// Receives the status after every test, including those of shrinking.
    public var progress: (CampaignStatus) -> Void = { _ in }
    /// Receives a new finding as soon as it is complete.
    public var found: (inout Finding) -> Void = { _ in }
    /// Receives a rare test.
    public var keep: (TestCase, [(action: TestAction, isForbidden: Bool)]) -> Void = { _, _ in }
    /// Receives a lab fault.
    public var trouble: (LabFault) -> Void = { _ in }
    /// Receives the lab's diagnostics, one line each.
    public var diagnostic: (String) -> Void = { _ in }
    /// Receives a start that the device refuses, once: it is left out from then on.
    public var exclusion: (StartCondition, LabFault) -> Void = { _, _ in }
    /// Receives a divergence after a lost link that did not recur when the test ran with intact links.
    public var excused: (Divergence) -> Void = { _ in }
    /// Receives the coverage after every test; the receiver copies what it needs.
    public var coverage: (borrowing CellCoverage) -> Void = { _ in }
    /// Returns new rare tests of other campaigns; called after every test.
    public var corpusUpdate: () -> [TestCase] = { [] }
    /// Makes a new, unused device if this one keeps its state or its process between tests; `nil` if there is none.
    public var another: () throws(LabFault) -> Device? = { () throws(LabFault) in nil }

    /// Records the packets of the link while a finding is confirmed; `nil` if none are kept.
    public var link: (any LinkWatch)?

    /// Makes callbacks that never stop a campaign and report nothing.
    public init() {}
  }

  /// The results of an earlier campaign that this one resumes.
  public struct Earlier {
    /// Its status.
    public var status = CampaignStatus()
    /// Its findings, by signature: they are counted, and not reported again.
    public var findings: [(signature: String, count: Int)] = []
    /// The cells that it visited: the tour leaves them out.
    public var visited: CellCoverage?

    /// Makes empty results.
    public init() {}
  }

  /// The number of consecutive tests with faults that ends a campaign.
  static var maximumTroubles: Int { 3 }
  /// The maximum number of attempts to get one undisturbed run of a shrinking candidate.
  static var maximumAttempts: Int { 10 }
  /// One test in this many is repeated, to check whether it has the same result.
  private static var stabilityShare: Int { 500 }

  /// Model and device.
  public var runner: TestEngine<Device, TraceHash>
  /// The status.
  public internal(set) var status = CampaignStatus()
  /// The findings.
  public internal(set) var findings: [Finding] = []
  /// The results of the resumed campaign, with its findings counted so far.
  public private(set) var earlier: Earlier
  var explorer: Explorer
  /// The tour at the beginning of the campaign, until it is over.
  private var tour: Tour?
  let settings: FuzzSettings
  let edge: Edge
  /// The current test.
  private var execution = Execution()
  private var troubles = 0
  /// The device's time at which the investigation of the current finding ends; `nil` for no limit.
  var worth: Instant?
  /// The recent tests of a device that keeps its state or keeps running; `nil` if each test has a new device.
  var history: DeviceHistory?
  /// Whether the device keeps running and resets itself.
  let keepsRunning: Bool
  /// The number of consecutive tests that did not begin, since the device was wrong during its preparation.
  private var unready = 0
  /// The first fault that prevented a verdict on a test.
  private var firstTrouble: LabFault?
  private let isDeterministic: Bool

  /// Prepares a campaign.
  ///
  /// - Parameters:
  ///   - corpus: rare tests of earlier campaigns.
  ///   - earlier: the results of the campaign that this one resumes.
  public init(
    _ target: FuzzTarget, _ device: Device, _ settings: FuzzSettings, corpus: [TestCase] = [],
    earlier: Earlier = Earlier(), edge: Edge
  ) {
    self.earlier = earlier
    status = earlier.status
    status.phase = CampaignStatus().phase
    let abilities = device.abilities
    // A device in real time, or one that loses links by itself, repeats no test without need.
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

  /// Why some tests have no verdict; `nil` if all have. A person must check the lab.
  public var trouble: LabFault? {
    guard status.unjudged > 0 else { return nil }
    let tests =
      status.unjudged == status.tests ? "on any test" : "on \(status.unjudged) of \(status.tests) tests"
    let reason = firstTrouble.map { "the first because of \($0)" }
    return LabFault(.noVerdict, "\(tests), \(reason ?? "before the campaign was resumed")")
  }

  /// The visited cells.
  public var coverage: CellCoverage { runner.lockstep.tracker.coverage }

  /// Runs the campaign to its end.
  public mutating func perform() -> CampaignEnd {
    while true {
      let end = performTest()
      status.corpus = explorer.corpusCount
      status.positions = explorer.positionCount
      reportStatus()
      if let end { return end }
      for test in edge.corpusUpdate() { explorer.learn(test) }
    }
  }

  /// Runs some tests in place of drawn ones.
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
      reportStatus()
    }
    return edge.isStopped() ? .stopped : .done
  }

  /// Reports the status.
  private mutating func reportStatus() {
    for text in runner.lockstep.takeDiagnostics() { edge.diagnostic(text) }
    account()
    edge.coverage(runner.lockstep.tracker.coverage)
    edge.progress(status)
  }

  /// Updates the status from the device's counters.
  mutating func account() {
    status.actuations = earlier.status.actuations + runner.actuations
    status.lockTime = earlier.status.lockTime + runner.lockTime
    status.waited = earlier.status.waited + runner.waited
    status.motorRest = earlier.status.motorRest + runner.rested
    status.air = earlier.status.air + runner.air
  }

  /// Runs one test; returns the end of the campaign if it was the last one.
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

  /// Runs one drawn test without investigation: ``perform(_:)`` takes the test that diverged.
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
      if runner.isRefused(start) { exclude(start, because: error) }
      return nil
    }
    let isRare = explorer.end(in: runner.lockstep.explorationState)
    if execution.divergence != nil { return execution.test }
    if isRare { edge.keep(execution.test, execution.meaning) }
    return nil
  }

  /// Begins a test of the tour or a drawn one; returns the number of its start.
  private mutating func beginTest() -> Int {
    guard tour?.isFinished == false, let start = tour?.begin() else {
      tour = nil
      return explorer.begin()
    }
    return start
  }

  /// Makes the choices of the test.
  private mutating func draw(from start: Int, maximum: Int) throws(LabFault) {
    guard var tour else {
      return try runner.perform(
        &explorer, from: start, maximum: maximum, isStopped: edge.isStopped, &execution)
    }
    // Moved out of the campaign meanwhile, so that it is not copied.
    self.tour = nil
    defer { self.tour = tour }
    try runner.perform(&tour, from: start, maximum: maximum, isStopped: edge.isStopped, &execution)
  }

  /// Ends the test; returns whether to keep it. Tests of a tour are not kept: every tour repeats them.
  @discardableResult
  private mutating func endTest() -> Bool {
    guard tour != nil else { return explorer.end(in: runner.lockstep.explorationState) }
    tour?.end(in: runner.lockstep.explorationState)
    return false
  }

  /// Adds a test to the device's history, if there is one.
  private mutating func remember(_ test: TestCase) {
    unready = 0
    holdToShownChoices()
    history?.add(test, madeReadyBy: runner.lockstep.preparations)
  }

  /// Holds the device to the permanent choices that it showed in a test that passed.
  private mutating func holdToShownChoices() {
    let machine = runner.specification.machine
    guard !machine.choices.isEmpty else { return }
    let held = machine.narrowed(runner.lockstep.held, by: runner.lockstep.tracker.options)
    guard held != runner.lockstep.held else { return }
    runner.lockstep.held = held
    status.shown = machine.shown(in: held).map { Record.ShownChoice($0.name, $0.options) }
  }

  /// Whether there is a finding that ends the campaign.
  private var hasFound: Bool { !settings.keepsGoing && findings.contains(where: \.endsCampaign) }

  private var isOver: Bool { settings.steps.map { status.events >= $0 } ?? false }

  /// Repeats a test and compares the traces.
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

  /// Leaves out a start that the device refuses, and reports it.
  ///
  /// - Returns: whether another start is left.
  @discardableResult
  mutating func exclude(_ start: Int, because fault: LabFault) -> Bool {
    edge.exclusion(runner.starts[start], fault)
    _ = tour?.exclude(start: start)
    return explorer.exclude(start: start)
  }

  /// Investigates a fault: one that recurs after restarts is caused by the device.
  ///
  /// - Parameter mayRepeat: whether the test was run only once.
  private mutating func follow(_ fault: LabFault, of start: Int, mayRepeat: Bool = true) -> CampaignEnd? {
    // The tour does not request again what the device cannot do.
    if fault.symptom == .notPossible, !execution.performed.isEmpty { tour?.exclude() }
    endTest()
    if fault.symptom == .safetyLimit { return .limited(fault.detail) }
    if fault.symptom == .stopped { return .stopped }
    if runner.isRefused(start) {
      // The device refuses the start: the test did not begin, and nothing is wrong.
      status.tests -= 1
      return exclude(start, because: fault) ? nil : .trouble(fault)
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
          // The cause is known now. The test has no verdict nevertheless.
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

  /// Records that a test has no verdict.
  private mutating func noteUnjudged(_ fault: LabFault) {
    status.unjudged += 1
    if firstTrouble == nil { firstTrouble = fault }
  }

  /// The known finding that something repeats. One that was not reproduced is investigated a few more times.
  func known(where isSame: (Finding) -> Bool) -> Int? {
    let same = findings.indices.filter { isSame(findings[$0]) }
    let sure = same.first { findings[$0].confirmation.shown > 0 }
    return sure ?? (same.count >= Self.maximumTroubles ? same[0] : nil)
  }

  /// Whether a divergence is known already; counts it then.
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

  /// Counts a finding of the resumed campaign; returns whether there is one with the signature.
  mutating func countAgain(_ signature: String) -> Bool {
    guard let known = earlier.findings.firstIndex(where: { $0.signature == signature }) else { return false }
    earlier.findings[known].count += 1
    status.repeats += 1
    return true
  }

  /// Investigates a divergence.
  ///
  /// A divergence after a lost link proves nothing: the first run of its test with intact links decides.
  private mutating func follow(_ divergence: Divergence, of test: TestCase) -> CampaignEnd? {
    endTest()
    let sessions = runner.lockstep.preparations
    defer { history?.add(test, madeReadyBy: sessions) }
    unready = divergence.isInPreparation ? unready + 1 : 0
    if divergence.isInPreparation { runner.knownPreparationFaults.append(divergence) }
    let isExplained = findings.last?.confirmation.verdict == .confirmed
    if unready > 1, isExplained {
      // The defect is known, and this follows from it.
      findings[findings.count - 1].count += 1
      status.repeats += 1
      if unready <= Self.maximumTroubles { return nil }
    }
    if unready > (isExplained ? Self.maximumTroubles : Self.maximumAttempts) {
      let fault = LabFault(
        .noDevice, "the device can no longer be made ready for a test: \(divergence.summary)")
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
            .linkLost,
            "the link was lost in every repetition of a test that had ended with: \(divergence.summary)")
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
  /// The actions, each with whether it must be refused.
  var meaning: [(action: TestAction, isForbidden: Bool)] {
    zip(actions, performed).map { ($0, $1.isForbidden) }
  }
}
