import Bluetooth
import Basics
import TestSupport
import Testing

@Suite("A host that scans and advertises")
struct HostGAPTests {
  private static let parameters = HCICommand.leSetScanParameters(ScanParameters())
  private static let on = HCICommand.leSetScanEnable(true, false)
  private static let off = HCICommand.leSetScanEnable(false, false)

  private static func scanning() -> BluetoothHost {
    var host = HostFixture.ready()
    let opening = host.startScanning(ScanParameters(), filterDuplicates: false, at: .zero)
    expect(
      converse(&host, opening, [.done(parameters), .done(on)]),
      [.report(.scanning(true, status: .success))])
    return host
  }

  @Test("scanning begins, hears and ends")
  func scan() {
    var host = Self.scanning()
    let report = AdvertisingReport(.connectable, from: HostFixture.peer, [2, 1, 6], rssi: -60)
    expect(
      host.receive(HCIEvent.leAdvertisingReport([report]).packet, at: .zero),
      [.report(.advertisement(report))])
    let extended = AdvertisingReport(.extended(0x01), from: HostFixture.peer, [2, 1, 6], rssi: nil)
    expect(
      host.receive(HCIEvent.leExtendedAdvertisingReport([extended, extended]).packet, at: .zero),
      [.report(.advertisement(extended)), .report(.advertisement(extended))])
    let opening = host.stopScanning(at: .zero)
    expect(converse(&host, opening, [.done(Self.off)]), [.report(.scanning(false, status: .success))])
    expect(host.stopScanning(at: .zero), [.report(.scanning(false, status: .success))])
  }

  @Test("other parameters are set while the controller does not scan")
  func rescan() {
    var host = Self.scanning()
    let passive = ScanParameters(isActive: false)
    let opening = host.startScanning(passive, filterDuplicates: true, at: .zero)
    let script: [Exchange] = [
      .done(Self.off), .done(.leSetScanParameters(passive)),
      .done(.leSetScanEnable(true, true)),
    ]
    expect(converse(&host, opening, script), [.report(.scanning(true, status: .success))])
  }

  @Test("what is asked for while a command is under way follows, the latest alone")
  func changeOfMind() {
    var host = HostFixture.ready()
    let opening = host.startScanning(ScanParameters(), filterDuplicates: false, at: .zero)
    expect(host.stopScanning(at: .zero), [])
    expect(converse(&host, opening, [.done(Self.parameters)]), [.report(.scanning(false, status: .success))])
    let again = host.startScanning(ScanParameters(), filterDuplicates: false, at: .zero)
    let enabling = converse(&host, again, [.done(Self.parameters)])
    expect(host.stopScanning(at: .zero), [])
    expect(host.startScanning(ScanParameters(window: 8), filterDuplicates: false, at: .zero), [])
    expect(host.stopScanning(at: .zero), [])
    expect(enabling, [.transmit(Self.on.packet)])
    expect(
      host.receive(Exchange.done(Self.on).answer.packet, at: .zero),
      [.report(.scanning(true, status: .success)), .transmit(Self.off.packet)])
    expect(
      host.receive(Exchange.done(Self.off).answer.packet, at: .zero),
      [.report(.scanning(false, status: .success))])
  }

  @Test("a refusal ends scanning", arguments: [0, 1])
  func refused(_ step: Int) {
    var host = HostFixture.ready()
    let opening = host.startScanning(ScanParameters(), filterDuplicates: false, at: .zero)
    let script =
      [Exchange.done(Self.parameters)].prefix(step) + [
        .refused([Self.parameters, Self.on][step], .commandDisallowed)
      ]
    expect(
      converse(&host, opening, Array(script)), [.report(.scanning(false, status: .commandDisallowed))])
    expect(
      host.startScanning(ScanParameters(), filterDuplicates: false, at: .zero),
      [.transmit(Self.parameters.packet)])
  }

  @Test("a controller that refuses to stop scanning was not scanning")
  func refusedToStop() {
    var host = Self.scanning()
    let opening = host.stopScanning(at: .zero)
    expect(
      converse(&host, opening, [.refused(Self.off, .commandDisallowed)]),
      [.report(.scanning(false, status: .success))])
  }
}

@Suite("A host that advertises")
struct HostAdvertisingTests {
  private static let disable = HCICommand.leSetAdvertisingEnable(false)

  private static func script(
    _ parameters: AdvertisingParameters = AdvertisingParameters(), _ data: [UInt8] = [2, 1, 6],
    _ response: [UInt8] = [3, 9, 0x4C, 0x53]
  ) -> [Exchange] {
    [
      .done(.leSetAdvertisingParameters(parameters)), .done(.leSetAdvertisingData(data)),
      .done(.leSetScanResponseData(response)), .done(.leSetAdvertisingEnable(true)),
    ]
  }

