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
  /// The port on which the lock's controller listens.
  let controller: Int
  /// The lock's key file.
  let key: String

  /// Starts all of it: one place, front-door, with an emulated lock behind a controller that the exporter names.
  init(_ rig: Rig) async throws {
    slot = try await Slot()
    self.rig = rig
    (port, controller) = (try freePort(), try freePort())
    key = try await rig.emulateLock("--serve", "tcp-server:127.0.0.1:\(controller)")
    try FileManager.default.createDirectory(atPath: rig.path("lab"), withIntermediateDirectories: false)
    try await startCoordinator("coordinator")
    try await startExporter("exporter")
    for words in [
      ["create"], ["add-match", "bench-1/front-door/*"], ["set-tags", "model=sesame5", "lock=\(key)"],
    ] { try await client(["--place", "front-door"] + words) }
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
    return try await rig.start(name, ["/bin/sh", "-c", line], until: "listening on", within: 60)
  }

  /// Starts the exporter of the bench with the lock.
  @discardableResult
  func startExporter(_ name: String) async throws -> Rig.Child {
    let file = try rig.write(
      "exporter.yaml",
      "front-door:\n  NetworkService: {address: 127.0.0.1, username: lockstep, port: \(controller)}\n")
    let exporter = try await rig.start(
      name,
      [
        "\(Place.venv)/bin/labgrid-exporter", "-c", "127.0.0.1:\(port)", "-n", "bench-1", "--hostname",
        "127.0.0.1",
        file,
      ], until: "add resource front-door", within: 60)
    try await settled { try await client(["resources"]).contains("bench-1/front-door") }
    return exporter
  }

  /// Runs labgrid's own client as somebody else.
  @discardableResult
  func client(_ words: [String], as user: String = "admin") async throws -> String {
    try await rig.succeed(
      "client",
      ["/usr/bin/env", "LG_USERNAME=\(user)", "LG_HOSTNAME=office", Self.program, "-x", "127.0.0.1:\(port)"]
        + words)
  }

  /// labgrid's client.
  static let program = "\(Place.venv)/bin/labgrid-client"

  /// A command of ours with a place of the lab.
  func command(
    _ name: String, _ words: [String], tags: String = "model=sesame5", client: String = program,
    wait: String = "60s"
  ) -> [String] {
    ["/usr/bin/env", "LABGRID_CLIENT=\(client)", Place.lockstep, name] + words
      + ["--lab", address, "--tags", tags, "--lab-wait", wait]
  }

  /// A run of a scenario that takes minutes, driving the lock.
  func startRun(_ name: String) async throws -> Rig.Child {
    try await rig.start(
      name,
      command("run", ["Scenarios/sesame5/forty-turns.yaml", "--out", rig.path(name)]), within: 60
    ) { _ in rig.log(of: "emulate").contains("notifications on") }
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

  /// Waits until something is so; it must be within a time.
  func settled(within seconds: Double = 30, _ isSo: () async throws -> Bool) async throws {
    let limit = Date.now + seconds
    while try await !isSo() {
      guard Date.now < limit else { throw Rig.Failure(description: "not so after \(seconds) s") }
      try await Task.sleep(for: .milliseconds(100))
    }
  }
}
