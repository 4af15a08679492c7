import Harness
import Documents
import Transports
import Journal
import System
import Conformance
import Emulator
import Basics

extension Command {
  /// One search of a table, in a process of its own; nothing for people.
  static var airSearch: Command {
    Command(
      "air-search", "Searches for a defect, for 'lockstep air-table'.", examples: [],
      ArgumentParser(options: [], operands: nil), defaults: { NoArguments() }
    ) { _, console throws(UsageError) in
      guard let order = EndOfInput.firstLine(), let json = try? JSON(parsing: order),
        let search = AirSearch(json)
      else { throw UsageError("this command is for 'lockstep air-table' alone") }
      guard let result = search.perform() else { return .internalFault }
      console.print(result.json)
      return .agree
    }
  }
}

struct NoArguments {}

/// Runs searches, each in a process of its own and several at a time.
struct AirWorkers {
  /// How many at a time.
  let count: Int

  /// Runs them all; `nil` stands for one that went wrong.
  ///
  /// - Parameter done: told of each as it ends.
  func run(
    _ searches: [AirSearch], done: (AirSearch, AirSearch.Result?) -> Void = { _, _ in }
  ) -> [AirSearch.Result?] {
    var results = [AirSearch.Result?](repeating: nil, count: searches.count)
    var running: [(index: Int, process: WorkerProcess)] = []
    var next = 0
    while next < searches.count || !running.isEmpty {
      while running.count < count, next < searches.count {
        if let process = try? WorkerProcess(["air-search"], first: searches[next].json.line) {
          running.append((next, process))
        }
        next += 1
      }
      running.removeAll { index, process in
        switch process.next(within: .milliseconds(20)) {
        case .nothing: return false
        case .line(let line):
          results[index] = (try? JSON(parsing: line)).flatMap { AirSearch.Result($0) }
          return false
        case .ended:
          done(searches[index], results[index])
          return true
        }
      }
    }
    return results
  }
}

extension AirSearch {
  var json: JSON {
    var members: [JSON.Member] = [
      .init("device", .text(device)), .init("seed", .integer(seed)), .init("shrunk", .flag(isShrunk)),
    ]
    if let defect { members.append(.init("defect", .text(defect.name))) }
    if let lockTime { members.append(.init("lockTime", .decimal(lockTime.seconds))) }
    if let events { members.append(.init("events", .integer(events))) }
    if let without { members.append(.init("without", .text(without.rawValue))) }
    return .mapping(members)
  }

  init?(_ json: JSON) {
    guard let device = json["device"]?.string, let seed = json["seed"]?.int,
      let isShrunk = json["shrunk"]?.bool
    else { return nil }
    self.init(
      device: device,
      defect: json["defect"]?.string.flatMap { name in LockDefect.allCases.first { $0.name == name } },
      seed: UInt64(seed), lockTime: json["lockTime"]?.seconds, events: json["events"]?.int,
      isShrunk: isShrunk,
      without: json["without"]?.string.flatMap { Explorer.Strategy(rawValue: $0) })
  }
}

extension AirSearch.Result {
  var json: JSON {
    [
      "found": .flag(isFound), "findings": .integer(findings), "events": .integer(events),
      "lockTime": .decimal(lockTime.seconds), "movements": .integer(movements), "length": .integer(length),
      "shrunkMovements": .integer(shrunkMovements), "message": .text(message),
    ]
  }

  init?(_ json: JSON) {
    guard let isFound = json["found"]?.bool, let findings = json["findings"]?.int,
      let events = json["events"]?.int, let lockTime = json["lockTime"]?.seconds,
      let movements = json["movements"]?.int, let length = json["length"]?.int,
      let shrunkMovements = json["shrunkMovements"]?.int, let message = json["message"]?.string
    else { return nil }
    self.init(
      isFound: isFound, findings: findings, events: events, lockTime: lockTime, movements: movements,
      length: length, shrunkMovements: shrunkMovements, message: message)
  }
}
