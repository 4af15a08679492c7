public import Links
import LockFiles
public import Conformance
public import Basics

/// What a run may do to a real lock.
public struct InterlockSettings: Sendable {
  /// What the lock may be asked of, whoever asks.
  public var limits: LockLimits
  /// How many movements the run may cause, parking included; `nil` for any number.
  public var budget: Int?
  /// Where the lock is left.
  public var park: ParkPosition
  /// The stimuli of the family's ``Conformance/LockFamily/guarded`` that are allowed.
  public var allowed: [String]
  /// Which family the lock is of.
  public var family = LockFamily.usual
  /// The longest that anything but the motor's usual rest is waited for. What takes longer is for a later run.
  public var longestWait = Interval.seconds(60)

  /// Makes settings.
  public init(
    limits: LockLimits = .usual, budget: Int? = 100, park: ParkPosition = .locked,
    allowed: [String] = []
  ) {
    self.limits = limits
    self.budget = budget
    self.park = park
    self.allowed = allowed
  }
}

/// A real lock that nothing can wear out, forget its owner by chance or leave open.
///
/// It stands below the scenarios, so that no step, no replay and no fuzzer gets round it:
///
/// - What makes the motor move is given only when the ``ActuationBudget`` of the lock allows it, which knows of all runs and
///   processes: after its rest, within the budgets of the hour and the night, not soon after a jam, not with a bad
///   battery. What is allowed in a moment waits for it; what would wait for longer than ``InterlockSettings/longestWait`` ends
///   the run, and says when it may go on.
/// - Each movement is counted by the ``CycleCounter`` before it begins, and once the run's budget is used up there is none.
///   One movement is kept back for parking.
/// - `reset`, `register` and `configure` are refused unless they were allowed by name.
/// - Of the faults that a lock with a bug could obey, each is counted as a movement, and those that ask for what is
///   refused need the same permission.
/// - With a battery that is low or falls fast no case begins.
/// - ``leave()`` brings the lock to its park position. That this is left to do is on the disk before the motor moves: who
///   is killed meanwhile has told whoever comes next, which does it first.
///
/// Counted are `lock`, `unlock` and `toggle`, whatever comes of them, forged and replayed commands, since a lock with a
/// bug obeys them, `configure`, and what a lock does by itself once autolock is set: the return is paid for with the
/// `unlock` that leads to it, and one that nobody asked for is counted when it is seen. Of a lock that nobody can keep from
/// locking by itself, one is counted too where it was unlocked when it was left, and is found locked. What the client
/// refuses by itself never comes to the lock (``Conformance/DeviceUnderTest/reaches(_:)``): it is neither counted nor made
/// to wait, so that a scenario's `refuse:` happens in the state in which it stands.
///
/// A jam is seen when the lock says that its motor was stopped, or rests in neither position after a command.
public final class Interlock<Device: DeviceUnderTest>: DeviceLayer {
  /// What is interlocked.
  public var wrapped: Device
  /// What it may do.
  public let settings: InterlockSettings
  var family: LockFamily { settings.family }
  /// Where its movements are counted.
  public let cycleCounter: CycleCounter
  /// The movements of this run.
  public var used: Int { cycleCounter.total - start }

  private let start: Int
  private(set) var vocabulary = Vocabulary(stimuli: [], statuses: [])
  /// What the motor was told last, until a position is shown; `nil` when it was told nothing.
  private var command: LockFamily.Request?
  /// Where the lock is being parked, while it is: for that the last movement of the budget is kept.
  var comingTo: String?
  /// The last position that the lock showed in this session.
  private var position: LockFamily.Condition?
  /// The first position that it showed at all.
  private(set) var found: String?
  /// Movements of the lock's own that were counted in advance.
  private var prepaid = 0
  /// Whether anything was asked of the lock at all.
  private(set) var wasUsed = false
  /// What is left to do for the lock by who was killed while it used it.
  private(set) var debt: OwedPark?
  /// After how many seconds the lock is to lock by itself once it is left, where that is changed meanwhile.
  var ownAutolock: Int?
  /// What is known of it.
  public internal(set) var knowledge: LockKnowledge
  private var diagnostics: [String] = []
  /// What is written down of a session beside the tests, while one that is to be judged is under way.
  var session: Preparation?
  /// Whether the way to the lock is what takes the time now, and how much of it that has taken.
  private var isOnTheWay = false
  private var airTime = Interval.zero
  /// Since when the lock is listened for.
  private(set) var listening: Instant?

