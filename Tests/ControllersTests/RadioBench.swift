@testable import Controllers
import Bluetooth
import Basics

/// A radio with hosts that do as a test says, and a log of what they hear: `time host what`.
struct RadioBench {
  var radio: Radio
  var now = Instant.zero
  /// Whether what a host is told again and again is passed over.
  var skipsRepetitions = false
  /// What was heard and not yet taken by ``pass(_:)``.
  private var log: [String] = []

  /// Makes a radio with so many controllers of one kind, whose hosts have set them up.
  init(
    _ count: Int = 2, _ settings: RadioSettings = RadioSettings(fading: 0),
    _ controller: ControllerSettings = ControllerSettings(), seed: UInt64 = 1
  ) {
    radio = Radio(settings, seed: seed)
    for number in 0..<count {
      _ = radio.addController(controller)
      setUp(number)
    }
  }

  static func address(_ number: Int) -> PeerAddress {
    PeerAddress(.randomDevice, .staticRandom(UInt64(number) + 0xA0))
  }

  static func handle(_ place: UInt16 = 0) -> ConnectionHandle { ConnectionHandle(rawValue: 0x40 + place) }

  /// Resets a controller, unmasks all events and gives it a random address.
  mutating func setUp(_ host: Int) {
    order(host, .reset())
    order(host, .setEventMask(.max))
    order(host, .leSetEventMask(.max))
    order(host, .leSetRandomAddress(Self.address(host).address))
  }

  /// Sends a command and returns the answer's parameters from the status on; what else comes is logged.
  @discardableResult
  mutating func order(_ host: Int, _ command: HCICommand) -> [UInt8] {
    send(host, command.packet)
    var answers: [[UInt8]] = []
    while let (controller, packet) = radio.nextPacket() {
      switch packet {
      case .event(0x0E, let parameters) where controller.rawValue == host:
        answers.append(Array(parameters.dropFirst(3)))
      case .event(0x0F, let parameters) where controller.rawValue == host: answers.append([parameters[0]])
      default: note(controller, packet)
      }
    }
    return answers.count == 1 ? answers[0] : [0xFF, UInt8(answers.count)]
  }

  mutating func send(_ host: Int, _ packet: HCIPacket) {
    radio.send(packet, to: ControllerID(rawValue: host), at: now)
  }

  mutating func send(_ host: Int, _ data: [UInt8], _ boundary: ACLPacket.Boundary = .first, link: UInt16 = 0)
  {
    send(host, .acl(ACLPacket(handle: Self.handle(link), boundary: boundary, data: data)))
  }

  /// A frame of so many bytes, header included, with a number behind the header.
  static func frame(_ length: Int, _ number: Int = 0) -> [UInt8] {
    let payload = length - 4
    var bytes: [UInt8] = [UInt8(payload & 0xFF), UInt8(payload >> 8), 4, 0]
    for index in 0..<payload { bytes.append(UInt8(truncatingIfNeeded: number &+ index)) }
    return bytes
  }

  /// Lets time pass and returns what was heard.
  mutating func pass(_ interval: Interval) -> [String] {
    run(to: now + interval)
    defer { log = [] }
    return log
  }

  /// Lets time pass; what is heard is logged.
  mutating func run(to end: Instant) {
    while true {
      if skipsRepetitions { radio.skipRepetitions(until: end) }
      guard let deadline = radio.deadline, deadline <= end else { break }
      now = deadline
      radio.advance(to: now)
      collect()
    }
    now = end
    radio.advance(to: now)
    collect()
  }

  mutating func collect() {
    while let (controller, packet) = radio.nextPacket() { note(controller, packet) }
  }

  private mutating func note(_ controller: ControllerID, _ packet: HCIPacket) {
    log.append("\(now.secondsText) \(controller.rawValue) \(text(packet))")
  }
}

// MARK: - What tests do often

extension RadioBench {
  /// Advertises with a data of `a` and a scan response of `b`, every 100 ms.
  mutating func advertise(_ host: Int, _ parameters: AdvertisingParameters = AdvertisingParameters()) {
    order(host, .leSetAdvertisingParameters(parameters))
    order(host, .leSetAdvertisingData([2, 0x0A, UInt8(host)]))
    order(host, .leSetScanResponseData([2, 0x0B, UInt8(host)]))
    order(host, .leSetAdvertisingEnable(true))
  }

