@testable import Controllers
import Bluetooth
import Basics
import TestSupport
import Testing

private let handle = RadioBench.handle()

@Suite("links on the radio")
struct RadioLinkTests {
  @Test("both ends hear of a link when CONNECT_IND ends, and the first event begins 1.25 ms later")
  func connect() {
    var bench = RadioBench()
    expect(
      bench.connect(),
      [
        // The advertisement ends at 4.572 ms; 150 µs and 352 µs follow.
        "0.005074 0 connected 0x0040 central to c0:00:00:00:00:a1 6/0/200",
        "0.005074 1 connected 0x0040 peripheral to c0:00:00:00:00:a0 6/0/200",
      ])
    // Event 0 began at 6.324 ms, and event 1 follows 7.5 ms later.
    let controller = ControllerID(rawValue: 1)
    expect(bench.radio.eventCount(of: controller, handle, at: Instant(nanoseconds: 13_823_999)), 1)
    expect(bench.radio.eventCount(of: controller, handle, at: Instant(nanoseconds: 13_824_000)), 2)
  }

  @Test("data goes both ways in one event as long as there is more, cut into packets of 27 bytes")
  func data() {
    var bench = RadioBench()
    bench.connect()
    for length in [60, 20] {
      bench.send(0, RadioBench.frame(length))
      bench.send(1, RadioBench.frame(length))
    }
    expect(
      bench.pass(.milliseconds(30)),
      [
        "0.01412 1 data 0x0040 firstFlushable 27: 380004000001",
        "0.014566 0 data 0x0040 firstFlushable 27: 380004000001",
        "0.015012 1 data 0x0040 continuing 27: 1718191a1b1c",
        "0.015458 0 data 0x0040 continuing 27: 1718191a1b1c",
        "0.015736 1 data 0x0040 continuing 6: 323334353637",
        "0.016014 0 sent 0x0040 1", "0.016014 0 data 0x0040 continuing 6: 323334353637",
        "0.016404 1 sent 0x0040 1", "0.016404 1 data 0x0040 firstFlushable 20: 100004000001",
        "0.016794 0 sent 0x0040 1", "0.016794 0 data 0x0040 firstFlushable 20: 100004000001",
        // Neither has more: the last packet is acknowledged in the next event.
        "0.021404 1 sent 0x0040 1",
      ])
  }

  @Test("an answer that is ready 150 µs later goes out in the same event")
  func answer() {
    var bench = RadioBench()
    bench.connect()
    bench.send(0, RadioBench.frame(20))
    bench.run(to: Instant(nanoseconds: 14_064_000))
    bench.send(1, RadioBench.frame(20))
    expect(
      bench.pass(.milliseconds(20)),
      [
        "0.014064 1 data 0x0040 firstFlushable 20: 100004000001",
        "0.014454 0 sent 0x0040 1", "0.014454 0 data 0x0040 firstFlushable 20: 100004000001",
        "0.021404 1 sent 0x0040 1",
      ])
    expect(bench.radio.eventCount(of: ControllerID(rawValue: 0), at: bench.now), 4)
  }

  @Test("an event ends before the next begins, however much there is to say")
  func fullEvents() {
    var bench = RadioBench(2, RadioSettings(), ControllerSettings(aclCount: 40))
    bench.connect()
    for number in 0..<40 { bench.send(0, RadioBench.frame(27, number)) }
    let heard = bench.pass(.milliseconds(40)).filter { $0.contains("1 data") }
    // An exchange takes 676 µs, so that ten fit into 7.5 ms.
    let first = heard.prefix { $0 < "0.0213" }
    expect([heard.count, first.count], [40, 10])
  }

  @Test("longer packets are agreed upon, by the one who asks and for its direction")
  func dataLength() {
    var bench = RadioBench()
    bench.connect()
    expect(bench.order(0, .leSetDataLength(handle, 251, 2120)), [0, 0x40, 0])
    expect(
      bench.pass(.milliseconds(15)),
      ["0.013976 1 length 0x0040 27/328 251/2120", "0.014278 0 length 0x0040 251/2120 27/328"])
    bench.send(0, RadioBench.frame(251))
    bench.send(1, RadioBench.frame(28))
    expect(
      bench.pass(.milliseconds(15)).map(RadioBench.what),
      [
        "1 data 0x0040 firstFlushable 251: f70004000001", "0 sent 0x0040 1",
        "0 data 0x0040 firstFlushable 27: 180004000001", "0 data 0x0040 continuing 1: 17", "1 sent 0x0040 1",
      ])
    expect(bench.order(0, .leSetDataLength(handle, 251, 2120)), [0, 0x40, 0])
    expect(bench.pass(.milliseconds(30)), [])
  }

