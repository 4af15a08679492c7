public import Basics
public import Bluetooth
public import Conformance
public import Sesame

/// A link around another link, which forwards everything that it does not change.
///
/// All requirements of ``LockLink`` are implemented here, so that no default implementation can hide one.
public protocol LinkLayer: LockLink {
  /// The type of the inner link.
  associatedtype Wrapped: LockLink
  /// The inner link.
  var wrapped: Wrapped { get set }
}

extension LinkLayer {
  /// Read several times per event: inlined, the getter reads the clock in place; otherwise it would copy the whole
  /// layer.
  @inline(__always)
  public var now: Instant { wrapped.now }
  public var abilities: Abilities { wrapped.abilities }
  public var generation: Generation? { wrapped.generation }
  public var isKeySure: Bool { wrapped.isKeySure }

  public mutating func prepare(_ start: StartCondition) throws(LabFault) -> LockKey? {
    try wrapped.prepare(start)
  }
  public mutating func listen() throws(LabFault) { try wrapped.listen() }
  public mutating func stopListening() throws(LabFault) { try wrapped.stopListening() }
  public mutating func connect() throws(LabFault) { try wrapped.connect() }
  public mutating func disconnect() throws(LabFault) { try wrapped.disconnect() }
  public mutating func send(_ frame: [UInt8]) throws(LabFault) { try wrapped.send(frame) }
  public mutating func next(until limit: Instant) throws(LabFault) -> LinkEvent? {
    try wrapped.next(until: limit)
  }
  public mutating func perform(_ stimulus: String, _ arguments: [Argument]) throws(LabFault) {
    try wrapped.perform(stimulus, arguments)
  }
  public mutating func bring(about fault: Fault) throws(LabFault) { try wrapped.bring(about: fault) }
  public mutating func keep(_ key: LockKey) throws(LabFault) { try wrapped.keep(key) }
  public mutating func drop(_ key: LockKey) throws(LabFault) { try wrapped.drop(key) }
  public mutating func restart() throws(LabFault) { try wrapped.restart() }
  public mutating func takeDiagnostics() -> [String] { wrapped.takeDiagnostics() }
  public mutating func record(to recorder: PacketRecorder?) -> Bool { wrapped.record(to: recorder) }
}
