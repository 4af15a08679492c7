import Links
public import Conformance
import Basics

extension RealLock {
  /// The condition of a lock that a test requires.
  struct Condition: Equatable {
    var isRegistered: Bool
    /// Whether positions are set; `nil` if that does not matter.
    var isConfigured: Bool?
    /// The positions, where they matter.
    var configuration: [Argument]?
    /// The bolt's position, `locked` or `unlocked`; `nil` if it does not matter.
    var bolt: String?
    var hasEmptyHistory = false
    /// The goal of the last turn before the lock loses the positions by which it reports that.
    var lastBolt: String?
    /// The autolock delay in seconds; 0 for never.
    var autolock = 0
  }

  /// The condition that a start requires.
  func goal(of start: StartCondition) throws(LabFault) -> Condition {
    var goal = Condition(
      isRegistered: start.flag("registered") ?? isRegistered, isConfigured: start.flag("configured"))
    if !goal.isRegistered { try check("registered: no", is: family.hasOwners) }
    if goal.isConfigured == false {
      try check("configured: no", is: family.hasPositions)
    }
    if !goal.isRegistered { goal.isConfigured = nil }
    if goal.isConfigured == true, mayDoAll { goal.configuration = found?.configuration }
    for item in start.settings {
      switch (item.name, item.value.description) {
      case ("registered", _), ("configured", _): break
      case ("bolt", let place) where place == "locked" || place == "unlocked":
        if goal.isRegistered, goal.isConfigured != false { goal.bolt = place } else { goal.lastBolt = place }
      case ("history", "empty"):
        try check("history: empty", is: family.has(.readHistory))
        goal.hasEmptyHistory = goal.isRegistered
      case (let name, let value):
        throw LabFault(
          .notPossible, "starts with \(name): \(value), which only a person at a real lock can bring about")
      }
    }
    return goal
  }

  /// Refuses a start that no lock of the family can be brought into.
  private func check(_ start: String, is possible: Bool) throws(LabFault) {
    guard possible else {
      throw LabFault(
        .notPossible, "starts with \(start), which no lock of the machine \(family.machine) can be brought to"
      )
    }
  }

  /// Whether the lock is known to be in a condition.
  func isReached(_ goal: Condition) -> Bool {
    let known = interlock.knowledge
    guard known.isOwnerSure, goal.isRegistered == isRegistered, !isLeftElsewhere(goal)
    else {
      return false
    }
    guard goal.isRegistered else { return true }
    return known.autolock == goal.autolock && known.isConfigured != nil
      && (goal.isConfigured == nil || goal.isConfigured == known.isConfigured)
      && (goal.configuration == nil || !hasNewPositions)
      && (goal.bolt == nil || goal.bolt == known.position) && (!goal.hasEmptyHistory || known.isHistoryEmpty)
  }

  /// Whether the bolt of a lock without positions may be in the wrong position, and this can be corrected.
  private func isLeftElsewhere(_ goal: Condition) -> Bool {
    goal.lastBolt != nil && goal.lastBolt != interlock.knowledge.lastRest && mayDoAll
  }

  /// Whether the lock can be reset, registered and configured again, and all of that is allowed.
  private var mayDoAll: Bool {
    [LockFamily.Request.reset, .register, .configure].allSatisfy { request in
      family.name(of: request).map(interlock.settings.allowed.contains) ?? false
    }
  }

  /// Brings the lock into a condition before a test.
  func prepare(_ goal: Condition) throws(LabFault) {
    do throws(OperatorFailure) {
      try bring(to: goal)
    } catch {
      switch error {
      case .impossible(let why): throw LabFault(.notPossible, why)
      case .lab(let fault, _): throw fault
      }
    }
  }

  /// The timeout of a preparation session.
  private static var sessionTime: Interval { .seconds(120) }
  private static var attempts: Int { 3 }
  /// More sessions than any condition needs.
  private static var maximumSessions: Int { 6 }

