@testable import Controllers
@testable import Bluetooth
import Conformance
import Emulator
import Sesame
import Basics
import TestSupport
import Testing

private let token = "1 frame 03080e"

/// What was heard, with tokens cut short, which are random.
private func short(_ log: [String]) -> [String] { log.map { $0.hasPrefix(token) ? token : $0 } }

@Suite("An emulated lock as a peripheral")
struct AirPeripheralTests {
  @Test("its service has an end, and its characteristics stand where clients look for them")
  func services() throws {
    var probe = try AirPeripheralProbe()
    probe.connect()
    let range = AttributeRange(AttributeHandle(rawValue: 10), AttributeHandle(rawValue: 15))
    expect(
      probe.run(.discoverServices(SesameService.service)),
      .success(.services([DiscoveredService(uuid: SesameService.service, range: range)])))
    guard case .success(.services(let all))? = probe.run(.discoverAllServices),
      case .success(.characteristics(let found))? = probe.run(.discoverCharacteristics(range, wanted: []))
    else {
      Issue.record("nothing was found")
      return
    }
    expect(all.count, 4)
    expect(found.map(\.uuid), [SesameService.write, SesameService.notify])
    expect(found.map(\.value), [AirPeripheralProbe.write, AirPeripheralProbe.notify])
    expect(probe.radio.protocolViolations, [])
  }

  @Test("it advertises under its address, with the name of an OS2 lock in the scan response")
  func advertising() throws {
    for model in [ProductModel.sesame5, .sesame3] {
      var probe = try AirPeripheralProbe(model, registered: false)
      let advertisement = Advertisement(
        model: model, isRegistered: false, deviceID: probe.peripheral.ownerKey.deviceID)
      probe.scan()
      expect(
        probe.heardOnce(in: .seconds(1)),
        [
          "1 connectable \(advertisement.advertisingData.encoded.hex)",
          "1 scanResponse \(advertisement.scanResponse.encoded.hex)",
        ])
      if model == .sesame5 { expect(probe.peripheral.address.address, .sesame(advertisement.deviceID)) }
      #expect(probe.peripheral.address.address.isStaticRandom)
      expect(probe.peripheral.key, nil)
    }
  }

  @Test("a subscription brings the token, and frames are written with and without response")
  func frames() throws {
    var probe = try AirPeripheralProbe()
    probe.open()
    expect(short(probe.log).suffix(2), ["1 connected", token])
    // A false proof ends the link.
    let login: [UInt8] = [0x03, 0x02, 1, 2, 3, 4]
    expect(probe.run(.write(AirPeripheralProbe.write, login)), .success(.written))
    expect(probe.log.last, "1 disconnected 0x13")
    expect(
      probe.notices(),
      [
        "ready, as \(probe.peripheral.address.address) on the controller 02:4c:4b:00:00:01",
        "connected by \(BluetoothAddress.staticRandom(1))", "notifications on",
        "disconnected: 0x16 (ended by the local host)",
      ])
    probe.open()
    expect(short(probe.log).suffix(1), [token])
    probe.write(login)
    expect(probe.heard(in: .seconds(1)), ["1 disconnected 0x13"])
  }

  @Test("while one client is connected there is nothing to connect to for another")
  func secondClient() throws {
    var probe = try AirPeripheralProbe(clients: 2)
    probe.open()
    probe.log = []
    probe.connect(2)
    expect(probe.log, ["2 not connected"])
    probe.disconnect()
    probe.connect(2)
    expect(probe.log.suffix(2), ["1 disconnected 0x16", "2 connected"])
  }

  @Test("a link that is lost on purpose ends with reason 0x15, and the lock advertises again")
  func loseLink() throws {
    var probe = try AirPeripheralProbe()
    probe.open()
    try probe.bring("lose-link")
    expect(probe.heard(in: .milliseconds(100)), ["1 disconnected 0x15"])
    probe.open()
    expect(short(probe.log).suffix(1), [token])
  }

  @Test("out of range nothing is advertised, frames are held, and the link ends after two seconds")
  func range() throws {
    var probe = try AirPeripheralProbe()
    probe.open()
    try probe.bring("out-of-range")
    try probe.bring("inject", .text("0011"))
    expect(probe.heard(in: .milliseconds(1990)), [])
    try probe.bring("out-of-range", .flag(false))
    expect(probe.heard(in: .milliseconds(100)), ["1 frame 0011"])
    try probe.bring("out-of-range")
    expect(probe.heard(in: .milliseconds(1990)), [])
    expect(probe.heard(in: .milliseconds(100)), ["1 disconnected 0x15"])
    probe.scan()
    expect(probe.heard(in: .seconds(5)), [])
    try probe.bring("out-of-range", .flag(false))
    expect(probe.heardOnce(in: .seconds(1)).count, 2)
  }

