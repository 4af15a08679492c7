/// A family of locks as whoever looks after one knows it: what its stimuli ask for, what its statuses say, what moves its
/// motor, and what has to be allowed by name.
///
/// Who spares a motor, parks a lock or checks its health knows of a family by this alone. Whoever can do that with a lock at
/// all has the stimuli of ``required`` and the statuses of ``requiredConditions``; all else is what a family may have.
///
/// | it has no | so |
/// |---|---|
/// | `register`, `reset` and status of an owner | its locks have one, always |
/// | `configure` and status `unset` | its locks have positions, always |
/// | `setAutolock` | what a lock does by itself cannot be switched off: it is counted when it is seen |
/// | `readHistory` | nobody knows what is in it |
public struct LockFamily: Sendable {
  /// What a stimulus asks a lock for.
  public enum Request: String, CaseIterable, Sendable {
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
  public enum Condition: String, CaseIterable, Sendable {
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
  public let machine: String
  /// The stimuli that a client gives by itself, with what they ask for, where that matters to who looks after a lock.
  public let stimuli: [(name: String, request: Request?)]
  /// The statuses; several may say the same.
  public let statuses: [(name: String, condition: Condition)]
  /// The faults by which somebody else may have asked something of a lock: one with a bug obeys.
  public let hostileFaults: [String]
  /// The fault by which the client has a wrong key, where there is one.
  public let wrongKey: String?
  /// The faults that change nothing but what a client knows, or that are messages of their own.
  public let misbehaviours: [String]
  /// The faults that something sent later suffers from.
  public let flaws: [String]
  /// What a fault asks for whose value begins with a word.
  public let subjects: [(word: String, request: Request)]
  /// How full a battery of so many volts is, in percent; `nil` where a lock says that by itself.
  public let charge: (@Sendable (_ volts: Double) -> Int)?
  /// The event of the machine that stands for a bolt which moves though nobody was seen to ask for it, where it has one.
  public let unasked: String?

  /// Describes a family.
  ///
  /// - Throws: what is missing without which no lock can be looked after.
  public init(
    machine: String, stimuli: [(name: String, request: Request?)],
    statuses: [(name: String, condition: Condition)], hostileFaults: [String] = [], wrongKey: String? = nil,
    misbehaviours: [String] = [], flaws: [String] = [], subjects: [(word: String, request: Request)] = [],
    charge: (@Sendable (_ volts: Double) -> Int)? = nil, unasked: String? = nil
  ) throws(Incomplete) {
    self.machine = machine
    self.stimuli = stimuli
    self.statuses = statuses
    self.hostileFaults = hostileFaults
    self.wrongKey = wrongKey
    self.misbehaviours = misbehaviours
    self.flaws = flaws
    self.subjects = subjects
    self.charge = charge
    self.unasked = unasked
    let problems = self.problems
    guard problems.isEmpty else { throw Incomplete(machine: machine, problems: problems) }
  }
}

extension LockFamily {
  /// What every lock is asked for by who looks after it.
  public static let required: [Request] = [.listen, .connect, .lock, .unlock, .leave]
  /// What every lock says to who looks after it.
  public static let requiredConditions: [Condition] = [.away, .heard, .locked, .unlocked]

  /// Why no lock of a family can be looked after, for who described it.
  public struct Incomplete: Error, Equatable, Sendable, CustomStringConvertible {
    /// The machine of the family.
    public var machine: String
    /// What is wrong, a sentence each.
    public var problems: [String]

    /// All of it in one sentence.
    public var description: String {
      "no lock of the machine \(machine) can be looked after: " + problems.joined(separator: "; ")
    }
  }

