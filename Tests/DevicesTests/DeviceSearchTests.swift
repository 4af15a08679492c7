import Basics
import Links
import Sesame
import TestSupport
import Testing

@testable import Bluetooth
@testable import Devices

@Suite("The search for one device on the air")
struct DeviceSearchTests {
  private static func peer(_ kind: PeerAddress.Kind, _ number: UInt64 = 0xC7E6_DA90_F5F9) -> PeerAddress {
    PeerAddress(kind, BluetoothAddress(number))
  }

  private static let address = "c7:e6:da:90:f5:f9"
  private static let wanted = peer(.randomDevice)
  private static let other = peer(.randomDevice, 0xC0FF_EE00_0001)
  private static let id = UUID128(high: 1, low: 2)

  /// An advertisement of a lock, as bytes; a Sesame 3 has its identity in the scan response.
  private static func lock(_ model: ProductModel, _ id: UUID128 = id) -> (data: [UInt8], response: [UInt8]) {
    let advertisement = Advertisement(model: model, isRegistered: true, deviceID: id)
    func bytes(_ data: AdvertisingData) -> [UInt8] {
      var bytes: [UInt8] = []
      data.encode(into: &bytes)
      return bytes
    }
    return (bytes(advertisement.advertisingData), bytes(advertisement.scanResponse))
  }

  private static func report(
    _ kind: AdvertisingReport.Kind, from address: PeerAddress = wanted, _ data: [UInt8] = []
  ) -> AdvertisingReport {
    AdvertisingReport(kind, from: address, data, rssi: -50)
  }

  /// The target, what is heard of it and of others, one a second, and the number of the report that decides.
  // swift-format-ignore
  private static let searches: [(target: DeviceTarget, reports: [AdvertisingReport], found: Int?, id: String?)] = [
    (.address(wanted), [report(.connectable, from: other), report(.connectable)], 1, nil),
    (.address(wanted), [report(.directed)], 0, nil), (.address(wanted), [report(.extended(1))], 0, nil),
    // What takes no connections is not the device that is wanted, yet.
    (.address(wanted), [report(.nonconnectable), report(.scannable), report(.extended(2))], nil, nil),
    (.address(wanted), [report(.nonconnectable), report(.connectable)], 1, nil),
    // A public address and a random one with the same digits are two devices; a resolved one is the same.
    (.address(wanted), [report(.connectable, from: peer(.publicDevice))], nil, nil),
    (.address(peer(.publicDevice)), [report(.connectable)], nil, nil),
    (.address(wanted), [report(.connectable, from: peer(.randomIdentity))], 0, nil),
    (.address(peer(.publicDevice)), [report(.connectable, from: peer(.publicIdentity))], 0, nil),
    // A lock is known by its identity, from whatever address.
    (.id("\(id)"), [report(.connectable, from: other, lock(.sesame5).data)], 0, "\(id)"),
    (.id("\(id)"), [report(.connectable, lock(.sesame5, UUID128(high: 1, low: 3)).data)], nil, nil),
    (.id("\(id)"), [report(.connectable, lock(.sesame3).data), report(.scanResponse, lock(.sesame3).response)], 1, "\(id)"),
    (.id("\(id)"), [report(.scanResponse, lock(.sesame3).response), report(.connectable, lock(.sesame3).data)], nil, nil),
    // By its address, a lock is found once it is known which it is: its lease is that of its identity.
    (.address(wanted), [report(.connectable, lock(.sesame3).data), report(.scanResponse, lock(.sesame3).response)], 1, "\(id)"),
    (.address(wanted), [report(.connectable, lock(.sesame5).data)], 0, "\(id)"),
  ]

  @Test("the device is found by the first report that tells enough of it", arguments: searches.indices)
  func search(index: Int) {
    let (target, reports, found, id) = Self.searches[index]
    var search = DeviceSearch(for: target)
    for (number, report) in reports.enumerated() {
      let result = search.hear(report, at: seconds(Double(number)))
      expect(result, number == found ? .init(address: report.address, id: id) : nil)
    }
  }

  @Test("a scan response is awaited for a second, from the first advertisement on")
  func patience() {
    var search = DeviceSearch(for: .address(Self.wanted))
    expect(search.deadline, .never)
    expect(search.takeWithoutResponse(), nil)
    let report = Self.report(.connectable, Self.lock(.sesame3).data)
    expect(search.hear(report, at: seconds(4)), nil)
    expect(search.hear(report, at: seconds(4.5)), nil)
    expect(search.deadline, seconds(5))
    expect(search.takeWithoutResponse(), .init(address: Self.wanted, id: nil))
    expect(search.deadline, .never)
  }

  @Test("a lease is asked for by the identity of the lock and by its address")
  func identities() {
    expect(DeviceSearch.Found(address: Self.wanted, id: "a").identities, ["a", Self.address])
    expect(DeviceSearch.Found(address: Self.peer(.publicDevice), id: nil).identities, [Self.address])
  }

  private static let missing = "no \(address) in range within 3 s"

  // swift-format-ignore
  private static let failures: [(target: DeviceTarget, reports: [AdvertisingReport], words: String)] = [
    (.address(wanted), [], "\(missing): nothing at all was heard, and --timeout waits longer"),
    (.address(wanted), [report(.connectable, from: other)], "\(missing): 'lockstep scan --all' lists the 1 other device, and --timeout waits longer"),
    (.address(wanted), [report(.nonconnectable, from: other), report(.connectable, from: peer(.randomDevice, 3))],
      "\(missing): 'lockstep scan --all' lists the 2 other devices, and --timeout waits longer"),
    (.address(wanted), [report(.nonconnectable), report(.connectable, from: other)],
      "\(address) advertises, but accepts no connections: another client may be connected to it; try again"),
    (.address(wanted), [report(.connectable, from: peer(.publicDevice))],
      "\(missing), but \(address)/P is: a public address has /P behind it, and another has not"),
    (.address(peer(.publicDevice)), [report(.connectable)],
      "no \(address)/P in range within 3 s, but \(address) is: a public address has /P behind it, and another has not"),
    (.id("\(id)"), [report(.connectable)], "no lock \(id) in range within 3 s: 'lockstep scan --all' lists the 1 other device, and --timeout waits longer"),
  ]

  @Test("a device that is not found has a diagnosis of its own", arguments: failures.indices)
  func failure(index: Int) {
    let (target, reports, words) = Self.failures[index]
    var search = DeviceSearch(for: target)
    for report in reports { expect(search.hear(report, at: .zero), nil) }
    expect(search.failure(after: .seconds(3)), words)
  }
}
