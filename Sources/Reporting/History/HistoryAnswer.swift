public import Journal
public import Basics

/// The answer of `lockstep history`.
public enum HistoryAnswer {
  /// The sums over all runs.
  public struct Totals: Written {
    public var runs: Int
    public var cases: Int
    public var flaky: Int
    public var slow: Int

    /// Makes totals.
    public init(runs: Int, cases: Int, flaky: Int, slow: Int) {
      self.runs = runs
      self.cases = cases
      self.flaky = flaky
      self.slow = slow
    }

    public static let fields: [Field<Self>] = [
      .derived("runs", \.runs, .count), .derived("cases", \.cases, .count),
      .derived("flaky", \.flaky, .count), .derived("slow", \.slow, .count),
    ]
  }

  /// Runs, the latest first; with totals it is the overview.
  case runs([HistoryRun], Totals?, HistoryPlace)
  case flaky(History.Cases)
  case slow(History.Cases)
  case cases(History.Cases)
  case failures([HistoryFailure])
  case details([History.Details], more: Int)
  case taken([RunRecord.Identity], HistoryPlace)
}

extension HistoryAnswer {
  /// The answer as one object.
  public var json: JSON {
    switch self {
    case .runs(let runs, let totals, let place):
      .omittingNil([
        "question": totals == nil ? "runs" : "overview", "history": .text("\(place)"),
        "totals": totals?.json, "runs": .list(runs.map(\.json)),
      ])
    case .flaky(let found): Self.json("flaky", found)
    case .slow(let found): Self.json("slow", found)
    case .cases(let found): Self.json("cases", found)
    case .failures(let failures): ["question": "failures", "failures": .list(failures.map(\.json))]
    case .details(let cases, let more):
      ["question": "case", "cases": .list(cases.map(\.json)), "more": .integer(more)]
    case .taken(let runs, let place):
      ["question": "add", "history": .text("\(place)"), "runs": .list(runs.map(\.json))]
    }
  }

  private static func json(_ question: String, _ found: History.Cases) -> JSON {
    [
      "question": .text(question), "runs": .integer(found.runs), "cases": .list(found.cases.map(\.json)),
    ]
  }

  /// The JSON Schema of `lockstep history --format json`: one object, whose `question` shows its kind.
  public static var shape: JSON {
    func answer(_ question: JSON, _ members: KeyValuePairs<String, JSON>) -> JSON {
      Shape.object([(key: "question", value: Shape.constant(question))] + Array(members), optional: [])
    }
    let runs = Shape.list(HistoryRun.shape)
    let cases: KeyValuePairs = ["runs": Shape.count, "cases": Shape.list(HistoryCase.shape)]
    return Shape.any(
      answer("overview", ["history": Shape.text, "totals": Totals.shape, "runs": runs]),
      answer("runs", ["history": Shape.text, "runs": runs]),
      answer("flaky", cases), answer("slow", cases), answer("cases", cases),
      answer("failures", ["failures": Shape.list(HistoryFailure.shape)]),
      answer("case", ["cases": Shape.list(History.Details.shape), "more": Shape.count]),
      answer("add", ["history": Shape.text, "runs": Shape.list(RunRecord.Identity.shape)]))
  }
}

// MARK: - What it is about

extension RunRecord.Identity: Written {
  public static let fields: [Field<Self>] = [
    .derived("id", \.id, .text), .derived("host", \.host, .text), .derived("name", \.name, .text),
  ]
}

extension HistoryRun: Written {
  public static let fields: [Field<Self>] = [
    .derived("id", \.identity.id, .text), .derived("host", \.identity.host, .text),
    .derived("name", \.identity.name, .text),
    .derived("start", \.started, .start), .derived("seed", \.seed, .textOrNull),
    .derived("revision", \.revision, .textOrNull), .derived("version", \.version, .textOrNull),
    .derived("status", \.status, .countOrNull), .derived("milliseconds", { Int($0.milliseconds) }, .count),
    .derived("agree", { $0.count(.agree) }, .count),
    .derived("divergences", { $0.count(.divergence) }, .count),
    .derived("unmet", { $0.count(.unmet) }, .count),
    .derived("labFaults", { $0.count(.labFault) }, .count),
    .derived("skipped", { $0.count(.skipped) }, .count),
    .derived("incomplete", { $0.count(.incomplete) }, .count), .derived("flaky", \.flaky, .count),
  ]
}

