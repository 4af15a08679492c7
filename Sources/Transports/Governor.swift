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
/// - What makes the motor move is given only ``Lab/LockLimits/gap`` after the movement before.
/// - Each movement is counted by the ``Odometer`` before it begins, and once the budget is used up there is none.
///   One movement is kept back for the return to rest.
/// - `reset`, `register` and `configure` are refused unless they were allowed by name.
/// - Of the faults that a lock with a bug could obey, each is counted as a movement, and those that ask for what is
///   refused need the same permission.
/// - ``leave()`` brings the lock to its rest position.
///
/// Counted are `lock`, `unlock` and `toggle`, whatever comes of them, forged and replayed commands, since a lock with a
/// bug obeys them, `configure`, and what a lock does by itself once autolock is set: the return is paid for with the
/// `unlock` that leads to it, and one that nobody asked for is counted when it is seen.
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
  private var vocabulary = Vocabulary(stimuli: [], statuses: [])
  /// When the motor may move next.
  private var readyAt: Instant
  /// What the motor was told last, until a position is shown; `nil` when it was told nothing.
  private var command: String?
  /// The last position that the lock showed in this session.
  private var position: String?
  /// The first position that it showed at all.
  private var found: String?
  private var isAutolockOn = false
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
    // Who was here just before may have moved it.
    readyAt = .zero + settings.limits.gap
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
  private static var hostile: [String] { ["forge", "shadow", "mutate", "request", "reflect", "att"] }

  /// Which of what is guarded a fault asks for.
  private static func permission(for fault: Fault) -> String? {
    guard hostile.contains(fault.name) else { return nil }
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
    // The device's time begins anew, the motor's rest does not.
    let left = readyAt - device.now
    command = nil
    position = nil
    try device.reset(to: start)
    readyAt = device.now + max(.zero, left)
    wasUsed = true
  }

  public func readyTime(for stimulus: Stimulus) -> Instant? {
    mayMove(vocabulary.stimuli[stimulus.number], stimulus) ? readyAt : nil
  }

  public func perform(_ stimulus: Stimulus) throws(LabFault) {
    let name = vocabulary.stimuli[stimulus.number]
    guard !Self.guarded.contains(name) || settings.allowed.contains(name) else {
      throw LabFault(.notPossible, "\(name) needs --allow \(name) with a real lock")
    }
    if mayMove(name, stimulus) {
      guard device.now >= readyAt else {
        throw LabFault(
          .notPossible,
          "\(name) came before \(readyAt), which is less than \(settings.limits.gap) after the last movement")
      }
      try pay(for: name)
    }
    if name == "reset" { isAutolockOn = false }
    try device.perform(stimulus)
  }

  public func bring(about fault: Fault) throws(LabFault) {
    if Self.hostile.contains(fault.name), !fault.value.isNothing {
      if let name = Self.permission(for: fault), !settings.allowed.contains(name) {
        throw LabFault(.notPossible, "\(fault.name) \(fault.value) needs --allow \(name) with a real lock")
      }
      try pay(for: fault.name)
    }
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
    let left = readyAt - device.now
    try device.restart()
    readyAt = device.now + max(.zero, left)
  }

  public func takeRemarks() -> [String] {
    defer { remarks = [] }
    return remarks + device.takeRemarks()
  }
}

// MARK: - Counting

extension Governor {
  private func mayMove(_ name: String, _ stimulus: Stimulus) -> Bool {
    Self.movements.contains(name) || name == "setAutolock" && Self.isOn(stimulus)
  }

  private static func isOn(_ stimulus: Stimulus) -> Bool {
    stimulus.arguments.first.map { !$0.value.isNothing } ?? false
  }

  /// Counts what a stimulus moves before it moves anything.
  private func pay(for name: String) throws(LabFault) {
    // With autolock on, what was unlocked comes back by itself.
    let comesBack = isAutolockOn && name != "lock" && name != "configure" && name != "setAutolock"
    let cost = comesBack ? 2 : 1
    guard used + cost < settings.budget else {
      throw LabFault(
        .safetyLimit,
        "the budget of \(settings.budget) movements is used up: \(used) were made, and one is kept for the "
          + "return to rest; raise it with --actuations")
    }
    try odometer.count(name, times: cost)
    readyAt = device.now + settings.limits.gap
    command = name
    if name == "setAutolock" { isAutolockOn = true }
    if comesBack || name == "setAutolock" { prepaid += 1 }
  }

  private func note(_ observation: Observation) throws(LabFault) {
    switch observation {
    case .status(let number): try note(status: vocabulary.statuses[number])
    case .reading(let reading) where reading.name == "autolock": isAutolockOn = !reading.value.isNothing
    case .reading, .effect, .unknown, .refused, .violation: break
    }
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
    // A bolt that goes to locked by itself was not sent there by an unlock.
    let isOwn = lastCommand == nil || lastCommand == "unlock" || lastCommand == "setAutolock"
    guard status == "locked", previous != nil, previous != "locked", isOwn else { return }
    readyAt = max(readyAt, device.now + settings.limits.gap)
    if prepaid > 0 { prepaid -= 1 } else { try odometer.count("autolock") }
  }
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
  /// - Returns: what there is to say of it, and the trouble where it did not succeed.
  public func leave() -> (remarks: [String], fault: LabFault?) {
    guard wasUsed else { return (takeRemarks(), nil) }
    let goal: String
    switch settings.rest {
    case .locked: goal = "locked"
    case .unlocked: goal = "unlocked"
    case .asFound:
      guard let found else {
        return (takeRemarks() + ["the lock is left as it is: where it was found was never seen"], nil)
      }
      goal = found
    }
    adopt(Self.words)
    do throws(Unrest) {
      let words = try bring(to: goal)
      return (takeRemarks() + [words, budgetText], nil)
    } catch {
      switch error {
      case .helpless(let why):
        return (takeRemarks() + ["the lock is left as it is: \(why)", budgetText], nil)
      case .lab(let fault):
        let words = "the lock could not be brought to \(goal), see to it: \(fault.detail)"
        return (takeRemarks() + [words, budgetText], LabFault(fault.symptom, words))
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
    try step { () throws(LabFault) in try self.reset(to: StartCondition()) }
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
    while device.now < readyAt { _ = try look(until: readyAt) }
    try step { () throws(LabFault) in
      guard self.used < self.settings.budget else {
        throw LabFault(.safetyLimit, "the budget of \(self.settings.budget) movements is used up")
      }
      try self.odometer.count("\(name) to rest")
      self.command = name
      self.readyAt = self.device.now + self.settings.limits.gap
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