  /// Governs a wrapped.
  ///
  /// - Parameter start: what the cycle counter said when the run began, where that opened the lock before: its budget is the
  ///   run's, however often a lock is opened.
  public init(
    _ device: Device, _ settings: InterlockSettings, _ cycleCounter: CycleCounter, since start: Int? = nil
  ) {
    precondition(settings.budget.map { $0 >= 1 } ?? true, "a budget has room for parking")
    wrapped = device
    self.settings = settings
    knowledge = LockKnowledge(of: settings.family)
    self.cycleCounter = cycleCounter
    self.start = start ?? cycleCounter.total
    debt = cycleCounter.ledger.owed
    ownAutolock = debt?.autolock
  }

  public var abilities: Abilities { Self.abilities(wrapped.abilities, settings) }

  /// What is left of a device's abilities under an interlock.
  public static func abilities(_ abilities: Abilities, _ settings: InterlockSettings) -> Abilities {
    var abilities = abilities
    abilities.stimuli = abilities.stimuli?.filter { name in
      !settings.family.guarded.contains(name) || settings.allowed.contains(name)
    }
    for index in abilities.disturbances.indices {
      let fault = abilities.disturbances[index].fault
      abilities.disturbances[index].values.removeAll { value in
        settings.family.permission(for: Fault(fault, value)).map { !settings.allowed.contains($0) } ?? false
      }
    }
    let resting = settings.family.stimuli.filter {
      $0.request?.movesMotor == true || $0.request == .setAutolock
    }
    abilities.resting = resting.map(\.name) + settings.family.hostileFaults
    abilities.takesCommandsInMotion = settings.limits.gap == .zero
    return abilities
  }

  public func adopt(_ vocabulary: Vocabulary) {
    self.vocabulary = vocabulary
    wrapped.adopt(vocabulary)
  }

  public func reset(to start: StartCondition) throws(LabFault) {
    try settleDebt()
    try checkBegin()
    try begin(start)
  }

  /// Parks a lock whose last run was killed, before anything else is done with it.
  ///
  /// - Throws: that it cannot be, and then nothing else is.
  func settleDebt() throws(LabFault) {
    guard let owed = debt else { return }
    let before = vocabulary
    defer { adopt(before) }
    adopt(family.sessionWords)
    let who = "whoever used the lock last left it unparked at \(owed.since)"
    do throws(Unrest) {
      diagnostics.append("\(who): \(try bring(to: owed.goal))")
      // It was found elsewhere, but that is not where anybody had it.
      found = owed.goal
      if owed.autolock == nil { try step { () throws(LabFault) in try self.cycleCounter.noteParked() } }
    } catch {
      switch error {
      case .helpless(let why): diagnostics.append("\(who): it is left as it is: \(why)")
      case .lab(let fault, _):
        // A lock that is not heard before a test is not there; it has not stopped answering.
        let isKept = [.safetyLimit, .transportLost, .stopped].contains(fault.symptom)
        throw LabFault(
          isKept ? fault.symptom : .noDevice,
          "\(who), and it could not be brought to \(owed.goal), see to it: \(fault.detail)")
      }
    }
    debt = nil
  }

  /// Writes down what is left to do for the lock before it is moved or changed.
  func noteAway() throws(LabFault) {
    let goal =
      switch settings.park {
      case .locked: "locked"
      case .unlocked: "unlocked"
      case .asFound: found ?? cycleCounter.ledger.owed?.goal ?? "locked"
      }
    try cycleCounter.noteAway(comingTo ?? goal, autolock: ownAutolock)
  }