  /// Brings the lock into a condition, in as many sessions as necessary.
  private func bring(to goal: Condition) throws(OperatorFailure) {
    autolockTried = nil
    // The model can judge a session if its vocabulary covers it.
    let isJudged = vocabulary.has(family.sessionWords)
    if !isJudged { interlock.adopt(family.sessionWords) }
    defer { if !isJudged { interlock.adopt(vocabulary) } }
    var troubles = 0
    for _ in 0..<Self.maximumSessions {
      if isJudged { interlock.session = newSession }
      defer { endSession() }
      do throws(OperatorFailure) {
        if try work(toward: goal) { return }
      } catch {
        interlock.knowledge.invalidate()
        guard case .lab(let fault, _) = error, fault.symptom == .noAnswer else { throw error }
        try step { () throws(LabFault) in
          guard try self.interlock.wrapped.recallKey() else { return }
          self.interlock.knowledge.invalidateOwner()
          self.diagnostics.append(
            "the lock may still have the owner that it was to forget: the key is tried again")
        }
        troubles += 1
        if interlock.listening != nil { troubles = Self.attempts }
        guard troubles < Self.attempts else {
          let isOpen = interlock.knowledge.isRegistrationOpen
          let why =
            isOpen
            ? "; a registration was not answered: the lock may have an owner whose key was never received"
            : ""
          throw .lab(LabFault(.noDevice, "the lock cannot be made ready: \(fault.detail)\(why)"))
        }
      }
    }
    throw .impossible("the lock does not stay as it is made")
  }

  /// The preparation session that begins with the present knowledge of the lock.
  private var newSession: Preparation {
    let known = interlock.knowledge
    var start: StartCondition?
    // If its last position is unknown, the bolt may still be moving. The model learns that if it has an event
    // for it.
    let mayMove = known.position == nil
    if known.isOwnerSure, !mayMove || family.unrequestedMove != nil {
      start = StartCondition()
      if family.hasOwners { start?.settings.append(Argument("registered", .flag(isRegistered))) }
      if family.hasPositions, isRegistered, let isConfigured = known.isConfigured {
        start?.settings.append(Argument("configured", .flag(isConfigured)))
      }
    }
    let underWay = family.unrequestedMove.map { event in
      family.names(of: [.proving]).map { (status: $0, stimulus: event) }
    }
    return Preparation(
      from: start, unsure: known.autolock == 0 ? [] : ["autolock"], underWay: mayMove ? underWay ?? [] : [])
  }

  /// Appends the record of the current session to the others.
  private func endSession() {
    if let session = interlock.session, !session.entries.isEmpty { sessions.append(session) }
    interlock.session = nil
  }

  /// Performs the steps of one session, and returns whether the condition is reached.
  private func work(toward goal: Condition) throws(OperatorFailure) -> Bool {
    var status: LockFamily.Condition
    (status, sessionEnd) = try interlock.open(for: Self.sessionTime)
    defer { try? interlock.lockOperator.give(.leave) }
    if status == .ownerless {
      note(found: Condition(isRegistered: false, isConfigured: nil))
      try step { () throws(LabFault) in try interlock.wrapped.dropRecalledKey() }
      guard goal.isRegistered || isLeftElsewhere(goal) else { return true }
      status = try register()
    }
    let configuration = interlock.wrapped.configuration
    let autolock = try readAutolock()
    note(
      found: Condition(
        isRegistered: true, isConfigured: status != .unset, configuration: configuration, autolock: autolock))
    // With positions set the lock can report where its bolt is.
    if status == .unset, isLeftElsewhere(goal) { status = try configure(goal) }
    if !goal.isRegistered || goal.isConfigured == false && status != .unset {
      let why = "starts with \(goal.isRegistered ? "configured" : "registered"): no"
      try need(.reset, for: why)
      if let bolt = goal.lastBolt, status != .unset, status.rawValue != bolt {
        guard try set(autolock: 0, from: autolock) else { return false }
        try turn(to: bolt)
      }
      try forget(why)
      return false
    }
    if let wanted = goal.configuration, let configuration, wanted != configuration {
      try forget("its positions have changed")
      return false
    }
    if goal.isConfigured == true, status == .unset { status = try configure(goal) }
    hasNewPositions = goal.configuration == nil && configuration != found?.configuration
    guard try set(autolock: goal.autolock, from: autolock) else { return false }
    if let bolt = goal.bolt, bolt != status.rawValue { try turn(to: bolt) }
    if goal.hasEmptyHistory { try emptyHistory() }
    return true
  }

