@testable import SesameDevice
@testable import Bluetooth
import TestSupport
import Testing

@testable import Sesame

private func handle(_ number: UInt16) -> AttributeHandle { AttributeHandle(rawValue: number) }
private func range(_ first: UInt16, _ last: UInt16) -> AttributeRange {
  AttributeRange(handle(first), handle(last))
}

private func characteristic(
  _ uuid: BluetoothUUID, _ declaration: UInt16, _ properties: CharacteristicProperties = .notify
) -> DiscoveredCharacteristic {
  DiscoveredCharacteristic(
    uuid: uuid, properties: properties, declaration: handle(declaration), value: handle(declaration + 1))
}

private let services = GATTResult.services([
  DiscoveredService(uuid: SesameService.service, range: range(10, 20))
])
private let search = LockDiscovery.Step.procedure(
  .discoverCharacteristics(range(10, 20), wanted: [SesameService.write, SesameService.notify]))

@Suite("The discovery of a lock")
struct AirLinkDiscoveryTests {
  /// What is found, and what is done after each.
  private static let discoveries: [(String, [Result<GATTResult, GATTFailure>], [LockDiscovery.Step])] = [
    (
      "one handle for a descriptor is the configuration's",
      [
        .success(services),
        .success(
          .characteristics([
            characteristic(SesameService.notify, 11), characteristic(SesameService.write, 14, .write),
          ])), .success(.written),
      ],
      [search, .procedure(.write(handle(13), [1, 0])), .done]
    ),
    (
      "of several the configuration's is looked for",
      [
        .success(services),
        .success(
          .characteristics([
            characteristic(SesameService.write, 11, .write), characteristic(SesameService.notify, 13),
          ])),
        .success(
          .descriptors([
            DiscoveredDescriptor(uuid: BluetoothUUID(0x2901), handle: handle(15)),
            DiscoveredDescriptor(uuid: BluetoothUUID(0x2902), handle: handle(16)),
          ])), .success(.written),
      ],
      [
        search, .procedure(.discoverDescriptors(range(15, 20), wanted: BluetoothUUID(0x2902))),
        .procedure(.write(handle(16), [1, 0])), .done,
      ]
    ),
    ("no service", [.success(.services([]))], [.failed("it has no service fd81")]),
    (
      "one characteristic",
      [.success(services), .success(.characteristics([characteristic(SesameService.write, 11)]))],
      [search, .failed("its service lacks a characteristic")]
    ),
    (
      "nothing that notifies",
      [
        .success(services),
        .success(
          .characteristics([
            characteristic(SesameService.write, 11), characteristic(SesameService.notify, 13, .read),
          ])),
      ],
      [search, .failed("it does not notify")]
    ),
    (
      "no room for a configuration",
      [
        .success(services),
        .success(
          .characteristics([
            characteristic(SesameService.notify, 11), characteristic(SesameService.write, 13),
          ])),
      ],
      [search, .failed("its notifications cannot be turned on")]
    ),
    (
      "no configuration",
      [
        .success(services),
        .success(
          .characteristics([
            characteristic(SesameService.write, 11), characteristic(SesameService.notify, 13),
          ])), .success(.descriptors([])),
      ],
      [
        search, .procedure(.discoverDescriptors(range(15, 20), wanted: BluetoothUUID(0x2902))),
        .failed("its notifications cannot be turned on"),
      ]
    ),
    (
      "a refusal", [.success(services), .failure(.refused(.insufficientEncryption, handle(10)))],
      [search, .failed("it refuses with 0x0f at 0x000a")]
    ),
    ("silence", [.failure(.timedOut)], [.failed("it does not answer")]),
    ("nonsense", [.failure(.badAnswer("an empty list"))], [.failed("its answer is wrong: an empty list")]),
    ("another answer", [.success(.written)], [.failed("its answer is to something else")]),
  ]

  @Test("every exchange follows from what was found", arguments: discoveries)
  private func discovery(
    name: String, results: [Result<GATTResult, GATTFailure>], steps: [LockDiscovery.Step]
  ) {
    var discovery = LockDiscovery()
    expect(results.map { discovery.receive($0) }, steps)
  }

  @Test("a larger MTU is asked for first where it is asked for at all, and may be refused")
  func mtu() {
    let answers: [(Result<GATTResult, GATTFailure>, LockDiscovery.Step)] = [
      (.success(.mtu(185)), .procedure(.findService(SesameService.service))),
      (.failure(.refused(.requestNotSupported, handle(0))), .procedure(.findService(SesameService.service))),
      (.failure(.timedOut), .failed("it does not answer")),
      (.failure(.badAnswer("an MTU of 5, below 23")), .failed("its answer is wrong: an MTU of 5, below 23")),
    ]
    expect(LockDiscovery().first, .findService(SesameService.service))
    for (answer, step) in answers {
      var discovery = LockDiscovery(asksForMTU: true)
      expect(discovery.first, .exchangeMTU)
      expect(discovery.receive(answer), step)
    }
  }
}
