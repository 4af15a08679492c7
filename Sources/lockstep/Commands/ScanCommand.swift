import CommandLine
import Devices
import Links
import Bench
import Reporting
import Journal
import System
import Bluetooth
import Conformance
import Basics
import Transports

extension Command {
  static var scan: Command {
    Command(
      "scan", "Lists the locks in range.",
      discussion: """
        On a terminal, shows a table that is updated continuously. Elsewhere, prints a line for each lock when it is first
        received, and when its advertisement changes.

        """,
      examples: [
        Example("lockstep scan --transport usb:0", "The locks that a dongle receives in ten seconds."),
        Example(
          "lockstep scan --transport hci-socket:0 --duration 1min --all", "All devices that advertise."),
      ],
      options: [
        .transport(\.transport),
        .bench(
          \.bench,
          "The bench file, with the dongles of --transport dongle:NAME. Default: bench.yaml, or "
            + "lockstep/bench.yaml in the user's configuration."),
        .value("duration", \.duration, "TIME", "The duration of the scan. Default: 10s.", example: "1min"),
        .flag("all", \.isAll, "Lists all devices that advertise."),
        .capture(\.capture),
        .format(\.format, "The output format; json prints one object per line."),
        .quiet(\.isQuiet, "Prints no message if nothing is found."),
      ], defaults: ScanArguments(), perform: ScanArguments.perform)
  }
}

private struct ScanArguments {
  var bench: String?
  var transport: String?
  var duration = Interval.seconds(10)
  var isAll = false
  var capture: String?
  var format = OutputFormat.human
  var isQuiet = false

  func perform(_ console: Console) throws(UsageError) -> CommandStatus {
    guard let transport else {
      throw UsageError(
        "a scan needs a controller: --transport usb:0, or another; 'lockstep doctor' lists the "
          + "available ones")
    }
    let choice = try TransportChoice(naming: transport, on: bench(for: transport))
    let spec = choice.spec
    if let capture { try OutputCheck.check("--capture", .capture, at: capture) }
    Interruption.listen()
    var settings = TransportSettings()
    settings.tap = capture
    let view = ScanView(console, format, isAll: isAll)
    // Neither this command nor the current user of the controller may disturb the other.
    let lease: Lease
    do {
      lease = try Lease(of: spec.identity, for: "lockstep scan")
    } catch {
      console.say("lockstep: \(choice.shortName): \(error.detail)")
      return .labFault
    }
    defer { withExtendedLifetime(lease) {} }
    func trouble(_ words: String) -> CommandStatus {
      console.say("lockstep: \(words); 'lockstep doctor' checks this computer")
      return .labFault
    }
    do throws(TransportFault) {
      let transport = try Transport(opening: spec, settings: settings)
      defer { transport.close() }
      try listen(over: transport, showing: view)
    } catch {
      return trouble("\(error)")
    }
    if !isQuiet { view.finish() }
    return .agree
  }

  /// Scans, and shows the devices found.
  private func listen(over transport: Transport, showing view: ScanView) throws(TransportFault) {
    var central = Central(transport, HostSettings(address: .staticRandom(SystemEntropy().next())))
    do throws(LabFault) {
      try listen(with: &central, showing: view)
    } catch {
      if let fault = central.fault { throw fault }
      throw central.session.failure.map { TransportFault($0) } ?? TransportFault(.unavailable, error.detail)
    }
  }

  private func listen(
    with central: inout Central<Transport>, showing view: ScanView
  ) throws(LabFault) {
    let transport = central.transport
    try central.setUp()
    try central.perform(.scan(true))
    // The time starts with scanning, so a slow controller is given as long as a fast one.
    var limit = Instant.never
    var (isStopping, isOver) = (false, false)
    while !isOver {
      let next = min(limit, transport.now + .milliseconds(200))
      _ = try central.step(until: next)
      while let event = try central.takeEvent() {
        switch event {
        case .scanning(true, _): limit = transport.now + duration
        case .scanning(false, _): isOver = true
        case .advertisement(let report): view.hear(report, at: transport.now)
        default: break
        }
      }
      view.refresh(at: transport.now)
      guard !isStopping, transport.now >= limit || Interruption.isRequested else { continue }
      // The answer to this command distinguishes a controller that has failed silently from a place without
      // devices.
      (isStopping, limit) = (true, .never)
      try central.perform(.scan(false))
    }
  }
}

extension ScanArguments {
  /// Returns the bench of the dongle.
  fileprivate func bench(for transport: String) throws(UsageError) -> BenchFile? {
    guard bench != nil || transport.hasPrefix("dongle:"), let path = bench ?? BenchFile.usual else {
      return nil
    }
    return try BenchFile(reading: path)
  }
}

