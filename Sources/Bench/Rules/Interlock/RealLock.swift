public import Links
public import Conformance
public import Basics

/// A lock of any family that is looked after from test to test: a ``RealLock``, whatever speaks to it.
public protocol LookedAfterLock: DeviceUnderTest {
  /// Does what whoever used the lock before, and was killed over it, has left undone.
  func settleDebt() throws(LabFault)

  /// Puts the lock back as it was found, as far as tests changed it, and brings it to its park position.
  func park() -> (diagnostics: [String], left: ParkState?, fault: LabFault?)
}

/// A real lock, which every test finds in order, and which is left as it was found.
///
///     look after it ──▶ test ──▶ look after it ──▶ test ──▶ … ──▶ put it back, park it
///
/// All that is asked of it passes an ``Interlock``. Beside that:
///
/// - Before a test, and before its time zero, the lock is brought into the test's start condition in a session of its own:
///   who owns it is looked at, autolock is switched off, and as far as the test asks for it the bolt is
///   turned and the history is emptied. Where all of this is known already there is no such session, and what needs no
///   movement causes none.
/// - A start that asks for nothing at all takes the lock as it is, and is for who looks at its health.
/// - What cannot be brought about with what is allowed is not possible, and says why: no test begins elsewhere.
/// - A lock that is not heard, or cannot be logged in to, is not there. But where others are heard meanwhile over the same
///   controller, or the lock itself after a rest that nothing asks for, its silence is its own doing, and the model's to
///   judge.
/// - It is never left without its owner: `reset` needs the permission for `register` too, nothing comes between a lock
///   without an owner and its client, and ``leave()`` registers it again. Autolock and positions that were changed are put
///   back there as well.
///
/// | setting of a start | values | what is done for it |
/// |---|---|---|
/// | `registered` | yes, no | `register`, or `reset`, where they are allowed |
/// | `configured` | yes, no | `configure`; or `reset` and `register`, where they are allowed |
/// | `bolt` | locked, unlocked | the bolt is turned |
/// | `history` | empty | it is read to its end |
///
/// Those are offered that its family has stimuli for. Where a family knows of no owners its lock has one, and where nothing sets
/// autolock it is not asked for.
public final class RealLock<Device: OwnedLock>: DeviceLayer, LookedAfterLock {
  /// What stands between the lock and whoever drives it.
  public var interlock: Interlock<Device> { wrapped }
  /// The same, as what is around it.
  public var wrapped: Interlock<Device>
  private let positions: [[Argument]]
  var family: LockFamily { interlock.settings.family }
  /// What the lock was like when it was first seen.
  var found: Condition?
  private(set) var vocabulary = Vocabulary(stimuli: [], statuses: [])
  var diagnostics: [String] = []
  /// Whether the next message has a flaw.
  private var isFlawed = false
  /// Whether its positions may have been set to others than it was found with.
  var hasNewPositions = false
  /// What autolock was set to beside the tests, in how many sessions in a row.
  var autolockTried: (seconds: Int, times: Int)?
  /// Until when a session beside the tests may last.
  var sessionEnd = Instant.never
  /// The sessions in which the lock was made ready for the test.
  var sessions: [Preparation] = []
  /// Whether it is more than looked at.
  private var isLookedAfter = false
  /// Whether it has an owner whose key is kept, or needs none.
  var isRegistered: Bool { !family.hasOwners || interlock.wrapped.isRegistered }
  /// What the lock showed after a silence that is its own doing, and why that is so.
  private var late: Observation?
  private var silence: Explanation?
  /// What the motor's rest has taken in the sessions beside the tests.
  private var restTime = Interval.zero

  /// Governs a lock and looks after it.
  ///
  /// - Parameters:
  ///   - start: what the cycle counter said when the run began, where that opened the lock before.
  ///   - positions: what generated tests may give with `configure`.
  public init(
    _ device: Device, _ settings: InterlockSettings, _ cycleCounter: CycleCounter, since start: Int? = nil,
    positions: [[Argument]] = [[]]
  ) {
    wrapped = Interlock(device, settings.safe, cycleCounter, since: start)
    self.positions = positions
  }

