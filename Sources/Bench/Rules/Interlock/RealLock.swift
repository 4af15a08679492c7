public import Links
public import Conformance
public import Basics

/// A managed lock of any family: a ``RealLock`` without its device type.
public protocol ManagedLock: DeviceUnderTest {
  /// Performs the pending park of a run that was killed.
  func parkPending() throws(LabFault)

  /// Restores what tests changed, and brings the lock to its park position.
  func park() -> (diagnostics: [String], left: ParkState?, fault: LabFault?)
}

/// A real lock that is in order before every test, and is left as it was found.
///
///     prepare ──▶ test ──▶ prepare ──▶ test ──▶ … ──▶ restore, park
///
/// Every request to it passes an ``Interlock``. In addition:
///
/// - Before a test, and before its time zero, a preparation session brings the lock into the test's start
///   condition: it checks the owner, switches autolock off, and, as far as the test requires it, turns the bolt
///   and empties the history. The session is omitted if the condition is known to hold, and the motor moves
///   only if it must.
/// - A start without any setting uses the lock as it is. Health checks use it.
/// - A condition that cannot be established with the given permissions is reported as impossible, with the
///   reason. No test begins in another condition.
/// - A lock that is not heard, or rejects the login, is absent. But if other devices are heard over the same
///   controller meanwhile, or the lock itself is heard after a pause that nothing required, the lock causes the
///   silence, and the model judges it.
/// - The lock never stays without its owner: `reset` needs the permission for `register` too, no fault is
///   injected between a lock without an owner and its client, and ``leave()`` registers the lock again. It also
///   restores autolock and positions.
///
/// | setting of a start | values | preparation |
/// |---|---|---|
/// | `registered` | yes, no | `register`, or `reset`, where they are allowed |
/// | `configured` | yes, no | `configure`; or `reset` and `register`, where they are allowed |
/// | `bolt` | locked, unlocked | turns the bolt |
/// | `history` | empty | reads the history to its end |
///
/// A family offers the settings for which it has stimuli. Without a notion of owners its locks count as
/// registered, and without an autolock stimulus autolock is not read.
public final class RealLock<Device: OwnedLock>: DeviceLayer, ManagedLock {
  /// The interlock between the lock and its users.
  public var interlock: Interlock<Device> { wrapped }
  /// The interlock, as the layer below.
  public var wrapped: Interlock<Device>
  private let positions: [[Argument]]
  var family: LockFamily { interlock.settings.family }
  /// The lock's condition when it was first seen.
  var found: Condition?
  private(set) var vocabulary = Vocabulary(stimuli: [], statuses: [])
  var diagnostics: [String] = []
  /// Whether the next message has a flaw.
  private var isFlawed = false
  /// Whether tests may have changed the positions that were found.
  var hasNewPositions = false
  /// The last autolock delay that preparation set, and in how many consecutive sessions.
  var autolockTried: (seconds: Int, times: Int)?
  /// When the current preparation session must end.
  var sessionEnd = Instant.never
  /// The sessions that prepared the lock for the test.
  var sessions: [Preparation] = []
  /// Whether the lock is prepared, rather than only read.
  private var isPrepared = false
  /// Whether the lock has an owner whose key is stored, or needs none.
  var isRegistered: Bool { !family.hasOwners || interlock.wrapped.isRegistered }
  /// The observation after a silence that the lock caused, with the explanation.
  private var late: Observation?
  private var silence: Explanation?
  /// How long preparation sessions waited for the motor's rest.
  private var restTime = Interval.zero

  /// Guards and prepares a lock.
  ///
  /// - Parameters:
  ///   - start: the cycle counter's total when the run began, if the run opened the lock before.
  ///   - positions: the positions that generated tests may pass to `configure`.
  public init(
    _ device: Device, _ settings: InterlockSettings, _ cycleCounter: CycleCounter, since start: Int? = nil,
    positions: [[Argument]] = [[]]
  ) {
    wrapped = Interlock(device, settings.safe, cycleCounter, since: start)
    self.positions = positions
  }

  public var abilities: Abilities {
    var abilities = interlock.abilities
    abilities.keepsState = true
    abilities.settings = family.startSettings
    if let configure = family.name(of: .configure) { abilities.arguments.append((configure, positions)) }
    return abilities
  }

  public func adopt(_ vocabulary: Vocabulary) {
    self.vocabulary = vocabulary
    interlock.adopt(vocabulary)
  }

  public func reset(to start: StartCondition) throws(LabFault) {
    (late, silence) = (nil, nil)
    isFlawed = false
    sessions = []
    try parkPending()
    let goal = try goal(of: start)
    try interlock.checkBegin()
    isPrepared = !start.settings.isEmpty
    if isPrepared, !isReached(goal) { try prepare(goal) }
    try interlock.reset(to: start)
  }

