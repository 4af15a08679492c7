import Basics
import Foundation
import Glibc
import Synchronization
import TestSupport

/// A lab in a rig: labgrid's coordinator, an exporter, and places with locks.
///
/// Three of them at a time: each has half a dozen programs in Python, and what they do is to be done in time.
final class LabgridLab {
  let rig: Rig
  let port: Int
  /// Where labgrid's client program is run.
  private let clients: Int
  /// The places, each with the port on which the controller of its lock listens.
  private var places: [(name: String, controller: Int)] = []

  /// Starts all of it: one place, front-door, with an emulated lock behind a controller that the exporter names, and
  /// others like it whose locks a bench calls as the places are called.
  init(_ rig: Rig, and others: String...) async throws {
    slot = try await Slot()
    self.rig = rig
    port = try freePort()
    clients = try freePort()
    var locks: [String: String] = [:]
    for name in ["front-door"] + others {
      let controller = try freePort()
      let key = try await rig.emulateLock(
        as: name == "front-door" ? "emulate" : name, "--serve", "tcp-server:127.0.0.1:\(controller)")
      places.append((name, controller))
      locks[name] = key
    }
    try FileManager.default.createDirectory(atPath: rig.path("lab"), withIntermediateDirectories: false)
    try await rig.start(
      "clients", [Self.python, "\(Place.root)/Tests/Peers/labgrid/clients.py", "\(clients)"],
      until: "listening")
    try await startCoordinator("coordinator")
    try await startExporter("exporter")
    for (name, key) in locks {
      let lock = others.isEmpty ? key : name
      for words in [
        ["create"], ["add-match", "bench-1/\(name)/*"], ["set-tags", "model=sesame5", "lock=\(lock)"],
      ] { try await client(["--place", name] + words) }
    }
    try writeBench(locks)
  }

  /// Writes a bench that knows the locks, and one that stands nowhere.
  private func writeBench(_ locks: [String: String]) throws {
    let lines = locks.map { "  - { name: \($0), file: \($1), limits: { gap: 100 ms } }\n" }.sorted()
    _ = try rig.write(
      "bench.yaml",
      "bench: peers\nlocks:\n" + lines.joined() + "  - { name: nowhere, device: \"emulator:sesame5\" }\n")
  }

  private let slot: Slot

  /// Leave to have a lab.
  private final class Slot {
    private static let free = Mutex(3)

    init() async throws {
      while true {
        let isMine = Self.free.withLock { free in
          guard free > 0 else { return false }
          free -= 1
          return true
        }
        if isMine { return }
        try await Task.sleep(for: .milliseconds(100))
      }
    }

    deinit { Self.free.withLock { $0 += 1 } }
  }

  /// As `--lab` takes it.
  var address: String { "labgrid://127.0.0.1:\(port)" }

  /// Starts the coordinator, in a folder of its own, where it keeps what it knows.
  @discardableResult
  func startCoordinator(_ name: String) async throws -> Rig.Child {
    let line = "cd \(rig.path("lab")) && exec \(Place.venv)/bin/labgrid-coordinator -l 127.0.0.1:\(port)"
    return try await rig.start(name, ["/bin/sh", "-c", line], until: "listening on")
  }

  /// Starts the exporter of the bench with the lock.
  @discardableResult
  func startExporter(_ name: String) async throws -> Rig.Child {
    let groups = places.map { name, controller in
      "\(name):\n  NetworkService: {address: 127.0.0.1, username: lockstep, port: \(controller)}\n"
    }
    let file = try rig.write("exporter.yaml", groups.joined())
    let exporter = try await rig.start(
      name,
      [
        "\(Place.venv)/bin/labgrid-exporter", "-c", "127.0.0.1:\(port)", "-n", "bench-1", "--hostname",
        "127.0.0.1",
        file,
      ], until: "add resource front-door")
    try await settled {
      let known = try await client(["resources"])
      return places.allSatisfy { known.contains("bench-1/\($0.name)") }
    }
    return exporter
  }

  /// Runs labgrid's own client program as another user. It must succeed.
  @discardableResult
  func client(_ words: [String], as user: String = "admin") async throws -> String {
    let request = JSON.list(([user, "-x", "127.0.0.1:\(port)"] + words).map { .text($0) }).line
    let exchange = "exec 3<>/dev/tcp/127.0.0.1/\(clients); printf '%s\\n' \"$0\" >&3; exec cat <&3"
    let answer = try await rig.succeed("client", ["/bin/bash", "-c", exchange, request])
    guard let end = answer.range(of: "\n0\n", options: .backwards), end.upperBound == answer.endIndex else {
      throw Rig.Failure(description: "labgrid-client \(words): \(answer)")
    }
    return String(answer[..<end.lowerBound])
  }

