import LockFiles
public import CommandLine
import Devices
import Journal
import Bench
import Conformance
import SesameDevice
import System
import Basics
import Harness
import Transports

/// The options that select a lock on the air.
struct LabArguments {
  var bench: String?
  var transport: String?
  var capture: String?
  var control: String?
  var allowed: [String] = []
  var actuations: Count?
  var park: ParkPosition?
  /// How long to wait for a lock or dongle that another process holds.
  var wait: Interval?
  var checksHealth = false
  var ignoresQuarantine = false
  /// The lab, and the place to use in it; see ``ReservationArguments``.
  var reservation = ReservationArguments()

  /// The syntax of transports.
  static let transports =
    "usb:0, hci-socket:0, tcp-client:HOST:PORT, tcp-server:HOST:PORT, unix-client:PATH, serial:PATH,SPEED"

  /// The options as words, for a command line that repeats the run.
  var words: [String] {
    var words = reservation.words
    guard transport != nil || bench != nil || reservation.lab != nil else { return [] }
    if let bench { words += ["--bench", bench] }
    if let transport, !reservation.givesTransport { words += ["--transport", transport] }
    if let control { words += ["--control", control] }
    return words + interlockWords
  }

  /// The options that permit actions on a lock, as words.
  var interlockWords: [String] {
    var words = permissions
    if let actuations { words += ["--actuations", String(actuations.value)] }
    return words
  }

  /// The permissions for each of several processes with a lock of its own, as words.
  var permissions: [String] {
    allowed.map { "--allow=\($0)" } + (park.map { ["--park=\($0.rawValue)"] } ?? [])
  }
}

extension LabArguments {
  /// Throws if an option requires an interlocked lock and there is none: the user relies on a limit being enforced.
  ///
  /// - Parameters:
  ///   - devices: the devices to drive.
  ///   - countsMovements: whether the caller itself enforces the movement budget.
  func checkInterlocked(_ devices: [DeviceSpec], countsMovements: Bool = false) throws(UsageError) {
    let given: [(option: String, isGiven: Bool)] = [
      ("--actuations", actuations != nil && !countsMovements), ("--park", park != nil),
      ("--allow", !allowed.isEmpty),
    ]
    guard let option = given.first(where: \.isGiven)?.option, let device = devices.first,
      !devices.contains(where: \.isInterlocked)
    else { return }
    throw UsageError(
      "\(option) goes with a real lock, and cannot be honoured by \(device): name one with --device lock:FILE, or one "
        + "that is emulated and driven alike with --device 'emulator:sesame5?as=real'")
  }
}

extension LabArguments {
  /// Throws if a capture is requested and there is no transport to capture.
  func checkCapture(_ lab: LabSettings) throws(UsageError) {
    guard capture == nil || !lab.transports.isEmpty else {
      throw UsageError(
        "--capture goes with --transport; the packets of a case that fails are kept in runs/NAME/packets in any case"
      )
    }
  }
}

extension ParkPosition: WordChoice {}

extension RunArguments {
  private static var allowing: String {
    "Allows \(LockFamily.allGuarded.joined(separator: ", ")) on a real lock. Or the names that "
      + "its driver has for these; may be given several times."
  }

  static var lab: [Option<RunArguments>] {
    [
      .bench(\.lab.bench).heldOnly(beside: realLock), .transport(\.lab.transport).heldOnly(beside: realLock),
      .value(
        "capture", \.lab.capture, "FILE",
        "Writes the traffic of the transport to a file, as btsnoop. With replay, also that of an "
          + "emulated lock. Default: runs/NAME/capture.btsnoop.", example: "air.btsnoop", as: .file
      ).heldOnly(beside: realLock),
      .value(
        "control", \.lab.control, "unix:PATH",
        "The control socket of a lock of 'lockstep emulate --control unix:PATH'. It allows actions that "
          + "no client can perform.",
        example: "unix:lock.socket"
      ).heldOnly(beside: realLock),
      .list(
        "allow", \.lab.allowed, "NAME", allowing, example: "reset", as: .choice(LockFamily.allGuarded)
      ).typedOnly(since: realLockReason),
      .value(
        "actuations", \.lab.actuations, "N",
        "The maximum number of motor movements of a real lock in this run. Default: 100; no limit for "
          + "an emulated lock. Parking is included.",
        example: "20"
      ).typedOnly(since: realLockReason),
      .value(
        "park", \.lab.park, "locked|unlocked|as-found",
        "The position in which a real lock is left. Default: locked.",
        example: "as-found"
      ).typedOnly(since: realLockReason),
      .value(
        "wait", \.lab.wait, "TIME",
        "How long to wait for a lock or a dongle that another process uses. By default it does not wait.",
        example: "2min"
      ).heldOnly(beside: realLock),
    ] + ReservationArguments.options.map { $0.lifted(to: \.lab.reservation) }
  }

