public import Links
public import Conformance
public import Basics

/// The limits of a run on a real lock.
public struct InterlockSettings: Sendable {
  /// The limits that protect the lock, common to all its users.
  public var limits: LockLimits
  /// The maximum number of movements that the run may cause, parking included; `nil` for no limit.
  public var budget: Int?
  /// The position in which the run leaves the lock.
  public var park: ParkPosition
  /// The stimuli of the family's ``Conformance/LockFamily/guarded`` that are allowed.
  public var allowed: [String]
  /// The lock's family.
  public var family: LockFamily
  /// The longest wait for anything other than the motor's usual rest. An action that would have to wait longer
  /// is left to a later run.
  public var longestWait = Interval.seconds(60)

  /// Makes settings for a lock of a family.
  public init(
    of family: LockFamily, limits: LockLimits = .usual, budget: Int? = 100, park: ParkPosition = .locked,
    allowed: [String] = []
  ) {
    self.family = family
    self.limits = limits
    self.budget = budget
    self.park = park
    self.allowed = allowed
  }
}

/// Guards a real lock: a run cannot wear out its motor, make it forget its owner by accident, or leave the door
/// open.
///
/// The interlock sits below the scenarios, so that no step, replay or fuzzer can bypass it:
///
/// - The motor moves only when the lock's ``ActuationBudget`` allows it. The budget covers all runs and
///   processes: it enforces the rest between movements, the hourly and nightly limits, the cool-down after a
///   jam, and the battery limits. A short wait is waited out; a wait longer than
///   ``InterlockSettings/longestWait`` ends the run, and the message says when it may continue.
/// - The ``CycleCounter`` counts each movement before it begins. When the run's budget is used up, the motor no
///   longer moves. One movement is reserved for parking.
/// - `reset`, `register` and `configure` are refused unless they were allowed by name.
/// - Each fault that a defective lock could obey counts as a movement. A fault that requests a refused action
///   needs the same permission as that action.
/// - No case begins while the battery is low or falls fast.
/// - ``leave()`` brings the lock to its park position. The pending park is on the disk before the motor moves:
///   if the process is killed, the next run parks the lock first.
///
/// The following count as movements: `lock`, `unlock` and `toggle`, whatever their outcome; forged and
/// replayed commands, since a defective lock obeys them; `configure`; and the lock's own movements once
/// autolock is set. The expected return of the bolt is counted together with the `unlock` that causes it; an
/// unexpected one is counted when it is seen. If autolock cannot be switched off, a lock that was left
/// unlocked and is found locked counts as one movement. A stimulus that the client refuses never reaches the
/// lock (``Conformance/DeviceUnderTest/reaches(_:)``): it is neither counted nor delayed, so that a
/// scenario's `refuse:` happens in the state in which it is written.
///
/// A jam is detected when the lock reports that its motor was stopped, or rests in neither position after a
/// command.
public final class Interlock<Device: DeviceUnderTest>: DeviceLayer {
  /// The guarded device.
  public var wrapped: Device
  /// The limits of the run.
  public let settings: InterlockSettings
  var family: LockFamily { settings.family }
  /// Counts the lock's movements.
  public let cycleCounter: CycleCounter
  /// The number of movements of this run.
  public var used: Int { cycleCounter.total - start }

  private let start: Int
  private(set) var vocabulary = Vocabulary(stimuli: [], statuses: [])
  /// The last motor command, until a position is shown; `nil` without one.
  private var command: LockFamily.Request?
  /// The park position while the lock is being parked: parking may use the budget's last movement.
  var comingTo: String?
  /// The last position that the lock showed in this session.
  private var position: LockFamily.Condition?
  /// The first position that the lock showed.
  private(set) var found: String?
  /// The number of autonomous movements that were counted in advance.
  private var countedInAdvance = 0
  /// Whether the lock was used at all.
  private(set) var wasUsed = false
  /// The pending park that a killed process left behind.
  private(set) var pendingPark: PendingPark?
  /// The autolock delay, in seconds, to restore when the lock is left; set while tests change it.
  var ownAutolock: Int?
  /// The knowledge of the lock's state.
  public internal(set) var knowledge: LockKnowledge
  private var diagnostics: [String] = []
  /// The trace of the current preparation session, if the model is to judge it.
  var session: Preparation?
  /// Whether time is spent on the connection to the lock at present, and how much so far.
  private var isConnecting = false
  private var airTime = Interval.zero
  /// When listening for the lock began.
  private(set) var listening: Instant?

