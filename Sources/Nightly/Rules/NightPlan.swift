import Conformance
public import Documents
public import Basics

/// The plan of a night: its scenarios and budgets.
///
/// ``init(_:name:)`` reads it from a file of its own. Suites are joined with the locks of a bench by tags: a
/// suite applies to each lock that has all of its tags.
public struct NightPlan: Equatable, Sendable {
  /// The name of the night.
  public var name: String
  /// The path of the bench's description; `nil` if the command must find it.
  public var bench: String?
  /// The duration of the night, after which nothing begins.
  public var duration: Interval
  /// The maximum number of movements of all locks together; `nil` for no limit.
  public var actuations: Int?
  /// The maximum number of all retries.
  public var retries = 20
  /// The suites, in this order.
  public var suites: [Suite]
  /// Fuzzing in the remaining time.
  public var fuzz: Fuzz?

  /// Scenarios, with the tags of their locks.
  public struct Suite: Equatable, Sendable {
    /// The name.
    public var name: String
    /// Scenario files and folders.
    public var scenarios: [String]
    /// The tags that a lock must have, all of them.
    public var tags: [String] = []
    /// How often each scenario runs on each lock.
    public var rounds = 1
    /// The time limit of an attempt.
    public var timeout = Interval.seconds(300)
    /// How often a scenario is retried after a divergence.
    public var retries = 0
    /// The maximum number of movements of an attempt.
    public var actuations = 100
  }

  /// Fuzzing in the remaining time.
  public struct Fuzz: Equatable, Sendable {
    /// The machine that the locks are compared with.
    public var machine: String
    /// The tags that a lock must have, all of them.
    public var tags: [String] = []
    /// The duration of one stretch.
    public var stretch = Interval.seconds(600)
    /// The maximum number of movements of a stretch.
    public var actuations = 100
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

  /// The JSON Schema (draft-07) of a plan, for editors.
  public static var schema: JSON {
    Form.mapping(keys, others: nil).schema(
      title: "A nightly plan of Lockstep",
      summary: "Which scenarios run on which locks in a night, and with what budgets.")
  }
}

// MARK: - Grammar

extension NightPlan {
  fileprivate static let movements = 2...1_000_000
  fileprivate static let retries = 0...100

  /// The keys of a plan.
  fileprivate static let keys: [Form.Field] = [
    .required("nightly", .text, "The name of the night."),
    .optional(
      "bench", .text,
      "The bench file, relative to the folder of this file; by default that of --bench, or the usual one."),
    .required("duration", .duration, "The duration of the night. Nothing starts after it."),
    .optional(
      "actuations", .wholeNumber(movements),
      "The maximum number of movements of all locks together, including parking."),
    .optional(
      "retries", .wholeNumber(0...100_000),
      "The maximum number of retries in the whole night; 20 by default."),
    .required("suites", .list(.record(suiteKeys, [])), "The suites to run, in this order."),
    .optional("fuzz", .record(fuzzKeys, []), "What to fuzz in the remaining time."),
  ]

  /// The keys of a suite.
  fileprivate static let suiteKeys: [Form.Field] = [
    .required("name", .text, "The name of the suite."),
    .required(
      "scenarios", .oneOrMore(.text),
      "Scenario files, and folders of them, relative to the folder of this file."),
    .optional(
      "tags", .list(.text), "The suite runs on locks that have all of these tags; on all locks by default."
    ),
    .optional(
      "repeat", .wholeNumber(1...100_000),
      "How often each scenario runs on each lock; once by default."),
    .optional("case-timeout", .duration, "The time limit of an attempt; 5 min by default."),
    .optional(
      "retries", .wholeNumber(retries),
      "How often a scenario that diverges is retried; never by default."),
    .optional(
      "actuations", .wholeNumber(movements),
      "The maximum number of movements of an attempt, including parking; 100 by default."),
  ]

