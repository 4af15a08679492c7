public import Documents
public import Basics

/// What is to be driven in a night, and with what budgets.
///
/// It is read from a file of its own by ``init(_:name:)``. Suites are joined with the locks of a bench by tags: a suite
/// is for each lock that has all of its tags.
public struct NightPlan: Equatable, Sendable {
  /// What the night is called.
  public var name: String
  /// The path of the bench's description; `nil` where the command is to find it.
  public var bench: String?
  /// How long the night is: nothing is begun after it.
  public var duration: Interval
  /// How many movements all locks may make together; `nil` for any number.
  public var actuations: Int?
  /// How often anything may be tried again.
  public var retries: Int
  /// What is driven, in this order.
  public var suites: [Suite]
  /// What is done in the time that is left.
  public var fuzz: Fuzz?

  /// Scenarios, and the locks that they are for.
  public struct Suite: Equatable, Sendable {
    /// What it is called.
    public var name: String
    /// Files of scenarios, and folders of them.
    public var scenarios: [String]
    /// What a lock must be tagged with, all of it.
    public var tags: [String]
    /// How often each scenario is driven on each lock.
    public var rounds: Int
    /// How long a try of one may take.
    public var timeout: Interval
    /// How often one that diverges is tried again.
    public var retries: Int
    /// How many movements a try of one may cause.
    public var actuations: Int

    /// Makes a suite.
    public init(
      name: String, scenarios: [String], tags: [String] = [], rounds: Int = 1,
      timeout: Interval = .seconds(300), retries: Int = 0, actuations: Int = 100
    ) {
      self.name = name
      self.scenarios = scenarios
      self.tags = tags
      self.rounds = rounds
      self.timeout = timeout
      self.retries = retries
      self.actuations = actuations
    }
  }

  /// Fuzzing in the time that is left.
  public struct Fuzz: Equatable, Sendable {
    /// The machine that the locks are compared with.
    public var machine: String
    /// What a lock must be tagged with, all of it.
    public var tags: [String]
    /// How long one stretch is.
    public var stretch: Interval
    /// How many movements a stretch may cause.
    public var actuations: Int

    /// Makes a campaign.
    public init(
      machine: String, tags: [String] = [], stretch: Interval = .seconds(600), actuations: Int = 100
    ) {
      self.machine = machine
      self.tags = tags
      self.stretch = stretch
      self.actuations = actuations
    }
  }

  /// Makes a plan.
  public init(
    name: String, bench: String? = nil, duration: Interval, actuations: Int? = nil, retries: Int = 20,
    suites: [Suite], fuzz: Fuzz? = nil
  ) {
    self.name = name
    self.bench = bench
    self.duration = duration
    self.actuations = actuations
    self.retries = retries
    self.suites = suites
    self.fuzz = fuzz
  }
}

extension NightPlan {
  /// Reads a plan.
  ///
  /// - Parameters:
  ///   - bytes: the whole file.
  ///   - name: its path; the paths in it are relative to its folder.
  /// - Throws: everything that is wrong with it, each with its place.
  public init(_ bytes: [UInt8], name: String) throws(DocumentError) {
    self = try Document.read(bytes, name: name) { cursor in
      PlanReading(folder: Path.folder(of: name)).plan(cursor)
    }
  }

  /// The JSON Schema (draft-07) of a plan, as editors read it.
  public static var schema: JSON {
    Form.mapping(Key.allCases.map(\.field), others: nil).schema(
      title: "A nightly plan of Lockstep",
      summary: "Which scenarios are driven on which locks in a night, and with what budgets.")
  }
}

// MARK: - What may stand in it

extension NightPlan {
  fileprivate enum Key: String, CaseIterable {
    case nightly, bench, duration, actuations, retries, suites, fuzz
  }

  fileprivate enum SuiteKey: String, CaseIterable {
    case name, scenarios, tags
    case rounds = "repeat"
    case timeout = "case-timeout"
    case retries, actuations
  }

  fileprivate enum FuzzKey: String, CaseIterable {
    case machine, tags, stretch, actuations
  }

  fileprivate static let movements = 2...1_000_000
  fileprivate static let retries = 0...100
}

