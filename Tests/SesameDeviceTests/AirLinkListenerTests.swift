@testable import SesameDevice
import Bluetooth
import TestSupport
import Testing

@testable import Sesame

private let id = AirFixture.deviceID

/// An advertisement of an OS2 lock, and its scan response.
private func os2(_ deviceID: UUID128 = id) -> (advertisement: [UInt8], response: [UInt8]) {
  let advertisement = Advertisement(model: .sesame3, isRegistered: false, deviceID: deviceID)
  return (advertisement.advertisingData.encoded, advertisement.scanResponse.encoded)
}

private func report(
  _ kind: AdvertisingReport.Kind, _ data: [UInt8], from address: PeerAddress = AirFixture.address
) -> AdvertisingReport {
  AdvertisingReport(kind, from: address, data, rssi: -60)
}

@Suite("What a client hears of its lock")
struct AirLinkListenerTests {
  @Test("an OS3 lock is heard with each advertisement, and its address is known from then on")
  func os3() {
    let data = AirFixture.advertisement.advertisingData.encoded
    var listener = LockListener(.deviceID(id))
    expect(listener.address, nil)
    for _ in 0..<3 {
      expect(listener.hear(report(.connectable, data)), data)
      expect(listener.hear(report(.scanResponse, [])), nil)
    }
    expect(listener.address, AirFixture.address)
    var changed = AirFixture.advertisement
    changed.isRegistered = false
    expect(
      listener.hear(report(.connectable, changed.advertisingData.encoded)), changed.advertisingData.encoded)
  }

  @Test("others are counted since listening began; the lock itself, and what may be it, are none of them")
  func countsOthers() {
    var listener = LockListener(.deviceID(id))
    let addresses = (1...4).map { number in
      PeerAddress(.randomDevice, BluetoothAddress(0xC000_0000_0000 + UInt64(number)))
    }
    _ = listener.hear(report(.connectable, AirFixture.advertisement.advertisingData.encoded))
    expect(listener.others, 0)
    _ = listener.hear(report(.connectable, [2, 1, 6], from: addresses[0]))
    _ = listener.hear(report(.connectable, [2, 1, 6], from: addresses[0]))
    expect(listener.others, 1)
    let (data, response) = os2(UUID128(high: 1, low: 2))
    // A lock that has not told its name may be the one that is meant.
    _ = listener.hear(report(.connectable, data, from: addresses[1]))
    expect(listener.others, 1)
    _ = listener.hear(report(.scanResponse, response, from: addresses[1]))
    expect(listener.others, 2)
    // So may what cannot be read.
    _ = listener.hear(report(.connectable, [3, 0xFF, 0x5A, 0x05], from: addresses[2]))
    expect(listener.others, 2)
    listener.listenAgain()
    expect(listener.others, 0)
    _ = listener.hear(report(.connectable, [2, 1, 6], from: addresses[0]))
    expect(listener.others, 1)
  }

  @Test("an OS2 lock is heard with each scan response, which has its name")
  func os2Lock() {
    let (data, response) = os2()
    var listener = LockListener(.deviceID(id))
    expect(listener.hear(report(.scanResponse, response)), nil)
    for _ in 0..<3 {
      expect(listener.hear(report(.connectable, data)), nil)
      expect(listener.hear(report(.scanResponse, response)), data + response)
    }
    let name = Advertisement(model: .sesame3, isRegistered: true, deviceID: id)
    let whole = AdvertisingData(
      name.advertisingData.structures.filter { $0.type == .manufacturerData } + name.scanResponse.structures)
    expect(listener.hear(report(.connectable, whole.encoded)), whole.encoded)
  }

  @Test(
    "other locks and others are passed over; a device that claims to be of Sesame and is not is heard once")
  func others() throws {
    var listener = LockListener(.deviceID(id))
    let thirdParty = Advertisement(model: .sesame5, isRegistered: true, deviceID: UUID128(high: 1, low: 2))
    let (data, response) = os2(UUID128(high: 1, low: 2))
    let cut = try [UInt8](hex: "05ff5a050500")
    for _ in 0..<2 {
      listener.listenAgain()
      for (bytes, isHeard) in [
        (thirdParty.advertisingData.encoded, false), ([], false), ([2, 1, 6], false),
        ([9, 0xFF, 0x5A], false),
        (try [UInt8](hex: "04ff4c0002"), false), (cut, true), (cut, false),
        (try [UInt8](hex: "03ff5a05"), true),
      ] {
        expect(listener.hear(report(.connectable, bytes, from: AirFixture.other)), isHeard ? bytes : nil)
      }
      expect(listener.hear(report(.connectable, data, from: AirFixture.other)), nil)
      expect(listener.hear(report(.scanResponse, response, from: AirFixture.other)), nil)
    }
    expect(listener.address, nil)
  }

  @Test("a lock that is meant by its address is heard whatever it says")
  func byAddress() {
    var listener = LockListener(.address(AirFixture.address))
    expect(listener.address, AirFixture.address)
    let (data, response) = os2()
    expect(listener.hear(report(.connectable, [1])), [1])
    expect(listener.hear(report(.connectable, data)), nil)
    expect(listener.hear(report(.scanResponse, response)), data + response)
    expect(listener.hear(report(.connectable, data, from: AirFixture.other)), nil)
    expect(listener.hear(report(.scanResponse, response, from: AirFixture.other)), nil)
  }

  @Test("a crowd costs no more memory than its limit, and the lock is heard in it")
  func crowd() {
    var listener = LockListener(.deviceID(id))
    let data = AirFixture.advertisement.advertisingData.encoded
    for number in 0..<2000 as Range<UInt64> {
      let address = PeerAddress(.publicDevice, BluetoothAddress(number))
      expect(listener.hear(report(.nonconnectable, [2, 1, 6], from: address)), nil)
      if number % 500 == 0 { expect(listener.hear(report(.connectable, data)), data) }
    }
  }
}
