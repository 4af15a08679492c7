public import Basics
public import Conformance
public import Sesame

/// A link with an ``Sesame/Adversary`` on it: what is sent, and what comes, goes by him.
public struct AdversaryLink<Wrapped: LockLink>: LinkLayer {
  /// The way from him to the lock.
  public var wrapped: Wrapped
  /// Who is on it.
  public internal(set) var adversary: Adversary
  private var pending: [Adversary.Action] = []

  /// Sets one on a link.
  ///
  /// - Parameter settings: those of the client whose messages go by him.
  public init(_ wrapped: Wrapped, _ settings: ClientSettings) {
    self.wrapped = wrapped
    adversary = Adversary(settings)
  }

  public mutating func prepare(_ start: StartCondition) throws(LabFault) -> LockKey? {
    let key = try wrapped.prepare(start)
    adversary.startOver(onSameLock: wrapped.abilities.keepsState)
    pending = []
    return key
  }

  public mutating func disconnect() throws(LabFault) {
    adversary.hearDisconnection()
    try wrapped.disconnect()
  }

  public mutating func send(_ frame: [UInt8]) throws(LabFault) { try carryOut(adversary.send(frame)) }

  public mutating func next(until limit: Instant) throws(LabFault) -> LinkEvent? {
    let event = try wrapped.next(until: limit)
    if let event { adversary.hear(event) }
    return event
  }

  /// Has him meddle.
  public mutating func bring(about interference: Interference) throws(LabFault) {
    try carryOut(adversary.bring(about: interference))
  }

  /// What he put on the air since this was last asked, and what the client's end is to hear, in order.
  public mutating func takeActions() -> [Adversary.Action] {
    defer { pending = [] }
    return pending
  }

  private mutating func carryOut(_ actions: [Adversary.Action]) throws(LabFault) {
    pending = pending.isEmpty ? actions : pending + actions
    for case .send(let frame) in actions { try wrapped.send(frame) }
  }
}
