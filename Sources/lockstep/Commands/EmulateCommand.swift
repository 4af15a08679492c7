import CommandLine
import Bench
import Reporting
import Devices
import Programs
import Journal
import System
import Conformance
import Bluetooth
import Harness
import Basics
import Transports

extension Command {
  static var emulate: Command {
    Command(
      "emulate", "Emulates a lock, or controllers alone, for other programs.",
      discussion: """
        LOCK is \(EmulatedDevice.lockNames.joined(separator: ", ")), with settings after a '?' as for run; or 'controllers' for
        a radio without a lock; or 'peripheral:COMMAND' for a lock that a program simulates. With --transport, the lock uses
        that controller; with --serve, it is on an emulated radio, and the program that connects gets a controller on it: one
        program at a time for each --serve.

        Prints a line when the lock advertises and for each connection, until Ctrl-C or --duration. Without --key-file, the lock
        has no owner, unless its settings contain 'registered=yes' or 'configured=yes'.

        """,
      examples: [
        Example(
          "lockstep emulate sesame5 --serve tcp-server:127.0.0.1:9000 --key-file lock.yaml",
          "A lock on its own emulated radio, and its lock file."),
        Example("lockstep emulate sesame5 --transport usb:0", "A lock on a real dongle."),
        Example(
          "lockstep emulate controllers --serve tcp-server:127.0.0.1:9000 --serve tcp-server:127.0.0.1:9001",
          "Two controllers that receive each other."),
      ],
      options: [
        .value(
          "transport", \.transport, "SPEC", "The controller of the lock: \(LabArguments.transports).",
          example: "usb:0", as: .transport),
        .list(
          "serve", \.serve, "SPEC",
          "Serves a controller at tcp-server:HOST:PORT; may be given several times.",
          example: "tcp-server:127.0.0.1:9000"),
        .value(
          "key-file", \.keyFile, "FILE", "Writes the lock file with the key of the lock, for lock:FILE.",
          example: "lock.yaml", as: .file),
        .value(
          "control", \.control, "unix:PATH",
          "The socket that controls the environment of the lock, for run --control.",
          example: "unix:lock.socket"),
        .value(
          "seed", \.seed, "N", "The seed of the lock, which determines its identity and its key.",
          example: "42"),
        .value(
          "duration", \.duration, "TIME", "How long to run. By default until it is stopped.", example: "1h"),
        .capture(\.capture),
        .format(\.format, "The output format; json prints one object per line."),
      ],
      operands: .init(
        placeholder: "LOCK", summary: "The lock.", count: 1...1,
        as: .choice(EmulatedDevice.lockNames + ["controllers"]), path: \.lock), defaults: EmulateArguments(),
      perform: EmulateArguments.perform)
  }
}

private struct EmulateArguments {
  var lock: [String] = []
  var transport: String?
  var serve: [String] = []
  var keyFile: String?
  var control: String?
  var seed: UInt64?
  var duration: Interval?
  var capture: String?
  var format = OutputFormat.human

  private var isBare: Bool { lock == ["controllers"] }

  func perform(_ console: Console) throws(UsageError) -> CommandStatus {
    try check()
    let report = EmulationReport(console, format)
    let seed = seed ?? UInt64(World().drawSeed())
    let program = try PeripheralProgram.named(lock[0])
    defer { program?.shutDown() }
    let choice = isBare || program != nil ? nil : try EmulatedLockChoice(lock[0])
    let specs = try serve.map { text throws(UsageError) in try served(text) }
    let transportSpec = try transport.map { text throws(UsageError) in try Bench.transportSpec(text) }
    let control = try controlServer()
    defer { control?.shutDown() }
    Interruption.listen()
    do {
      let limit = duration.map { Waiting.now + $0 } ?? .never
      let air: any EmulatedAir =
        if let transportSpec {
          try open(transportSpec)
        } else {
          try emulated { () throws(TransportFault) in try RadioAir(serving: specs, seed: seed) }
        }
      if let program {
        try Emulation(program, on: air, seed: seed, control: control, report: report).play(until: limit)
        return .agree
      }
      guard let choice else {
        try EmulatedRadio.play(air, until: limit, report)
        return .agree
      }
      let emulation = try emulated { () throws(DeviceProblem) in
        try Emulation(choice, on: air, seed: seed, control: control, keyFile: keyFile, report: report)
      }
      try emulation.play(until: limit)
      return .agree
    } catch {
      console.say("lockstep: \(error.text)")
      return .labFault
    }
  }

  private func check() throws(UsageError) {
    if let capture { try OutputCheck.check("--capture", .capture, at: capture) }
    if transport == nil, serve.isEmpty {
      throw UsageError(
        "missing --transport or --serve: give --transport usb:0, or --serve tcp-server:127.0.0.1:9000")
    }
    if transport != nil, !serve.isEmpty { throw UsageError("'--transport' and '--serve' exclude each other") }
    if lock[0].hasPrefix("peripheral:"), keyFile != nil {
      throw UsageError("'--key-file' is only for built-in locks: the program of this lock keeps its own key")
    }
    guard isBare else { return }
    if transport != nil { throw UsageError("controllers are served: --serve tcp-server:127.0.0.1:9000") }
    if control != nil || keyFile != nil {
      throw UsageError(
        "without a lock there is nothing to control and no key: leave out --control and --key-file")
    }
  }

  private func served(_ text: String) throws(UsageError) -> TransportSpec {
    let spec = try Bench.transportSpec(text, of: "--serve")
    guard case .tcpServer = spec else {
      throw UsageError("'--serve' expects tcp-server:HOST:PORT, not '\(text)'")
    }
    return spec
  }

  private func controlServer() throws(UsageError) -> ControlServer? {
    guard let control else { return nil }
    let path = try socketPath(control, of: "--control")
    return try checked("--control: ") { try ControlServer(path: path) }
  }

  private func open(_ spec: TransportSpec) throws(EmulationFault) -> TransportAir {
    var settings = TransportSettings()
    settings.tap = capture
    var lease: Lease?
    do throws(LabFault) {
      if spec.isController { lease = try Lease(of: spec.identity, for: "lockstep emulate") }
    } catch {
      throw EmulationFault(error.detail)
    }
    return try emulated("; 'lockstep doctor' checks this computer") { () throws(TransportFault) in
      TransportAir(try Transport(opening: spec, settings: settings), lease)
    }
  }
}

/// An emulated radio without a lock.
private enum EmulatedRadio {
  static func play(
    _ air: any EmulatedAir, until limit: Instant, _ report: EmulationReport
  ) throws(EmulationFault) {
    report.announce(controllers: air.endpoints)
    while !Interruption.isRequested, Waiting.now < limit {
      try emulated { () throws(TransportFault) in try air.service() }
      while air.take() != nil {}
      for diagnostic in air.takeDiagnostics() { report.say(diagnostic) }
      let latest = min(limit, Waiting.now + .milliseconds(200))
      Waiting.wait(for: air.descriptors, until: min(air.deadline ?? .never, latest))
    }
  }
}
