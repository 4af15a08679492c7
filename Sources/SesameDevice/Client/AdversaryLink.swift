public import Basics
public import Conformance
public import Sesame

/// A link with a ``Sesame/Adversary`` on it, who sees every frame in both directions.
public struct AdversaryLink<Wrapped: LockLink>: LinkLayer {
  /// The link from the adversary to the lock.
  public var wrapped: Wrapped
  /// The adversary on the link.
  public internal(set) var adversary: Adversary
  private var pending: [Adversary.Action] = []

  /// Adds an adversary to a link.
  ///
  /// - Parameter settings: the settings of the client whose messages the adversary sees.
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

  /// Makes the adversary interfere.
  public mutating func bring(about interference: Interference) throws(LabFault) {
    try carryOut(adversary.bring(about: interference))
  }

  /// Takes the adversary's actions since the last call, on the air and towards the client, in order.
  public mutating func takeActions() -> [Adversary.Action] {
    defer { pending = [] }
    return pending
  }

  private mutating func carryOut(_ actions: [Adversary.Action]) throws(LabFault) {
    pending = pending.isEmpty ? actions : pending + actions
    for case .send(let frame) in actions { try wrapped.send(frame) }
  }
}