  /// The Python that has labgrid.
  static let python = "\(Place.venv)/bin/python3"

  /// A command of ours with a place of the lab.
  func command(
    _ name: String, _ words: [String], tags: String = "model=sesame5", python: String = python,
    wait: String = "60s"
  ) -> [String] {
    ["/usr/bin/env", "LABGRID_PYTHON=\(python)", Place.lockstep, name] + words
      + ["--lab", address, "--tags", tags, "--lab-wait", wait]
  }

  /// A run of a scenario that takes minutes, driving the lock.
  func startRun(_ name: String) async throws -> Rig.Child {
    try await rig.start(
      name,
      command("run", ["Scenarios/sesame5/forty-turns.yaml", "--out", rig.path(name)])
    ) { _ in rig.log(of: "emulate").contains("notifications on") }
  }

  /// A night over all places of the lab, each lock visited some times; waits until it is under way.
  ///
  /// - Parameter settings: the environment that it has beside the usual one.
  func startNight(
    _ name: String, rounds: Int, wait: String = "90s", under settings: [String] = []
  ) async throws -> Rig.Child {
    let scenario = "\(Place.root)/Scenarios/peers/there-and-back.yaml"
    let plan = try rig.write(
      "plan.yaml",
      "nightly: Peers\nbench: bench.yaml\nduration: 5 min\n"
        + "suites: [{ name: visits, scenarios: \(scenario), repeat: \(rounds) }]\n")
    let words = ["nightly", plan, "--lab", address, "--lab-wait", wait, "--out", rig.path("out")]
    return try await rig.start(
      name, ["/usr/bin/env", "LABGRID_PYTHON=\(Self.python)"] + settings + [Place.lockstep] + words
    ) { _ in (try? record().contains { $0.start != nil }) ?? false }
  }

  /// A line of the record of a night.
  struct RecordLine: Decodable {
    var start: Start?
    var end: End?
    var done: Done?

    struct Start: Decodable {
      var run: Int
      var `case`: String?
      var lock: String
    }

    struct End: Decodable {
      var run: Int
      var verdict: String
      var message: String?
    }

    struct Done: Decodable {
      var `case`: String
      var verdict: String
    }
  }

  /// The record of the only night.
  func record() throws -> [RecordLine] {
    let runs = rig.path("out/runs")
    let names = try FileManager.default.contentsOfDirectory(atPath: runs).filter { !$0.hasPrefix(".") }
    guard names.count == 1 else { throw Rig.Failure(description: "there is not one night: \(names)") }
    let text = try String(contentsOfFile: "\(runs)/\(names[0])/night.jsonl", encoding: .utf8)
    // Behind the last line break may be what is being written.
    return try text.components(separatedBy: "\n").dropLast()
      .map { try JSONDecoder().decode(RecordLine.self, from: Data($0.utf8)) }
  }

  /// What became of the cases of the night so far, as LOCK VERDICT.
  func verdicts() throws -> [String] {
    let record = try record()
    return record.compactMap(\.done).map { done in
      let lock = record.compactMap(\.start).last { $0.case == done.case }?.lock
      return "\(lock ?? "no lock") \(done.verdict)"
    }
  }

  /// What nobody holds, and nobody waits for.
  func isFree() async throws -> Bool {
    let places = try await client(["--verbose", "places", "--acquired"])
    let reservations = try await client(["reservations"])
    return !places.contains("acquired: ") && !reservations.contains("lockstep-")
  }

  /// Ends what stayed behind to give back what nobody takes.
  func endWatchdogs() async throws {
    for number in try await watchdogs() { kill(number, SIGKILL) }
  }

  /// The processes that stand beside runs.
  func watchdogs() async throws -> [Int32] {
    let found = try await rig.run("pgrep", ["/usr/bin/pgrep", "-f", "lab-watchdog \(address) "])
    return found.output.split(separator: "\n").compactMap { Int32($0) }
  }

  /// The Python that talks to the lab for a run.
  func python(of run: Rig.Child) async throws -> Int32? {
    Int32(try await rig.run("pgrep", ["/usr/bin/pgrep", "-P", "\(run.id)", "python"]).output.dropLast())
  }

  /// Waits until something is so; it must be within a time.
  func settled(within seconds: Double = Rig.responseTimeout, _ isSo: () async throws -> Bool) async throws {
    let limit = Date.now + seconds
    while try await !isSo() {
      guard Date.now < limit else { throw Rig.Failure(description: "not so after \(seconds) s") }
      try await Task.sleep(for: .milliseconds(100))
    }
  }
}
