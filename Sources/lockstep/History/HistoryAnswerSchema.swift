import Basics

extension HistoryAnswer {
  /// What `lockstep history --format json` prints, as JSON Schema: one object, and `question` says which one.
  static var shape: JSON {
    [
      "oneOf": .list([
        answer("overview", ["history": text, "totals": totals, "runs": list(of: run)]),
        answer("runs", ["history": text, "runs": list(of: run)]),
        answer("flaky", ["runs": number, "cases": list(of: steadyCase)]),
        answer("slow", ["runs": number, "cases": list(of: steadyCase)]),
        answer("cases", ["runs": number, "cases": list(of: steadyCase)]),
        answer("failures", ["failures": list(of: failure)]),
        answer("case", ["cases": list(of: detailedCase), "more": number]),
        answer("add", ["history": text, "runs": list(of: object(["host": text, "name": text]))]),
      ])
    ]
  }

  private static var text: JSON { ["type": "string"] }
  private static var optionalText: JSON { ["type": ["string", "null"]] }
  private static var number: JSON { ["type": "integer", "minimum": 0] }
  private static var optionalNumber: JSON { ["type": ["integer", "null"]] }
  private static var truth: JSON { ["type": "boolean"] }
  private static var time: JSON {
    ["type": "string", "pattern": "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ$"]
  }
  private static var optionalTime: JSON { ["anyOf": [time, ["type": "null"]]] }
  private static var verdict: JSON {
    ["enum": ["agree", "divergence", "lab-fault", "skipped", "incomplete"]]
  }

  private static func list(of items: JSON) -> JSON { ["type": "array", "items": items] }

  /// An object with just these members.
  private static func object(_ members: JSON) -> JSON {
    guard case .mapping(let list) = members else { return members }
    return [
      "type": "object", "properties": members, "required": .list(list.map { .text($0.name) }),
      "additionalProperties": false,
    ]
  }

  private static func answer(_ question: String, _ members: JSON) -> JSON {
    guard case .mapping(let list) = members else { return members }
    return object(.mapping([.init("question", ["const": .text(question)])] + list))
  }

  private static var totals: JSON {
    object(["runs": number, "cases": number, "flaky": number, "slow": number])
  }

  private static var run: JSON {
    object([
      "host": text, "name": text, "start": time, "seed": optionalText, "revision": optionalText,
      "version": optionalText, "status": optionalNumber, "milliseconds": number, "agree": number,
      "divergences": number, "labFaults": number, "skipped": number, "incomplete": number, "flaky": number,
    ])
  }

  /// What all kinds of answers about cases say.
  private static var figures: [JSON.Member] {
    [
      .init("class", text), .init("name", text), .init("judged", number), .init("agreed", number),
      .init("changes", number), .init("retried", number), .init("firstSeen", optionalTime),
      .init("lastUnsteady", optionalTime), .init("usualMilliseconds", optionalNumber),
      .init("lastMilliseconds", optionalNumber), .init("slower", truth),
    ]
  }

  private static var steadyCase: JSON {
    let point = object([
      "run": text, "start": time, "verdict": verdict, "flaky": truth, "milliseconds": number,
    ])
    return object(.mapping(figures + [.init("points", list(of: point))]))
  }

  private static var detailedCase: JSON {
    let result = object([
      "host": text, "run": text, "start": time, "revision": optionalText, "verdict": verdict,
      "flaky": truth, "attempts": number, "milliseconds": number, "device": text, "firmware": text,
      "machine": text, "model": text, "seed": optionalText, "signature": optionalText,
      "message": optionalText,
    ])
    return object(.mapping(figures + [.init("results", list(of: result))]))
  }

  private static var failure: JSON {
    object([
      "signature": optionalText, "verdict": verdict, "message": text, "runs": number, "first": time,
      "last": time, "cases": list(of: object(["class": text, "name": text])),
    ])
  }
}