  @Test("a controller whose buffers are shorter than the packets cuts what it received")
  func shortBuffers() {
    var bench = RadioBench(1)
    _ = bench.radio.addController(ControllerSettings(aclLength: 27))
    bench.setUp(1)
    bench.order(0, .leWriteSuggestedDefaultDataLength(251, 2120))
    bench.connect()
    _ = bench.pass(.milliseconds(20))
    bench.send(0, RadioBench.frame(60))
    expect(
      bench.pass(.milliseconds(10)).map(RadioBench.what),
      [
        "1 data 0x0040 firstFlushable 27: 380004000001", "1 data 0x0040 continuing 27: 1718191a1b1c",
        "1 data 0x0040 continuing 6: 323334353637", "0 sent 0x0040 1",
      ])
  }

  @Test("a host that suggested longer packets gets them on every link")
  func suggestedLength() {
    var bench = RadioBench()
    bench.order(1, .leWriteSuggestedDefaultDataLength(100, 17040))
    bench.connect()
    expect(
      bench.pass(.milliseconds(20)).map(RadioBench.what), ["1 length 0x0040 100/2120 27/328"])
  }

  @Test("the central's new timing holds for both from the sixth event on")
  func update() {
    // Without the connection parameters request procedure.
    var bench = RadioBench(2, RadioSettings(fading: 0), ControllerSettings(features: 0b10_1100))
    bench.connect()
    let wanted = ConnectionParameters(
      minimumInterval: 24, maximumInterval: 40, latency: 2, supervisionTimeout: 300)
    expect(bench.order(0, .leConnectionUpdate(handle, wanted)), [0])
    expect(
      bench.pass(.milliseconds(200)),
      // Sent in event 1, at 13.824 ms; six later is event 7.
      ["0.058824 0 updated 0x0040 00 24/2/300", "0.058824 1 updated 0x0040 00 24/2/300"])
    bench.send(1, RadioBench.frame(5))
    expect(
      bench.pass(.milliseconds(60)),
      ["0.209174 0 data 0x0040 firstFlushable 5: 0100040000", "0.238904 1 sent 0x0040 1"])
    // The same again concerns only the host that asked.
    bench.order(0, .leConnectionUpdate(handle, wanted))
    expect(bench.pass(.seconds(1)).map(RadioBench.what), ["0 updated 0x0040 00 24/2/300"])
  }

  @Test("a peripheral asks the central's host for other timing")
  func parameterRequest() {
    var bench = RadioBench()
    bench.connect()
    let wanted = ConnectionParameters(minimumInterval: 24, maximumInterval: 24)
    expect(bench.order(1, .leConnectionUpdate(handle, wanted)), [0])
    expect(bench.pass(.milliseconds(100)).map(RadioBench.what), ["0 asked 0x0040 24 24 0 200"])
    bench.order(
      0, .leRemoteConnectionParameterRequestNegativeReply(handle, .unacceptableConnectionParameters))
    expect(bench.pass(.milliseconds(100)).map(RadioBench.what), ["1 updated 0x0040 3b 6/0/200"])
    bench.order(1, .leConnectionUpdate(handle, wanted))
    _ = bench.pass(.milliseconds(100))
    expect(bench.order(0, .leRemoteConnectionParameterRequestReply(handle, wanted)), [0, 0x40, 0])
    expect(
      bench.pass(.milliseconds(100)).map(RadioBench.what),
      ["0 updated 0x0040 00 24/0/200", "1 updated 0x0040 00 24/0/200"])
    // A host that does not want to be asked has its controller refuse.
    bench.order(0, .leSetEventMask(0b1111))
    bench.order(1, .leConnectionUpdate(handle, wanted))
    expect(bench.pass(.milliseconds(200)).map(RadioBench.what), ["1 updated 0x0040 1a 24/0/200"])
  }

