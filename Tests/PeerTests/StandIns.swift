import Foundation
import TestSupport

/// What other people's programs are started with.
extension Rig {
  /// A lock with an owner, as a file that our command and the scripts read.
  func writeKey() throws -> String {
    try write(
      "lock.yaml",
      """
      lock: sesame5
      uuid: 01234567-89ab-cdef-0123-456789abcdef
      secret: d948215b7f16c6d281fe80037f2c37c4

      """)
  }

  /// The same for a Sesame 3; the lock's own file has what its owner does not have, the secret part of its identity.
  func writeOS2Keys() throws -> (lock: String, owner: String) {
    let owner = """
      lock: sesame3
      uuid: 42918ad1-8154-4aff-bd1f-f0cde88a8de1
      secret: 14206e77f82c25fb4f12ff1826c0f828
      public-key: 87336130c7ccaca4f43acd2b0c0f41e241a486374893941994466d6a07b4942f\
      54e5975af1a32223d9fa3fcd0c9967e5c06b08a8c43785e7b35320b6c2a38452

      """
    return (
      try write("lock3.yaml", owner + "er: 101112131415161718191a1b1c1d1e1f\n"), try write("key3.yaml", owner)
    )
  }

  /// Starts rootcanal; each connection to the port is a controller on its air.
  func startRootcanal() async throws -> Int {
    let ports = try (0..<4).map { _ in try freePort() }
    try await start(
      "rootcanal",
      [
        "\(Place.peers)/rootcanal/start.sh", Place.venv, path("rootcanal"), "-hci_port", "\(ports[0])",
        "-test_port", "\(ports[1])", "-link_port", "\(ports[2])", "-link_ble_port", "\(ports[3])",
      ], until: "initialize: Finished")
    return ports[0]
  }

  /// Starts btvirt; each connection to the Unix socket is a controller on its air.
  func startBtvirt() async throws -> String {
    let folder = path("b")
    let server = "\(folder)/bt-server-le"
    try await start(
      "btvirt", ["\(Place.peers)/btvirt/start.sh", folder, "-s"]
    ) { _ in FileManager.default.fileExists(atPath: server) }
    return server
  }

  /// Starts the lock on Bumble behind a controller, or with `bumble:PORT` on the air of one that it serves.
  ///
  /// - Parameter arguments: its faults and habits, such as `--fault`, `wrong-tag`.
  func startLock(_ transport: String, _ key: String, _ arguments: [String] = []) async throws {
    try await start(
      "lock", script("bumble/sesame_lock.py", [transport, key, "--turn", "0.3"] + arguments),
      until: "ready")
  }

  /// Starts two of our controllers on one air, and returns their ports.
  func emulateControllers() async throws -> (Int, Int) {
    let ports = (try freePort(), try freePort())
    try await start(
      "controllers",
      [
        Place.lockstep, "emulate", "controllers", "--serve", "tcp-server:127.0.0.1:\(ports.0)", "--serve",
        "tcp-server:127.0.0.1:\(ports.1)", "--duration", "120 s",
      ], until: "listening")
    return ports
  }

  /// Makes a dongle whose controller has the lock on its air, and returns what a program is started with to see it.
  func makeDongle(_ key: String) async throws -> [String] {
    try await succeed("build", ["\(Place.peers)/umockdev/build.sh", path("usb")])
    let port = try freePort()
    try await startLock("bumble:\(port)", key)
    return ["\(Place.peers)/umockdev/run.sh", path("usb"), "\(port)"]
  }

  /// Makes a dongle whose controller is ours, with our lock on its air; returns that lock's key too.
  func makeOwnDongle() async throws -> (wrapper: [String], key: String) {
    try await succeed("build", ["\(Place.peers)/umockdev/build.sh", path("usb")])
    let port = try freePort()
    let key = try await emulateLock("--serve", "tcp-server:127.0.0.1:\(port)")
    return (["\(Place.peers)/umockdev/run.sh", path("usb"), "\(port)"], key)
  }

  /// Runs one of the scripts in Tests/Peers to its end, which must be a success.
  @discardableResult
  func succeed(
    script name: String, _ arguments: String..., within seconds: Double = Rig.responseTimeout
  ) async throws -> String {
    try await succeed(name.replacing("/", with: "-"), script(name, arguments), within: seconds)
  }

  /// How one of the scripts in Tests/Peers is called.
  func script(_ name: String, _ arguments: [String]) -> [String] {
    [Place.python, "\(Place.peers)/\(name)"] + arguments
  }
}