  private static func start(
    _ host: inout BluetoothHost, _ parameters: AdvertisingParameters = AdvertisingParameters(),
    _ data: [UInt8] = [2, 1, 6]
  ) -> [HostAction] {
    host.startAdvertising(parameters, data: data, scanResponse: [3, 9, 0x4C, 0x53], at: .zero)
  }

  private static func advertising(
    _ parameters: AdvertisingParameters = AdvertisingParameters()
  ) -> BluetoothHost {
    var host = HostFixture.ready()
    let opening = start(&host, parameters)
    expect(
      converse(&host, opening, script(parameters)), [.report(.advertising(true, status: .success))])
    return host
  }

  @Test("advertising begins and ends")
  func advertise() {
    var host = Self.advertising()
    let opening = host.stopAdvertising(at: .zero)
    expect(
      converse(&host, opening, [.done(Self.disable)]), [.report(.advertising(false, status: .success))])
    expect(host.stopAdvertising(at: .zero), [.report(.advertising(false, status: .success))])
  }

  @Test("what is advertised is replaced on the fly")
  func replace() {
    var host = Self.advertising()
    let opening = Self.start(&host, AdvertisingParameters(kind: .scannable), [2, 1, 4])
    expect(
      converse(
        &host, opening,
        [.done(Self.disable)] + Self.script(AdvertisingParameters(kind: .scannable), [2, 1, 4])),
      [.report(.advertising(true, status: .success))])
  }

  @Test("a change of mind at any step is carried out after it", arguments: 0..<4)
  func changeOfMind(_ step: Int) {
    var host = HostFixture.ready()
    let script = Self.script()
    let opening = Self.start(&host)
    let pending = converse(&host, opening, Array(script.prefix(step)))
    expect(host.stopAdvertising(at: .zero), [])
    expect(pending, [.transmit(script[step].command.packet)])
    let next = host.receive(script[step].answer.packet, at: .zero)
    guard step == 3 else {
      return expect(next, [.report(.advertising(false, status: .success))])
    }
    expect(next, [.report(.advertising(true, status: .success)), .transmit(Self.disable.packet)])
  }

  @Test("a refusal at any step ends it", arguments: 0..<4)
  func refused(_ step: Int) {
    var host = HostFixture.ready()
    let script = Self.script()
    let opening = Self.start(&host)
    expect(
      converse(
        &host, opening, script.prefix(step) + [.refused(script[step].command, .invalidParameters)]),
      [.report(.advertising(false, status: .invalidParameters))])
  }

  @Test("a connection ends advertising by itself")
  func connected() {
    var host = Self.advertising()
    let connection = HostFixture.connection(.peripheral)
    expect(
      host.receive(HCIEvent.leConnectionComplete(connection).packet, at: .zero),
      [
        .report(.connected(HostFixture.link, connection)),
        .report(.advertising(false, status: .success)),
      ])
    expect(host.stopAdvertising(at: .zero), [.report(.advertising(false, status: .success))])
  }

  @Test("a connection that overtakes the answer to the enabling ends it too")
  func overtaken() {
    var host = HostFixture.ready()
    let opening = Self.start(&host)
    _ = converse(&host, opening, Array(Self.script().prefix(3)))
    let connection = HostFixture.connection(.peripheral)
    expect(
      host.receive(HCIEvent.leConnectionComplete(connection).packet, at: .zero),
      [
        .report(.connected(HostFixture.link, connection)),
        .report(.advertising(false, status: .success)),
      ])
    expect(host.receive(Self.script()[3].answer.packet, at: .zero), [])
    expect(
      Self.start(&host), [.transmit(Self.script()[0].command.packet)])
  }

  @Test("a connection while advertising is being replaced changes nothing about that")
  func connectedWhileReplacing() {
    var host = Self.advertising()
    let opening = Self.start(&host)
    let connection = HostFixture.connection(.peripheral)
    expect(
      host.receive(HCIEvent.leConnectionComplete(connection).packet, at: .zero),
      [.report(.connected(HostFixture.link, connection))])
    expect(
      converse(&host, opening, [.refused(Self.disable, .commandDisallowed)] + Self.script()),
      [.report(.advertising(true, status: .success))])
  }

  @Test("a directed advertisement that found nobody is over; what cannot be connected to goes on")
  func directed() {
    var directed = Self.advertising(AdvertisingParameters(kind: .directedHighDuty, peer: HostFixture.peer))
    let over = HostFixture.connection(.peripheral, HostFixture.handle, .advertisingTimeout)
    expect(
      directed.receive(HCIEvent.leConnectionComplete(over).packet, at: .zero),
      [.report(.advertising(false, status: .advertisingTimeout))])
    var beacon = Self.advertising(AdvertisingParameters(kind: .nonconnectable))
    let connection = HostFixture.connection(.peripheral)
    expect(
      beacon.receive(HCIEvent.leConnectionComplete(connection).packet, at: .zero),
      [.report(.connected(HostFixture.link, connection))])
    expect(beacon.stopAdvertising(at: .zero), [.transmit(Self.disable.packet)])
  }
}
