public import Basics

/// A lock family: what its stimuli request, what its statuses report, which of them move the motor, and which need a
/// permission.
///
/// The interlock, parking and health checks know a family by this description alone. A managed lock needs the stimuli
/// of ``required`` and the statuses of ``requiredConditions``; everything else is optional.
///
/// | the family lacks | consequence |
/// |---|---|
/// | `register`, `reset` and status of an owner | its locks always have an owner |
/// | `configure` and status `unset` | its locks always have positions |
/// | `setAutolock` | autonomous movements cannot be switched off: they are counted when they are seen |
/// | `readHistory` | the contents of the history are unknown |
public struct LockFamily: Sendable {
  /// What a stimulus requests of a lock.
  public enum Request: String, CaseIterable, Sendable {
    /// Listen for the lock, connect to it, and disconnect.
    case listen, connect, leave
    /// Turn its bolt to a position, or to the other one.
    case lock, unlock, toggle
    /// A third party's request, or a replayed one: a defective lock obeys it.
    case forge
    /// Give it an owner, set its positions, discard both.
    case register, configure, reset
    case setAutolock, readAutolock, readHistory
  }

  /// What a status reports of a lock and the position of its bolt.
  public enum Condition: String, CaseIterable, Sendable {
    /// Not heard, heard, connecting, and authenticating with the owner's key.
    case away, heard, underWay, proving
    /// Without an owner, and registering one.
    case ownerless, registering
    /// In a session, without positions or with them.
    case unset, locked, unlocked, moved
    /// The lock has discarded its owner.
    case forgotten

    /// The conditions that report the lock's state.
    public static let settled = [locked, unlocked, moved, unset, ownerless]
    /// The conditions in which the bolt of a configured lock rests.
    public static let rests = [locked, unlocked, moved]
  }

  /// The machine that is the model of the family's locks.
  public let machine: String
  /// The client's own stimuli, with their requests; `nil` for one that does not concern the management of a lock.
  public let stimuli: [(name: String, request: Request?)]
  /// The statuses; several may report the same condition.
  public let statuses: [(name: String, condition: Condition)]
  /// The faults with which a third party may have requested something: a defective lock obeys them.
  public let hostileFaults: [String]
  /// The fault that gives the client a wrong key, if there is one.
  public let wrongKey: String?
  /// The faults that change only the client's knowledge, or are messages of their own.
  public let misbehaviours: [String]
  /// The faults that take effect on a later message.
  public let flaws: [String]
  /// The request of a fault whose value begins with a word.
  public let subjects: [(word: String, request: Request)]
  /// Converts a battery voltage to a charge in percent; `nil` if the lock reports percent.
  public let charge: (@Sendable (_ volts: Double) -> Int)?
  /// The machine's event for a bolt that moves without a request from the tester, if it has one.
  public let unrequestedMove: String?

  /// Describes a family.
  ///
  /// - Throws: ``Incomplete``, with every problem that prevents the management of such a lock.
  public init(
    machine: String, stimuli: [(name: String, request: Request?)],
    statuses: [(name: String, condition: Condition)], hostileFaults: [String] = [], wrongKey: String? = nil,
    misbehaviours: [String] = [], flaws: [String] = [], subjects: [(word: String, request: Request)] = [],
    charge: (@Sendable (_ volts: Double) -> Int)? = nil, unrequestedMove: String? = nil
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
    self.unrequestedMove = unrequestedMove
    let problems = self.problems
    guard problems.isEmpty else { throw Incomplete(machine: machine, problems: problems) }
  }
}

extension LockFamily {
  /// The requests that the management of a lock needs.
  public static let required: [Request] = [.listen, .connect, .lock, .unlock, .leave]
  /// The conditions that the management of a lock needs.
  public static let requiredConditions: [Condition] = [.away, .heard, .locked, .unlocked]

  /// Why locks of a family cannot be managed, for the author of its description.
  public struct Incomplete: Error, Equatable, Sendable, CustomStringConvertible {
    /// The machine of the family.
    public var machine: String
    /// The problems, a sentence each.
    public var problems: [String]

    /// All problems in one sentence.
    public var description: String {
      "no lock of the machine \(machine) can be managed: " + problems.joined(separator: "; ")
    }
  }

  /// The missing and the meaningless parts of the description.
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
    // A defective lock would do something that no permission covers.
    for (word, request) in subjects where !has(request) {
      problems.append("a fault may ask for \(request.rawValue) (\(word)), and no stimulus does")
    }
    return problems
  }
}

extension LockFamily {
  /// The stimuli that change a lock's state permanently and need a permission.
  public var guarded: [String] {
    [Request.reset, .register, .configure].flatMap(names)
  }

  /// Returns the request of a stimulus; `nil` for one that does not concern the management of a lock.
  public func request(named name: String) -> Request? { stimuli.first { $0.name == name }?.request }

  /// Returns the stimulus for a request; `nil` if there is none. Every one of ``required`` has one.
  public func name(of request: Request) -> String? { names(of: request).first }

  /// Returns the stimuli for a request.
  public func names(of request: Request) -> [String] {
    stimuli.filter { $0.request == request }.map(\.name)
  }

  /// Returns whether there is a stimulus for a request.
  public func has(_ request: Request) -> Bool { name(of: request) != nil }

  /// Whether a lock may be with or without an owner, as far as the vocabulary shows.
  public var hasOwners: Bool {
    has(.register) || has(.reset) || !names(of: [.ownerless, .registering, .forgotten]).isEmpty
  }

  /// Whether a lock may be with or without positions.
  public var hasPositions: Bool { has(.configure) || !names(of: [.unset]).isEmpty }

  /// The settings of a start that a client can establish.
  public var startSettings: [String] {
    (hasOwners ? ["registered"] : []) + (hasPositions ? ["configured"] : []) + ["bolt"]
      + (has(.readHistory) ? ["history"] : [])
  }

  /// Converts a battery reading to a charge in percent; `nil` if it is not a measurement.
  public func percent(ofBattery value: Value) -> Int? {
    switch (value, charge) {
    case (.number(let volts), let charge?): charge(volts)
    case (.number(let percent), nil): percent.isFinite ? Int(min(max(percent, 0), 100)) : nil
    case (.integer(let percent), nil): min(max(percent, 0), 100)
    default: nil
    }
  }

  /// Returns the condition of a status; `nil` for a status of another vocabulary.
  public func condition(named name: String) -> Condition? { statuses.first { $0.name == name }?.condition }

  /// Returns the statuses that report one of several conditions.
  public func names(of conditions: [Condition]) -> [String] {
    conditions.flatMap { condition in statuses.filter { $0.condition == condition }.map(\.name) }
  }

  /// Returns the stimulus whose permission a fault needs, since a defective lock may do the same.
  public func permission(for fault: Fault) -> String? { subject(of: fault).flatMap(name) }

  /// Returns the guarded request that a defective lock may carry out when a fault is injected.
  public func subject(of fault: Fault) -> Request? {
    guard hostileFaults.contains(fault.name) || fault.name == wrongKey else { return nil }
    let word = fault.value.description.prefix { $0 != " " && $0 != "-" }
    return subjects.first { $0.word == word }?.request
  }
}