  public var abilities: Abilities {
    var abilities = interlock.abilities
    abilities.livesOn = true
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
    try settleDebt()
    let goal = try goal(of: start)
    try interlock.checkBegin()
    isLookedAfter = !start.settings.isEmpty
    if isLookedAfter, !isReached(goal) { try prepare(goal) }
    try interlock.reset(to: start)
  }

  public func perform(_ stimulus: Stimulus) throws(LabFault) {
    let name = vocabulary.stimuli[stimulus.number]
    let request = family.request(named: name)
    if request == .register, isFlawed, let flaw = family.flaws.first {
      diagnostics.append("what was to become of the next message is called off: \(Self.danger)")
      try interlock.bring(about: Fault(flaw, .flag(false)))
    }
    let isMessage = ![.listen, .connect, .leave].contains(request)
    let isCarriedOut = interlock.reaches(stimulus)
    if isMessage, isCarriedOut { isFlawed = false }
    try interlock.perform(stimulus)
    if [.configure, .reset].contains(request) { hasNewPositions = true }
  }

  /// Since when the lock is listened for in vain, where that is judged.
  private var listening: Instant? { isLookedAfter ? interlock.listening : nil }

  /// Brings about a fault; of a lock without an owner those alone that are none of the way to it.
  public func bring(about fault: Fault) throws(LabFault) {
    let isMisbehaviour = family.misbehaviours.contains(fault.name) && family.permission(for: fault) == nil
    if !fault.value.isNothing, !isMisbehaviour {
      guard isRegistered else {
        diagnostics.append("\(fault.name) \(fault.value) is not brought about: \(Self.danger)")
        // The model is told that the key is wrong, and so it is.
        if fault.name == family.wrongKey { try interlock.bring(about: Fault(fault.name)) }
        return
      }
      if family.flaws.contains(fault.name) { isFlawed = true }
    }
    try interlock.bring(about: fault)
  }

  /// Why nothing comes between a lock without an owner and its client.
  private static var danger: String { "the lock could get an owner whose key nobody has" }

  public func observe(until limit: Instant) throws(LabFault) -> Observation? {
    if let late {
      self.late = nil
      return late
    }
    let end = listening.map { $0 + Interlock<Device>.silence } ?? .never
    guard let observation = try look(until: min(limit, end)) else {
      guard let listening, now >= end else { return nil }
      return try listenOn(since: listening, until: limit)
    }
    return observation
  }

  /// Lets time pass up to the next observation of the lock.
  private func look(until limit: Instant) throws(LabFault) -> Observation? {
    guard let observation = try interlock.observe(until: limit) else { return nil }
    if case .status(let number) = observation,
      family.condition(named: vocabulary.statuses[number]) == .proving
    {
      isFlawed = false
    }
    return observation
  }

  /// Listens on to a lock that is silent, longer than the model grants: whether its silence is its own doing, or the
  /// lab's, is told by others that are heard over the same controller, or by the lock itself, once it is heard again.
  ///
  /// - Returns: what it shows in time; `nil` for a silence that the model is to judge.
  private func listenOn(since begin: Instant, until limit: Instant) throws(LabFault) -> Observation? {
    let (enough, longest) = (Interlock<Device>.silenceBesideOthers, Interlock<Device>.longestSilence)
    while now < begin + longest {
      // Others may be heard at any time, and what is looked for comes by itself.
      let moment = max(begin + enough, now + .seconds(1))
      guard let observation = try look(until: min(moment, begin + longest)) else {
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

  /// Notes what the motor's rest has taken in a session beside the tests.
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
  /// Notes what goes over the link to the lock.
  public func record(to recorder: (any LinkNotes)?) { interlock.record(to: recorder) }
}

extension InterlockSettings {
  /// The same, without what would leave a lock without an owner.
  public var safe: InterlockSettings {
    var safe = self
    let isGivenBack = family.names(of: .register).contains(where: allowed.contains)
    if !isGivenBack { safe.allowed.removeAll(where: family.names(of: .reset).contains) }
    return safe
  }

  /// Has what comes after a jam wait until the motor may move again: for who has all night.
  public mutating func waitsForJams() { longestWait = max(longestWait, limits.coolDown) }

  /// What would have to be allowed for a fault to be brought about, where it is not.
  public func missingPermission(for fault: Fault) -> String? {
    family.permission(for: fault).flatMap { allowed.contains($0) ? nil : $0 }
  }
}
