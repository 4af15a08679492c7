import Journal
import Basics
import Reporting

/// What `lockstep history` has to tell.
enum HistoryAnswer {
  /// What all runs came to together.
  struct Totals {
    var runs: Int
    var cases: Int
    var flaky: Int
    var slow: Int
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
  var json: JSON {
    switch self {
    case .runs(let runs, let totals, let place):
      var members: [JSON.Member] = [
        .init("question", .text(totals == nil ? "runs" : "overview")), .init("history", .text("\(place)")),
      ]
      if let totals {
        members.append(
          .init(
            "totals",
            [
              "runs": .integer(totals.runs), "cases": .integer(totals.cases),
              "flaky": .integer(totals.flaky), "slow": .integer(totals.slow),
            ]))
      }
      return .mapping(members + [.init("runs", .list(runs.map(\.json)))])
    case .flaky(let found): return Self.json("flaky", found)
    case .slow(let found): return Self.json("slow", found)
    case .cases(let found): return Self.json("cases", found)
    case .failures(let failures):
      return ["question": "failures", "failures": .list(failures.map(\.json))]
    case .details(let cases, let more):
      return [
        "question": "case", "cases": .list(cases.map(\.json)), "more": .integer(more),
      ]
    case .taken(let runs, let place):
      return [
        "question": "add", "history": .text("\(place)"),
        "runs": .list(runs.map { ["host": .text($0.host), "name": .text($0.name)] }),
      ]
    }
  }

  private static func json(_ question: String, _ found: History.Cases) -> JSON {
    [
      "question": .text(question), "runs": .integer(found.runs),
      "cases": .list(found.cases.map { .mapping($0.members) }),
    ]
  }
}

extension HistoryRun {
  fileprivate var json: JSON {
    [
      "host": .text(identity.host), "name": .text(identity.name), "start": .text(started),
      "seed": optional(seed), "revision": optional(revision), "version": optional(version),
      "status": status.map { JSON.integer($0) } ?? .null, "milliseconds": .integer(Int(milliseconds)),
      "agree": .integer(count(.agree)), "divergences": .integer(count(.divergence)),
      "labFaults": .integer(count(.labFault)), "skipped": .integer(count(.skipped)),
      "incomplete": .integer(count(.incomplete)), "flaky": .integer(flaky),
    ]
  }
}

extension HistoryCase {
  fileprivate var members: [JSON.Member] {
    [
      .init("class", .text(className)), .init("name", .text(name)), .init("judged", .integer(judged)),
      .init("agreed", .integer(agreed)), .init("changes", .integer(changes)),
      .init("retried", .integer(retried)), .init("firstSeen", optional(firstSeen)),
      .init("lastUnsteady", optional(lastUnsteady)),
      .init("usualMilliseconds", usual.map { .integer(Int($0.milliseconds)) } ?? .null),
      .init("lastMilliseconds", lastMilliseconds.map { .integer(Int($0)) } ?? .null),
      .init("slower", .flag(isSlower)),
      .init(
        "points",
        .list(
          points.map { point in
            [
              "run": .text(point.run), "start": .text(point.start), "verdict": .text(point.word.rawValue),
              "flaky": .flag(point.isFlaky), "milliseconds": .integer(Int(point.milliseconds)),
            ]
          })),
    ]
  }
}

extension HistoryFailure {
  fileprivate var json: JSON {
    [
      "signature": optional(signature), "verdict": .text(word.rawValue), "message": .text(message),
      "runs": .integer(runs), "first": .text(first), "last": .text(last),
      "cases": .list(cases.map { ["class": .text($0.className), "name": .text($0.name)] }),
    ]
  }
}

extension History.Details {
  fileprivate var json: JSON {
    let results = results.map { result -> JSON in
      [
        "host": .text(result.run.identity.host), "run": .text(result.run.identity.name),
        "start": .text(result.run.started), "revision": optional(result.run.revision),
        "verdict": .text(result.word.rawValue), "flaky": .flag(result.isFlaky),
        "attempts": .integer(result.attempts), "milliseconds": .integer(Int(result.milliseconds)),
        "device": .text(result.setting.device), "firmware": .text(result.setting.firmware),
        "machine": .text(result.setting.machine), "model": .text(result.setting.model),
        "seed": optional(result.seed), "signature": optional(result.signature),
        "message": optional(result.message),
      ]
    }
    return .mapping(history.members.dropLast() + [.init("results", .list(results))])
  }
}

private func optional(_ text: String?) -> JSON { text.map(JSON.text) ?? .null }
