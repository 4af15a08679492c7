@testable import SesameDevice
import Bluetooth
import Links
import Conformance
import Sesame
import Basics
import TestSupport
import Testing

/// The lab fault with which something ends that is done to bring the central back.
private func recovery(
  of link: inout AirLink<ToyTransport>,
  _ body: (inout Central<ToyTransport>) throws(LabFault) -> Void
) -> LabFault? {
  do throws(LabFault) {
    try link.recover(body)
    return nil
  } catch {
    return error
  }
}

private let lost = TransportFault(.lost, "the dongle was unplugged")
private let silent = LabFault(.noAnswer, "the controller does not answer the command 0x0c03")

@Suite("Trouble between a client and its controller")
struct AirLinkFaultTests {
  @Test("a controller is set up once for each test, and time begins after that")
  func prepared() throws {
    var link = AirFixture.link()
    for count in 1...2 {
      expect(try link.prepare(StartCondition()), nil)
      expect(link.central.transport.commands.filter { $0 == .reset() }.count, count)
      expect(link.now, .zero)
      expect(try link.next(until: .zero + .seconds(1)), nil)
      expect(link.now, .zero + .seconds(1))
    }
    expect(link.abilities.stimuli, ["handToLocked"])
    expect(link.abilities.settings, ["registered"])
    expect(link.takeDiagnostics(), [])
  }

  @Test(
    "a fault may hit any frame where the fixture does not tell when it does, and one that hits no frame none"
  )
  func untold() throws {
    for (fault, isTold, events) in [
      ("drop", false, [LinkEvent.tampered]), ("drop", true, []), ("jam", false, []),
    ] {
      let fixture = RecordingFixture()
      var link = AirFixture.link(fixture: fixture)
      fixture.reportsTampering = isTold
      _ = try link.prepare(StartCondition())
      try? link.bring(about: Fault(fault))
      var heard: [LinkEvent] = []
      while let event = try link.next(until: link.now) { heard.append(event) }
      expect(heard, events)
    }
  }

  @Test("what the fixture cannot do is told, and harms nothing")
  func fixture() throws {
    let fixture = RecordingFixture()
    var link = AirFixture.link(fixture: fixture)
    expect(
      fault { () throws(LabFault) in
        _ = try link.prepare(StartCondition([Argument("registered", .flag(true))]))
      },
      LabFault(.notPossible, "nobody knows its key"))
    expect(try link.prepare(StartCondition()), nil)
    expect(
      fault { () throws(LabFault) in try link.bring(about: Fault("jam")) },
      LabFault(.notPossible, "nobody can do 'jam'"))
    expect(
      fault { () throws(LabFault) in try link.connect() },
      LabFault(.notPossible, "a lock that was never heard cannot be connected to"))
    try link.perform("handToLocked", [])
    let key = LockKey(deviceID: AirFixture.deviceID, secret: SecretKey(UUID128(high: 1, low: 2)))
    try link.keep(key)
    try link.drop(key)
    expect(fixture.kept, [key])
    expect(fixture.dropped, [key])
  }

  @Test("a lost transport is a lab fault until it was opened anew")
  func lostTransport() throws {
    var transport = ToyTransport()
    transport.sendFaults = [lost, lost, lost]
    var link = AirFixture.link(transport)
    let expected = LabFault(.transportLost, "controller lost: the dongle was unplugged")
    expect(fault { () throws(LabFault) in _ = try link.prepare(StartCondition()) }, expected)
    expect(link.central.isTransportLost, true)
    expect(fault { () throws(LabFault) in _ = try link.prepare(StartCondition()) }, expected)
    expect(fault { () throws(LabFault) in try link.listen() }, expected)
    let limit = link.central.transport.now + .seconds(3)
    expect(
      recovery(of: &link) { transport throws(LabFault) in try transport.reconnect(until: limit) }, expected)
    expect(
      recovery(of: &link) { transport throws(LabFault) in try transport.resetController(until: limit) },
      expected)
    expect(
      recovery(of: &link) { transport throws(LabFault) in try transport.reopen(.untouched, until: limit) },
      nil)
    expect(link.central.isTransportLost, false)
    expect(try link.prepare(StartCondition()), nil)
  }

