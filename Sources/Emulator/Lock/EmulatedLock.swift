public import Bluetooth
public import Sesame
public import Basics

/// A lock of either generation, from its radio's point of view: Sesame 3, 4, 5 or 5 Pro.
///
///          power                connected           subscribed            login, registration
///     off ◀─────▶ advertising ────────────▶ connected ────────▶ waiting ───────────────────▶ open
///                    ▲  ▲                       │                  │                          │  │ reset
///                    │  └───── disconnected ────┴──────────────────┴──────────────────────────┘  ▼
///                    └───────────────────────────── restarting ◀── disconnected ── restartPending
///
/// ``LockOptions`` selects the behaviour where the sources disagree, and ``LockDefects`` adds deliberate defects. A
/// lock without defects behaves as section 13 of the Sesame protocol reference specifies:
///
/// - A connection begins with a new token. The lock answers only those requests in clear that open a session; it
///   ignores all others, and ciphertext before there is a session.
/// - A message that does not authenticate is ignored, and the counter stays. A message without an item is ignored;
///   one with invalid data is answered with *invalid format*, an unknown one with *not supported*.
/// - A false proof, a login to a lock without an owner, and ten seconds without a login end the link.
/// - `lock` and `unlock` are answered at once; statuses report when the motor starts, when the bolt comes into the
///   range of its goal and when it rests. Before the positions are set, they are an *invalid action*.
/// - A reset is answered, deletes owner, positions, autolock delay and history, and restarts the lock.
///
/// The type does no I/O and reads no clock: feed it what happened and when, then carry out the actions it returns, in
/// order, before feeding it anything else. No bytes from a peer can stop it.
public struct EmulatedLock: Sendable {
  /// What the caller must do next.
  public enum Action: Equatable, Sendable {
    /// Notify the client of these bytes, one frame.
    case notify([UInt8])
    /// End the link with a reason, an error code of the Core Specification (Vol 1 Part F), as seen by the
    /// client. The caller reports the end with ``EmulatedLock/disconnected(reason:at:)`` like any other.
    case disconnect(reason: UInt8)
    /// ``EmulatedLock/advertisement`` has changed.
    case advertisingChanged
  }

  /// The product.
  public let model: ProductModel
  /// The manufactured identity.
  public let identity: LockIdentity
  /// The options.
  public let options: LockOptions
  /// The defects.
  public let defects: LockDefects

  let generation: Generation
  var state = State.advertising
  var bolt: Bolt
  var battery: LockBattery
  var clock: LockClock
  var history: LockHistory
  var storage: Storage
  var memory = Memory()
  /// How often the motor started or reversed.
  public internal(set) var motorStarts = 0
  /// When autolock locks, if its timer runs.
  var autolockDue: Instant?
  var reassembler: Reassembler
  /// How many bytes a notification carries on this connection.
  var capacity = Segmenter.defaultFrameSize
  var actions: [Action] = []
  var secrets: any SecretSource & Sendable

  /// Makes a lock that has power and no connection, with its bolt at rest.
  ///
  /// - Parameters:
  ///   - model: one of ``models``.
  ///   - owner: the secret key of the owner, OS2's owner key or OS3's device secret; `nil` for a lock without
  ///     one.
  ///   - positions: the positions, if they were set.
  ///   - rest: the angle of the bolt.
  ///   - secrets: the source of tokens.
  public init(
    model: ProductModel, identity: LockIdentity, options: LockOptions = LockOptions(),
    defects: LockDefects = [], owner: SecretKey? = nil, positions: BoltPositions? = nil,
    rest: BoltState = .locked, secrets: any SecretSource & Sendable
  ) {
    guard Self.models.contains(model), let generation = model.generation else {
      preconditionFailure("no lock of this model can be emulated")
    }
    self.model = model
    self.generation = generation
    self.identity = identity
    self.options = options
    self.defects = defects
    self.secrets = secrets
    bolt = Bolt(
      at: (positions ?? .quarterTurn).angle(of: rest), positions: positions, travelTime: options.motor,
      patience: options.patience)
    battery = LockBattery(
      volts: options.battery, sag: options.sag, wraps: defects.contains(.batteryWrapsAtZero))
    let isFast = defects.contains(.recordTimeLost) || defects.contains(.clockNeverSetBack)
    clock = LockClock(unix: options.epoch &+ (isFast ? 3600 : 0), drift: options.drift)
    history = LockHistory(capacity: options.historyCapacity)
    storage = Storage(owner: owner)
    reassembler = Reassembler(policy: options.receiver, limit: Self.longestMessage)
  }

  /// The models that can be emulated.
  public static let models: [ProductModel] = [.sesame3, .sesame4, .sesame5, .sesame5Pro]

  /// The longest message that a lock assembles, in bytes; libsesame3bt has the same limit.
  static let longestMessage = 256
  /// How long after the response to a reset the lock ends the link and restarts, if the client has not
  /// disconnected.
  static let resetDelay = Interval.milliseconds(500)
}

extension EmulatedLock {
  /// The advertisement; `nil` while the lock does not advertise.
  public var advertisement: Advertisement? {
    guard case .advertising = state else { return nil }
    return Advertisement(
      model: model, isRegistered: isRegistered, hasHistory: generation == .os3 && !history.isEmpty,
      deviceID: identity.deviceID)
  }