extension NightPlan.Key {
  fileprivate var field: Form.Field {
    switch self {
    case .nightly: .init(name: rawValue, form: .text, summary: "What the night is called.", isRequired: true)
    case .bench:
      .init(
        name: rawValue, form: .text,
        summary:
          "The description of the bench, from the folder of this file; what --bench says, or the usual one, "
          + "unless given.")
    case .duration:
      .init(
        name: rawValue, form: .duration, summary: "How long the night is: nothing is begun after it.",
        isRequired: true)
    case .actuations:
      .init(
        name: rawValue, form: .wholeNumber(NightPlan.movements),
        summary: "How many movements all locks may make together, the returns to rest included.")
    case .retries:
      .init(
        name: rawValue, form: .wholeNumber(0...100_000),
        summary: "How often anything may be tried again in the night; 20 unless given.")
    case .suites:
      .init(
        name: rawValue, form: .list(.record(NightPlan.SuiteKey.allCases.map(\.field), [])),
        summary: "What is driven, in this order.", isRequired: true)
    case .fuzz:
      .init(
        name: rawValue, form: .record(NightPlan.FuzzKey.allCases.map(\.field), []),
        summary: "What is fuzzed in the time that is left.")
    }
  }
}

extension NightPlan.SuiteKey {
  fileprivate var field: Form.Field {
    switch self {
    case .name: .init(name: rawValue, form: .text, summary: "What the suite is called.", isRequired: true)
    case .scenarios:
      .init(
        name: rawValue, form: .oneOrMore(.text),
        summary: "Files of scenarios and folders of them, from the folder of this file.", isRequired: true)
    case .tags:
      .init(
        name: rawValue, form: .list(.text),
        summary: "The suite is for locks that have all of these tags; for every lock unless given.")
    case .rounds:
      .init(
        name: rawValue, form: .wholeNumber(1...100_000),
        summary: "How often each scenario is driven on each lock; once unless given.")
    case .timeout:
      .init(name: rawValue, form: .duration, summary: "How long a try may take; 5 min unless given.")
    case .retries:
      .init(
        name: rawValue, form: .wholeNumber(NightPlan.retries),
        summary: "How often a scenario is tried again that diverges; never unless given.")
    case .actuations:
      .init(
        name: rawValue, form: .wholeNumber(NightPlan.movements),
        summary: "How many movements a try may cause, the return to rest included; 100 unless given.")
    }
  }
}

extension NightPlan.FuzzKey {
  fileprivate var field: Form.Field {
    switch self {
    case .machine:
      .init(
        name: rawValue, form: .text, summary: "The machine that the locks are compared with: sesame.",
        isRequired: true)
    case .tags:
      .init(
        name: rawValue, form: .list(.text),
        summary: "Locks with all of these tags are fuzzed; every lock unless given.")
    case .stretch:
      .init(
        name: rawValue, form: .duration,
        summary: "How long a lock is fuzzed at a time; 10 min unless given.")
    case .actuations:
      .init(
        name: rawValue, form: .wholeNumber(NightPlan.movements),
        summary: "How many movements a stretch may cause, the return to rest included; 100 unless given.")
    }
  }
}

// MARK: - Reading

/// The reading of one file.
private struct PlanReading {
  let folder: String

  func plan(_ cursor: Cursor) -> NightPlan? {
    guard let fields = cursor.fields(NightPlan.Key.allCases.map(\.rawValue)) else { return nil }
    func optional(_ key: NightPlan.Key) -> Cursor? { fields.optional(key.rawValue) }
    let name = fields.required(NightPlan.Key.nightly.rawValue)?.text("what the night is called")
    let bench = optional(.bench).map { $0.text("the path of a bench") }
    let duration = fields.required(NightPlan.Key.duration.rawValue)?.span()
    let actuations = optional(.actuations).map { $0.integer(in: NightPlan.movements) }
    let retries = optional(.retries).map { $0.integer(in: 0...100_000) }
    let suites = fields.required(NightPlan.Key.suites.rawValue).flatMap(suites)
    let fuzz = optional(.fuzz).map(fuzz)
    guard let name, let duration, let suites, bench != .some(nil), actuations != .some(nil),
      retries != .some(nil), fuzz != .some(nil)
    else { return nil }
    return NightPlan(
      name: name, bench: (bench ?? nil).map { Path.join(folder, $0) }, duration: duration,
      actuations: actuations ?? nil, retries: (retries ?? nil) ?? 20, suites: suites, fuzz: fuzz ?? nil)
  }