  @Test("a central asks the peripheral's host for other timing, unless that is of an older kind")
  func parameterRequestOfCentral() {
    var bench = RadioBench()
    bench.connect()
    let wanted = ConnectionParameters(minimumInterval: 24, maximumInterval: 24)
    expect(bench.order(0, .leConnectionUpdate(handle, wanted)), [0])
    expect(bench.pass(.milliseconds(100)).map(RadioBench.what), ["1 asked 0x0040 24 24 0 200"])
    expect(bench.order(0, .leConnectionUpdate(handle, wanted)), [0x0C])
    expect(bench.order(0, .leRemoteConnectionParameterRequestReply(handle, wanted)), [0x0C, 0x40, 0])
    bench.order(
      1, .leRemoteConnectionParameterRequestNegativeReply(handle, .unacceptableConnectionParameters))
    expect(bench.pass(.milliseconds(100)).map(RadioBench.what), ["0 updated 0x0040 3b 6/0/200"])
    // What the peripheral's host agrees to holds.
    let agreed = ConnectionParameters(minimumInterval: 12, maximumInterval: 12)
    bench.order(0, .leConnectionUpdate(handle, wanted))
    _ = bench.pass(.milliseconds(100))
    expect(bench.order(1, .leRemoteConnectionParameterRequestReply(handle, agreed)), [0, 0x40, 0])
    expect(
      bench.pass(.milliseconds(100)).map(RadioBench.what),
      ["0 updated 0x0040 00 12/0/200", "1 updated 0x0040 00 12/0/200"])
    // A host that does not want to be asked is told.
    bench.order(1, .leSetEventMask(0b1111))
    bench.order(0, .leConnectionUpdate(handle, wanted))
    expect(
      bench.pass(.milliseconds(300)).map(RadioBench.what),
      ["0 updated 0x0040 00 24/0/200", "1 updated 0x0040 00 24/0/200"])
  }

  @Test("both ends ask for other timing at once, and both are told what holds")
  func parameterRequestsOfBoth() {
    var bench = RadioBench()
    bench.connect()
    let wishes = [24, 36].map { ConnectionParameters(minimumInterval: $0, maximumInterval: $0) }
    for host in 0...1 { bench.order(host, .leConnectionUpdate(handle, wishes[host])) }
    expect(
      bench.pass(.milliseconds(50)).map(RadioBench.what),
      ["1 asked 0x0040 24 24 0 200", "0 asked 0x0040 36 36 0 200"])
    for host in 0...1 {
      expect(
        bench.order(host, .leRemoteConnectionParameterRequestReply(handle, wishes[1 - host])), [0, 0x40, 0])
    }
    expect(
      bench.pass(.milliseconds(300)).map(RadioBench.what),
      ["0 updated 0x0040 00 24/0/200", "1 updated 0x0040 00 24/0/200"])
    expect(bench.order(0, .leConnectionUpdate(handle, wishes[1])), [0])
    expect(bench.order(1, .leConnectionUpdate(handle, wishes[1])), [0])
  }

  @Test("a controller without the feature cannot ask for other timing, nor be asked")
  func noParameterRequest() {
    var bench = RadioBench(2, RadioSettings(), ControllerSettings(features: 0))
    bench.connect()
    expect(bench.order(1, .leConnectionUpdate(handle, ConnectionParameters())), [0x1A])
    expect(bench.order(1, .leReadRemoteFeatures(handle)), [0x0C])
    expect(bench.order(0, .leReadRemoteFeatures(handle)), [0])
    expect(bench.pass(.milliseconds(20)).map(RadioBench.what), ["0 features 0x0040 00 0"])
  }

  @Test("versions and features are asked for over the air, a version only once")
  func remote() {
    var bench = RadioBench()
    bench.connect()
    for host in 0...1 {
      bench.order(host, .readRemoteVersionInformation(handle))
      bench.order(host, .leReadRemoteFeatures(handle))
      expect(bench.order(host, .leReadRemoteFeatures(handle)), [0x0C])
      _ = bench.pass(.zero)
    }
    expect(
      bench.pass(.milliseconds(40)),
      [
        "0.013952 1 version 0x0040 00 13", "0.01423 0 version 0x0040 00 13",
        "0.015136 1 features 0x0040 00 101110", "0.015438 0 features 0x0040 00 101110",
      ])
    bench.order(0, .readRemoteVersionInformation(handle))
    expect(bench.pass(.zero), ["0.048 0 version 0x0040 00 13"])
  }

