import CommandLine
import Devices
import Bench
import Reporting
import Sesame
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
        On a terminal it shows a table that lives; elsewhere it prints a line for each lock when it is first heard, and
        when what it advertises changes.

        """,
      examples: [
        Example("lockstep scan --transport usb:0", "The locks that a dongle hears in ten seconds."),
        Example(
          "lockstep scan --transport hci-socket:0 --duration 1min --all", "Everything that advertises."),
      ],
      options: [
        .transport(\.transport),
        .bench(
          \.bench,
          "The inventory of the bench, whose dongles are --transport dongle:NAME. bench.yaml, or lockstep/bench.yaml in the "
            + "user's configuration, unless given."),
        .value("duration", \.duration, "TIME", "How long it listens. 10s unless given.", example: "1min"),
        .flag("all", \.isAll, "Lists everything that advertises."),
        .capture(\.capture),
        .format(\.format, "How findings are printed; json is one object a line."),
        .quiet(\.isQuiet, "Says nothing of an empty room."),
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
        "a scan needs a controller: --transport usb:0, or another; 'lockstep doctor' says what there is")
    }
    let choice = try TransportChoice(naming: transport, on: bench(for: transport))
    let spec = choice.spec
    if let capture { try OutputCheck.check("--capture", .capture, at: capture) }
    Interruption.listen()
    var settings = TransportSettings()
    settings.tap = capture
    let view = ScanView(console, format, isAll: isAll)
    // Who uses the controller now is not to be disturbed, nor are we.
    let lease: Lease
    do {
      lease = try Lease(of: spec.identity, for: "lockstep scan")
    } catch {
      console.say("lockstep: \(choice.shortName): \(error.detail)")
      return .labFault
    }
    defer { withExtendedLifetime(lease) {} }
    do {
      let transport = try Transport(opening: spec, settings: settings)
      defer { transport.close() }
      var scan = Scan(transport: transport, view: view)
      try scan.listen(for: duration)
      if !isQuiet { view.finish() }
      return .agree
    } catch {
      console.say("lockstep: \(error); 'lockstep doctor' looks at this machine")
      return .labFault
    }
  }
}

extension ScanArguments {
  /// The bench that a dongle is of.
  fileprivate func bench(for transport: String) throws(UsageError) -> BenchFile? {
    guard bench != nil || transport.hasPrefix("dongle:"), let path = bench ?? BenchFile.usual else {
      return nil
    }
    return try BenchFile(reading: path)
  }
}

/// A host that does nothing but listen.
private struct Scan {
  let transport: Transport
  let view: ScanView
  var host = BluetoothHost(HostSettings(address: .staticRandom(SystemEntropy().next())))
  /// Since when it listens.
  var start: Instant?
  var isOver = false

  mutating func listen(for duration: Interval) throws(TransportFault) {
    try carryOut(host.start(at: transport.now))
    // A controller that is slow to begin is listened to as long as one that is quick.
    while start == nil { try step(until: .never) }
    let limit = (start ?? transport.now) + duration
    while transport.now < limit, !Interruption.isRequested { try step(until: limit) }
    // A controller that fell silent meanwhile is told from an empty room by its answer to this.
    try carryOut(host.stopScanning(at: transport.now))
    while !isOver { try step(until: .never) }
  }

  private mutating func step(until limit: Instant) throws(TransportFault) {
    let next = min(limit, host.deadline ?? .never, transport.now + .milliseconds(200))
    if let packet = try transport.receive(until: next) {
      try carryOut(host.receive(packet, at: transport.now))
    }
    try carryOut(host.advance(to: transport.now))
    view.refresh(at: transport.now)
  }

  private mutating func carryOut(_ actions: [HostAction]) throws(TransportFault) {
    for action in actions {
      switch action {
      case .transmit(let packet): try transport.send(packet)
      case .report(.ready):
        try carryOut(host.startScanning(ScanParameters(), filterDuplicates: false, at: transport.now))
      case .report(.advertisement(let report)): view.hear(report, at: transport.now)
      case .report(.failed(let failure)): throw TransportFault(failure)
      case .report(.scanning(_, let status)) where status != .success:
        throw TransportFault(.unavailable, "the controller does not scan: \(status)")
      case .report(.scanning(true, _)): start = transport.now
      case .report(.scanning(false, _)): isOver = true
      case .report: break
      }
    }
  }
}

extension TransportFault {
  /// What a controller that cannot be used means for who only listens.
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

/// What was heard, and how it is shown.
final class ScanView {
  /// Somebody who advertises.
  struct Station {
    let address: PeerAddress
    var data: [UInt8] = []
    var response: [UInt8] = []
    var rssi: Int8?
    var heard: Instant
    /// What was printed of it last.
    var printed = ""
  }

  private let console: Console
  private let format: OutputFormat
  private let isAll: Bool
  private let isLive: Bool
  private var stations: [Station] = []
  private var shownLines = 0
  private var nextRefresh = Instant.zero
  /// So many are told apart; a hall full of beacons is no reason to grow for ever.
  private static let capacity = 1000

  init(_ console: Console, _ format: OutputFormat, isAll: Bool) {
    self.console = console
    self.format = format
    self.isAll = isAll
    isLive = format == .human && console.isTerminal
  }

  func hear(_ report: AdvertisingReport, at now: Instant) {
    let index: Int
    if let known = stations.firstIndex(where: { $0.address == report.address }) {
      index = known
    } else {
      guard stations.count < Self.capacity, report.kind != .scanResponse else { return }
      index = stations.count
      stations.append(Station(address: report.address, heard: now))
    }
    if report.kind == .scanResponse {
      stations[index].response = report.data
    } else {
      stations[index].data = report.data
    }
    stations[index].rssi = report.rssi
    stations[index].heard = now
    if !isLive { printNews(index) }
  }

  /// Draws the table again, twice a second.
  func refresh(at now: Instant) {
    guard isLive, now >= nextRefresh else { return }
    nextRefresh = now + .milliseconds(500)
    let rows = stations.compactMap { row(of: $0, at: now) }
    let lines = [Self.row(Self.headings)] + rows
    let up = shownLines > 0 ? "\u{1B}[\(shownLines)A\u{1B}[J" : ""
    console.draw(up, lines.map { $0 + "\n" }.joined())
    shownLines = lines.count
  }

  /// Says so when there was nothing.
  func finish() {
    guard !stations.contains(where: { lock($0) != nil }) else { return }
    console.say("lockstep: no lock in range" + (stations.isEmpty ? "" : ", \(stations.count) other devices"))
  }

  private func lock(_ station: Station) -> Advertisement? {
    guard let data = try? AdvertisingData(decoding: station.data) else { return nil }
    let response = try? AdvertisingData(decoding: station.response)
    return try? Advertisement(data, scanResponse: response ?? AdvertisingData())
  }

  private func localName(_ station: Station) -> String? {
    [station.data, station.response].lazy.compactMap { (try? AdvertisingData(decoding: $0))?.localName }.first
  }

  private func printNews(_ index: Int) {
    let station = stations[index]
    let news: String
    if let lock = lock(station) {
      news = "\(lock.model) \(lock.deviceID) \(lock.isRegistered)"
    } else if isAll {
      news = localName(station) ?? "-"
    } else {
      return
    }
    guard news != station.printed else { return }
    stations[index].printed = news
    console.print(in: format, line(of: station), json(of: station))
  }

  private func line(of station: Station) -> String {
    let strength = station.rssi.map { "\($0) dBm" } ?? "unknown strength"
    guard let lock = lock(station) else {
      return "\(localName(station) ?? "unnamed")   \(station.address)   \(strength)"
    }
    let state = lock.isRegistered ? "registered" : "not registered"
    return "\(lock.model)   \(lock.deviceID)   \(state)   \(station.address)   \(strength)"
  }

  private func json(of station: Station) -> JSON {
    let lock = lock(station)
    return .known([
      "model": lock.map { .text($0.model.description) }, "uuid": lock.map { .text($0.deviceID.description) },
      "registered": lock.map { .flag($0.isRegistered) },
      "name": lock == nil ? localName(station).map(JSON.text) : nil,
      "address": .text(station.address.description), "rssi": station.rssi.map { .integer($0) },
    ])
  }

  private func row(of station: Station, at now: Instant) -> String? {
    let lock = lock(station)
    guard isAll || lock != nil else { return nil }
    let age = (now - station.heard).nanoseconds / 1_000_000_000
    let model = lock.map { $0.model.description } ?? localName(station) ?? "-"
    let uuid = lock.map { $0.deviceID.description } ?? "-"
    let owned = lock.map { $0.isRegistered ? "yes" : "no" } ?? "-"
    let strength = station.rssi.map { String($0) } ?? "-"
    return Self.row([model, uuid, owned, station.address.description, strength, "\(age) s"])
  }

  private static let headings = ["lock", "uuid", "registered", "address", "RSSI", "heard"]
  private static let widths = [16, 38, 12, 19, 7, 0]

  private static func row(_ cells: [String]) -> String {
    zip(cells, widths).map { ($0 + " ").leftAligned(in: $1) }.joined()
  }
}