  mutating func scan(
    _ host: Int, _ parameters: ScanParameters = ScanParameters(), filterDuplicates: Bool = true
  ) {
    order(host, .leSetScanParameters(parameters))
    order(host, .leSetScanEnable(true, filterDuplicates))
  }

  /// Connects host 0 to host 1 and returns what was heard until the first packets were exchanged.
  @discardableResult
  mutating func connect(
    _ parameters: ConnectionParameters = ConnectionParameters(), central: Int = 0, peripheral: Int = 1
  ) -> [String] {
    advertise(peripheral)
    order(
      central, .leCreateConnection(ConnectionRequest(peer: Self.address(peripheral), parameters: parameters)))
    var heard: [String] = []
    for _ in 0..<1000 where !heard.contains(where: { $0.contains("\(central) connected") }) {
      heard += pass(.milliseconds(1))
    }
    return heard + pass(.milliseconds(2))
  }
}

// MARK: - Text

private func text(_ packet: HCIPacket) -> String {
  switch packet {
  case .acl(let packet):
    return "data \(packet.handle) \(packet.boundary) \(packet.data.count): \(packet.data.prefix(6).hex)"
  case .event(let code, let parameters):
    guard let event = try? HCIEvent(code: code, parameters: parameters) else {
      return "nonsense \([code].hex) \(parameters.hex)"
    }
    return text(event)
  case .command, .synchronous, .isochronous: return "\(packet)"
  }
}

private func text(_ event: HCIEvent) -> String {
  switch event {
  case .commandComplete(let credits, let opcode, let returned):
    "complete \(hex(opcode)) credits \(credits): \(returned.hex)"
  case .commandStatus(let status, let credits, let opcode):
    "status \(hex(opcode)) credits \(credits): \(code(status))"
  case .disconnectionComplete(_, let handle, let reason): "disconnected \(handle) \(code(reason))"
  case .numberOfCompletedPackets(let packets):
    "sent " + packets.map { "\($0.handle) \($0.count)" }.joined(separator: ", ")
  case .leConnectionComplete(let complete):
    complete.status == .success
      ? "connected \(complete.handle) \(complete.role) to \(complete.peer) \(timing(complete.timing))"
      : "not connected \(complete.role) \(code(complete.status))"
  case .leAdvertisingReport(let reports): reports.map(text).joined(separator: ", ")
  case .leExtendedAdvertisingReport(let reports): "extended " + reports.map(text).joined(separator: ", ")
  case .leConnectionUpdateComplete(let status, let handle, let new):
    "updated \(handle) \(code(status)) \(timing(new))"
  case .leReadRemoteFeaturesComplete(let status, let handle, let features):
    "features \(handle) \(code(status)) \(String(features, radix: 2))"
  case .readRemoteVersionInformationComplete(let status, let handle, let version):
    "version \(handle) \(code(status)) \(version.version)"
  case .leDataLengthChange(let handle, let length):
    "length \(handle) \(length.transmitOctets)/\(length.transmitTime) "
      + "\(length.receiveOctets)/\(length.receiveTime)"
  case .leRemoteConnectionParameterRequest(let handle, let wanted):
    "asked \(handle) \(wanted.minimumInterval) \(wanted.maximumInterval) \(wanted.latency) "
      + "\(wanted.supervisionTimeout)"
  case .hardwareError(let code): "hardware error \(code)"
  case .dataBufferOverflow: "overflow"
  default: "\(event)"
  }
}

private func text(_ report: AdvertisingReport) -> String {
  let strength = report.rssi.map(String.init) ?? "?"
  return "report \(report.kind) \(report.address) \(report.data.hex) \(strength)"
}

private func timing(_ timing: ConnectionTiming) -> String {
  "\(timing.interval)/\(timing.latency)/\(timing.supervisionTimeout)"
}

private func hex(_ opcode: UInt16) -> String { [UInt8(opcode >> 8), UInt8(truncatingIfNeeded: opcode)].hex }

private func code(_ code: HCIErrorCode) -> String { [code.rawValue].hex }

extension RadioBench {
  /// A line of the log without its time.
  static func what(_ line: String) -> String { String(line.split(separator: " ", maxSplits: 1)[1]) }
}