extension HistoryCase: Written {
  public static let fields = figures + [.derived("points", \.points, .list(.object()))]

  /// The common fields of all answers about cases.
  fileprivate static let figures: [Field<Self>] = [
    .derived("class", \.className, .text), .derived("name", \.name, .text),
    .derived("judged", \.judged, .count), .derived("agreed", \.agreed, .count),
    .derived("changes", \.changes, .count), .derived("retried", \.retried, .count),
    .derived("firstSeen", \.firstSeen, .startOrNull), .derived("lastUnsteady", \.lastUnsteady, .startOrNull),
    .derived("usualMilliseconds", { $0.usual.map { Int($0.milliseconds) } }, .countOrNull),
    .derived("lastMilliseconds", { $0.lastMilliseconds.map { Int($0) } }, .countOrNull),
    .derived("slower", \.isSlower, .flag),
  ]
}

extension CaseHistory.Point: Written {
  public static let fields: [Field<Self>] = [
    .derived("run", \.run, .text), .derived("start", \.start, .start),
    .derived("verdict", \.ending.word, .words()),
    .derived("flaky", \.ending.isFlaky, .flag), .derived("milliseconds", { Int($0.milliseconds) }, .count),
  ]
}

extension HistoryFailure: Written {
  public static let fields: [Field<Self>] = [
    .derived("signature", \.signature, .textOrNull), .derived("verdict", \.word, .words()),
    .derived("message", \.message, .text), .derived("runs", \.runs, .count),
    .derived("first", \.first, .start), .derived("last", \.last, .start),
    .derived("cases", \.cases, .list(.object())),
  ]
}

extension HistoryFailure.Case: Written {
  public static let fields: [Field<Self>] = [
    .derived("class", \.className, .text), .derived("name", \.name, .text),
  ]
}

extension HistoryResult: Written {
  public static let fields: [Field<Self>] = [
    .derived("host", \.run.identity.host, .text), .derived("run", \.run.identity.name, .text),
    .derived("start", \.run.started, .start), .derived("revision", \.run.revision, .textOrNull),
    .derived("verdict", \.ending.word, .words()), .derived("flaky", \.ending.isFlaky, .flag),
    .derived("attempts", \.attempts, .count), .derived("milliseconds", { Int($0.milliseconds) }, .count),
    .derived("device", \.setting.device, .text), .derived("firmware", \.setting.firmware, .text),
    .derived("machine", \.setting.machine, .text), .derived("model", \.setting.model, .text),
    .derived("seed", \.seed, .textOrNull), .derived("signature", \.signature, .textOrNull),
    .derived("message", \.message, .textOrNull),
  ]
}

extension History.Details {
  fileprivate var json: JSON {
    .mapping(
      HistoryCase.figures.members(of: history) + [.init("results", .list(results.map(\.json)))])
  }

  fileprivate static var shape: JSON {
    let figures = HistoryCase.figures.map { (key: $0.name, value: $0.shape) }
    return Shape.object(figures + [(key: "results", value: Shape.list(HistoryResult.shape))], optional: [])
  }
}

// MARK: - Notations

extension Notation<String> {
  /// The start of a run.
  fileprivate static var start: Notation {
    .text(["type": "string", "pattern": "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ$"])
  }
}

extension Notation<String?> {
  fileprivate static var startOrNull: Notation {
    .orNull(.start, ["anyOf": [Notation<String>.start.shape, ["type": "null"]]])
  }
}

extension Notation<Int?> {
  fileprivate static var countOrNull: Notation { .orNull(.count, ["type": ["integer", "null"]]) }
}
