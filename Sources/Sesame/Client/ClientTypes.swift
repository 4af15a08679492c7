public import Basics

/// What a client shows of its lock: the statuses of the vendor's documentation.
public enum ClientStatus: String, CaseIterable, Hashable, Sendable {
  /// Out of sight, or not looked for.
  case noSignal
  /// Heard.
  case receivedBle
  /// Being connected.
  case connecting
  /// Connected; the lock's service is being found, and its token is awaited.
  case waitingGatt
  /// Proving that the client has the key.
  case logining
  /// Connected to a lock that has no owner.
  case readytoRegister
  /// Becoming its owner.
  case registering
  /// Open, and its positions were never set.
  case nosetting
  /// Open, and the bolt rests in the range of locked.
  case locked
  /// Open, and the bolt rests in the range of unlocked.
  case unlocked
  /// Open, and the bolt rests in neither range.
  case moved
  /// The lock forgot its owner.
  case reset

  /// The place in ``allCases``.
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

/// What a user of the client can ask for.
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
  /// Whether a client can ask a lock of a generation for it: an OS3 lock tells its status by itself, and answers no question
  /// about it. How its autolock is set the client knows from what the lock has published.
  public func exists(in generation: Generation) -> Bool { self != .readStatus || generation == .os2 }
}

/// How a client misbehaves on purpose, to see whether its lock notices.
public struct ClientMisbehaviour: Equatable, Sendable {
  /// What it shows in place of its proof.
  public var falseProof: FalseProof?
  /// Whether it sends a login again in place of its own.
  public var replaysLogin = false
  /// The login to replay, if one was overheard; otherwise the client proves itself with a wrong secret.
  public var overheard: ShownLogin?

  /// Whether it proves itself as it should.
  var isNone: Bool { falseProof == nil && !replaysLogin }
}

/// What the caller must do next, in order.
public enum ClientAction: Equatable, Sendable {
  /// Begin to listen for advertisements.
  case listen
  /// End listening.
  case stopListening
  /// Connect to the lock.
  case connect
  /// End the connection.
  case disconnect
  /// Write a frame.
  case send([UInt8])
  /// What is written next is what no client says.
  case inject(Injection)
  /// The lock says at its registration that its positions are set: it was made so, or its last owner did it.
  case findPositions
  /// The status changed.
  case show(ClientStatus)
  /// A value was read.
  case report(ClientReading)
  /// The request was not carried out.
  case refuse(String)
  /// The lock broke a rule of its protocol.
  case reportViolation(ProtocolViolation)
  /// Keep the key: the lock is registered with it.
  case keep(LockKey)
  /// Drop the key: the lock has forgotten it.
  case drop(LockKey)
}

/// How long a client waits. The vendor's client waits for ever.
public struct ClientTimes: Equatable, Sendable {
  /// From one advertisement to the next, before the lock counts as out of sight.
  public var silence = Interval.seconds(10)
  /// For the link to come up.
  public var connecting = Interval.seconds(30)
  /// For the service to be found and the token to arrive.
  public var discovery = Interval.seconds(30)
  /// For a registration or a login to end.
  public var session = Interval.seconds(10)
  /// For the answer to a request.
  public var answer = Interval.seconds(5)
  /// For a bolt to rest whose motor runs according to the latest status.
  public var motion = Interval.seconds(6)
  /// For a status that follows positions which were set, where one came before the lock had told that they are set.
  public var settling = Interval.seconds(1)

  /// Makes the usual times.
  public init() {}
}

/// Where a bolt is locked and unlocked, in degrees.
public struct LockPositions: Equatable, Sendable {
  /// Where it is locked.
  public var lock: Int
  /// Where it is unlocked.
  public var unlock: Int
}

/// What a client needs to know before it begins.
public struct ClientSettings: Sendable {
  /// How long it waits.
  public var times = ClientTimes()
  /// The unix time at ``Basics/Instant/zero``, in seconds.
  public var epoch: UInt32
  /// The note that its commands leave in the lock's history.
  public var tag: HistoryTag
  /// Whether the first history record that the client reads is shown as #1, whatever its number: the numbers of an
  /// old history are unpredictable.
  public var numbersRecordsFromOne = false
  /// The positions that `configure` sets, in degrees: so far apart that the ranges which an OS2 client sets
  /// around them, 53 degrees to each side, do not overlap.
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