  /// Stores the condition in which the lock was first found.
  private func note(found condition: Condition) {
    guard found == nil else { return }
    found = condition
    // A killed run may have found another autolock delay.
    if condition.isRegistered, let autolock = interlock.ownAutolock { found?.autolock = autolock }
  }
}

// MARK: - Steps of a session

extension RealLock {
  private func need(_ request: LockFamily.Request, for why: String) throws(OperatorFailure) {
    guard let name = family.name(of: request) else {
      throw .impossible("\(why), and nothing asks such a lock for \(request.rawValue)")
    }
    guard interlock.settings.allowed.contains(name) else {
      let also = request == .reset ? family.name(of: .register).map { " and --allow \($0)" } ?? "" : ""
      throw .impossible("\(why), which a real lock is brought to only with --allow \(name)\(also)")
    }
  }

  /// Sends a stimulus through the interlock, once the motor may move.
  private func give(_ request: LockFamily.Request, _ arguments: [Argument] = []) throws(OperatorFailure) {
    let begin = now
    try interlock.lockOperator.give(request, arguments)
    // The motor's rest does not count against the lock.
    sessionEnd = sessionEnd + (now - begin)
    note(rest: now - begin)
  }

  /// The end of a window that the model grants for a response; the model judges later ones.
  private func end(of window: Interval) -> Instant {
    min(sessionEnd, now + window + interlock.abilities.slack + .seconds(1))
  }

  private func register() throws(OperatorFailure) -> LockFamily.Condition {
    try need(.register, for: "starts with registered: yes, and the lock has no owner")
    try give(.register)
    let status = try interlock.lockOperator.wait(
      for: [.unset] + LockFamily.Condition.rests, until: end(of: .seconds(10)))
    diagnostics.append(
      found?.isRegistered == true ? "the lock was registered again" : "the lock was registered")
    return status
  }

  /// Resets the lock, so that it forgets its owner.
  private func forget(_ why: String) throws(OperatorFailure) {
    try need(.reset, for: why)
    try give(.reset)
    _ = try interlock.lockOperator.wait(for: [.forgotten], until: end(of: .seconds(5)))
  }

  /// Sets the positions: the previous ones, if known.
  private func configure(_ goal: Condition) throws(OperatorFailure) -> LockFamily.Condition {
    try need(.configure, for: "starts with configured: yes, and the lock's positions were never set")
    try give(.configure, goal.configuration ?? found?.configuration ?? [])
    return try interlock.lockOperator.wait(for: LockFamily.Condition.rests, until: end(of: .seconds(5)))
  }

  /// Reads the autolock delay in seconds; 0 if nothing can set it.
  private func readAutolock() throws(OperatorFailure) -> Int {
    guard family.has(.setAutolock) else { return 0 }
    try give(.readAutolock)
    guard try known(by: end(of: .seconds(5)), { $0.autolock != nil }),
      let seconds = interlock.knowledge.autolock
    else { throw .lab(LabFault(.noAnswer, "the lock does not say whether it locks by itself")) }
    return seconds
  }

  /// Sets the autolock delay, and returns whether the lock confirms it.
  ///
  /// Some locks report it when it was set, some when it is read, and some only at the next login.
  private func set(autolock seconds: Int, from current: Int) throws(OperatorFailure) -> Bool {
    if current == seconds { return true }
    let times = autolockTried.map { $0.seconds == seconds ? $0.times : 0 } ?? 0
    guard times < Self.attempts else {
      throw .impossible("the lock still locks by itself after \(current) s, not after \(seconds) s")
    }
    autolockTried = (seconds, times + 1)
    if seconds != found?.autolock { interlock.ownAutolock = found?.autolock }
    try step { () throws(LabFault) in try interlock.noteAway() }
    try give(.setAutolock, [Argument("value", .integer(seconds))])
    if try known(by: now + .seconds(1), { $0.autolock == seconds }) { return true }
    try give(.readAutolock)
    return try known(by: now + .seconds(1), { $0.autolock == seconds })
  }