  public func perform(_ stimulus: Stimulus) throws(LabFault) {
    let name = vocabulary.stimuli[stimulus.number]
    let request = family.request(named: name)
    if request == .register, isFlawed, let flaw = family.flaws.first {
      diagnostics.append("the fault planned for the next message is cancelled: \(Self.danger)")
      try interlock.bring(about: Fault(flaw, .flag(false)))
    }
    let isMessage = ![.listen, .connect, .leave].contains(request)
    let isCarriedOut = interlock.reaches(stimulus)
    if isMessage, isCarriedOut { isFlawed = false }
    try interlock.perform(stimulus)
    if [.configure, .reset].contains(request) { hasNewPositions = true }
  }

  /// Since when the lock has not been heard, if its silence is judged.
  private var listening: Instant? { isPrepared ? interlock.listening : nil }

  /// Injects a fault; for a lock without an owner only one that does not affect the transport.
  public func bring(about fault: Fault) throws(LabFault) {
    let isMisbehaviour = family.misbehaviours.contains(fault.name) && family.permission(for: fault) == nil
    if !fault.value.isNothing, !isMisbehaviour {
      guard isRegistered else {
        diagnostics.append("\(fault.name) \(fault.value) is not injected: \(Self.danger)")
        // The model learns that the key is wrong, and it really is.
        if fault.name == family.wrongKey { try interlock.bring(about: Fault(fault.name)) }
        return
      }
      if family.flaws.contains(fault.name) { isFlawed = true }
    }
    try interlock.bring(about: fault)
  }

  /// Why no fault is injected between a lock without an owner and its client.
  private static var danger: String { "the lock could get an owner whose key is lost" }

  public func observe(until limit: Instant) throws(LabFault) -> Observation? {
    if let late {
      self.late = nil
      return late
    }
    let end = listening.map { $0 + Interlock<Device>.silence } ?? .never
    guard let observation = try nextObservation(until: min(limit, end)) else {
      guard let listening, now >= end else { return nil }
      return try listenOn(since: listening, until: limit)
    }
    return observation
  }

  /// Lets time pass up to the next observation of the lock.
  private func nextObservation(until limit: Instant) throws(LabFault) -> Observation? {
    guard let observation = try interlock.observe(until: limit) else { return nil }
    if case .status(let number) = observation,
      family.condition(named: vocabulary.statuses[number]) == .proving
    {
      isFlawed = false
    }
    return observation
  }

  /// Keeps listening to a silent lock for longer than the model permits. Other devices heard over the same
  /// controller, or the lock itself once it is heard again, show whether the lock or the lab causes the
  /// silence.
  ///
  /// - Returns: the observation in time; `nil` for a silence that the model must judge.
  private func listenOn(since begin: Instant, until limit: Instant) throws(LabFault) -> Observation? {
    let (enough, longest) = (Interlock<Device>.silenceBesideOthers, Interlock<Device>.longestSilence)
    while now < begin + longest {
      // Other devices may be heard at any time, and the awaited advertisement arrives without a request.
      let moment = max(begin + enough, now + .seconds(1))
      guard let observation = try nextObservation(until: min(moment, begin + longest)) else {
        if now >= begin + enough, interlock.explanation(ofSilence: true)?.isOfDevice == true { break }
        continue
      }
      if now <= limit { return observation }
      late = observation
      silence = Interlock<Device>.rest(of: now - begin)
      return nil
    }
    interlock.endSilence()
    guard let reason = interlock.explanation(ofSilence: true), reason.isOfDevice else {
      throw LabFault(.noDevice, "the lock was not heard for \(longest)")
    }
    silence = reason
    return nil
  }

  public func explanation(ofSilence isSilent: Bool) -> Explanation? {
    if isSilent, let silence { return silence }
    return interlock.explanation(ofSilence: isSilent)
  }

  public var pace: DevicePace {
    var pace = interlock.pace
    pace.rest = pace.rest + restTime
    return pace
  }

  /// Records how long a preparation session waited for the motor's rest.
  func note(rest time: Interval) { restTime = restTime + time }

  public func takePreparations() -> [Preparation] {
    defer { sessions = [] }
    return sessions + interlock.takePreparations()
  }

  public func takeDiagnostics() -> [String] {
    defer { diagnostics = [] }
    return diagnostics + interlock.takeDiagnostics()
  }
}

extension RealLock: RecordedDevice where Device: RecordedDevice {
  /// Records the traffic of the link to the lock.
  public func record(to notes: LinkNotes?) { interlock.record(to: notes) }
}

extension InterlockSettings {
  /// The same settings without the permissions that could leave a lock without an owner.
  public var safe: InterlockSettings {
    var safe = self
    let isGivenBack = family.names(of: .register).contains(where: allowed.contains)
    if !isGivenBack { safe.allowed.removeAll(where: family.names(of: .reset).contains) }
    return safe
  }

  /// Waits after a jam until the motor may move again; meant for runs that last all night.
  public mutating func waitsForJams() { longestWait = max(longestWait, limits.coolDown) }

  /// The permission that a fault lacks; `nil` if it may be injected.
  public func missingPermission(for fault: Fault) -> String? {
    family.permission(for: fault).flatMap { allowed.contains($0) ? nil : $0 }
  }
}
