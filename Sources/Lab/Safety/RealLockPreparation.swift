public import Conformance
import Sesame
import Simulation

extension RealLock {
  /// What a lock is to be like.
  struct Condition: Equatable {
    var isRegistered: Bool
    /// Whether its positions are set; `nil` where that is all the same.
    var isConfigured: Bool?
    /// Which they are, where it matters.
    var positions: LockPositions?
    /// Where the bolt rests: `locked` or `unlocked`; `nil` where that is all the same.
    var bolt: String?
    var hasEmptyHistory = false
    /// After how many seconds it locks by itself; 0 for never.
    var autolock = 0
  }

  /// The condition that a test asks for.
  func goal(of start: StartCondition) throws(LabFault) -> Condition {
    var goal = Condition(
      isRegistered: start.flag("registered") ?? governor.device.isRegistered,
      isConfigured: start.flag("configured"))
    if !goal.isRegistered { goal.isConfigured = nil }
    for item in start.settings {
      switch (item.name, item.value.description) {
      case ("registered", _), ("configured", _): break
      case ("bolt", let place) where place == "locked" || place == "unlocked":
        if goal.isRegistered, goal.isConfigured != false { goal.bolt = place }
      case ("history", "empty"): goal.hasEmptyHistory = goal.isRegistered
      case (let name, let value):
        throw LabFault(.notPossible, "starts with \(name): \(value), which takes a hand beside a real lock")
      }
    }
    return goal
  }

  /// Whether the lock is known to be so.
  func isReached(_ goal: Condition) -> Bool {
    let known = governor.knowledge
    guard known.isOwnerSure, goal.isRegistered == governor.device.isRegistered else { return false }
    guard goal.isRegistered else { return true }
    return known.autolock == goal.autolock && known.isConfigured != nil
      && (goal.isConfigured == nil || goal.isConfigured == known.isConfigured)
      && (goal.bolt == nil || goal.bolt == known.position) && (!goal.hasEmptyHistory || known.isHistoryEmpty)
  }

  /// Brings the lock into a condition before a test.
  func prepare(_ goal: Condition) throws(LabFault) {
    do throws(Unrest) {
      try bring(to: goal)
    } catch {
      switch error {
      case .helpless(let why): throw LabFault(.notPossible, why)
      case .lab(let fault): throw fault
      }
    }
  }

  /// The longest that a session beside the tests may take, and how often it is tried.
  private static var patience: Interval { .seconds(90) }
  private static var attempts: Int { 3 }
  /// More sessions than any condition takes.
  private static var mostSessions: Int { 6 }

  /// Brings the lock into a condition, in as many sessions as it takes.
  private func bring(to goal: Condition) throws(Unrest) {
    autolockTried = nil
    governor.adopt(Governor<Device>.words)
    defer { governor.adopt(vocabulary) }
    var troubles = 0
    for _ in 0..<Self.mostSessions {
      do throws(Unrest) {
        if try work(toward: goal) { return }
      } catch {
        governor.knowledge.doubt()
        guard case .lab(let fault) = error, fault.symptom == .noAnswer else { throw error }
        troubles += 1
        guard troubles < Self.attempts else {
          throw .lab(LabFault(.noDevice, "the lock cannot be made ready: \(fault.detail)"))
        }
      }
    }
    throw .helpless("the lock does not stay as it is made")
  }

  /// Does in one session what can be done; says whether all is as it should be.
  private func work(toward goal: Condition) throws(Unrest) -> Bool {
    var (status, limit) = try governor.open(for: Self.patience)
    defer { try? governor.order("disconnect") }
    if status == "readytoRegister" {
      note(found: Condition(isRegistered: false, isConfigured: nil))
      guard goal.isRegistered else { return true }
      status = try register(until: limit)
    }
    let positions = governor.device.positions
    let autolock = try readAutolock(until: limit)
    note(
      found: Condition(
        isRegistered: true, isConfigured: status != "nosetting", positions: positions, autolock: autolock))
    guard goal.isRegistered else {
      try forget("starts with registered: no", until: limit)
      return false
    }
    if goal.isConfigured == false, status != "nosetting" {
      try forget("starts with configured: no", until: limit)
      return false
    }
    if let wanted = goal.positions, let positions, wanted != positions {
      try forget("its positions are no more what they were", until: limit)
      return false
    }
    if goal.isConfigured == true, status == "nosetting" { status = try configure(goal, until: limit) }
    hasNewPositions = positions != found?.positions && goal.positions == nil
    guard try set(autolock: goal.autolock, from: autolock, until: limit) else { return false }
    if let bolt = goal.bolt, bolt != status { try turn(to: bolt, until: limit) }
    if goal.hasEmptyHistory { try emptyHistory(until: limit) }
    return true
  }

  /// Keeps how the lock was found at first.
  private func note(found condition: Condition) {
    guard found == nil else { return }
    found = condition
  }
}

// MARK: - What is done in a session

extension RealLock {
  private func need(_ name: String, for why: String) throws(Unrest) {
    guard governor.settings.allowed.contains(name) else {
      let names = name == "reset" ? "--allow reset and --allow register" : "--allow \(name)"
      throw .helpless("\(why), which a real lock is brought to only with \(names)")
    }
  }

  /// Gives a stimulus by way of the governor, once the motor may move.
  private func give(_ name: String, _ arguments: [Argument] = [], until limit: Instant) throws(Unrest) {
    guard let number = governor.vocabulary.stimulus(name) else {
      preconditionFailure("no such stimulus: \(name)")
    }
    let stimulus = Stimulus(number, arguments)
    while let ready = governor.readyTime(for: stimulus), governor.now < ready {
      _ = try governor.look(until: ready)
    }
    try governor.step { () throws(LabFault) in try governor.perform(stimulus) }
  }

