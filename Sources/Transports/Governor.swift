public import Conformance
public import Lab
public import Sesame
public import Simulation

/// What a run may do to a real lock.
public struct GovernorSettings: Sendable {
  /// What the lock may be asked of, whoever asks.
  public var limits: LockLimits
  /// How many movements the run may cause, the return to rest included.
  public var budget: Int
  /// Where the lock is left.
  public var rest: RestPosition
  /// The stimuli of ``Governor/guarded`` that are allowed.
  public var allowed: [String]

  /// Makes settings.
  public init(
    limits: LockLimits = LockLimits(), budget: Int = 100, rest: RestPosition = .locked,
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
/// - What makes the motor move is given only when the ``Lab/WearLedger`` of the lock allows it, which knows of all runs and
///   processes: after its rest, within the budgets of the hour and the night, not soon after a jam, not with a bad
///   battery. What is allowed in a moment waits for it; what would wait for longer than ``longestWait`` ends
///   the run, and says when it may go on.
/// - Each movement is counted by the ``Odometer`` before it begins, and once the run's budget is used up there is none.
///   One movement is kept back for the return to rest.
/// - `reset`, `register` and `configure` are refused unless they were allowed by name.
/// - Of the faults that a lock with a bug could obey, each is counted as a movement, and those that ask for what is
///   refused need the same permission.
/// - With a battery that is low or falls fast no case begins.
/// - ``leave()`` brings the lock to its rest position.
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

  /// The longest that anything but the motor's usual rest is waited for. What takes longer is for a later run.
  public static var longestWait: Interval { .seconds(60) }

  private let start: Int
  private var vocabulary = Vocabulary(stimuli: [], statuses: [])
  /// What the motor was told last, until a position is shown; `nil` when it was told nothing.
  private var command: String?
  /// The last position that the lock showed in this session.
  private var position: String?
  /// The first position that it showed at all.
  private var found: String?
  /// Movements of the lock's own that were counted in advance.
  private var prepaid = 0
  private var wasUsed = false
  private var remarks: [String] = []

  /// Governs a device.
  public init(_ device: Device, _ settings: GovernorSettings, _ odometer: Odometer) {
    precondition(settings.budget >= 1, "a budget has room for the return to rest")
    self.device = device
    self.settings = settings
    self.odometer = odometer
    start = odometer.total
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
        permission(for: Fault(fault, value)).map { !settings.allowed.contains($0) } ?? false
      }
    }
    return abilities
  }

  /// The faults that a lock with a bug could obey.
  private static var hostile: [String] {
    ["forge", "replay", "shadow", "mutate", "request", "reflect", "att"]
  }

  /// Which of what is guarded a fault asks for.
  private static func permission(for fault: Fault) -> String? {
    guard hostile.contains(fault.name) || fault.name == "wrong-key" else { return nil }
    switch fault.value.description.prefix(while: { $0 != " " && $0 != "-" }) {
    case "reset": return "reset"
    case "registration": return "register"
    case "autolock", "setting": return "configure"
    default: return nil
    }
  }

  public func adopt(_ vocabulary: Vocabulary) {
    self.vocabulary = vocabulary
    device.adopt(vocabulary)
  }

  public func reset(to start: StartCondition) throws(LabFault) {
    let now = odometer.now
    if let refusal = odometer.ledger.refusal(for: .begin, under: settings.limits, at: now.uptime) {
      throw LabFault(.safetyLimit, "the case is not begun: \(text(of: refusal, at: now))")
    }
    try begin(start)
  }

  private func begin(_ start: StartCondition) throws(LabFault) {
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
  private func readyTime(of cost: Int, for purpose: WearLedger.Purpose = .movement) -> Instant? {
    let now = odometer.now.uptime
    guard let refusal = odometer.ledger.refusal(of: cost, for: purpose, under: settings.limits, at: now),
      isWorthWaiting(for: refusal, at: now)
    else { return nil }
    return device.now + (refusal.until - now)
  }

  private func isWorthWaiting(for refusal: WearLedger.Refusal, at now: Instant) -> Bool {
    if case .gap = refusal.limit { return true }
    return refusal.until <= now + Self.longestWait
  }

  public func reaches(_ stimulus: Stimulus) -> Bool { device.reaches(stimulus) }

  public func perform(_ stimulus: Stimulus) throws(LabFault) {
    let name = vocabulary.stimuli[stimulus.number]
    guard !Self.guarded.contains(name) || settings.allowed.contains(name) else {
      throw LabFault(.notPossible, "\(name) needs --allow \(name) with a real lock")
    }
    let isPaid = mayMove(name, stimulus) && device.reaches(stimulus)
    if isPaid { try pay(for: name) }
    defer { if isPaid { odometer.noteStart() } }
    try device.perform(stimulus)
    if name == "reset" { try odometer.noteAutolock(false) }
  }

  public func bring(about fault: Fault) throws(LabFault) {
    if let name = Self.permission(for: fault), !settings.allowed.contains(name) {
      throw LabFault(.notPossible, "\(fault.name) \(fault.value) needs --allow \(name) with a real lock")
    }
    if mayMove(fault) { try pay(for: fault.name) }
    defer { if mayMove(fault) { odometer.noteStart() } }
    try device.bring(about: fault)
  }

  public func observe(until limit: Instant) throws(LabFault) -> Observation? {
    guard let observation = try device.observe(until: limit) else { return nil }
    try note(observation)
    return observation
  }

  public func restart() throws(LabFault) {
    command = nil
    position = nil
    try device.restart()
  }

  public func takeRemarks() -> [String] {
    defer { remarks = [] }
    return remarks + device.takeRemarks()
  }

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
    Self.hostile.contains(fault.name) && !fault.value.isNothing
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
    guard used + cost(of: name) < settings.budget else {
      throw LabFault(
        .safetyLimit,
        "the budget of \(settings.budget) movements is used up: \(used) were made, and one is kept for the "
          + "return to rest; raise it with --actuations")
    }
    try check(name, .movement)
    if name == "setAutolock" { try odometer.noteAutolock(true) }
    try odometer.count(name, comesBack: comesBack)
    command = name
    if comesBack || name == "setAutolock" { prepaid += 1 }
  }

  /// Refuses what the lock's ledger does not allow now.
  private func check(_ name: String, _ purpose: WearLedger.Purpose) throws(LabFault) {
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
    case .status(let number): try note(status: vocabulary.statuses[number])
    case .reading(let reading): try note(reading)
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

// MARK: - The return to rest

/// Why a lock is not where it should rest.
private enum Unrest: Error {
  case lab(LabFault)
  /// Nothing failed, and yet nobody can turn it.
  case helpless(String)
}

extension Governor {
  /// The longest that the return to rest may take.
  private static var patience: Interval { .seconds(60) }

  private static var words: Vocabulary {
    Vocabulary(
      stimuli: ["closeTo", "connect", "lock", "unlock", "disconnect"],
      statuses: [
        "noSignal", "receivedBle", "connecting", "waitingGatt", "logining", "readytoRegister", "registering",
        "nosetting", "locked", "unlocked", "moved", "reset",
      ])
  }

  /// Brings the lock to its rest position, at the end of a run and whatever its end.
  ///
  /// - Returns: what there is to say of it, how the lock is left (`nil` for one that was not used), and the trouble where
  ///   it did not succeed.
  public func leave() -> (remarks: [String], left: LockLeave?, fault: LabFault?) {
    guard wasUsed else { return (takeRemarks(), nil, nil) }
    let goal: String
    switch settings.rest {
    case .locked: goal = "locked"
    case .unlocked: goal = "unlocked"
    case .asFound:
      guard let found else {
        let words = "the lock is left as it is: where it was found was never seen"
        return (takeRemarks() + [words], .elsewhere(words), nil)
      }
      goal = found
    }
    adopt(Self.words)
    do throws(Unrest) {
      let words = try bring(to: goal)
      return (takeRemarks() + [words, budgetText], .atRest, nil)
    } catch {
      switch error {
      case .helpless(let why):
        let words = "the lock is left as it is: \(why)"
        return (takeRemarks() + [words, budgetText], .elsewhere(words), nil)
      case .lab(let fault):
        let words = "the lock could not be brought to \(goal), see to it: \(fault.detail)"
        return (takeRemarks() + [words, budgetText], .elsewhere(words), LabFault(fault.symptom, words))
      }
    }
  }

  private var budgetText: String {
    "\(used) of \(settings.budget) movements were made, \(odometer.total) in the lock's life: \(odometer.path)"
  }

  private func bring(to goal: String) throws(Unrest) -> String {
    do {
      return try attempt(goal)
    } catch {
      guard case .lab(let fault) = error, fault.symptom != .safetyLimit else { throw error }
      // Once more with a carrier that was brought back, if it can be.
      do { try restart() } catch { throw .lab(error) }
      return try attempt(goal)
    }
  }

  private func attempt(_ goal: String) throws(Unrest) -> String {
    // A battery that is low is no reason to leave a door open.
    try step { () throws(LabFault) in try self.begin(StartCondition()) }
    let limit = device.now + Self.patience
    try give("closeTo")
    _ = try wait(for: ["receivedBle"], until: min(limit, device.now + .seconds(20)))
    try give("connect")
    let settled = ["locked", "unlocked", "moved", "nosetting", "readytoRegister"]
    let status = try wait(for: settled, until: limit)
    defer { part() }
    switch status {
    case goal: return "the lock rests \(goal)"
    case "nosetting": throw .helpless("its positions were never set")
    case "readytoRegister": throw .helpless("it has no owner")
    default: break
    }
    try move(to: goal)
    _ = try wait(for: [goal], until: min(limit, device.now + .seconds(10)))
    return "the lock was \(status) and was brought to \(goal)"
  }

  /// Ends the session, and gives the radio a moment to do so.
  private func part() {
    try? give("disconnect")
    let limit = device.now + .milliseconds(300)
    while device.now < limit, (try? look(until: limit)) != nil {}
  }

  /// Gives the command for which one movement was kept back.
  private func move(to goal: String) throws(Unrest) {
    let name = goal == "locked" ? "lock" : "unlock"
    while let ready = readyTime(of: 1, for: .rest), device.now < ready { _ = try look(until: ready) }
    try step { () throws(LabFault) in
      guard self.used < self.settings.budget else {
        throw LabFault(.safetyLimit, "the budget of \(self.settings.budget) movements is used up")
      }
      try self.check(name, .rest)
      try self.odometer.count("\(name) to rest")
      self.command = name
    }
    try give(name)
  }

  private func give(_ name: String) throws(Unrest) {
    guard let number = vocabulary.stimulus(name) else { preconditionFailure("no such stimulus: \(name)") }
    try step { () throws(LabFault) in try self.device.perform(Stimulus(number)) }
  }

  /// Lets time pass until one of some statuses is shown.
  private func wait(for wanted: [String], until limit: Instant) throws(Unrest) -> String {
    var last = "nothing"
    repeat {
      guard let status = try look(until: limit) else { continue }
      if wanted.contains(status) { return status }
      last = status
      if status == "noSignal" { break }
    } while device.now < limit
    throw .lab(
      LabFault(.noAnswer, "instead of \(wanted.joined(separator: " or ")) the lock showed \(last)"))
  }

  /// The next status up to a limit.
  private func look(until limit: Instant) throws(Unrest) -> String? {
    var shown: Observation?
    try step { () throws(LabFault) in shown = try self.observe(until: limit) }
    guard case .status(let number)? = shown else { return nil }
    return vocabulary.statuses[number]
  }

  private func step(_ body: () throws(LabFault) -> Void) throws(Unrest) {
    do { try body() } catch { throw .lab(error) }
  }
}

extension Governor: RecordedDevice where Device: RecordedDevice {
  /// Notes what goes over the link of what is governed.
  public func record(to recorder: LinkRecorder?) { device.record(to: recorder) }
}
