public import SesameDevice
public import Conformance
public import Sesame
public import Basics

/// What a run may do to a real lock.
public struct GovernorSettings: Sendable {
  /// What the lock may be asked of, whoever asks.
  public var limits: LockLimits
  /// How many movements the run may cause, the return to rest included; `nil` for any number.
  public var budget: Int?
  /// Where the lock is left.
  public var rest: RestPosition
  /// The stimuli of ``Governor/guarded`` that are allowed.
  public var allowed: [String]
  /// The longest that anything but the motor's usual rest is waited for. What takes longer is for a later run.
  public var longestWait = Interval.seconds(60)

  /// Makes settings.
  public init(
    limits: LockLimits = .usual, budget: Int? = 100, rest: RestPosition = .locked,
    allowed: [String] = []
  ) {
    self.limits = limits
    self.budget = budget
    self.rest = rest
    self.allowed = allowed
  }
}

/// A real lock that nothing can wear out, forget its owner by chance or leave open.
///
/// It stands below the scenarios, so that no step, no replay and no fuzzer gets round it:
///
/// - What makes the motor move is given only when the ``WearLedger`` of the lock allows it, which knows of all runs and
///   processes: after its rest, within the budgets of the hour and the night, not soon after a jam, not with a bad
///   battery. What is allowed in a moment waits for it; what would wait for longer than ``GovernorSettings/longestWait`` ends
///   the run, and says when it may go on.
/// - Each movement is counted by the ``Odometer`` before it begins, and once the run's budget is used up there is none.
///   One movement is kept back for the return to rest.
/// - `reset`, `register` and `configure` are refused unless they were allowed by name.
/// - Of the faults that a lock with a bug could obey, each is counted as a movement, and those that ask for what is
///   refused need the same permission.
/// - With a battery that is low or falls fast no case begins.
/// - ``leave()`` brings the lock to its rest position. That this is left to do is on the disk before the motor moves: who
///   is killed meanwhile has told whoever comes next, which does it first.
///
/// Counted are `lock`, `unlock` and `toggle`, whatever comes of them, forged and replayed commands, since a lock with a
/// bug obeys them, `configure`, and what a lock does by itself once autolock is set: the return is paid for with the
/// `unlock` that leads to it, and one that nobody asked for is counted when it is seen. What the client refuses by itself
/// never comes to the lock (``Conformance/DeviceUnderTest/reaches(_:)``): it is neither counted nor made to wait, so that
/// a scenario's `refuse:` happens in the state in which it stands.
///
/// A jam is seen when the lock says that its motor was stopped, or rests in neither position after a command.
public final class Governor<Device: DeviceUnderTest>: DeviceUnderTest {
  /// The stimuli that change what the lock is, and need to be allowed.
  public static var guarded: [String] { ["reset", "register", "configure"] }

  /// What may move the motor whenever it is given, beside `setAutolock` with a time.
  static var movements: [String] {
    ["lock", "unlock", "toggle", "forgeLock", "forgeUnlock", "replayCommand", "configure"]
  }

  /// What is governed.
  public internal(set) var device: Device
  /// What it may do.
  public let settings: GovernorSettings
  /// Where its movements are counted.
  public let odometer: Odometer
  /// The movements of this run.
  public var used: Int { odometer.total - start }

  private let start: Int
  private(set) var vocabulary = Vocabulary(stimuli: [], statuses: [])
  /// What the motor was told last, until a position is shown; `nil` when it was told nothing.
  var command: String?
  /// The last position that the lock showed in this session.
  private var position: String?
  /// The first position that it showed at all.
  private(set) var found: String?
  /// Movements of the lock's own that were counted in advance.
  private var prepaid = 0
  /// Whether anything was asked of the lock at all.
  private(set) var wasUsed = false
  /// What is left to do for the lock by who was killed while it used it.
  private(set) var debt: OwedRest?
  /// After how many seconds the lock is to lock by itself once it is left, where that is changed meanwhile.
  var ownAutolock: Int?
  /// What is known of it.
  public internal(set) var knowledge = LockKnowledge()
  private var remarks: [String] = []
  /// What is written down of a session beside the tests, while one that is to be judged is under way.
  var session: Preparation?