  private func register(until limit: Instant) throws(Unrest) -> String {
    try need("register", for: "starts with registered: yes, and the lock has no owner")
    try give("register", until: limit)
    let status = try governor.wait(
      for: ["nosetting", "locked", "unlocked", "moved"], until: min(limit, now + .seconds(15)))
    remarks.append(
      found?.isRegistered == true ? "the lock was registered again" : "the lock was registered")
    return status
  }

  /// Has the lock forget its owner.
  private func forget(_ why: String, until limit: Instant) throws(Unrest) {
    try need("reset", for: why)
    try give("reset", until: limit)
    _ = try governor.wait(for: ["reset"], until: min(limit, now + .seconds(10)))
  }

  /// Sets the positions: those that it had, if they are known.
  private func configure(_ goal: Condition, until limit: Instant) throws(Unrest) -> String {
    try need("configure", for: "starts with configured: yes, and the lock's positions were never set")
    let positions = goal.positions ?? found?.positions
    let arguments = positions.map {
      [Argument("lock", .integer($0.lock)), Argument("unlock", .integer($0.unlock))]
    }
    try give("configure", arguments ?? [], until: limit)
    return try governor.wait(for: ["locked", "unlocked", "moved"], until: min(limit, now + .seconds(10)))
  }

  /// After how many seconds the lock locks by itself.
  private func readAutolock(until limit: Instant) throws(Unrest) -> Int {
    try give("readAutolock", until: limit)
    guard try known(within: .seconds(6), until: limit, { $0.autolock != nil }),
      let seconds = governor.knowledge.autolock
    else { throw .lab(LabFault(.noAnswer, "the lock does not say whether it locks by itself")) }
    return seconds
  }

  /// Sets after how many seconds the lock locks by itself; whether it says that it is so.
  ///
  /// Some tell it when it was set, some when they are asked, and some at the next login only.
  private func set(autolock seconds: Int, from known: Int, until limit: Instant) throws(Unrest) -> Bool {
    if known == seconds { return true }
    if let tried = autolockTried, tried == seconds {
      throw .helpless("the lock goes on locking by itself after \(known) s, and not after \(seconds) s")
    }
    autolockTried = seconds
    try give("setAutolock", [Argument("value", .integer(seconds))], until: limit)
    if try self.known(within: .seconds(1), until: limit, { $0.autolock == seconds }) { return true }
    return try readAutolock(until: limit) == seconds
  }

  private func emptyHistory(until limit: Instant) throws(Unrest) {
    try give("readHistory", until: limit)
    guard try known(within: Self.patience, until: limit, { $0.isHistoryEmpty }) else {
      throw .lab(LabFault(.noAnswer, "the lock's history does not come to its end"))
    }
  }

  private func turn(to bolt: String, until limit: Instant) throws(Unrest) {
    try give(bolt == "locked" ? "lock" : "unlock", until: limit)
    guard try known(within: .seconds(10), until: limit, { $0.position == bolt }) else {
      throw .helpless("starts with bolt: \(bolt), and the lock does not turn there")
    }
  }

  /// Lets time pass until something is known of the lock; whether it is.
  private func known(
    within time: Interval, until limit: Instant, _ isKnown: (LockKnowledge) -> Bool
  ) throws(Unrest) -> Bool {
    let end = min(limit, now + time)
    while !isKnown(governor.knowledge) {
      guard now < end else { return false }
      if try governor.look(until: end) == "noSignal" {
        throw .lab(LabFault(.noAnswer, "the link to the lock was lost"))
      }
    }
    return true
  }
}

// MARK: - The end of a run

extension RealLock {
  /// Puts the lock back as it was found, as far as tests changed it, and brings it to its rest position.
  ///
  /// - Returns: what ``Governor/leave()`` returns.
  public func leave() -> (remarks: [String], left: LockLeave?, fault: LabFault?) {
    var trouble: (words: String, fault: LabFault?)?
    if let goal = original, !isReached(goal) || hasNewPositions {
      do throws(Unrest) {
        try restore(goal)
      } catch {
        switch error {
        case .helpless(let why): trouble = ("the lock is not as it was found: \(why)", nil)
        case .lab(let fault):
          let words = "the lock could not be put back as it was found, see to it: \(fault.detail)"
          trouble = (words, LabFault(fault.symptom, words))
        }
      }
    }
    var end = governor.leave()
    end.remarks = takeRemarks() + (trouble.map { [$0.words] } ?? []) + end.remarks
    if let trouble {
      if end.left == .atRest { end.left = .elsewhere(trouble.words) }
      end.fault = end.fault ?? trouble.fault
    }
    return end
  }

  /// What the lock is to be left as: as it was found, but never without an owner that it got.
  private var original: Condition? {
    guard governor.wasUsed, let found else { return nil }
    guard found.isRegistered else { return Condition(isRegistered: governor.device.isRegistered) }
    var original = found
    if original.isConfigured == false { original.isConfigured = nil }
    return original
  }

  private func restore(_ goal: Condition) throws(Unrest) {
    do {
      try bring(to: goal)
    } catch {
      guard case .lab(let fault) = error, fault.symptom != .safetyLimit else { throw error }
      // Once more with a carrier that was brought back, if it can be.
      try governor.step { () throws(LabFault) in try governor.restart() }
      try bring(to: goal)
    }
  }
}