  /// Guards a device.
  ///
  /// - Parameter start: the cycle counter's total when the run began, if the run opened the lock before: the
  ///   budget belongs to the run, however often it opens the lock.
  public init(
    _ device: Device, _ settings: InterlockSettings, _ cycleCounter: CycleCounter, since start: Int? = nil
  ) {
    precondition(settings.budget.map { $0 >= 1 } ?? true, "a budget has room for parking")
    wrapped = device
    self.settings = settings
    knowledge = LockKnowledge(of: settings.family)
    self.cycleCounter = cycleCounter
    self.start = start ?? cycleCounter.total
    pendingPark = cycleCounter.ledger.pendingPark
    ownAutolock = pendingPark?.autolock
  }

  public var abilities: Abilities { Self.abilities(wrapped.abilities, settings) }

  /// The abilities of a device that remain under an interlock.
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
    try parkPending()
    try checkBegin()
    try begin(start)
  }

  /// Parks a lock whose last run was killed, before anything else is done with it.
  ///
  /// - Throws: why it cannot be parked. Nothing else is done then.
  func parkPending() throws(LabFault) {
    guard let pendingPark else { return }
    let before = vocabulary
    defer { adopt(before) }
    adopt(family.sessionWords)
    let who = "the last run on the lock left it unparked at \(pendingPark.since)"
    do throws(OperatorFailure) {
      diagnostics.append("\(who): \(try bring(to: pendingPark.goal))")
      // The lock was found elsewhere, but no run had moved it there.
      found = pendingPark.goal
      if pendingPark.autolock == nil {
        try step { () throws(LabFault) in try self.cycleCounter.noteParked() }
      }
    } catch {
      switch error {
      case .impossible(let why): diagnostics.append("\(who): it is left as it is: \(why)")
      case .lab(let fault, _):
        // A lock that is not heard before a test is absent; it did not stop answering.
        let isKept = [.safetyLimit, .transportLost, .stopped].contains(fault.symptom)
        throw LabFault(
          isKept ? fault.symptom : .noDevice,
          "\(who), and it could not be brought to \(pendingPark.goal), see to it: \(fault.detail)")
      }
    }
    self.pendingPark = nil
  }

  /// Stores the pending park before the lock is moved or changed.
  func noteAway() throws(LabFault) {
    let goal =
      switch settings.park {
      case .locked: "locked"
      case .unlocked: "unlocked"
      case .asFound: found ?? cycleCounter.ledger.pendingPark?.goal ?? "locked"
      }
    try cycleCounter.noteAway(comingTo ?? goal, autolock: ownAutolock)
  }

  /// Throws if a case must not begin now.
  func checkBegin() throws(LabFault) {
    let now = cycleCounter.now
    if let refusal = cycleCounter.ledger.refusal(for: .begin, under: settings.limits, at: now.uptime) {
      throw LabFault(.safetyLimit, "the case is not begun: \(text(of: refusal, at: now))")
    }
  }

  func begin(_ start: StartCondition) throws(LabFault) {
    command = nil
    position = nil
    isConnecting = false
    listening = nil
    try wrapped.reset(to: start)
    wasUsed = true
  }

  /// The time spent on the connection, and the rest of the motor.
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

  /// The later of the two moments that the interlock and the guarded device wait for.
  private func later(_ own: Instant?, _ inner: Instant?) -> Instant? {
    [own, inner].compactMap(\.self).max()
  }

  /// When this many movements may begin, if the wait is short enough; rather late than early.
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
    let isCounted = mayMove(name, stimulus) && wrapped.reaches(stimulus)
    if isCounted { try count(for: name) }
    if wrapped.reaches(stimulus) {
      knowledge.ask(family.request(named: name), stimulus.arguments.first?.value)
    }
    defer { if isCounted { cycleCounter.noteStart() } }
    write(.stimulus(stimulus))
    let isCarriedOut = wrapped.reaches(stimulus)
    try wrapped.perform(stimulus)
    switch family.request(named: name) {
    // If the client refuses it because a link is open, nothing is listened to.
    case .listen where isCarriedOut:
      isConnecting = true
      listening = listening ?? wrapped.now
    case .leave:
      isConnecting = false
      listening = nil
    case .reset: try cycleCounter.noteAutolock(false)
    default: break
    }
  }

  public func bring(about fault: Fault) throws(LabFault) {
    if let name = settings.missingPermission(for: fault) {
      throw LabFault(.notPossible, "\(fault.name) \(fault.value) needs --allow \(name) with a real lock")
    }
    if mayMove(fault) { try count(for: fault.name) }
    knowledge.bring(about: fault, to: family)
    defer { if mayMove(fault) { cycleCounter.noteStart() } }
    try wrapped.bring(about: fault)
  }

  public func observe(until limit: Instant) throws(LabFault) -> Observation? {
    guard let observation = try observeTimed(until: limit) else { return nil }
    write(.observation(observation))
    try note(observation)
    return observation
  }

  private func observeTimed(until limit: Instant) throws(LabFault) -> Observation? {
    let begin = wrapped.now
    defer { if isConnecting { airTime = airTime + (wrapped.now - begin) } }
    return try wrapped.observe(until: limit)
  }

  /// Records an action or observation of a preparation session.
  func write(_ event: TraceEvent) {
    guard session != nil else { return }
    session?.take(event, at: wrapped.now)
    guard case .observation(.status(let number)) = event else { return }
    if condition(number) == .away { session?.explanation = wrapped.explanation(ofSilence: false) }
    if let listening, wrapped.now - listening > Self.silence {
      session?.explanation = Self.rest(of: wrapped.now - listening)
    }
  }

  /// Explains that a lock was silent for a while and then heard again: it paused although nothing required
  /// that.
  static func rest(of time: Interval) -> Explanation {
    let tenths = (time.nanoseconds + 50_000_000) / 100_000_000
    return Explanation(
      "unheard",
      "the lock was not heard for \(tenths / 10).\(tenths % 10) s, and then it was: nothing asks it for such a rest",
      isOfDevice: true)
  }

  /// Ends the silence of the lock: it has been judged.
  func endSilence() { listening = nil }

  /// Counts a session's silence up to now if the lock causes it, that is, if other devices are heard meanwhile.
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
    knowledge.invalidate()
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

  /// With autolock on, an unlocked bolt locks by itself.
  private func returnsByItself(after name: String) -> Bool {
    comingTo == nil && cycleCounter.ledger.isAutolockOn
      && ![.lock, .configure, .setAutolock].contains(family.request(named: name))
  }

  private func cost(of name: String) -> Int { returnsByItself(after: name) ? 2 : 1 }

  private var purpose: ActuationBudget.Purpose { comingTo == nil ? .movement : .park }

  /// Counts the movements of a stimulus before the motor starts.
  private func count(for name: String) throws(LabFault) {
    let returnsByItself = returnsByItself(after: name)
    let isParking = comingTo != nil
    if let budget = settings.budget, used + (isParking ? 0 : cost(of: name)) >= budget {
      let kept = ": \(used) were made, and one is kept for parking; raise it with --actuations"
      throw LabFault(.safetyLimit, "the budget of \(budget) movements is used up" + (isParking ? "" : kept))
    }
    try check(name)
    try noteAway()
    let request = family.request(named: name)
    if request == .setAutolock { try cycleCounter.noteAutolock(true) }
    try cycleCounter.count(isParking ? "\(name) to park" : name, returnsByItself: returnsByItself)
    command = request
    if returnsByItself || request == .setAutolock { countedInAdvance += 1 }
  }

  /// Refuses a stimulus that the lock's budget does not allow now.
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
      isConnecting = [.heard, .underWay].contains(condition)
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

  /// Records a jam once per movement: the lock repeats its report until its motor has moved again.
  private func noteJam(_ words: String) throws(LabFault) {
    let ledger = cycleCounter.ledger
    if let jam = ledger.lastJam, jam >= ledger.lastMovement ?? jam { return }
    try cycleCounter.noteJam(words)
    diagnostics.append("the motor jammed, \(words): it rests for \(settings.limits.coolDown)")
  }

  /// The condition that a status of the vocabulary reports.
  private func condition(_ number: Int) -> LockFamily.Condition? {
    family.condition(named: vocabulary.statuses[number])
  }

  /// - Parameter previous: the bolt's previous rest position, if known.
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
    // The bolt has returned by itself, or no longer has to.
    try cycleCounter.noteSettled()
    // A bolt that locks by itself was not moved by an unlock.
    let isOwn = lastCommand == nil || lastCommand == .unlock || lastCommand == .setAutolock
    guard let previous, previous != .locked, isOwn else { return }
    if countedInAdvance > 0 { countedInAdvance -= 1 } else { try cycleCounter.count("autolock") }
  }
}

extension Interlock: RecordedDevice where Device: RecordedDevice {
  /// Records the traffic of the guarded device's link.
  public func record(to notes: LinkNotes?) { wrapped.record(to: notes) }
}