  /// What is missing, or means nothing.
  private var problems: [String] {
    var problems: [String] = []
    func list(_ words: [String]) -> String { words.joined(separator: ", ") }
    let requests = Self.required.filter { !has($0) }.map(\.rawValue)
    if !requests.isEmpty { problems.append("no stimulus asks for \(list(requests))") }
    let conditions = Self.requiredConditions.filter { names(of: [$0]).isEmpty }.map(\.rawValue)
    if !conditions.isEmpty { problems.append("no status says \(list(conditions))") }
    for (kind, names) in [("stimulus", stimuli.map(\.name)), ("status", statuses.map(\.name))] {
      if names.contains("") { problems.append("a \(kind) has no name") }
      for (index, name) in names.enumerated() where names[..<index].contains(name) {
        problems.append("the \(kind) \(name) is there twice")
      }
    }
    if has(.setAutolock), !has(.readAutolock) {
      problems.append("what setAutolock sets cannot be put back, since no stimulus asks for readAutolock")
    }
    // A lock with a bug would do what nobody could allow, or forbid.
    for (word, request) in subjects where !has(request) {
      problems.append("a fault may ask for \(request.rawValue) (\(word)), and no stimulus does")
    }
    return problems
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
  public var isTurn: Bool { Self.turns.contains(rawValue) }

  /// What asks for a turn, by the usual names of the stimuli.
  public static let turns = [Self.lock, .unlock, .toggle].map(\.rawValue)

  /// What turns a bolt to a position: `locked` or `unlocked`.
  public static func turn(to goal: String) -> Self { goal == "locked" ? .lock : .unlock }
}

extension LockFamily {
  /// What changes what a lock is, and has to be allowed by name.
  public var guarded: [String] {
    [Request.reset, .register, .configure].flatMap(names)
  }

  /// What a stimulus asks for; `nil` for what is all the same to who looks after a lock.
  public func request(named name: String) -> Request? { stimuli.first { $0.name == name }?.request }

  /// The stimulus that asks for something, where there is one; for all of ``required`` there is.
  public func name(of request: Request) -> String? { names(of: request).first }

  /// The stimuli that ask for something.
  public func names(of request: Request) -> [String] {
    stimuli.filter { $0.request == request }.map(\.name)
  }

  /// Whether a stimulus asks for something.
  public func has(_ request: Request) -> Bool { name(of: request) != nil }

  /// Whether a lock may have an owner or none, as far as anybody can tell.
  public var hasOwners: Bool {
    has(.register) || has(.reset) || !names(of: [.ownerless, .registering, .forgotten]).isEmpty
  }

  /// Whether a lock may have positions or none.
  public var hasPositions: Bool { has(.configure) || !names(of: [.unset]).isEmpty }

  /// The settings of a start that a client can bring a lock to.
  public var startSettings: [String] {
    (hasOwners ? ["registered"] : []) + (hasPositions ? ["configured"] : []) + ["bolt"]
      + (has(.readHistory) ? ["history"] : [])
  }

  /// How full a battery is, in percent, by what a lock says of it; `nil` where that is no measure.
  public func percent(ofBattery value: Value) -> Int? {
    switch (value, charge) {
    case (.number(let volts), let charge?): charge(volts)
    case (.number(let percent), nil): percent.isFinite ? Int(min(max(percent, 0), 100)) : nil
    case (.integer(let percent), nil): min(max(percent, 0), 100)
    case (.integer, _?), (.flag, _), (.duration, _), (.text, _): nil
    }
  }

  /// What a status says; `nil` for one that is none of the family's.
  public func condition(named name: String) -> Condition? { statuses.first { $0.name == name }?.condition }

  /// The statuses that say one of some things.
  public func names(of conditions: [Condition]) -> [String] {
    conditions.flatMap { condition in statuses.filter { $0.condition == condition }.map(\.name) }
  }

  /// The stimulus that has to be allowed before a fault may be brought about, since a lock with a bug may do the same.
  public func permission(for fault: Fault) -> String? { subject(of: fault).flatMap(name) }

  /// What a lock with a bug may do when a fault is brought about, of what has to be allowed.
  public func subject(of fault: Fault) -> Request? {
    guard hostileFaults.contains(fault.name) || fault.name == wrongKey else { return nil }
    let word = fault.value.description.prefix { $0 != " " && $0 != "-" }
    return subjects.first { $0.word == word }?.request
  }
}