  @Test("a controller that does not answer is given up in time, and every call says so at once")
  func silence() throws {
    var transport = ToyTransport()
    transport.patience = 0
    transport.reopenFaults = [TransportFault(.unavailable, "there is no such dongle")]
    var link = AirFixture.link(transport)
    expect(fault { () throws(LabFault) in _ = try link.prepare(StartCondition()) }, silent)
    expect(link.central.transport.now, .zero + .seconds(2))
    expect(link.central.isTransportLost, false)
    let dumb = LabFault(.noAnswer, "the controller gives no sign of life")
    expect(
      recovery(of: &link) { transport throws(LabFault) in try transport.reconnect(until: .zero + .seconds(3))
      }, dumb)
    expect(link.central.transport.now, .zero + .seconds(3))
    let late = LabFault(.noAnswer, "the controller was not set up in time")
    expect(
      recovery(of: &link) { transport throws(LabFault) in
        try transport.resetController(until: .zero + .seconds(4))
      },
      late)
    expect(link.central.transport.now, .zero + .seconds(4))
    let gone = LabFault(.noDevice, "controller unavailable: there is no such dongle")
    expect(
      recovery(of: &link) { transport throws(LabFault) in
        try transport.reopen(.untouched, until: .zero + .seconds(6))
      }, gone)
    expect(link.central.isTransportLost, true)
    expect(fault { () throws(LabFault) in _ = try link.prepare(StartCondition()) }, gone)
    expect(fault { () throws(LabFault) in _ = try link.next(until: .never) }, gone)
    expect(link.central.transport.now, .zero + .seconds(4))
  }

  @Test("a controller that gives a sign of life needs a test to be prepared, and nothing else")
  func signOfLife() throws {
    var transport = ToyTransport()
    transport.later = [(.zero + .seconds(1), HCIEvent.hardwareError(code: 0x42))]
    var link = AirFixture.link(transport)
    expect(try link.prepare(StartCondition()), nil)
    #expect(fault { () throws(LabFault) in _ = try link.next(until: .zero + .seconds(2)) } != nil)
    expect(
      recovery(of: &link) { transport throws(LabFault) in try transport.reconnect(until: .zero + .seconds(3))
      }, nil)
    expect(
      fault { () throws(LabFault) in try link.listen() },
      LabFault(.notPossible, "nothing was prepared since the controller was lost"))
    expect(try link.prepare(StartCondition()), nil)
    expect(fault { () throws(LabFault) in try link.listen() }, nil)
  }

  @Test(
    "what goes wrong during a test is told in one sentence",
    arguments: [
      (
        HCIEvent.hardwareError(code: 0x42),
        LabFault(.transportLost, "the controller reports the hardware error 0x42")
      ),
      (
        .other(code: 0x3E, parameters: []),
        LabFault(.badAnswer, "the controller sent event 0x3e that does not decode, at 0: 1 more byte needed")
      ),
    ])
  func duringTests(event: HCIEvent, expected: LabFault) throws {
    var transport = ToyTransport()
    transport.later = [(.zero + .seconds(1), event)]
    var link = AirFixture.link(transport)
    expect(try link.prepare(StartCondition()), nil)
    let told = fault { () throws(LabFault) in _ = try link.next(until: .zero + .seconds(2)) }
    expect(told, expected)
  }

  @Test("a controller that talks without a pause ends no wait, and is no answer")
  func babble() throws {
    var transport = ToyTransport()
    transport.babble = (.zero + .seconds(1), .other(code: 0xFF, parameters: [1]), .milliseconds(1))
    var link = AirFixture.link(transport)
    expect(try link.prepare(StartCondition()), nil)
    expect(try link.next(until: .zero + .seconds(2)), nil)
    #expect(link.now < .zero + .seconds(4))
    transport.patience = 3
    transport.babble?.begin = .zero
    link = AirFixture.link(transport)
    let told = fault { () throws(LabFault) in _ = try link.prepare(StartCondition()) }
    expect(told, LabFault(.noAnswer, "the controller does not answer the command 0x1003"))
    #expect(link.central.transport.now < .zero + .seconds(4))
  }

  @Test("what arrived while we were held up is all heard before anything is late")
  func heldUp() throws {
    var transport = ToyTransport()
    let data = AirFixture.advertisement.advertisingData.encoded
    let heard = HCIEvent.leAdvertisingReport([
      AdvertisingReport(.connectable, from: AirFixture.address, data, rssi: -60)
    ])
    let noise = HCIEvent.other(code: 0xFF, parameters: [1])
    transport.later = [noise, noise, noise, heard].map { (.zero + .seconds(5), $0) }
    transport.pauseEnd = .zero + .seconds(6)
    var link = AirFixture.link(transport)
    expect(try link.prepare(StartCondition()), nil)
    try link.listen()
    expect(try link.next(until: .zero + .seconds(1)), .advertisement(data))
    expect(link.now, .zero + .seconds(6))
  }

  @Test("a controller that refuses to scan is a lab fault")
  func refused() throws {
    var transport = ToyTransport()
    transport.refusals = [0x200C: .commandDisallowed]
    var link = AirFixture.link(transport)
    expect(try link.prepare(StartCondition()), nil)
    try link.listen()
    expect(
      fault { () throws(LabFault) in _ = try link.next(until: .zero + .seconds(1)) },
      LabFault(.badAnswer, "the controller does not scan: 0x0c (command disallowed)"))
  }
}
