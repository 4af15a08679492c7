import Conformance
public import Basics
import Journal

/// A line of a night's record, from which the night can be resumed.
///
/// A line is on the disk before it takes effect: whenever a night is killed, its record contains everything that
/// it began. The record grows only at its end; an incomplete last line counts as not written.
public enum NightLine: Equatable, Sendable {
  /// The night begins, at this time of the host's clocks.
  case begin(name: String, BenchTime)
  /// The night is resumed.
  case resumed(at: Instant)
  /// A run is about to start.
  case start(NightAttempt, at: Instant)
  /// A run ended.
  case end(Int, NightEnding, at: Instant)
  /// A lock or a dongle is out of use from now on.
  case out(NightDevice, why: String, at: Instant)
  /// A lock or a dongle is in use again.
  case back(NightDevice, at: Instant)
  /// A case has its result.
  case done(String, NightResult, at: Instant)
  /// The night is over.
  case finish(at: Instant)

  /// When it was written; `nil` for the first line.
  public var time: Instant? {
    switch self {
    case .begin: nil
    case .resumed(let time), .start(_, let time), .end(_, _, let time), .out(_, _, let time),
      .back(_, let time), .done(_, _, let time), .finish(let time):
      time
    }
  }
}

/// A line of a night's record that cannot be read.
public struct NightRecordError: Error, Equatable, Sendable, CustomStringConvertible {
  /// Its number, from 1.
  public var line: Int
  /// The problem.
  public var reason: String

  public var description: String { "line \(line): \(reason)" }
}

extension NightLine {
  /// The time since a night began.
  ///
  /// Until the host restarts, the monotonic clock counts. After a restart only the calendar is available,
  /// which may have been set back: the time is never less than that of the last line.
  ///
  /// - Returns: `nil` if the record has no beginning.
  public static func time(of record: [NightLine], at now: BenchTime) -> Instant? {
    guard case .begin(_, let begin)? = record.first else { return nil }
    let last = record.compactMap(\.time).max() ?? .zero
    let passed = now.boot == begin.boot ? now.uptime - begin.uptime : now.wall - begin.wall
    return max(last, .zero + passed)
  }
}

// MARK: - Writing

extension NightLine {
  /// The version of the format.
  private static let format = 1

  /// The line as JSON.
  public var json: JSON {
    switch self {
    case .begin(let name, let time):
      [
        "night": [
          "format": .integer(Self.format), "name": .text(name), "began": .text("\(time.wall)"),
          "boot": .text(time.boot), "uptime": Self.text(time.uptime),
        ]
      ]
    case .resumed(let time): ["resumed": ["t": Self.text(time)]]
    case .start(let attempt, let time): ["start": Self.start(attempt, Self.text(time))]
    case .end(let number, let ending, let time): ["end": Self.end(number, ending, Self.text(time))]
    case .out(let device, let why, let time):
      ["out": [device.kind: .text(device.name), "why": .text(why), "t": Self.text(time)]]
    case .back(let device, let time): ["back": [device.kind: .text(device.name), "t": Self.text(time)]]
    case .done(let identity, let result, let time):
      [
        "done": .omittingNil([
          "case": .text(identity), "verdict": .text(result.name),
          "reason": Self.text(result.reason), "cause": result.cause.map { .text($0.rawValue) },
          "t": Self.text(time),
        ])
      ]
    case .finish(let time): ["finish": ["t": Self.text(time)]]
    }
  }

  private static func text(_ time: Instant) -> JSON { .text(time.secondsText) }

  /// A text, if it is not empty.
  private static func text(_ text: String) -> JSON? { text.isEmpty ? nil : .text(text) }

  private static func start(_ attempt: NightAttempt, _ time: JSON) -> JSON {
    let work: (kind: String, what: JSON) =
      switch attempt.work {
      case .test(let identity): ("case", .text(identity))
      case .fuzz(let time): ("fuzz", .text(time.description))
      case .park: ("park", true)
      }
    return .omittingNil([
      "run": .integer(attempt.number), work.kind: work.what, "lock": .text(attempt.lock),
      "dongle": attempt.dongle.map(JSON.text), "health": attempt.checksHealth ? true : nil,
      "attempt": .integer(attempt.attempt), "actuations": .integer(attempt.actuations),
      "cycle counter": .integer(attempt.cycleCounter), "t": time,
    ])
  }

  private static func end(_ number: Int, _ ending: NightEnding, _ time: JSON) -> JSON {
    let left: (word: JSON?, why: JSON?) =
      switch ending.park {
      case .parked: ("parked", nil)
      case .elsewhere(let why): ("elsewhere", .text(why))
      case .unknown: ("unknown", nil)
      case nil: (nil, nil)
      }
    return .omittingNil([
      "run": .integer(number), "verdict": .text(ending.verdict.name), "message": text(ending.message),
      "cycle counter": ending.cycleCounter.map { .integer($0) }, "left": left.word, "leftBecause": left.why,
      "pause": ending.pause.map { .text($0.description) },
      "outOfUse": ending.outOfUse.map { [$0.kind: .text($0.name)] },
      "shown": ending.shown.isEmpty ? nil : .list(ending.shown.map(shown)), "t": time,
    ])
  }

