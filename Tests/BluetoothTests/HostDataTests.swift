import Bluetooth
import Simulation
import TestSupport
import Testing

@Suite("A host's data")
struct HostDataTests {
  @Test("two hosts find each other's services, subscribe, write and notify")
  func conversation() {
    var pair = HostPair()
    expect(pair.run(.exchangeMTU), .success(.mtu(247)))
    let range = AttributeRange(AttributeHandle(rawValue: 10), HostFixture.configurationHandle)
    expect(
      pair.run(.discoverServices(HostFixture.service)),
      .success(.services([DiscoveredService(uuid: HostFixture.service, range: range)])))
    expect(pair.run(.write(HostFixture.configurationHandle, [1, 0])), .success(.written))
    pair.centralEvents = []
    pair.peripheralEvents = []
    let value = [UInt8](0..<244)
    pair.carryOut(
      central: pair.central.writeCommand(
        HostFixture.commandHandle, value, on: HostFixture.link, at: .zero) ?? [])
    pair.carryOut(
      peripheral: pair.peripheral.notify(
        HostFixture.publishHandle, [7], on: HostFixture.link, at: .zero) ?? [])
    expect(pair.peripheralEvents, [.gatt(HostFixture.link, .written(HostFixture.commandHandle, value))])
    expect(pair.centralEvents, [.gatt(HostFixture.link, .notification(HostFixture.publishHandle, [7]))])
  }
}
