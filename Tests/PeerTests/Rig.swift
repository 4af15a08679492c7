import Foundation
import TestSupport

/// Programs that run beside each other for one test, in a folder and, where that is permitted, a network of their
/// own. All of them end with the test, with whatever they started.
final class Rig {
  /// What a rig could not do.
  struct Failure: Error, CustomStringConvertible {
    var description: String
  }

  /// What a program said, and how it ended.
  struct Result {
    var status: Int32
    var output: String
  }

  /// The folder, with a short path: a Unix socket's name holds 107 octets.
  let folder: String

  private var children: [Child] = []
  private var networkPrefix: [String] = []

  /// Makes the folder and the network.
  ///
  /// - Parameter isIsolated: whether the programs get a network of their own where that is permitted.
  init(_ needed: Part..., isIsolated: Bool = true) async throws {
    if let part = needed.compactMap(\.missing).first {
      throw Failure(description: "this machine lacks \(part)")
    }
    folder = "/tmp/peers-\(UInt32.random(in: 0 ... .max))"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    if isIsolated { await isolate() }
  }

  deinit {
    for child in children.reversed() { child.end() }
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// Gives the programs a network of their own, if we may: whatever they listen on, nobody else hears it.
  private func isolate() async {
    guard getuid() == 0 else { return }
    let script = "ip link set lo up && echo ready && exec sleep 600"
    guard
      let holder = try? await start(
        "network", ["/usr/bin/unshare", "--net", "sh", "-c", script], until: "ready")
    else { return }
    networkPrefix = ["/usr/bin/nsenter", "--net=/proc/\(holder.id)/ns/net", "--"]
  }
}

extension Rig {
  /// The path of a file of the folder.
  func path(_ name: String) -> String { folder + "/" + name }

  /// Writes a file of the folder that only its owner may read.
  func write(_ name: String, _ text: String) throws -> String {
    let path = path(name)
    guard
      FileManager.default.createFile(
        atPath: path, contents: Data(text.utf8), attributes: [.posixPermissions: 0o600])
    else { throw Failure(description: "\(path) cannot be written") }
    return path
  }

  /// How long what must come is waited for, in seconds: only what never comes takes it.
  static let responseTimeout = 240.0

  /// Starts a program and waits until its output contains a text.
  @discardableResult
  func start(
    _ name: String, _ command: [String], until text: String, within seconds: Double = Rig.responseTimeout
  ) async throws -> Child {
    try await start(name, command, within: seconds) { $0.output.contains(text) }
  }

  /// Starts a program and waits until it is ready.
  @discardableResult
  func start(
    _ name: String, _ command: [String], within seconds: Double = Rig.responseTimeout,
    until isReady: (Child) -> Bool
  ) async throws -> Child {
    let child = try Child(networkPrefix + command, output: path(name + ".log"))
    children.append(child)
    let limit = Date.now + seconds
    while !isReady(child) {
      guard child.isRunning else { throw Failure(description: "\(name) ended early:\n\(child.output)") }
      guard Date.now < limit else {
        throw Failure(description: "\(name) is not ready after \(seconds) s:\n\(child.output)")
      }
      try await Task.sleep(for: .milliseconds(20))
    }
    return child
  }

  /// Runs a program to its end; one that takes too long is killed, and that is a failure.
  func run(
    _ name: String, _ command: [String], within seconds: Double = Rig.responseTimeout
  ) async throws -> Result {
    let child = try Child(networkPrefix + command, output: path(name + ".log"))
    children.append(child)
    guard let status = try await child.ended(within: seconds) else {
      throw Failure(description: "\(name) did not end in \(seconds) s:\n\(child.output)\n\(logs(but: name))")
    }
    return Result(status: status, output: child.output)
  }

  /// Runs a program to its end, which must be a success, and returns what it said.
  @discardableResult
  func succeed(
    _ name: String, _ command: [String], within seconds: Double = Rig.responseTimeout
  ) async throws -> String {
    let result = try await run(name, command, within: seconds)
    guard result.status == 0 else {
      throw Failure(
        description: "\(name) ended with \(result.status):\n\(result.output)\n\(logs(but: name))")
    }
    return result.output
  }

  /// The program that was last started under a name.
  func child(named name: String) -> Child? { children.last { $0.name == name } }

  /// Writes a program of the folder.
  func writeProgram(_ name: String, _ text: String) -> String {
    TestFolder.write(path(name), text, mode: 0o755)
  }

  /// What a program has said so far.
  func log(of name: String) -> String { children.first { $0.name == name }?.output ?? "" }

  /// The last words of all other programs.
  private func logs(but name: String) -> String {
    children.filter { $0.name != name }.map { "--- \($0.name)\n\($0.output.suffix(2000))" }
      .joined(separator: "\n")
  }

  /// One program, in a process group of its own.
  final class Child {
    let name: String
    private let process: Program
    private let log: String

    fileprivate init(_ command: [String], output log: String) throws {
      self.log = log
      name = URL(filePath: log).deletingPathExtension().lastPathComponent
      let folder = URL(filePath: log).deletingLastPathComponent().path
      process = try Program(
        command[0], Array(command.dropFirst()), in: Place.root,
        adding: [
          "PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1", "NO_COLOR": "1",
          // What is kept of real locks from run to run is of no use here, and must not mix with a user's.
          "LOCKSTEP_STATE": folder + "/state/lockstep", "XDG_RUNTIME_DIR": folder,
        ], output: log)
    }

    /// Its process, which leads its group.
    var id: Int32 { process.processIdentifier }

    var isRunning: Bool { process.isRunning }

    /// All that it has said.
    var output: String { (try? String(contentsOfFile: log, encoding: .utf8)) ?? "" }

    /// Sends it alone a signal.
    func signal(_ number: Int32) { process.signal(number) }

    /// Sends it alone a signal, and waits until it has it.
    func signalAndWait(_ number: Int32) { process.signalAndWait(number) }

    /// Its exit status, or 128 and the signal that ended it; `nil` if it has not ended in time.
    func ended(within seconds: Double = Rig.responseTimeout) async throws -> Int32? {
      let limit = Date.now + seconds
      while Date.now < limit {
        if let status = process.status { return status }
        try await Task.sleep(for: .milliseconds(20))
      }
      return process.status
    }

    /// Ends it and all that it started.
    func end() {
      guard process.isRunning else { return }
      kill(-id, SIGKILL)
      process.waitUntilExit()
    }
  }
}