  @Test("a subscription that comes while the lock is out of range is told to it afterwards")
  func lateSubscription() throws {
    var probe = try AirPeripheralProbe()
    probe.connect()
    try probe.bring("out-of-range")
    expect(probe.run(.write(AirPeripheralProbe.configuration, [1, 0])), .success(.written))
    expect(probe.heard(in: .seconds(1)), [])
    try probe.bring("out-of-range", .flag(false))
    expect(short(probe.heard(in: .milliseconds(100))), [token])
  }

  @Test(
    "without power the link ends and nothing is advertised, and power that comes back brings the lock back")
  func power() throws {
    var probe = try AirPeripheralProbe()
    probe.open()
    try probe.bring("no-power")
    expect(probe.heard(in: .milliseconds(100)), ["1 disconnected 0x15"])
    probe.scan()
    expect(probe.heard(in: .seconds(5)), [])
    try probe.bring("no-power", .flag(false))
    expect(probe.heardOnce(in: .seconds(1)).count, 2)
    probe.open()
    try probe.bring("power-cycle")
    expect(
      probe.heard(in: .milliseconds(100)).filter { $0.contains("disconnected") }, ["1 disconnected 0x15"])
    probe.open()
    expect(short(probe.log).suffix(1), [token])
  }

  @Test("what others advertise is heard from its controller for a moment, and then the lock again")
  func foreign() throws {
    var probe = try AirPeripheralProbe()
    probe.scan()
    expect(probe.heardOnce(in: .seconds(1)).count, 2)
    for data in ["020106", "03ff5a05", "03ff5a05"] { try probe.bring("advertise", .text(data)) }
    expect(
      probe.heardOnce(in: .milliseconds(290)), ["1 nonconnectable 020106", "1 nonconnectable 03ff5a05"])
    probe.connect()
    expect(probe.log.last, "1 connected")
    try probe.bring("advertise", .text("04ff5a0501"))
    expect(probe.heardOnce(in: .milliseconds(200)), ["1 nonconnectable 04ff5a0501"])
    probe.disconnect()
    probe.connect()
    expect(probe.log.last, "1 connected")
  }

  @Test("frames that the controller has no room for wait, and arrive in their order")
  func backPressure() throws {
    var probe = try AirPeripheralProbe(controller: ControllerSettings(aclLength: 27, aclCount: 1))
    probe.open()
    let frames = (0..<300).map { String($0 + 0x1000, radix: 16) }
    for frame in frames { try probe.bring("inject", .text(frame)) }
    expect(probe.heard(in: .seconds(4)), frames.map { "1 frame \($0)" })
    // The end of a link waits too.
    for frame in frames { try probe.bring("inject", .text(frame)) }
    try probe.bring("write", .text("030201020304"))
    expect(probe.heard(in: .seconds(4)), frames.map { "1 frame \($0)" } + ["1 disconnected 0x13"])
  }

  @Test("a delayed frame holds up those behind it, and a lost one is lost")
  func tampering() throws {
    var probe = try AirPeripheralProbe()
    probe.open()
    try probe.bring("delay", .duration(.seconds(1)))
    probe.write([0x03, 0x02, 1, 2, 3, 4])
    expect(probe.heard(in: .milliseconds(990)), [])
    expect(probe.heard(in: .milliseconds(100)), ["1 disconnected 0x13"])
    probe.open()
    try probe.bring("drop", .text("next-write"))
    probe.write([0x03, 0x02, 1, 2, 3, 4])
    expect(probe.heard(in: .seconds(5)), [])
  }

  @Test(
    "bad channel conditions at the lock's own end hold frames up, and end links on which nothing gets through"
  )
  func channel() throws {
    for channel in [ChannelConditions(loss: 1), ChannelConditions(linkLoss: 1)] {
      var probe = try AirPeripheralProbe(channel: channel)
      probe.open()
      expect(probe.log.last, "1 disconnected 0x15")
    }
    var probe = try AirPeripheralProbe(channel: ChannelConditions(loss: 0.5))
    probe.open()
    #expect(probe.log.contains("1 connected") && probe.log.last != "1 disconnected 0x15")
  }