  /// Governs a device.
  ///
  /// - Parameter start: what the odometer said when the run began, where that opened the lock before: its budget is the
  ///   run's, however often a lock is opened.
  public init(_ device: Device, _ settings: GovernorSettings, _ odometer: Odometer, since start: Int? = nil) {
    precondition(settings.budget.map { $0 >= 1 } ?? true, "a budget has room for the return to rest")
    self.device = device
    self.settings = settings
    self.odometer = odometer
    self.start = start ?? odometer.total
    debt = odometer.ledger.owed
    ownAutolock = debt?.autolock
  }

  public var now: Instant { device.now }

  public var abilities: Abilities { Self.abilities(device.abilities, settings) }

  /// What is left of a device's abilities under a governor.
  public static func abilities(_ abilities: Abilities, _ settings: GovernorSettings) -> Abilities {
    var abilities = abilities
    abilities.stimuli = abilities.stimuli?.filter { name in
      !guarded.contains(name) || settings.allowed.contains(name)
    }
    for index in abilities.disturbances.indices {
      let fault = abilities.disturbances[index].fault
      abilities.disturbances[index].values.removeAll { value in
        LockKnowledge.permission(for: Fault(fault, value)).map { !settings.allowed.contains($0) } ?? false
      }
    }
    return abilities
  }

  public func adopt(_ vocabulary: Vocabulary) {
    self.vocabulary = vocabulary
    device.adopt(vocabulary)
  }

  public func reset(to start: StartCondition) throws(LabFault) {
    try settleDebt()
    try checkBegin()
    try begin(start)
  }