  @Test(
    "who ends a link hears 0x16 when that was acknowledged; the other end hears the reason",
    arguments: [0, 1])
  func terminate(_ host: Int) {
    var bench = RadioBench()
    bench.connect()
    bench.order(host, .disconnect(handle, .remoteLowResources))
    // The central acknowledges with a packet of its own, behind that of the peripheral.
    expect(
      bench.pass(.seconds(5)),
      host == 0
        ? ["0.01415 0 disconnected 0x0040 16", "0.01415 1 disconnected 0x0040 14"]
        : ["0.01438 0 disconnected 0x0040 14", "0.01438 1 disconnected 0x0040 16"])
    expect(bench.order(0, .readRSSI(handle)), [2, 0x40, 0])
    #expect(bench.radio.deadline == nil)
  }

  @Test("an end that hears nothing for its supervision time-out gives up, each by its own clock")
  func supervision() {
    var bench = RadioBench()
    bench.connect()
    bench.run(to: .zero + .seconds(1))
    bench.radio.setReachable(ControllerID(rawValue: 1), false, at: bench.now)
    // The last event began at 0.996324 s.
    expect(
      bench.pass(.seconds(10)), ["2.996404 1 disconnected 0x0040 08", "2.996634 0 disconnected 0x0040 08"])
  }

  @Test(
    "a link that is out of reach for less than the time-out goes on, and delivers what was sent meanwhile")
  func comesBack() {
    var bench = RadioBench()
    bench.connect()
    bench.radio.setReachable(ControllerID(rawValue: 0), false, at: bench.now)
    bench.send(0, RadioBench.frame(10))
    expect(bench.pass(.milliseconds(1900)), [])
    bench.radio.setReachable(ControllerID(rawValue: 0), true, at: bench.now)
    expect(
      bench.pass(.seconds(9)).map(RadioBench.what),
      ["1 data 0x0040 firstFlushable 10: 060004000001", "0 sent 0x0040 1"])
  }

  @Test("a central that hears nothing in six intervals gives up with 0x3E")
  func notEstablished() {
    var bench = RadioBench()
    // The peripheral takes only connections from its list, which is empty.
    bench.advertise(1, AdvertisingParameters(filterPolicy: 2))
    bench.order(0, .leCreateConnection(ConnectionRequest(peer: RadioBench.address(1))))
    expect(
      bench.pass(.seconds(1)),
      [
        "0.005074 0 connected 0x0040 central to c0:00:00:00:00:a1 6/0/200",
        "0.050074 0 disconnected 0x0040 3e",
      ])
    // It still advertises.
    bench.scan(0)
    expect(bench.pass(.seconds(1)).count, 2)
  }

  @Test("a peripheral with latency sleeps, unless it has something to say")
  func latency() {
    var bench = RadioBench()
    bench.connect(ConnectionParameters(latency: 9))
    // It listened in event 0, at 6.324 ms, and does so again in event 10.
    bench.send(0, RadioBench.frame(10))
    expect(
      bench.pass(.milliseconds(100)),
      ["0.081484 1 data 0x0040 firstFlushable 10: 060004000001", "0.081714 0 sent 0x0040 1"])
    bench.send(1, RadioBench.frame(10))
    expect(
      bench.pass(.milliseconds(100)),
      ["0.111714 0 data 0x0040 firstFlushable 10: 060004000001", "0.118904 1 sent 0x0040 1"])
  }

  @Test("links are lost at both ends at once when the tester says so")
  func loseLinks() {
    var bench = RadioBench(3)
    bench.connect()
    bench.connect(central: 2, peripheral: 1)
    bench.radio.loseLinks(of: ControllerID(rawValue: 1), at: bench.now)
    expect(
      bench.pass(.seconds(9)).map(RadioBench.what),
      [
        "0 disconnected 0x0040 08", "1 disconnected 0x0040 08", "2 disconnected 0x0040 08",
        "1 disconnected 0x0041 08",
      ])
  }

  @Test("links that follow a lost one are links of their own")
  func placesOfLinks() {
    var bench = RadioBench(4)
    for _ in 0..<3 {
      bench.connect()
      bench.connect(central: 2, peripheral: 3)
      for host in 0...3 { bench.send(host, RadioBench.frame(5, host)) }
      let heard = bench.pass(.milliseconds(20)).map(RadioBench.what).filter { $0.contains("data") }.sorted()
      expect(
        heard,
        [
          "0 data 0x0040 firstFlushable 5: 0100040001", "1 data 0x0040 firstFlushable 5: 0100040000",
          "2 data 0x0040 firstFlushable 5: 0100040003", "3 data 0x0040 firstFlushable 5: 0100040002",
        ])
      for host in [0, 2] { bench.radio.loseLinks(of: ControllerID(rawValue: host), at: bench.now) }
      expect(bench.answers().count, 4)
    }
  }