  /// Refuses a case that is not to begin now.
  func checkBegin() throws(LabFault) {
    let now = cycleCounter.now
    if let refusal = cycleCounter.ledger.refusal(for: .begin, under: settings.limits, at: now.uptime) {
      throw LabFault(.safetyLimit, "the case is not begun: \(text(of: refusal, at: now))")
    }
  }

  func begin(_ start: StartCondition) throws(LabFault) {
    command = nil
    position = nil
    isOnTheWay = false
    listening = nil
    try wrapped.reset(to: start)
    wasUsed = true
  }

  /// What the way to the lock has taken, and how long its motor rests.
  public var pace: DevicePace {
    var pace = wrapped.pace
    pace.air = pace.air + airTime
    pace.movementsLeft = settings.budget.map { max($0 - used - 1, 0) }
    if let ready = readyTime(of: 1) { pace.motorRest = max(pace.motorRest, ready - wrapped.now) }
    return pace
  }

  public func readyTime(for stimulus: Stimulus) -> Instant? {
    let name = vocabulary.stimuli[stimulus.number]
    let own = mayMove(name, stimulus) && wrapped.reaches(stimulus) ? readyTime(of: cost(of: name)) : nil
    return later(own, wrapped.readyTime(for: stimulus))
  }

  public func readyTime(for fault: Fault) -> Instant? {
    later(mayMove(fault) ? readyTime(of: cost(of: fault.name)) : nil, wrapped.readyTime(for: fault))
  }

  /// What both the interlock and the interlocked device wait for.
  private func later(_ own: Instant?, _ inner: Instant?) -> Instant? {
    [own, inner].compactMap(\.self).max()
  }

  /// When so many movements may begin, where waiting for it is worth while; a little late rather than early.
  private func readyTime(of cost: Int) -> Instant? {
    let now = cycleCounter.now.uptime
    guard let refusal = cycleCounter.ledger.refusal(of: cost, for: purpose, under: settings.limits, at: now),
      isWorthWaiting(for: refusal, at: now)
    else { return nil }
    return wrapped.now + (refusal.until - now)
  }

  private func isWorthWaiting(for refusal: ActuationBudget.Refusal, at now: Instant) -> Bool {
    if case .gap = refusal.limit { return true }
    return refusal.until <= now + settings.longestWait
  }

  public func perform(_ stimulus: Stimulus) throws(LabFault) {
    let name = vocabulary.stimuli[stimulus.number]
    guard !family.guarded.contains(name) || settings.allowed.contains(name) else {
      throw LabFault(.notPossible, "\(name) needs --allow \(name) with a real lock")
    }
    let isPaid = mayMove(name, stimulus) && wrapped.reaches(stimulus)
    if isPaid { try pay(for: name) }
    if wrapped.reaches(stimulus) {
      knowledge.ask(family.request(named: name), stimulus.arguments.first?.value)
    }
    defer { if isPaid { cycleCounter.noteStart() } }
    write(.stimulus(stimulus))
    let isCarriedOut = wrapped.reaches(stimulus)
    try wrapped.perform(stimulus)
    switch family.request(named: name) {
    // One that the client refuses, since it has a link, makes it listen to nothing.
    case .listen where isCarriedOut:
      isOnTheWay = true
      listening = listening ?? wrapped.now
    case .leave:
      isOnTheWay = false
      listening = nil
    case .reset: try cycleCounter.noteAutolock(false)
    default: break
    }
  }

  public func bring(about fault: Fault) throws(LabFault) {
    if let name = settings.missingPermission(for: fault) {
      throw LabFault(.notPossible, "\(fault.name) \(fault.value) needs --allow \(name) with a real lock")
    }
    if mayMove(fault) { try pay(for: fault.name) }
    knowledge.bring(about: fault, to: family)
    defer { if mayMove(fault) { cycleCounter.noteStart() } }
    try wrapped.bring(about: fault)
  }