  /// Brings a lock to rest whose last run was killed, before anything else is done with it.
  ///
  /// - Throws: that it cannot be, and then nothing else is.
  func settleDebt() throws(LabFault) {
    guard let owed = debt else { return }
    let before = vocabulary
    defer { adopt(before) }
    adopt(sessionWords)
    let who = "whoever used the lock last was killed, and left it away from rest since \(owed.since)"
    do throws(Unrest) {
      remarks.append("\(who): \(try bring(to: owed.goal))")
      // It was found elsewhere, but that is not where anybody had it.
      found = owed.goal
      if owed.autolock == nil { try step { () throws(LabFault) in try self.odometer.noteRest() } }
    } catch {
      switch error {
      case .helpless(let why): remarks.append("\(who): it is left as it is: \(why)")
      case .lab(let fault):
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
      switch settings.rest {
      case .locked: "locked"
      case .unlocked: "unlocked"
      case .asFound: found ?? odometer.ledger.owed?.goal ?? "locked"
      }
    try odometer.noteAway(goal, autolock: ownAutolock)
  }

  /// Refuses a case that is not to begin now.
  func checkBegin() throws(LabFault) {
    let now = odometer.now
    if let refusal = odometer.ledger.refusal(for: .begin, under: settings.limits, at: now.uptime) {
      throw LabFault(.safetyLimit, "the case is not begun: \(text(of: refusal, at: now))")
    }
  }

  func begin(_ start: StartCondition) throws(LabFault) {
    command = nil
    position = nil
    try device.reset(to: start)
    wasUsed = true
  }

  public func readyTime(for stimulus: Stimulus) -> Instant? {
    let name = vocabulary.stimuli[stimulus.number]
    return mayMove(name, stimulus) && device.reaches(stimulus) ? readyTime(of: cost(of: name)) : nil
  }

  public func readyTime(for fault: Fault) -> Instant? {
    mayMove(fault) ? readyTime(of: cost(of: fault.name)) : nil
  }

  /// When so many movements may begin, where waiting for it is worth while; a little late rather than early.
  func readyTime(of cost: Int, for purpose: WearLedger.Purpose = .movement) -> Instant? {
    let now = odometer.now.uptime
    guard let refusal = odometer.ledger.refusal(of: cost, for: purpose, under: settings.limits, at: now),
      isWorthWaiting(for: refusal, at: now)
    else { return nil }
    return device.now + (refusal.until - now)
  }

  private func isWorthWaiting(for refusal: WearLedger.Refusal, at now: Instant) -> Bool {
    if case .gap = refusal.limit { return true }
    return refusal.until <= now + settings.longestWait
  }

  public func reaches(_ stimulus: Stimulus) -> Bool { device.reaches(stimulus) }

  public func perform(_ stimulus: Stimulus) throws(LabFault) {
    let name = vocabulary.stimuli[stimulus.number]
    guard !Self.guarded.contains(name) || settings.allowed.contains(name) else {
      throw LabFault(.notPossible, "\(name) needs --allow \(name) with a real lock")
    }
    let isPaid = mayMove(name, stimulus) && device.reaches(stimulus)
    if isPaid { try pay(for: name) }
    if device.reaches(stimulus) { knowledge.ask(name, stimulus.arguments.first?.value) }
    defer { if isPaid { odometer.noteStart() } }
    write(.stimulus(stimulus))
    try device.perform(stimulus)
    if name == "reset" { try odometer.noteAutolock(false) }
  }

  public func bring(about fault: Fault) throws(LabFault) {
    if let name = settings.missingPermission(for: fault) {
      throw LabFault(.notPossible, "\(fault.name) \(fault.value) needs --allow \(name) with a real lock")
    }
    if mayMove(fault) { try pay(for: fault.name) }
    knowledge.bring(about: fault)
    defer { if mayMove(fault) { odometer.noteStart() } }
    try device.bring(about: fault)
  }

  public func observe(until limit: Instant) throws(LabFault) -> Observation? {
    guard let observation = try device.observe(until: limit) else { return nil }
    write(.observation(observation))
    try note(observation)
    return observation
  }

  /// Writes down what is done or shown in a session beside the tests.
  func write(_ event: TraceEvent) {
    guard session != nil else { return }
    session?.take(event, at: device.now)
    if case .observation(.status(let number)) = event, vocabulary.statuses[number] == "noSignal" {
      session?.explanation = device.explanation(ofSilence: false)
    }
  }

  public func restart() throws(LabFault) {
    command = nil
    position = nil
    knowledge.doubt()
    try device.restart()
  }

  public func takeRemarks() -> [String] {
    defer { remarks = [] }
    return remarks + device.takeRemarks()
  }

  public var answerDue: Instant? { device.answerDue }

  public func explanation(ofSilence isSilent: Bool) -> Explanation? {
    device.explanation(ofSilence: isSilent)
  }
}

// MARK: - Counting

extension Governor {
  private func mayMove(_ name: String, _ stimulus: Stimulus) -> Bool {
    Self.movements.contains(name) || name == "setAutolock" && Self.isOn(stimulus)
  }

  private func mayMove(_ fault: Fault) -> Bool {
    LockKnowledge.hostile.contains(fault.name) && !fault.value.isNothing
  }

  private static func isOn(_ stimulus: Stimulus) -> Bool {
    stimulus.arguments.first.map { !$0.value.isNothing } ?? false
  }

  /// With autolock on, what was unlocked comes back by itself.
  private func comesBack(after name: String) -> Bool {
    odometer.ledger.isAutolockOn && name != "lock" && name != "configure" && name != "setAutolock"
  }

  private func cost(of name: String) -> Int { comesBack(after: name) ? 2 : 1 }

  /// Counts what a stimulus moves before it moves anything.
  private func pay(for name: String) throws(LabFault) {
    let comesBack = comesBack(after: name)
    if let budget = settings.budget, used + cost(of: name) >= budget {
      throw LabFault(
        .safetyLimit,
        "the budget of \(budget) movements is used up: \(used) were made, and one is kept for the "
          + "return to rest; raise it with --actuations")
    }
    try check(name, .movement)
    try noteAway()
    if name == "setAutolock" { try odometer.noteAutolock(true) }
    try odometer.count(name, comesBack: comesBack)
    command = name
    if comesBack || name == "setAutolock" { prepaid += 1 }
  }

  /// Refuses what the lock's ledger does not allow now.
  func check(_ name: String, _ purpose: WearLedger.Purpose) throws(LabFault) {
    let now = odometer.now
    let cost = purpose == .rest ? 1 : cost(of: name)
    let refusal = odometer.ledger.refusal(
      of: cost, for: purpose, under: settings.limits, at: now.uptime)
    guard let refusal else { return }
    throw LabFault(
      purpose == .movement && isWorthWaiting(for: refusal, at: now.uptime) ? .notPossible : .safetyLimit,
      "\(name) came too early: \(text(of: refusal, at: now))")
  }

  private func text(of refusal: WearLedger.Refusal, at now: BenchTime) -> String {
    guard refusal.until != .never else { return "\(refusal)" }
    let seconds = Interval.seconds((refusal.until - now.uptime).nanoseconds / 1_000_000_000 + 1)
    return "\(refusal); it may go on in \(seconds), at \(now.wall(of: refusal.until).timeOfDay)"
  }

  private func note(_ observation: Observation) throws(LabFault) {
    switch observation {
    case .status(let number):
      knowledge.take(status: vocabulary.statuses[number])
      try note(status: vocabulary.statuses[number])
    case .reading(let reading):
      knowledge.take(reading)
      try note(reading)
    case .effect, .unknown, .refused, .event, .violation: break
    }
  }

  private func note(_ reading: Reading) throws(LabFault) {
    switch (reading.name, reading.value) {
    case ("autolock", let value): try odometer.noteAutolock(!value.isNothing)
    case ("battery", .number(let volts)):
      try odometer.noteBattery(BatteryTable.current.percent(volts: volts))
    case ("motor", .text("stalled")): try noteJam("as the lock says")
    default: break
    }
  }

  /// Notes a jam, once for each movement: a lock goes on saying so until its motor has moved again.
  private func noteJam(_ words: String) throws(LabFault) {
    let ledger = odometer.ledger
    if let jam = ledger.lastJam, jam >= ledger.lastMovement ?? jam { return }
    try odometer.noteJam(words)
    remarks.append("the motor jammed, \(words): it rests for \(settings.limits.coolDown)")
  }

  private func note(status: String) throws(LabFault) {
    guard ["locked", "unlocked", "moved"].contains(status) else {
      if status != "nosetting" { position = nil }
      return
    }
    let previous = position
    let lastCommand = command
    position = status
    command = nil
    if found == nil, status != "moved" { found = status }
    if status == "moved", let lastCommand, Self.turns.contains(lastCommand) {
      try noteJam("in neither position after \(lastCommand)")
    }
    guard status == "locked" else { return }
    // What was to come back is back, or never has to.
    try odometer.noteSettled()
    // A bolt that goes to locked by itself was not sent there by an unlock.
    let isOwn = lastCommand == nil || lastCommand == "unlock" || lastCommand == "setAutolock"
    guard let previous, previous != "locked", isOwn else { return }
    if prepaid > 0 { prepaid -= 1 } else { try odometer.count("autolock") }
  }

  /// What ends in one of two positions, unless something is in the way.
  private static var turns: [String] { ["lock", "unlock", "toggle"] }
}

extension Governor: RecordedDevice where Device: RecordedDevice {
  /// Notes what goes over the link of what is governed.
  public func record(to recorder: LinkRecorder?) { device.record(to: recorder) }
}
