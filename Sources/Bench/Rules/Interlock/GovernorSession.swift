public import Conformance
import Sesame
import Basics

/// Why a lock is not as it should be.
enum Unrest: Error {
  case lab(LabFault)
  /// Nothing failed, and yet it cannot be made so.
  case helpless(String)
}

// MARK: - A session of its own

/// What is said in a session of its own.
let sessionWords = Vocabulary(
  stimuli: [
    "closeTo", "connect", "lock", "unlock", "disconnect", "readAutolock", "setAutolock", "readHistory",
    "register", "configure", "reset",
  ],
  statuses: ClientStatus.allCases.map(\.rawValue))

/// What a lock shows once it is known how it is.
let settledStatuses = ["locked", "unlocked", "moved", "nosetting", "readytoRegister"]

extension Governor {
  /// Opens a session at time zero.
  ///
  /// - Returns: the first status that says how the lock is, and until when the session may last.
  func open(for patience: Interval) throws(Unrest) -> (status: String, limit: Instant) {
    // A battery that is low is no reason to leave a door open.
    try step { () throws(LabFault) in try self.begin(StartCondition()) }
    let limit = device.now + patience
    try order("closeTo")
    _ = try wait(for: ["receivedBle"], until: min(limit, device.now + Self.silence))
    try order("connect")
    return (try wait(for: settledStatuses, until: limit), limit)
  }

  /// For how long a lock may be silent: less than the model grants it, so that one that is gone is never a lock that
  /// is wrong.
  static var silence: Interval { .milliseconds(14_500) }

  /// Ends the session, and gives the radio a moment to do so.
  func part() {
    try? order("disconnect")
    let limit = device.now + .milliseconds(300)
    while device.now < limit, (try? look(until: limit)) != nil {}
  }

  /// Gives a stimulus that nothing needs to be paid for, or that was paid for.
  func order(_ name: String) throws(Unrest) {
    guard let number = vocabulary.stimulus(name) else { preconditionFailure("no such stimulus: \(name)") }
    write(.stimulus(Stimulus(number)))
    try step { () throws(LabFault) in try self.device.perform(Stimulus(number)) }
  }

  /// Lets time pass until one of some statuses is shown.
  func wait(for wanted: [String], until limit: Instant) throws(Unrest) -> String {
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
  func look(until limit: Instant) throws(Unrest) -> String? {
    let shown = try step { () throws(LabFault) in try self.observe(until: limit) }
    guard case .status(let number)? = shown else { return nil }
    return vocabulary.statuses[number]
  }

  func step<Result>(_ body: () throws(LabFault) -> Result) throws(Unrest) -> Result {
    do { return try body() } catch { throw .lab(error) }
  }
}

// MARK: - The return to rest

extension Governor {
  /// The longest that the return to rest may take.
  private static var patience: Interval { .seconds(60) }

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
    adopt(sessionWords)
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
    let share = settings.budget.map { "\(used) of \($0)" } ?? "\(used)"
    let life = odometer.place.map { ", \(odometer.total) in the lock's life: \($0)" } ?? ""
    return "\(share) movements were made\(life)"
  }

  func bring(to goal: String) throws(Unrest) -> String {
    do {
      return try attempt(goal)
    } catch {
      guard case .lab(let fault) = error, fault.symptom != .safetyLimit else { throw error }
      // Once more with a transport that was brought back, if it can be.
      do { try restart() } catch { throw .lab(error) }
      return try attempt(goal)
    }
  }

  private func attempt(_ goal: String) throws(Unrest) -> String {
    let (status, limit) = try open(for: Self.patience)
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

  /// Gives the command for which one movement was kept back.
  private func move(to goal: String) throws(Unrest) {
    let name = goal == "locked" ? "lock" : "unlock"
    while let ready = readyTime(of: 1, for: .rest), device.now < ready { _ = try look(until: ready) }
    try step { () throws(LabFault) in
      if let budget = self.settings.budget, self.used >= budget {
        throw LabFault(.safetyLimit, "the budget of \(budget) movements is used up")
      }
      try self.check(name, .rest)
      try self.odometer.noteAway(goal, autolock: self.ownAutolock)
      try self.odometer.count("\(name) to rest")
      self.command = name
    }
    try order(name)
  }
}