  private func suites(_ cursor: Cursor) -> [NightPlan.Suite]? {
    guard let items = cursor.list() else { return nil }
    if items.isEmpty { cursor.reportExpected("a suite at least") }
    var lines: [String: Int] = [:]
    let suites = items.map { item -> NightPlan.Suite? in
      let suite = suite(item)
      if let suite, let line = lines.updateValue(item.position.line, forKey: suite.name) {
        item.report("duplicate suite `\(suite.name)`", hint: "it is given on line \(line) already")
        return nil
      }
      return suite
    }
    return suites.contains(nil) || items.isEmpty ? nil : suites.compactMap(\.self)
  }

  private func suite(_ cursor: Cursor) -> NightPlan.Suite? {
    guard let fields = cursor.fields(NightPlan.SuiteKey.allCases.map(\.rawValue)) else { return nil }
    func optional(_ key: NightPlan.SuiteKey) -> Cursor? { fields.optional(key.rawValue) }
    let name = fields.required(NightPlan.SuiteKey.name.rawValue)?.text("what the suite is called")
    let scenarios = fields.required(NightPlan.SuiteKey.scenarios.rawValue).flatMap { cursor in
      texts(cursor.listOrOne(), "the path of a scenario")
    }
    let tags = optional(.tags).map(self.tags)
    let rounds = optional(.rounds).map { $0.integer(in: 1...100_000) }
    let timeout = optional(.timeout).map { $0.span() }
    let retries = optional(.retries).map { $0.integer(in: NightPlan.retries) }
    let actuations = optional(.actuations).map { $0.integer(in: NightPlan.movements) }
    guard let name, let scenarios, tags != .some(nil), rounds != .some(nil), timeout != .some(nil),
      retries != .some(nil), actuations != .some(nil)
    else { return nil }
    var suite = NightPlan.Suite(name: name, scenarios: scenarios.map { Path.join(folder, $0) })
    suite.tags = (tags ?? nil) ?? []
    if let rounds = rounds ?? nil { suite.rounds = rounds }
    if let timeout = timeout ?? nil { suite.timeout = timeout }
    if let retries = retries ?? nil { suite.retries = retries }
    if let actuations = actuations ?? nil { suite.actuations = actuations }
    return suite
  }

  private func fuzz(_ cursor: Cursor) -> NightPlan.Fuzz? {
    guard let fields = cursor.fields(NightPlan.FuzzKey.allCases.map(\.rawValue)) else { return nil }
    let machine = fields.required(NightPlan.FuzzKey.machine.rawValue)?.text("a machine")
    func optional(_ key: NightPlan.FuzzKey) -> Cursor? { fields.optional(key.rawValue) }
    let tags = optional(.tags).map(self.tags)
    let stretch = optional(.stretch).map { $0.span() }
    let actuations = optional(.actuations).map { $0.integer(in: NightPlan.movements) }
    guard let machine, tags != .some(nil), stretch != .some(nil), actuations != .some(nil) else { return nil }
    var fuzz = NightPlan.Fuzz(machine: machine, tags: (tags ?? nil) ?? [])
    if let stretch = stretch ?? nil { fuzz.stretch = stretch }
    if let actuations = actuations ?? nil { fuzz.actuations = actuations }
    return fuzz
  }

  private func tags(_ cursor: Cursor) -> [String]? { cursor.list().flatMap { texts($0, "a tag") } }

  private func texts(_ cursors: [Cursor], _ expected: String) -> [String]? {
    let all = cursors.map { $0.text(expected) }
    return all.contains(nil) ? nil : all.compactMap(\.self)
  }
}

extension Cursor {
  /// A length of time that is not nothing.
  fileprivate func span() -> Interval? {
    guard let span = duration() else { return nil }
    guard span > .zero, span < .forever else {
      reportExpected("a duration such as 6 h")
      return nil
    }
    return span
  }
}
