/// A family of locks as whoever looks after one knows it: what its stimuli ask for, what its statuses say, what moves its
/// motor, and what has to be allowed by name.
///
/// Who spares a motor, parks a lock or checks its health knows of a family by this alone.
public struct LockFamily: Sendable {
  /// What a stimulus asks a lock for.
  public enum Request: Sendable {
    /// To be heard, to be connected to, and to be left.
    case listen, connect, leave
    /// To turn its bolt to a position, or to the other one.
    case lock, unlock, toggle
    /// What somebody else asks for, or somebody asks again: a lock with a bug obeys.
    case forge
    /// To get an owner, to set its positions, to forget both.
    case register, configure, reset
    case setAutolock, readAutolock, readHistory
  }

  /// What a status says of a lock, and where its bolt rests.
  public enum Condition: String, Sendable {
    /// Not to be heard, heard, being connected to, and being shown the owner's key.
    case away, heard, underWay, proving
    /// Without an owner, and getting one.
    case ownerless, registering
    /// In a session, without positions and with them.
    case unset, locked, unlocked, moved
    /// It forgot its owner.
    case forgotten

    /// Those that say how the lock is.
    public static let settled = [locked, unlocked, moved, unset, ownerless]
    /// Those in which a bolt rests that has positions.
    public static let rests = [locked, unlocked, moved]
  }

  /// The machine that a lock of the family is compared with.
  public var machine: String
  /// The stimuli that a client gives by itself, with what they ask for, where that matters to who looks after a lock.
  public var stimuli: [(name: String, request: Request?)]
  /// The statuses; several may say the same.
  public var statuses: [(name: String, condition: Condition)]
  /// The faults by which somebody else may have asked something of a lock: one with a bug obeys.
  public var hostileFaults: [String]
  /// The fault by which the client has a wrong key.
  public var wrongKey: String
  /// The faults that change nothing but what a client knows, or that are messages of their own.
  public var misbehaviours: [String]
  /// The faults that something sent later suffers from.
  public var flaws: [String]
  /// What a fault asks for whose value begins with a word.
  public var subjects: [(word: String, request: Request)]

  /// Describes a family.
  public init(
    machine: String, stimuli: [(name: String, request: Request?)],
    statuses: [(name: String, condition: Condition)], hostileFaults: [String], wrongKey: String,
    misbehaviours: [String], flaws: [String], subjects: [(word: String, request: Request)]
  ) {
    self.machine = machine
    self.stimuli = stimuli
    self.statuses = statuses
    self.hostileFaults = hostileFaults
    self.wrongKey = wrongKey
    self.misbehaviours = misbehaviours
    self.flaws = flaws
    self.subjects = subjects
  }
}

extension LockFamily.Request {
  /// Whether it sets the motor in motion whenever it is given; autolock does so once it is on.
  public var movesMotor: Bool {
    switch self {
    case .lock, .unlock, .toggle, .forge, .configure: true
    case .listen, .connect, .leave, .register, .reset, .setAutolock, .readAutolock, .readHistory: false
    }
  }

  /// Whether it ends in one of two positions, unless something is in the way.
  public var isTurn: Bool { [.lock, .unlock, .toggle].contains(self) }

  /// What turns a bolt to a position: `locked` or `unlocked`.
  public static func turn(to goal: String) -> Self { goal == "locked" ? .lock : .unlock }
}

extension LockFamily {
  /// What changes what a lock is, and has to be allowed by name.
  public var guarded: [String] {
    [Request.reset, .register, .configure].flatMap { request in
      stimuli.filter { $0.request == request }.map(\.name)
    }
  }

  /// What a stimulus asks for; `nil` for what is all the same to who looks after a lock.
  public func request(named name: String) -> Request? { stimuli.first { $0.name == name }?.request }

  /// The stimulus that asks for something.
  public func name(of request: Request) -> String {
    guard let known = stimuli.first(where: { $0.request == request }) else {
      preconditionFailure("nothing asks for this in the family of \(machine)")
    }
    return known.name
  }

  /// What a status says; `nil` for one that is none of the family's.
  public func condition(named name: String) -> Condition? { statuses.first { $0.name == name }?.condition }

  /// The statuses that say one of some things.
  public func names(of conditions: [Condition]) -> [String] {
    conditions.flatMap { condition in statuses.filter { $0.condition == condition }.map(\.name) }
  }

  /// The stimulus that has to be allowed before a fault may be brought about, since a lock with a bug may do the same.
  public func permission(for fault: Fault) -> String? { subject(of: fault).map(name) }

  /// What a lock with a bug may do when a fault is brought about, of what has to be allowed.
  public func subject(of fault: Fault) -> Request? {
    guard hostileFaults.contains(fault.name) || fault.name == wrongKey else { return nil }
    let word = fault.value.description.prefix { $0 != " " && $0 != "-" }
    return subjects.first { $0.word == word }?.request
  }
}
