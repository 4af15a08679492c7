@testable import Bluetooth
import TestSupport
import Testing

@Suite("Discovering all that a server has")
struct ProfileDiscoveryTests {
  private static func handle(_ number: UInt16) -> AttributeHandle { GATTFixture.handle(number) }

  private static let access = DiscoveredService(uuid: BluetoothUUID(0x1800), range: GATTFixture.range(1, 5))
  private static let lock = DiscoveredService(uuid: BluetoothUUID(0xFD81), range: GATTFixture.range(6, 9))
  private static let name = DiscoveredCharacteristic(
    uuid: BluetoothUUID(0x2A00), properties: .read, declaration: handle(2), value: handle(3))
  private static let look = DiscoveredCharacteristic(
    uuid: BluetoothUUID(0x2A01), properties: .read, declaration: handle(4), value: handle(5))
  private static let told = DiscoveredCharacteristic(
    uuid: BluetoothUUID(0xFFF1), properties: [.notify, .write], declaration: handle(7), value: handle(8))
  private static let configuration = DiscoveredDescriptor(uuid: .clientConfiguration, handle: handle(9))

  @Test("services, then the characteristics of each, each with its descriptors where there is room for any")
  func whole() throws {
    var discovery = ProfileDiscovery()
    expect(discovery.procedure, .discoverAllServices)
    try discovery.take(.success(.services([Self.access, Self.lock])))
    expect(discovery.procedure, .discoverCharacteristics(GATTFixture.range(1, 5), wanted: []))
    try discovery.take(.success(.characteristics([Self.name, Self.look])))
    expect(discovery.procedure, .discoverCharacteristics(GATTFixture.range(6, 9), wanted: []))
    try discovery.take(.success(.characteristics([Self.told])))
    expect(discovery.procedure, .discoverDescriptors(GATTFixture.range(9, 9), wanted: nil))
    try discovery.take(.success(.descriptors([Self.configuration])))
    expect(discovery.procedure, nil)
    expect(
      discovery.profile.attributes,
      [
        .service(Self.access), .characteristic(Self.name, in: Self.access.uuid),
        .characteristic(Self.look, in: Self.access.uuid), .service(Self.lock),
        .characteristic(Self.told, in: Self.lock.uuid), .descriptor(Self.configuration, of: Self.told),
      ])
    expect(discovery.gaps, [])
    expect(discovery.profile.configuration(of: Self.told), Self.handle(9))
    expect(discovery.profile.configuration(of: Self.name), nil)
    expect(discovery.profile.attribute(at: Self.handle(0x77)), .unknown(Self.handle(0x77)))
  }

  @Test("what a service refuses to show is a gap, and the others are looked at all the same")
  func gaps() throws {
    var discovery = ProfileDiscovery()
    try discovery.take(.success(.services([Self.access, Self.lock])))
    try discovery.take(.failure(.refused(.insufficientAuthentication, Self.handle(1))))
    try discovery.take(.success(.characteristics([Self.told])))
    try discovery.take(.failure(.badAnswer("an empty list")))
    expect(discovery.procedure, nil)
    expect(
      discovery.gaps,
      [
        "the characteristics of the service 1800: refused with 0x05 (insufficient authentication) at 0x0001",
        "the descriptors of 0x0008: answered with an empty list",
      ])
    expect(discovery.profile.attributes.count, 3)
  }

  @Test(
    "without a list of services, or without a link, there is nothing more to ask",
    arguments: [
      GATTFailure.refused(.attributeNotFound, AttributeHandle(rawValue: 1)), .timedOut, .linkLost,
    ])
  func over(failure: GATTFailure) {
    var discovery = ProfileDiscovery()
    #expect(throws: failure) { try discovery.take(.failure(failure)) }
  }

  @Test("a UUID is read as people write it, and by its assigned name")
  func texts() {
    let table: [(String, BluetoothUUID?)] = [
      ("2a00", BluetoothUUID(0x2A00)), ("2A00", BluetoothUUID(0x2A00)), ("00002a00", BluetoothUUID(0x2A00)),
      ("0000fd8100001000800000805f9b34fb", BluetoothUUID(0xFD81)),
      ("16860002-A5AE-9856-B6D3-DBB4C676993E", GATTFixture.longUUID), ("2a0", nil), ("2a0g", nil), ("", nil),
    ]
    for (text, uuid) in table { expect(BluetoothUUID(text: text), uuid) }
    expect(BluetoothUUID(assignedName: "battery-level"), BluetoothUUID(0x2A19))
    expect(BluetoothUUID(assignedName: "Battery"), BluetoothUUID(0x180F))
    expect(BluetoothUUID(assignedName: "door"), nil)
    expect(BluetoothUUID(0x2A24).assignedName, "Model Number String")
    expect(GATTFixture.longUUID.assignedName, nil)
    expect(
      CharacteristicProperties([.notify, .read, .writeWithoutResponse]).description,
      "read, write without response, notify")
    expect(CharacteristicProperties([]).description, "nothing")
    expect(ATTErrorCode(rawValue: 0x80).description, "0x80 (application error)")
    expect(ATTErrorCode(rawValue: 0x13).description, "0x13 (value not allowed)")
    expect(ATTErrorCode(rawValue: 0x70).description, "0x70")
  }
}