  /// The keys of fuzzing.
  fileprivate static let fuzzKeys: [Form.Field] = [
    .required(
      "machine", .text,
      "The machine with which the locks are compared: sesame, or a file, relative to the folder of this "
        + "file."),
    .optional("tags", .list(.text), "Locks with all of these tags are fuzzed; all locks by default."),
    .optional("stretch", .duration, "The duration of one campaign on a lock; 10 min by default."),
    .optional(
      "actuations", .wholeNumber(movements),
      "The maximum number of movements of a campaign, including parking; 100 by default."),
  ]
}

// MARK: - Reading

/// The reader of one file.
private struct PlanReading {
  let folder: String

  func plan(_ cursor: Cursor) -> NightPlan? {
    guard let fields = cursor.fields(NightPlan.keys) else { return nil }
    var others = OptionalFields(fields)
    let name = fields.required("nightly")?.text("what the night is called")
    let bench = others.read("bench") { $0.text("the path of a bench") }
    let duration = fields.required("duration")?.span()
    let actuations = others.read("actuations") { $0.integer(in: NightPlan.movements) }
    let retries = others.read("retries") { $0.integer(in: 0...100_000) }
    let suites = fields.required("suites").flatMap(suites)
    let fuzz = others.read("fuzz", fuzz)
    guard let name, let duration, let suites, others.isValid else { return nil }
    return NightPlan(
      name: name, bench: bench.map { Path.join(folder, $0) }, duration: duration, actuations: actuations,
      retries: retries ?? 20, suites: suites, fuzz: fuzz)
  }

  private func suites(_ cursor: Cursor) -> [NightPlan.Suite]? {
    guard let items = cursor.list() else { return nil }
    if items.isEmpty { cursor.reportExpected("a suite at least") }
    var lines: [String: Int] = [:]
    let suites = items.all { item -> NightPlan.Suite? in
      let suite = suite(item)
      if let suite, let line = lines.updateValue(item.position.line, forKey: suite.name) {
        item.report("duplicate suite `\(suite.name)`", hint: "it is given on line \(line) already")
        return nil
      }
      return suite
    }
    return items.isEmpty ? nil : suites
  }

  private func suite(_ cursor: Cursor) -> NightPlan.Suite? {
    guard let fields = cursor.fields(NightPlan.suiteKeys) else { return nil }
    var others = OptionalFields(fields)
    let name = fields.required("name")?.text("what the suite is called")
    let scenarios = fields.required("scenarios")?.listOrOne().all { $0.text("the path of a scenario") }
    var suite = NightPlan.Suite(name: name ?? "", scenarios: [])
    suite.tags = others.read("tags", tags) ?? suite.tags
    suite.rounds = others.read("repeat") { $0.integer(in: 1...100_000) } ?? suite.rounds
    suite.timeout = others.read("case-timeout") { $0.span() } ?? suite.timeout
    suite.retries = others.read("retries") { $0.integer(in: NightPlan.retries) } ?? suite.retries
    suite.actuations = others.read("actuations") { $0.integer(in: NightPlan.movements) } ?? suite.actuations
    guard name != nil, let scenarios, others.isValid else { return nil }
    suite.scenarios = scenarios.map { Path.join(folder, $0) }
    return suite
  }

  private func fuzz(_ cursor: Cursor) -> NightPlan.Fuzz? {
    guard let fields = cursor.fields(NightPlan.fuzzKeys) else { return nil }
    var others = OptionalFields(fields)
    // A text with a slash or a dot is the path of a file.
    let machine = fields.required("machine")?.text("a machine").map {
      $0.contains("/") || $0.contains(".") ? Path.join(folder, $0) : $0
    }
    var fuzz = NightPlan.Fuzz(machine: machine ?? "")
    fuzz.tags = others.read("tags", tags) ?? fuzz.tags
    fuzz.stretch = others.read("stretch") { $0.span() } ?? fuzz.stretch
    fuzz.actuations = others.read("actuations") { $0.integer(in: NightPlan.movements) } ?? fuzz.actuations
    return machine != nil && others.isValid ? fuzz : nil
  }

  private func tags(_ cursor: Cursor) -> [String]? { cursor.list()?.all { $0.text("a tag") } }
}

extension Cursor {
  /// A positive duration.
  fileprivate func span() -> Interval? {
    guard let span = duration() else { return nil }
    guard span > .zero, span < .forever else {
      reportExpected("a duration such as 6 h")
      return nil
    }
    return span
  }
}