  @Test("a central that changes its mind while CONNECT_IND is on the air has no link")
  func changeOfMind() {
    var bench = RadioBench()
    bench.advertise(1)
    let thirdParty = PeerAddress(.randomDevice, .staticRandom(0xEE))
    bench.order(0, .leCreateConnection(ConnectionRequest(peer: RadioBench.address(1))))
    bench.run(to: Instant(nanoseconds: 4_700_000))
    bench.order(0, .leCreateConnectionCancel())
    bench.order(0, .leCreateConnection(ConnectionRequest(peer: thirdParty)))
    expect(bench.pass(.seconds(1)).map(RadioBench.what), ["0 not connected central 02"])
    expect(bench.order(0, .leCreateConnectionCancel()), [0])
    bench.scan(0)
    expect(bench.pass(.seconds(1)).count, 3)
  }

  @Test("a controller without power is silent; the other end notices by its time-out")
  func power() {
    var bench = RadioBench()
    bench.connect()
    bench.radio.setPower(ControllerID(rawValue: 0), false, at: bench.now)
    bench.send(0, HCICommand.reset().packet)
    expect(bench.pass(.seconds(9)).map(RadioBench.what), ["1 disconnected 0x0040 08"])
    bench.radio.setPower(ControllerID(rawValue: 0), true, at: bench.now)
    bench.setUp(0)
    expect(bench.connect().count, 2)
  }

  @Test("a cancelled attempt ends with 0x02, and a directed advertisement is taken only by its addressee")
  func initiating() {
    var bench = RadioBench(3)
    bench.order(0, .leCreateConnection(ConnectionRequest(peer: RadioBench.address(1))))
    expect(bench.order(0, .leCreateConnectionCancel()), [0])
    expect(bench.pass(.seconds(1)).map(RadioBench.what), ["0 not connected central 02"])
    bench.advertise(1, AdvertisingParameters(kind: .directedHighDuty, peer: RadioBench.address(2)))
    for host in [0, 2] {
      bench.order(host, .leCreateConnection(ConnectionRequest(peer: RadioBench.address(1))))
    }
    expect(
      bench.pass(.seconds(3)).map(RadioBench.what),
      [
        "2 connected 0x0040 central to c0:00:00:00:00:a1 6/0/200",
        "1 connected 0x0040 peripheral to c0:00:00:00:00:a2 6/0/200",
      ])
  }

  @Test("an initiator with an accept list takes the first that it hears")
  func acceptList() {
    var bench = RadioBench(3)
    bench.order(0, .leAddToFilterAcceptList(RadioBench.address(2)))
    bench.advertise(1)
    bench.advertise(2)
    bench.order(
      0, .leCreateConnection(ConnectionRequest(peer: RadioBench.address(1), usesFilterAcceptList: true)))
    expect(
      bench.pass(.seconds(1)).map(RadioBench.what),
      [
        "0 connected 0x0040 central to c0:00:00:00:00:a2 6/0/200",
        "2 connected 0x0040 peripheral to c0:00:00:00:00:a0 6/0/200",
      ])
  }

  @Test("an hour of an idle link wakes nobody, and counts its events")
  func idleHour() {
    for (loss, wakes) in [(0.0, 0...0), (0.05, 1700...2100)] {
      var bench = RadioBench(2, RadioSettings(packetLoss: loss))
      bench.connect(ConnectionParameters(minimumInterval: 24, maximumInterval: 24))
      _ = bench.pass(.seconds(1))
      let before = bench.radio.eventCount(of: ControllerID(rawValue: 0), at: bench.now)
      var count = 0
      let end = bench.now + .seconds(3600)
      while let deadline = bench.radio.deadline, deadline <= end {
        bench.radio.advance(to: deadline)
        count += 1
      }
      #expect(wakes.contains(count), "\(count)")
      expect(bench.radio.eventCount(of: ControllerID(rawValue: 0), at: end) - before, 120_000)
      expect(bench.answers(), [])
    }
  }
}
