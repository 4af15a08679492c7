import SesameDevice
import Bluetooth
import Conformance
import Sesame
import Basics

/// Makes a new lock for each test from a specification and a seed: always the same one, regardless of earlier
/// tests.
struct LockFactory: Sendable {
  /// The specification of the lock.
  let specification: EmulatedLockSpecification
  let seed: UInt64
  let identity: LockIdentity
  /// The owner of the lock if it is registered.
  let owner: SecretKey

  init(_ specification: EmulatedLockSpecification, seed: UInt64) {
    self.specification = specification
    self.seed = seed
    var source = SeededGenerator(seed: seed, for: "lock identity")
    identity = LockIdentity(
      for: specification.model.generation ?? .os3,
      erLength: specification.options.erLength == .sixteen ? 16 : 32, drawingFrom: &source)
    owner = source.secretKey()
  }

  /// The start settings that can be established.
  static let settings = ["registered", "configured", "bolt", "battery", "jam"]

  /// The key of the registered lock.
  var key: LockKey { key(of: owner) }

  /// The key of the lock with an owner.
  func key(of owner: SecretKey) -> LockKey {
    LockKey(
      deviceID: identity.deviceID, secret: owner,
      lockPublicKey: specification.model.generation == .os2 ? identity.keyPair.publicKey : nil)
  }

  /// A new lock without an owner.
  func lock() -> EmulatedLock { lock(owner: nil, positions: nil, rest: .locked) }

  /// A new lock in a start condition, and the key of its owner.
  ///
  /// `registered` and `configured` are `yes` by default; `bolt` is `locked`, `unlocked` or `moved`; `battery` is in
  /// volts; `jam` blocks the bolt.
  func lock(in start: StartCondition) throws(LabFault) -> (lock: EmulatedLock, key: LockKey?) {
    try EmulatedLockSpecification.check(start)
    for setting in start.settings { try StartSettings.check(setting) }
    let isRegistered = start.flag("registered") ?? true
    let isConfigured = isRegistered && start.flag("configured") ?? true
    var lock = lock(
      owner: isRegistered ? owner : nil, positions: isConfigured ? .quarterTurn : nil,
      rest: start.setting("bolt").flatMap { BoltState(rawValue: $0.description) } ?? .locked)
    if let volts = start.setting("battery")?.volts { lock.replaceBattery(volts: volts) }
    // No connected client must be notified, and a jam does not change the advertisement.
    if start.flag("jam") ?? false { _ = lock.jam(true, at: .zero) }
    return (lock, isRegistered ? key : nil)
  }

  private func lock(owner: SecretKey?, positions: BoltPositions?, rest: BoltState) -> EmulatedLock {
    EmulatedLock(
      model: specification.model, identity: identity, options: specification.options,
      defects: specification.defects, owner: owner, positions: positions, rest: rest,
      secrets: SeededGenerator(seed: seed, for: "lock"))
  }
}

extension SeededGenerator {
  /// Draws a key.
  mutating func secretKey() -> SecretKey {
    SecretKey(UUID128(high: next(), low: next()))
  }

  /// Whether an event of a probability happens; a probability of zero draws no random number.
  mutating func happens(_ probability: Double) -> Bool {
    probability > 0 && Double(next() >> 11) * 0x1p-53 < probability
  }
}
