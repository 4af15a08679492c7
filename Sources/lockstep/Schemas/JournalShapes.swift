import Documents

/// The lines of a journal.
enum JournalShapes {
  static let run = Shape.object([
    "run": Shape.object(
      ["format": Shape.constant(1), "seed": Shape.count],
      optional: [
        "cases": Shape.count, "resumed": Shape.constant(true), "flaky": Shape.constant("fail"),
      ])
  ])

  static let start = Shape.object([
    "case": Shape.object(
      [
        "id": Shape.text, "name": Shape.text, "file": Shape.text, "line": Shape.count, "machine": Shape.text,
        "model": Shape.text, "device": Shape.text, "seed": Shape.count, "digest": Shape.text,
      ],
      optional: [
        "tags": Shape.texts, "firmware": Shape.text, "attempt": ["type": "integer", "minimum": 2],
      ])
  ])

  /// What happens in a case: all of them have a time, and steps their place.
  static var events: [JSON] {
    let step: KeyValuePairs<String, JSON> = ["step": Shape.count, "line": Shape.count]
    func event(_ required: KeyValuePairs<String, JSON>, optional: KeyValuePairs<String, JSON> = [:]) -> JSON {
      object([(key: "t", value: Shape.time)] + Array(required), Array(optional))
    }
    func mark(_ name: String, _ optional: (key: String, value: JSON)...) -> JSON {
      object(
        [(key: "t", value: Shape.time)] + Array(step) + [(key: name, value: Shape.text)], optional)
    }
    return [
      mark("stimulus", ("arguments", ["type": "object", "additionalProperties": Shape.value])),
      object(
        [(key: "t", value: Shape.time)] + Array(step) + [
          (key: "fault", value: Shape.text), (key: "value", value: Shape.value),
        ], []),
      mark("wait"), mark("expect"), mark("note"), event(["status": Shape.text]),
      event(["effect": Shape.text]),
      event(["reading": Shape.text, "value": Shape.value]), event(["refused": Shape.text]),
      event(["violation": Shape.text, "detail": Shape.text], optional: violation),
      event(["event": Shape.text], optional: ["detail": Shape.text]), event(["model": Shape.texts]),
      event(["lab": Shape.text, "attempt": Shape.count]), remark,
    ]
  }

  /// What else is said of a rule that was broken.
  private static let violation: KeyValuePairs<String, JSON> = [
    "of": Shape.text, "packet": Shape.text, "from": Shape.words("device", "tester"), "quirk": Shape.text,
  ]

  static let remark = Shape.object(["t": Shape.time, "remark": Shape.text])

  static let left = Shape.object([
    "t": Shape.time,
    "left": Shape.object(["lock": Shape.text], optional: ["atRest": Shape.flag, "message": Shape.text]),
  ])

  static let verdict = Shape.object(
    [
      "verdict": Shape.words("agree", "divergence", "lab-fault", "skipped", "incomplete", "limited"),
      "case": Shape.text,
      "t": Shape.time,
    ],
    optional: [
      "step": Shape.count, "line": Shape.count, "message": Shape.text, "expected": Shape.text,
      "observed": Shape.text, "violation": Shape.text, "of": Shape.text, "detail": Shape.text,
      "packet": Shape.text, "from": Shape.words("device", "tester"),
      "explanation": Shape.object(["cause": Shape.text, "detail": Shape.text]), "details": Shape.texts,
      "allowed": Shape.list(
        Shape.object(["state": Shape.text, "shows": Shape.text], optional: ["cause": Shape.text])),
      "signature": Shape.text,
      "attachments": Shape.list(Shape.object(["kind": Shape.text, "path": Shape.text])),
      "replay": Shape.text, "again": Shape.constant(true),
    ])

  static var coverage: JSON {
    let share = Shape.row(Shape.count, Shape.count)
    let shares: KeyValuePairs<String, JSON> = [
      "legal": share, "empty": share, "states": share, "transitions": share, "pairs": share,
    ]
    let region = object([(key: "name", value: Shape.text)] + Array(shares), [])
    return Shape.object([
      "coverage": object(
        [(key: "machine", value: Shape.text)] + Array(shares)
          + [(key: "visited", value: Shape.row(Shape.text, Shape.text, Shape.text))],
        [(key: "regions", value: Shape.list(region))])
    ])
  }

  static let machine = Shape.object([
    "machine": Shape.object(
      [
        "name": Shape.text, "hash": Shape.text, "states": Shape.texts, "stimuli": Shape.texts,
        "cells": Shape.list(Shape.row(Shape.count, Shape.count, Shape.counts)),
        "spontaneous": Shape.list(Shape.row(Shape.count, Shape.text, Shape.counts)),
      ], optional: ["regions": Shape.texts])
  ])

  static let finding = Shape.object([
    "finding": Shape.object(
      [
        "number": Shape.count, "signature": Shape.text, "message": Shape.text, "events": Shape.count,
        "length": Shape.count, "shortest": Shape.count,
        "shrinking": Shape.object(["runs": Shape.count, "events": Shape.count, "end": Shape.text]),
        "confirmation": Shape.object([
          "verdict": Shape.text, "shown": Shape.count, "runs": Shape.count, "disturbed": Shape.count,
          "likelihoodRatio": Shape.number,
        ]), "count": Shape.count, "file": Shape.text,
      ], optional: ["past": Shape.words("unknown", "irrelevant", "included", "needed"), "twin": Shape.text])
  ])

  /// How far a campaign is; times are in seconds. The pace, which differs from run to run, stands in no journal.
  static let progress = Shape.object(
    [
      "phase": Shape.text, "events": Shape.count, "tests": Shape.count, "extraEvents": Shape.count,
      "findings": Shape.count, "depths": Shape.counts, "repeats": Shape.count, "labFaults": Shape.count,
      "unjudged": Shape.count,
      "corpus": Shape.count, "contexts": Shape.count, "longest": Shape.count,
      "stability": Shape.row(Shape.count, Shape.count), "actuations": Shape.count,
      "lockTime": Shape.number, "waited": Shape.number,
    ], optional: ["eventsPerSecond": Shape.count])

  static let campaign = Shape.object(["campaign": progress])

  static let end = Shape.object([
    "end": Shape.object([
      "cases": Shape.count, "agree": Shape.count, "flaky": Shape.count, "divergences": Shape.count,
      "labFaults": Shape.count, "skipped": Shape.count, "incomplete": Shape.count, "status": Shape.count,
    ])
  ])

  /// All of them.
  static var lines: [JSON] {
    ([run, start] + events + [left, verdict, machine, coverage, finding, campaign, end]).map(leased)
  }

  /// A line that may say by which lease of a lock it was written.
  private static func leased(_ line: JSON) -> JSON {
    guard case .mapping(var members) = line,
      let place = members.firstIndex(where: { $0.name == "properties" }),
      case .mapping(let keys) = members[place].value
    else { return line }
    members[place].value = .mapping(keys + [JSON.Member("lease", Shape.count)])
    return .mapping(members)
  }

  private static func object(
    _ required: [(key: String, value: JSON)], _ optional: [(key: String, value: JSON)]
  ) -> JSON {
    [
      "type": "object", "properties": .mapping((required + optional).map { JSON.Member($0.key, $0.value) }),
      "required": .list(required.map { .text($0.key) }), "additionalProperties": false,
    ]
  }
}