  /// The data of the advertisement and of the scan response.
  public var advertisingData: (advertisement: AdvertisingData, scanResponse: AdvertisingData)? {
    guard let advertisement else { return nil }
    guard generation == .os2 else { return (advertisement.advertisingData, advertisement.scanResponse) }
    switch options.name {
    case .scanResponse: return (advertisement.advertisingData, advertisement.scanResponse)
    case .absent: return (advertisement.advertisingData, AdvertisingData())
    case .advertisement:
      // The name and the manufacturer data fill an advertisement of 31 bytes.
      let structures = advertisement.advertisingData.structures.filter { $0.type == .manufacturerData }
      return (AdvertisingData(structures + advertisement.scanResponse.structures), AdvertisingData())
    }
  }

  /// Whether the lock has an owner.
  public var isRegistered: Bool { storage.owner != nil }

  /// Whether its positions were set.
  public var isConfigured: Bool { bolt.positions != nil }

  /// Whether a session is open.
  public var isOpen: Bool {
    if case .open = state { true } else { false }
  }

  /// Whether the motor runs.
  public var isMoving: Bool { bolt.isRunning }

  /// The angle of the bolt.
  public func angle(at now: Instant) -> BoltAngle { bolt.angle(at: now) }

  /// The voltage of the battery.
  public var volts: Double { battery.volts }

  /// When ``advance(to:)`` must next be called, or `nil` while nothing is awaited.
  public var deadline: Instant? {
    var next = autolockDue ?? .never
    if let event = bolt.nextEvent { next = min(next, event) }
    if let end = state.end { next = min(next, end) }
    return next == .never ? nil : next
  }
}

extension EmulatedLock {
  /// A client connected.
  ///
  /// A lock that does not advertise cannot be connected to: it ends the link at once.
  public mutating func connected(at now: Instant) -> [Action] {
    catchUp(to: now)
    guard case .advertising = state else { return take(.disconnect(reason: options.endReason.code)) }
    state = .connected
    capacity = Segmenter.defaultFrameSize
    reassembler.reset()
    actions.append(.advertisingChanged)
    return take()
  }

  /// A notification carries so many bytes from now on: the client has exchanged the MTU.
  public mutating func exchanged(capacity: Int) { self.capacity = capacity }

  /// The client turned notifications on.
  public mutating func subscribed(at now: Instant) -> [Action] {
    catchUp(to: now)
    if case .connected = state { beginOpening(at: now) }
    return take()
  }

  /// Receives a frame.
  public mutating func receive(_ frame: [UInt8], at now: Instant) -> [Action] {
    catchUp(to: now)
    receive(frame: frame, at: now)
    return take()
  }

  /// The link ended; the reason is an error code of the Core Specification (Vol 1 Part F).
  public mutating func disconnected(reason: UInt8, at now: Instant) -> [Action] {
    catchUp(to: now)
    endConnection(reason: reason, at: now)
    return take()
  }

  /// Lets time pass.
  public mutating func advance(to now: Instant) -> [Action] {
    catchUp(to: now)
    return take()
  }

  /// Removes and returns the actions, followed by one more.
  private mutating func take(_ last: Action? = nil) -> [Action] {
    if let last { actions.append(last) }
    defer { actions = [] }
    return actions
  }

  /// Performs everything that is due, in the order of its time.
  mutating func catchUp(to now: Instant) {
    while let due = deadline, due <= now {
      if bolt.nextEvent == due {
        advanceBolt(at: due)
      } else if autolockDue == due {
        autolock(at: due)
      } else {
        advanceState(at: due)
      }
    }
  }

  private mutating func advanceState(at now: Instant) {
    switch state {
    case .waiting, .restartPending:
      end()
    case .restarting:
      state = .advertising
      countAutolock(at: now)
      actions.append(.advertisingChanged)
    case .off, .advertising, .mute, .connected, .open, .ending:
      break
    }
  }
}

extension EmulatedLock {
  /// Cuts the power. Nothing is sent; the client notices by its supervision timeout.
  public mutating func cutPower(at now: Instant) -> [Action] {
    catchUp(to: now)
    guard state.hasPower else { return take() }
    endSession()
    bolt.cutPower(at: now)
    autolockDue = nil
    memory = Memory()
    state = .off
    return take(.advertisingChanged)
  }

  /// Restores the power.
  public mutating func restorePower(at now: Instant) -> [Action] {
    guard !state.hasPower else { return [] }
    if options.powerlessClock == .lost { clock.set(unix: 0, at: now) }
    state = .advertising
    countAutolock(at: now)
    return [.advertisingChanged]
  }

  /// Turns the bolt by hand, at once, whether or not the lock has power or the motor runs.
  public mutating func turnByHand(to position: BoltState, at now: Instant) -> [Action] {
    catchUp(to: now)
    turnBolt(to: position, at: now)
    return take()
  }

  /// Blocks the bolt halfway, or unblocks it.
  public mutating func jam(_ isJammed: Bool, at now: Instant) -> [Action] {
    catchUp(to: now)
    bolt.jam(isJammed, at: now)
    return take()
  }

  /// Inserts a battery of another voltage, from 0 to 1000 V. The next status shows it.
  public mutating func replaceBattery(volts: Double) {
    battery.replace(volts: volts)
  }

  /// Sets the lock's clock forward, or back by a negative interval.
  public mutating func shiftClock(by interval: Interval, at now: Instant) {
    clock.shift(by: interval, at: now)
  }
}

extension EmulatedLock.Action: CustomStringConvertible {
  /// The action as text.
  public var description: String {
    switch self {
    case .notify(let frame): "notify \(frame.hex)"
    case .disconnect(let reason): "disconnect, reason 0x\([reason].hex)"
    case .advertisingChanged: "advertising changed"
    }
  }
}