  @Test("each test has a lock of its own, and the link of the test before ends")
  func prepared() throws {
    var probe = try AirPeripheralProbe()
    probe.open()
    let first = probe.log.last
    try probe.prepare(StartCondition([Argument("registered", .flag(false))]))
    expect(probe.peripheral.key, nil)
    expect(probe.heard(in: .milliseconds(100)), ["1 disconnected 0x13"])
    try probe.prepare(StartCondition())
    expect(probe.peripheral.key, probe.peripheral.ownerKey)
    probe.open()
    expect(probe.log.last, first)
    do throws(LabFault) {
      try probe.prepare(StartCondition([Argument("bolt", .text("ajar"))]))
      Issue.record("it was done")
    } catch {
      expect(error, LabFault(.notPossible, "`bolt` is one of locked, unlocked, moved, and not 'ajar'"))
    }
  }

  @Test("nothing is sent to who did not subscribe or is not there")
  func unheard() throws {
    var probe = try AirPeripheralProbe()
    try probe.bring("inject", .text("0011"))
    try probe.bring("write", .text("0011"))
    try probe.bring("lose-link")
    probe.connect()
    try probe.bring("inject", .text("0011"))
    try probe.perform("handToUnlocked")
    expect(probe.heard(in: .seconds(1)), [])
  }

  @Test("a controller that refuses to advertise is asked again a second later")
  func refused() throws {
    var probe = try AirPeripheralProbe()
    let controller = ControllerID(rawValue: 0)
    probe.radio.setHook(of: controller) { packet, _, _ in
      guard case .command(HCICommand.leSetAdvertisingEnable.opcode, _) = packet else { return .pass }
      return .refuse(.commandDisallowed)
    }
    probe.open()
    _ = probe.notices()
    probe.disconnect()
    expect(
      probe.notices(),
      [
        "disconnected: 0x13 (ended by the remote user)",
        "the controller does not advertise: 0x0c (command disallowed)",
      ])
    probe.radio.setHook(of: controller, nil)
    probe.connect(for: .milliseconds(900))
    expect(probe.log.last, "1 not connected")
    probe.connect(for: .milliseconds(700))
    expect(probe.log.last, "1 connected")
  }

  @Test("a controller that fails is told of; started again, the lock goes on")
  func failure() throws {
    var probe = try AirPeripheralProbe()
    probe.open()
    _ = probe.notices()
    probe.radio.inject(
      HCIEvent.hardwareError(code: 7).packet, from: ControllerID(rawValue: 0), at: probe.now)
    probe.pass(.milliseconds(10))
    expect(probe.peripheral.failure, .hardwareError(7))
    expect(probe.peripheral.isConnected, false)
    expect(
      probe.notices(),
      ["the controller reports the hardware error 0x07", "disconnected: 0x03 (hardware failure)"])
    probe.restart()
    probe.pass(.seconds(3))
    expect(probe.peripheral.failure, nil)
    probe.open()
    expect(short(probe.log).suffix(1), [token])
  }

  @Test("whatever a controller says, the lock goes on, and works again on one that is sane")
  func malformed() throws {
    var failures = 0
    for seed in 0..<12 as Range<UInt64> { failures += try malformed(seed) }
    #expect(failures > 12)
  }

  /// How often a controller that spoils its packets is given up.
  private func malformed(_ seed: UInt64) throws -> Int {
    var probe = try AirPeripheralProbe()
    probe.radio.setHook(of: ControllerID(rawValue: 0)) { packet, direction, number in
      // By the number of the packet alone: one in eight is spoilt in one byte.
      var random = SeededGenerator(seed: seed << 32 | UInt64(number))
      if direction == .toHost, random.below(8) == 0 { packet.spoil(with: &random) }
      return .pass
    }
    var failures = 0
    for _ in 0..<20 {
      probe.open()
      probe.write([0x03, 0x02, 1, 2, 3, 4])
      probe.pass(.seconds(3))
      guard probe.peripheral.failure != nil else { continue }
      failures += 1
      probe.restart()
      probe.pass(.milliseconds(10))
    }
    probe.radio.setHook(of: ControllerID(rawValue: 0), nil)
    probe.restart()
    probe.pass(.seconds(5))
    probe.open()
    expect(short(probe.log).suffix(1), [token])
    return failures
  }
}

extension HCIPacket {
  /// Sets one byte to another value.
  mutating func spoil(with random: inout SeededGenerator) {
    switch self {
    case .event(let code, var parameters) where !parameters.isEmpty:
      parameters[random.below(parameters.count)] = UInt8(random.below(256))
      self = .event(code: code, parameters: parameters)
    case .acl(var fragment) where !fragment.data.isEmpty:
      fragment.data[random.below(fragment.data.count)] = UInt8(random.below(256))
      self = .acl(fragment)
    default:
      break
    }
  }
}