  /// Returns the lab settings that follow from the options.
  func labSettings() throws(UsageError) -> LabSettings {
    var settings = try settingsOfLock()
    settings.reservation = lab.reservation.reserved
    if let wait = lab.wait {
      guard lockName != nil else {
        throw UsageError("--wait waits for a lock: name one with --device lock:NAME")
      }
      settings.wait = wait
    }
    if let lock = settings.lock, lock.isEmulated {
      let given = [("transport", lab.transport), ("control", lab.control)]
      if let (name, _) = given.first(where: { $0.1 != nil }) {
        throw UsageError("the lock '\(lock.lock.name)' is played here, and needs no --\(name)")
      }
      return settings
    }
    guard lockName != nil || lab.transport == nil else {
      throw UsageError("--transport leads to a lock: name it with --device lock:FILE")
    }
    guard lockName != nil || lab.control == nil else {
      throw UsageError("--control is the socket of a lock: name it with --device lock:FILE")
    }
    guard lockName != nil else { return settings }
    settings.transports = try transports(settings.lock)
    settings.capture = lab.capture
    settings.control = try (lab.control ?? settings.lock?.lock.control).map { text throws(UsageError) in
      try socketPath(text, of: "--control")
    }
    return settings
  }

  /// Returns the settings of the named lock, independent of its transport.
  func settingsOfLock() throws(UsageError) -> LabSettings {
    let lock = try lockName.flatMap { name throws(UsageError) in try BenchLock(named: name, on: lab.bench) }
    guard lab.bench == nil || lock != nil else {
      throw UsageError("--bench is a bench with locks: choose one with --device lock:NAME")
    }
    let guarded = LockFamily.allGuarded
    if let name = lab.allowed.first(where: { !guarded.contains($0) }), !isDriven(lock) {
      throw UsageError("'--allow' expects one of \(guarded.joined(separator: ", ")), not '\(name)'")
    }
    return LabSettings(
      of: lock, isNamed: lockName != nil, actuations: lab.actuations?.value, park: lab.park,
      allowing: lab.allowed)
  }

  /// Returns whether the named lock has a driver: only the driver knows which names `--allow` accepts.
  private func isDriven(_ lock: BenchLock?) -> Bool {
    guard let lock else { return lockName.map(LockFile.isDriven) ?? false }
    if case .file(let path) = lock.lock.source { return LockFile.isDriven(path) }
    return false
  }

  /// The name after `--device lock:`.
  var lockName: String? {
    device.flatMap { $0.hasPrefix("lock:") ? String($0.dropFirst(5)) : nil }
  }

  private func transports(_ lock: BenchLock?) throws(UsageError) -> [TransportChoice] {
    if let text = lab.transport { return [try TransportChoice(naming: text, on: lock?.bench)] }
    // The transport is not known before the lab place is acquired.
    if lab.reservation.lab != nil, lab.reservation.reserved == nil { return [] }
    guard let lock else {
      throw UsageError(
        "a lock needs a transport: --transport usb:0, or another; 'lockstep doctor' lists the available "
          + "ones")
    }
    return try lock.bench.transports(to: lock.lock)
  }
}

extension Option {
  /// The bench file.
  static func bench(
    _ path: WritableKeyPath<Values, String?>,
    _ summary: String =
      "The bench file, with the locks of --device lock:NAME. Default: bench.yaml, or "
      + "lockstep/bench.yaml in the user's configuration."
  ) -> Option {
    .value("bench", path, "FILE", summary, example: "lab/bench.yaml", as: .file)
  }
}

extension RunArguments {
  /// Returns the command line that replays a saved test on this device.
  func replayLine(_ path: String, on spec: DeviceSpec) -> String {
    var words = ["lockstep", "replay", path]
    if spec.kind == .lock, let device {
      words += ["--device", device] + lab.words
    } else if spec.isInterlocked {
      words += lab.interlockWords
    }
    if answerTimeout != RunArguments().answerTimeout { words.append("--answer-timeout=\(answerTimeout)") }
    return words.map(shellWord).joined(separator: " ")
  }
}