  public func observe(until limit: Instant) throws(LabFault) -> Observation? {
    guard let observation = try look(until: limit) else { return nil }
    write(.observation(observation))
    try note(observation)
    return observation
  }

  private func look(until limit: Instant) throws(LabFault) -> Observation? {
    let begin = wrapped.now
    defer { if isOnTheWay { airTime = airTime + (wrapped.now - begin) } }
    return try wrapped.observe(until: limit)
  }

  /// Writes down what is done or shown in a session beside the tests.
  func write(_ event: TraceEvent) {
    guard session != nil else { return }
    session?.take(event, at: wrapped.now)
    guard case .observation(.status(let number)) = event else { return }
    if condition(number) == .away { session?.explanation = wrapped.explanation(ofSilence: false) }
    if let listening, wrapped.now - listening > Self.silence {
      session?.explanation = Self.rest(of: wrapped.now - listening)
    }
  }

  /// That a lock was not heard for a while, and then again: it has taken a rest that nothing asks for.
  static func rest(of time: Interval) -> Explanation {
    let tenths = (time.nanoseconds + 50_000_000) / 100_000_000
    return Explanation(
      "unheard",
      "the lock was not heard for \(tenths / 10).\(tenths % 10) s, and then it was: nothing asks it for such a rest",
      isOfDevice: true)
  }

  /// The silence of the lock was judged.
  func endSilence() { listening = nil }

  /// Lets the silence of a session count up to now, where it is the lock's own doing: others are heard meanwhile.
  func countSilence() {
    guard let listening, wrapped.now - listening > Self.silence,
      let reason = wrapped.explanation(ofSilence: true), reason.isOfDevice
    else { return }
    session?.silence = wrapped.now
    session?.explanation = reason
  }

  public func restart() throws(LabFault) {
    command = nil
    position = nil
    knowledge.doubt()
    try wrapped.restart()
  }

  public func takeDiagnostics() -> [String] {
    defer { diagnostics = [] }
    return diagnostics + wrapped.takeDiagnostics()
  }
}

// MARK: - Counting

extension Interlock {
  private func mayMove(_ name: String, _ stimulus: Stimulus) -> Bool {
    guard let request = family.request(named: name) else { return false }
    return request.movesMotor || request == .setAutolock && Self.isOn(stimulus)
  }

  private func mayMove(_ fault: Fault) -> Bool {
    family.hostileFaults.contains(fault.name) && !fault.value.isNothing
  }

  private static func isOn(_ stimulus: Stimulus) -> Bool {
    stimulus.arguments.first.map { !$0.value.isNothing } ?? false
  }

  /// With autolock on, what was unlocked comes back by itself.
  private func comesBack(after name: String) -> Bool {
    comingTo == nil && cycleCounter.ledger.isAutolockOn
      && ![.lock, .configure, .setAutolock].contains(family.request(named: name))
  }

  private func cost(of name: String) -> Int { comesBack(after: name) ? 2 : 1 }

  private var purpose: ActuationBudget.Purpose { comingTo == nil ? .movement : .park }

  /// Counts what a stimulus moves before it moves anything.
  private func pay(for name: String) throws(LabFault) {
    let comesBack = comesBack(after: name)
    let isParking = comingTo != nil
    if let budget = settings.budget, used + (isParking ? 0 : cost(of: name)) >= budget {
      let kept = ": \(used) were made, and one is kept for parking; raise it with --actuations"
      throw LabFault(.safetyLimit, "the budget of \(budget) movements is used up" + (isParking ? "" : kept))
    }
    try check(name)
    try noteAway()
    let request = family.request(named: name)
    if request == .setAutolock { try cycleCounter.noteAutolock(true) }
    try cycleCounter.count(isParking ? "\(name) to park" : name, comesBack: comesBack)
    command = request
    if comesBack || request == .setAutolock { prepaid += 1 }
  }

