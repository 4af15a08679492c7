import Conformance
@testable import Controllers
import Bluetooth
import Basics
import TestSupport
import Testing

private let service = BluetoothUUID(0xFD81)
private let input = BluetoothUUID(0x0001)
private let output = BluetoothUUID(0x0002)

/// Two hosts with a controller each: host 0 is the client, and host 1 notifies what is written to it.
private struct HostPair {
  var radio: Radio
  var hosts: [BluetoothHost]
  var now = Instant.zero
  var link = LinkID(rawValue: 0)
  /// What the hosts reported and nobody looked at yet.
  var reports: [(host: Int, event: HostEvent)] = []
  private var handles = (input: AttributeHandle(rawValue: 0), output: AttributeHandle(rawValue: 0))

  init(_ settings: RadioSettings, _ controllers: [ControllerSettings], seed: UInt64) {
    radio = Radio(settings, seed: seed)
    let services = [
      ServiceDefinition(service, [.init(input, .writeWithoutResponse), .init(output, .notify)])
    ]
    hosts = (0...1).map {
      BluetoothHost(
        HostSettings(address: .staticRandom(UInt64($0) + 7)), services: $0 == 1 ? services : [])
    }
    for index in 0...1 {
      _ = radio.addController(controllers[index])
      carryOut(hosts[index].start(at: now), index)
    }
    handles.input = hosts[1].handle(of: input, in: service) ?? handles.input
    handles.output = hosts[1].handle(of: output, in: service) ?? handles.output
  }

  mutating func carryOut(_ actions: [HostAction], _ host: Int) {
    for action in actions {
      switch action {
      case .transmit(let packet): radio.send(packet, to: ControllerID(rawValue: host), at: now)
      case .report(let event): reports.append((host, event))
      }
    }
  }

  /// Lets time pass until something that a host reported fits, and says what it was.
  mutating func wait<Value>(
    _ host: Int, for interval: Interval = .seconds(5), _ fits: (HostEvent) -> Value?
  ) -> Value? {
    let end = now + interval
    while true {
      while let (controller, packet) = radio.nextPacket() {
        carryOut(hosts[controller.rawValue].receive(packet, at: now), controller.rawValue)
      }
      for (index, report) in reports.enumerated() where report.host == host {
        guard let value = fits(report.event) else { continue }
        reports.remove(at: index)
        return value
      }
      let deadlines = [radio.deadline, hosts[0].deadline, hosts[1].deadline].compactMap { $0 }
      guard let next = deadlines.min(), next <= end else { return nil }
      now = next
      radio.advance(to: now)
      for index in 0...1 { carryOut(hosts[index].advance(to: now), index) }
    }
  }

  /// Brings a link up to where both ends can talk.
  mutating func open() -> Bool {
    for host in 0...1 {
      guard wait(host, { if case .ready = $0 { true } else { nil } }) != nil else { return false }
    }
    carryOut(
      hosts[1].startAdvertising(AdvertisingParameters(), data: [2, 1, 6], scanResponse: [], at: now), 1)
    let peer = PeerAddress(.randomDevice, .staticRandom(8))
    carryOut(
      hosts[0].connect(
        to: peer, ConnectionParameters(supervisionTimeout: 600), timeout: .seconds(5), at: now), 0)
    guard let link = wait(0, { if case .connected(let link, _) = $0 { link } else { nil } }) else {
      return false
    }
    self.link = link
    return perform(.exchangeMTU)
      && perform(.write(AttributeHandle(rawValue: handles.output.rawValue + 1), [1, 0]))
  }

  private mutating func perform(_ procedure: GATTProcedure) -> Bool {
    let (id, actions) = hosts[0].start(procedure, on: link, at: now)
    carryOut(actions, 0)
    let result = wait(0) { event in
      if case .gatt(_, .finished(id, let result)) = event { result } else { nil }
    }
    if case .success = result { return true }
    return false
  }

  /// Writes values and returns what was notified for each.
  mutating func echo(_ values: [[UInt8]]) -> [[UInt8]] {
    values.compactMap { value in
      carryOut(hosts[0].writeCommand(handles.input, value, on: link, at: now) ?? [], 0)
      let written: (LinkID, [UInt8])? = wait(1) {
        if case .gatt(let link, .written(_, let value)) = $0 { (link, value) } else { nil }
      }
      guard let written else { return nil }
      carryOut(hosts[1].notify(handles.output, written.1.reversed(), on: written.0, at: now) ?? [], 1)
      return wait(0) { if case .gatt(_, .notification(_, let value)) = $0 { value } else { nil } }
    }
  }
}

@Suite("two hosts over the radio")
struct RadioHostTests {
  @Test(
    "talk through buffers of any size, whatever is lost, and break no rule",
    arguments: [(27, 1, 0.0), (27, 1, 0.2), (251, 8, 0.0), (64, 2, 0.1)])
  func echo(_ length: Int, _ count: Int, _ loss: Double) {
    let small = ControllerSettings(aclLength: length, aclCount: count, commandTime: .microseconds(300))
    var pair = HostPair(RadioSettings(fading: 0), [small, ControllerSettings()], seed: 3)
    expect(pair.open(), true)
    pair.radio.setPacketLoss(loss, at: pair.now)
    let values = (0..<60).map { number in (0..<number * 4).map { UInt8(truncatingIfNeeded: $0 + number) } }
    expect(pair.echo(values), values.map { $0.reversed() })
    expect(pair.radio.protocolViolations, [])
  }

  @Test(
    "a link's timing changes whoever asks for it, and whatever the controllers know of asking",
    arguments: [0, 1], [(true, true), (true, false), (false, true), (false, false)])
  func timing(_ asking: Int, _ know: (Bool, Bool)) {
    let controllers = [know.0, know.1].map {
      ControllerSettings(features: $0 ? ControllerSettings.implementedFeatures : 0)
    }
    var pair = HostPair(RadioSettings(fading: 0), controllers, seed: 3)
    expect(pair.open(), true)
    for interval in [24, 12] as [UInt16] {
      let wanted = ConnectionParameters(
        minimumInterval: interval, maximumInterval: interval, supervisionTimeout: 600)
      let link = asking == 0 ? pair.link : LinkID(rawValue: 1)
      pair.carryOut(pair.hosts[asking].updateParameters(link, wanted, at: pair.now), asking)
      for host in 0...1 {
        let told: (HCIErrorCode, ConnectionTiming)? = pair.wait(host) {
          if case .timing(_, let status, let timing) = $0 { (status, timing) } else { nil }
        }
        expect(told?.0, .success)
        expect(told?.1, ConnectionTiming(interval: interval, latency: 0, supervisionTimeout: 600))
      }
    }
    expect(pair.radio.protocolViolations, [])
    expect(
      pair.reports.filter { if case .protocolViolation = $0.event { true } else { false } }.map(\.host), [])
  }
}