extension TransportFault {
  /// Creates the transport fault for a controller failure, for a command that only listens.
  fileprivate init(_ failure: HostFailure) {
    let symptom: Symptom =
      switch failure {
      case .noAnswer: .silent
      case .refused: .unavailable
      case .hardwareError: .lost
      case .undecodable, .broken: .malformed
      }
    self.init(symptom, failure.description)
  }
}

/// Collects and shows the devices found.
final class ScanView {
  /// The view's note on a device.
  private struct Note: Sendable {
    var heard = Instant.zero
    /// The last printed text about the device.
    var printed = ""
  }
  private typealias Device = Advertisers<Note>.Device

  private let console: Console
  private let format: OutputFormat
  private let isAll: Bool
  private let isLive: Bool
  private var advertisers = Advertisers(capacity: 1000, note: Note())
  private var shownLines = 0
  private var nextRefresh = Instant.zero

  init(_ console: Console, _ format: OutputFormat, isAll: Bool) {
    self.console = console
    self.format = format
    self.isAll = isAll
    isLive = format == .human && console.isTerminal
  }

  func hear(_ report: AdvertisingReport, at now: Instant) {
    guard let change = advertisers.hear(report) else { return }
    advertisers[change.index].note.heard = now
    if !isLive { printNews(change.index) }
  }

  /// Redraws the table, at most twice a second.
  func refresh(at now: Instant) {
    guard isLive, now >= nextRefresh else { return }
    nextRefresh = now + .milliseconds(500)
    let rows = advertisers.devices.compactMap { row(of: $0, at: now) }
    let lines = [Self.row(Self.headings)] + rows
    let up = shownLines > 0 ? "\u{1B}[\(shownLines)A\u{1B}[J" : ""
    console.draw(up, lines.map { $0 + "\n" }.joined())
    shownLines = lines.count
  }

  /// Reports if there was no lock.
  func finish() {
    let devices = advertisers.devices
    guard !devices.contains(where: { $0.lock != nil }) else { return }
    console.say("lockstep: no lock in range" + (devices.isEmpty ? "" : ", \(devices.count) other devices"))
  }

  private func localName(_ device: Device) -> String? {
    [device.advertisement, device.response ?? []].lazy
      .compactMap { (try? AdvertisingData(decoding: $0))?.localName }.first
  }

  private func printNews(_ index: Int) {
    let device = advertisers[index]
    let news: String
    if let lock = device.lock {
      news = "\(lock.model) \(lock.id) \(lock.isRegistered)"
    } else if isAll {
      news = localName(device) ?? "-"
    } else {
      return
    }
    guard news != device.note.printed else { return }
    advertisers[index].note.printed = news
    console.print(in: format, line(of: device), json(of: device))
  }

  private func line(of device: Device) -> String {
    let strength = device.rssi.map { "\($0) dBm" } ?? "unknown strength"
    guard let lock = device.lock else {
      return "\(localName(device) ?? "unnamed")   \(device.address)   \(strength)"
    }
    let state = lock.isRegistered ? "registered" : "not registered"
    return "\(lock.model)   \(lock.id)   \(state)   \(device.address)   \(strength)"
  }

  private func json(of device: Device) -> JSON {
    let lock = device.lock
    return .omittingNil([
      "model": lock.map { .text($0.model) }, "uuid": lock.map { .text($0.id) },
      "registered": lock.map { .flag($0.isRegistered) },
      "name": lock == nil ? localName(device).map(JSON.text) : nil,
      "address": .text(device.address.description), "rssi": device.rssi.map { .integer($0) },
    ])
  }

  private func row(of device: Device, at now: Instant) -> String? {
    let lock = device.lock
    guard isAll || lock != nil else { return nil }
    let age = (now - device.note.heard).nanoseconds / 1_000_000_000
    let model = lock.map { $0.model } ?? localName(device) ?? "-"
    let uuid = lock.map { $0.id } ?? "-"
    let owned = lock.map { $0.isRegistered ? "yes" : "no" } ?? "-"
    let strength = device.rssi.map { String($0) } ?? "-"
    return Self.row([model, uuid, owned, device.address.description, strength, "\(age) s"])
  }

  private static let headings = ["lock", "uuid", "registered", "address", "RSSI", "heard"]
  private static let widths = [16, 38, 12, 19, 7, 0]

  private static func row(_ cells: [String]) -> String {
    zip(cells, widths).map { ($0 + " ").leftAligned(in: $1) }.joined()
  }
}