  private func emptyHistory() throws(OperatorFailure) {
    try give(.readHistory)
    guard try known(by: now + Self.sessionTime, { $0.isHistoryEmpty }) else {
      throw .lab(LabFault(.noAnswer, "the end of the lock's history was not reached in time"))
    }
  }

  private func turn(to bolt: String) throws(OperatorFailure) {
    try give(.turn(to: bolt))
    guard try known(by: end(of: .seconds(5)), { $0.position == bolt }) else {
      throw .impossible("starts with bolt: \(bolt), and the lock does not turn there")
    }
  }

  /// Lets time pass until a property of the lock is known, and returns whether it is.
  private func known(
    by end: Instant, _ isKnown: (LockKnowledge) -> Bool
  ) throws(OperatorFailure) -> Bool {
    let end = min(sessionEnd, end)
    while !isKnown(interlock.knowledge) {
      guard now < end else { return false }
      if let shown = try interlock.lockOperator.nextStatus(until: end),
        family.condition(named: shown) == .away
      {
        throw .lab(LabFault(.noAnswer, "the link to the lock was lost"))
      }
    }
    return true
  }
}

// MARK: - Pending park

extension RealLock {
  /// Performs the pending park of a run that was killed: parks the lock, then restores its autolock delay.
  ///
  /// - Throws: why that is impossible. Nothing else is done then.
  public func parkPending() throws(LabFault) {
    guard let pendingPark = interlock.pendingPark else { return }
    try interlock.parkPending()
    guard let autolock = pendingPark.autolock, isRegistered else { return }
    var goal = Condition(isRegistered: true)
    goal.autolock = autolock
    let before = vocabulary
    defer { interlock.adopt(before) }
    interlock.adopt(family.sessionWords)
    do throws(OperatorFailure) {
      try restore(goal)
    } catch {
      switch error {
      case .impossible(let why): diagnostics.append("the lock is not as it was found: \(why)")
      case .lab(let fault, _): throw fault
      }
    }
    try interlock.cycleCounter.noteParked()
  }
}

// MARK: - The end of a run

extension RealLock {
  /// Restores what tests changed, and brings the lock to its park position.
  ///
  /// - Returns: what ``Interlock/park()`` returns.
  public func park() -> (diagnostics: [String], left: ParkState?, fault: LabFault?) {
    var trouble: (words: String, fault: LabFault?)?
    if let goal = original, !isReached(goal) || hasNewPositions {
      do throws(OperatorFailure) {
        try restore(goal)
      } catch {
        switch error {
        case .impossible(let why): trouble = ("the lock is not as it was found: \(why)", nil)
        case .lab(let fault, _):
          let words = "the lock could not be put back as it was found, see to it: \(fault.detail)"
          trouble = (words, LabFault(fault.symptom, words))
        }
      }
    }
    var end = interlock.park()
    if end.left == .parked, trouble == nil {
      do throws(LabFault) {
        try interlock.cycleCounter.noteParked()
      } catch {
        end.diagnostics.append(
          "the next user of the lock first checks whether it is parked: \(error.detail)")
      }
    }
    end.diagnostics = takeDiagnostics() + (trouble.map { [$0.words] } ?? []) + end.diagnostics
    if let trouble {
      if end.left == .parked { end.left = .elsewhere(trouble.words) }
      end.fault = end.fault ?? trouble.fault
    }
    return end
  }

  /// The condition in which to leave the lock: the one found, but never without an owner once it has one.
  private var original: Condition? {
    guard interlock.wasUsed, let found else { return nil }
    guard found.isRegistered else { return Condition(isRegistered: isRegistered) }
    var original = found
    if original.isConfigured == false { original.isConfigured = nil }
    return original
  }

  private func restore(_ goal: Condition) throws(OperatorFailure) {
    do {
      try bring(to: goal)
    } catch {
      guard case .lab(let fault, _) = error, fault.symptom != .safetyLimit else { throw error }
      // Tries once more after the transport was recovered, if it can be.
      try step { () throws(LabFault) in try interlock.restart() }
      try bring(to: goal)
    }
  }
}
