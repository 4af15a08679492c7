public import Basics

/// The status that a client shows of its lock, from the vendor's documentation.
public enum ClientStatus: String, CaseIterable, Hashable, Sendable {
  /// Not received, or not searched for.
  case noSignal
  /// An advertisement was received.
  case receivedBle
  /// The link is being established.
  case connecting
  /// Connected; the service is being discovered, and the token is awaited.
  case waitingGatt
  /// The login is in progress.
  case logining
  /// Connected to a lock without an owner.
  case readytoRegister
  /// The registration is in progress.
  case registering
  /// A session is open, and the positions were never set.
  case nosetting
  /// A session is open, and the bolt rests in the lock range.
  case locked
  /// A session is open, and the bolt rests in the unlock range.
  case unlocked
  /// A session is open, and the bolt rests in neither range.
  case moved
  /// The lock deleted its owner.
  case reset

  /// The index in ``allCases``.
  public var number: Int {
    switch self {
    case .noSignal: 0
    case .receivedBle: 1
    case .connecting: 2
    case .waitingGatt: 3
    case .logining: 4
    case .readytoRegister: 5
    case .registering: 6
    case .nosetting: 7
    case .locked: 8
    case .unlocked: 9
    case .moved: 10
    case .reset: 11
    }
  }
}

/// A request of the client's user.
public enum ClientRequest: Equatable, Sendable {
  case closeTo
  case connect
  /// Registers as the owner, and logs in on the same connection if requested.
  case register(thenLogin: Bool = false)
  /// Sets the positions, in degrees; relative to the bolt's current position if requested.
  case configure(lock: Int, unlock: Int, isFromBolt: Bool = false)
  case lock(HistoryTag)
  case unlock(HistoryTag)
  case toggle(HistoryTag)
  case disconnect
  case reset
  case setAutolock(seconds: Int)
  case readAutolock
  case readHistory
  case readVersion
  case readStatus
  case setTime
}

extension ClientRequest {
  /// Whether a client can send it to a lock of a generation: an OS3 lock publishes its status by itself, and
  /// answers no query for it. The client knows the autolock delay from the lock's publishes.
  public func exists(in generation: Generation) -> Bool { self != .readStatus || generation == .os2 }
}

/// The deliberate misbehaviour of a client, to test whether its lock notices.
public struct ClientMisbehaviour: Equatable, Sendable {
  /// The false proof to send in place of the right one.
  public var falseProof: FalseProof?
  /// Whether it replays a login in place of its own.
  public var replaysLogin = false
  /// The login to replay, if one was recorded; otherwise the client sends a proof with a wrong secret.
  public var overheard: ShownLogin?

  /// Whether the client behaves correctly.
  var isNone: Bool { falseProof == nil && !replaysLogin }
}

/// What the caller must do next, in order.
public enum ClientAction: Equatable, Sendable {
  /// Start listening for advertisements.
  case listen
  /// Stop listening.
  case stopListening
  /// Connect to the lock.
  case connect
  /// End the connection.
  case disconnect
  /// Write a frame.
  case send([UInt8])
  /// The next frames are an input that no client sends.
  case inject(Injection)
  /// The lock reports at its registration that its positions are already set.
  case findPositions
  /// The status changed.
  case show(ClientStatus)
  /// A value was read.
  case report(ClientReading)
  /// The request was not carried out.
  case refuse(String)
  /// The lock broke a rule of its protocol.
  case reportViolation(ProtocolViolation)
  /// Store the key: the lock is registered with it.
  case keep(LockKey)
  /// Delete the key: the lock has forgotten it.
  case drop(LockKey)
}

/// The timeouts of a client. The vendor's client has none.
public struct ClientTimes: Equatable, Sendable {
  /// Between two advertisements, before the lock counts as absent.
  public var silence = Interval.seconds(10)
  /// For the link to be established.
  public var connecting = Interval.seconds(30)
  /// For the service to be found and the token to arrive.
  public var discovery = Interval.seconds(30)
  /// For a registration or a login to end.
  public var session = Interval.seconds(10)
  /// For the answer to a request.
  public var answer = Interval.seconds(5)
  /// For a bolt to rest whose motor runs according to the latest status.
  public var motion = Interval.seconds(6)
  /// For a status after positions were set, if an early one preceded the confirmation.
  public var settling = Interval.seconds(1)

  /// Makes the default timeouts.
  public init() {}
}

/// The positions of a bolt, in degrees.
public struct LockPositions: Equatable, Sendable {
  /// The lock position.
  public var lock: Int
  /// The unlock position.
  public var unlock: Int
}

/// The settings of a client.
public struct ClientSettings: Sendable {
  /// The timeouts.
  public var times = ClientTimes()
  /// The unix time at ``Basics/Instant/zero``, in seconds.
  public var epoch: UInt32
  /// The tag of its commands in the lock's history.
  public var tag: HistoryTag
  /// Whether the first history record that the client reads is shown as #1, whatever its number: the numbers of an
  /// old history are unpredictable.
  public var numbersRecordsFromOne = false
  /// The positions that `configure` sets, in degrees. They are so far apart that the ranges of an OS2 client,
  /// 53 degrees to each side, do not overlap.
  public var positions: (lock: Int, unlock: Int)

  /// Makes settings.
  public init(
    epoch: UInt32 = 1_700_000_000, tag: HistoryTag = .text("Lockstep", for: .os2),
    positions: (lock: Int, unlock: Int) = (0, 120)
  ) {
    self.epoch = epoch
    self.tag = tag
    self.positions = positions
  }
}
