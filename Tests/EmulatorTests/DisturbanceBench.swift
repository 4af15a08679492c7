import Conformance
import Basics
import Testing

/// When a disturbance comes.
enum DisturbedMoment: String, CaseIterable, Sendable {
  /// Heard, and not connected to.
  case heard
  /// Connected to a lock that has no owner.
  case ready
  case registering
  case logining
  /// Logged in, the bolt at rest.
  case locked
  case unlocked
  /// The motor runs.
  case moving
  /// An answer is on its way.
  case asking
}

extension SesameBench {
  /// Goes to a moment.
  mutating func go(to moment: DisturbedMoment) throws -> Divergence? {
    let isNew = moment == .ready || moment == .registering
    try reset(registered: !isNew)
    if let divergence = try perform("closeTo") ?? until("receivedBle") { return divergence }
    if moment == .heard { return nil }
    if let divergence = try perform("connect") { return divergence }
    switch moment {
    case .heard: return nil
    case .ready: return try until("readytoRegister")
    case .registering: return try until("readytoRegister") ?? perform("register")
    case .logining: return try until("logining")
    case .locked: return try until("locked")
    case .unlocked: return try until("locked") ?? perform("unlock") ?? until("unlocked")
    case .moving:
      return try until("locked") ?? perform("unlock")
        ?? lockstep.pass(until: lockstep.now + .milliseconds(400))
    case .asking: return try until("locked") ?? perform("readVersion")
    }
  }

  /// Goes on with whatever can be done in every possible state, to the end of the session and into the next.
  mutating func goOn() throws -> Divergence? {
    let script = [
      "readVersion", "unlock", "toggle", "setTime", "register", "configure", "lock", "unlock", "disconnect",
      "closeTo", "connect", "lock", "disconnect",
    ]
    for name in script {
      let number = try #require(lockstep.vocabulary.stimulus(name))
      guard lockstep.explorationState.legal >> UInt64(number) & 1 == 1 else { continue }
      if let divergence = try perform(name) ?? lockstep.settle() { return divergence }
      if let divergence = try lockstep.pass(until: lockstep.now + .seconds(2)) { return divergence }
    }
    return try lockstep.pass(until: lockstep.now + .seconds(30))
  }

  /// What comes of a disturbance at a moment: `agrees`, or where model and device disagree.
  mutating func verdict(of fault: Fault, at moment: DisturbedMoment) throws -> String {
    lockstep.recorder = TraceList()
    let divergence = try go(to: moment) ?? lockstep.bring(about: fault) ?? goOn()
    guard let divergence else { return "agrees" }
    return divergence.summary + "\n" + trace.suffix(25).joined(separator: "\n")
  }
}