  /// Refuses what the lock's ledger does not allow now.
  private func check(_ name: String) throws(LabFault) {
    let now = cycleCounter.now
    let refusal = cycleCounter.ledger.refusal(
      of: cost(of: name), for: purpose, under: settings.limits, at: now.uptime)
    guard let refusal else { return }
    throw LabFault(
      purpose == .movement && isWorthWaiting(for: refusal, at: now.uptime) ? .notPossible : .safetyLimit,
      "\(name) came too early: \(text(of: refusal, at: now))")
  }

  private func text(of refusal: ActuationBudget.Refusal, at now: BenchTime) -> String {
    guard refusal.until != .never else { return "\(refusal)" }
    let seconds = Interval.seconds((refusal.until - now.uptime).nanoseconds / 1_000_000_000 + 1)
    return "\(refusal); it may go on in \(seconds), at \(now.wall(of: refusal.until).timeOfDay)"
  }

  private func note(_ observation: Observation) throws(LabFault) {
    switch observation {
    case .status(let number):
      guard let condition = condition(number) else { return position = nil }
      isOnTheWay = [.heard, .underWay].contains(condition)
      listening = nil
      let lastRest = family.has(.setAutolock) ? nil : knowledge.lastRest
      knowledge.take(condition)
      try note(condition, after: position ?? lastRest.flatMap(LockFamily.Condition.init))
    case .reading(let reading):
      knowledge.take(reading)
      try note(reading)
    case .effect, .unknown, .refused, .event, .violation: break
    }
  }

  private func note(_ reading: Reading) throws(LabFault) {
    switch (reading.name, reading.value) {
    case ("autolock", let value): try cycleCounter.noteAutolock(!value.isNothing)
    case ("battery", let value):
      if let percent = family.percent(ofBattery: value) { try cycleCounter.noteBattery(percent) }
    case ("motor", .text("stalled")): try noteJam("as the lock says")
    default: break
    }
  }

  /// Notes a jam, once for each movement: a lock goes on saying so until its motor has moved again.
  private func noteJam(_ words: String) throws(LabFault) {
    let ledger = cycleCounter.ledger
    if let jam = ledger.lastJam, jam >= ledger.lastMovement ?? jam { return }
    try cycleCounter.noteJam(words)
    diagnostics.append("the motor jammed, \(words): it rests for \(settings.limits.coolDown)")
  }

  /// What a status of the vocabulary says.
  private func condition(_ number: Int) -> LockFamily.Condition? {
    family.condition(named: vocabulary.statuses[number])
  }

  /// - Parameter previous: where the bolt rested before, as far as that is known.
  private func note(
    _ condition: LockFamily.Condition, after previous: LockFamily.Condition?
  ) throws(LabFault) {
    guard LockFamily.Condition.rests.contains(condition) else {
      if condition != .unset { position = nil }
      return
    }
    let lastCommand = command
    position = condition
    command = nil
    if found == nil, condition != .moved { found = condition.rawValue }
    if condition == .moved, let lastCommand, lastCommand.isTurn {
      try noteJam("in neither position after \(family.name(of: lastCommand) ?? lastCommand.rawValue)")
    }
    guard condition == .locked else { return }
    // What was to come back is back, or never has to.
    try cycleCounter.noteSettled()
    // A bolt that goes to locked by itself was not sent there by an unlock.
    let isOwn = lastCommand == nil || lastCommand == .unlock || lastCommand == .setAutolock
    guard let previous, previous != .locked, isOwn else { return }
    if prepaid > 0 { prepaid -= 1 } else { try cycleCounter.count("autolock") }
  }
}

extension Interlock: RecordedDevice where Device: RecordedDevice {
  /// Notes what goes over the link of what is interlocked.
  public func record(to recorder: (any LinkNotes)?) { wrapped.record(to: recorder) }
}