  private static func shown(_ shown: NightEnding.Shown) -> JSON {
    ["choice": .text(shown.choice), "options": .list(shown.options.map(JSON.text))]
  }
}

extension NightDevice {
  fileprivate var kind: String {
    switch self {
    case .lock: "lock"
    case .dongle: "dongle"
    }
  }

  /// The name in the bench.
  var name: String {
    switch self {
    case .lock(let name), .dongle(let name): name
    }
  }
}

// MARK: - Reading

extension NightLine {
  /// Reads the lines of a record; an incomplete last one is skipped.
  public static func lines(of record: [UInt8]) throws(NightRecordError) -> [NightLine] {
    var lines: [NightLine] = []
    var rest = record[...]
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      let number = lines.count + 1
      let json: JSON
      do {
        json = try JSON(parsing: Array(rest[..<end]))
      } catch {
        throw NightRecordError(line: number, reason: error.description)
      }
      guard let line = NightLine(json) else {
        throw NightRecordError(line: number, reason: "not a line of a night's record")
      }
      lines.append(line)
      rest = rest[(end + 1)...]
    }
    return lines
  }

  /// Reads a line; `nil` if this version does not support it.
  public init?(_ json: JSON) {
    guard case .mapping(let members) = json, members.count == 1, let kind = members.first else { return nil }
    let line = Reader(json: kind.value)
    if kind.name == "night" {
      guard line.number("format") == Self.format, let name = line.text("name"),
        let wall = line.text("began").flatMap({ WallTime(text: $0) }), let boot = line.text("boot"),
        let uptime = line.time("uptime")
      else { return nil }
      self = .begin(name: name, BenchTime(wall: wall, boot: boot, uptime: uptime))
      return
    }
    guard let time = line.time("t") else { return nil }
    switch kind.name {
    case "resumed": self = .resumed(at: time)
    case "finish": self = .finish(at: time)
    case "start":
      guard let attempt = line.attempt else { return nil }
      self = .start(attempt, at: time)
    case "end":
      guard let number = line.number("run"), let ending = line.ending else { return nil }
      self = .end(number, ending, at: time)
    case "out":
      guard let device = line.device, let why = line.text("why") else { return nil }
      self = .out(device, why: why, at: time)
    case "back":
      guard let device = line.device else { return nil }
      self = .back(device, at: time)
    case "done":
      guard let identity = line.text("case"), let result = line.result else { return nil }
      self = .done(identity, result, at: time)
    default: return nil
    }
  }
}

/// The members of a line.
private struct Reader {
  let json: JSON

  func text(_ name: String) -> String? { json[name]?.string }

  func number(_ name: String) -> Int? { json[name]?.int }

  var device: NightDevice? {
    text("lock").map { .lock($0) } ?? text("dongle").map { .dongle($0) }
  }

  func time(_ name: String) -> Instant? {
    text(name).flatMap { Interval(text: $0 + " s") }.map { .zero + $0 }
  }

  var attempt: NightAttempt? {
    guard let number = number("run"), let lock = text("lock"), let attemptNumber = self.number("attempt"),
      let actuations = self.number("actuations"), let cycleCounter = self.number("cycle counter")
    else { return nil }
    let work: NightAttempt.Work
    if let identity = text("case") {
      work = .test(identity)
    } else if let time = text("fuzz").flatMap({ Interval(text: $0) }) {
      work = .fuzz(time)
    } else if json["park"] == true {
      work = .park
    } else {
      return nil
    }
    var attempt = NightAttempt(
      number: number, work: work, lock: lock, dongle: text("dongle"), attempt: attemptNumber,
      actuations: actuations, cycleCounter: cycleCounter)
    attempt.checksHealth = json["health"] == true
    return attempt
  }

  /// The ending; records of older versions have a word of their own for a failed health check.
  private var verdict: Record.Ending? {
    text("verdict").flatMap { $0 == "unhealthy" ? .labFault : Record.Ending(name: $0) }
  }

  var result: NightResult? {
    let reason = text("reason") ?? ""
    guard text("verdict") == NightResult.notRun else { return verdict.map { NightResult($0, reason) } }
    return NightResult(notRun: text("cause").flatMap(NightResult.Cause.init) ?? .stopped, reason)
  }

  var ending: NightEnding? {
    guard let verdict else { return nil }
    var ending = NightEnding(verdict, text("message") ?? "", cycleCounter: number("cycle counter"))
    ending.outOfUse = json["outOfUse"].flatMap { Reader(json: $0).device }
    ending.park =
      switch text("left") {
      case "parked": .parked
      case "elsewhere": .elsewhere(text("leftBecause") ?? "")
      case nil: nil
      default: .unknown
      }
    ending.pause = text("pause").flatMap { Interval(text: $0) }
    ending.shown = (json["shown"]?.elements ?? []).map { shown in
      NightEnding.Shown(
        choice: shown["choice"]?.string ?? "",
        options: (shown["options"]?.elements ?? []).compactMap(\.string))
    }
    return ending
  }
}
