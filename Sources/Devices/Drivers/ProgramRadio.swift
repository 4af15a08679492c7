import Basics
import Bluetooth
import Conformance
import Controllers

/// A driver's controller and a lock that a program plays, on one emulated radio in virtual time.
///
/// It is both ends of a driver's link: the way to the driver's controller, and who stands around the lock. Each test has a
/// radio of its own, made anew: one seed gives one trace, whatever was tested before. Nothing is computed while nothing
/// happens: time jumps from one event to the next.
final class ProgramRadio {
  private enum Place {
    static let lock = ControllerID(rawValue: 0)
    static let driver = ControllerID(rawValue: 1)
  }

  private let channel: RadioSettings
  private let seed: UInt64
  private let peripheral: ProgramPeripheral
  private var radio: Radio
  private var time = Instant.zero
  /// What all radios before took.
  private var past = Interval.zero
  private var hasLockPower = true
  /// After how many packets of data the link is lost, and until when.
  private var loss: (packets: Int, until: Instant)?
  /// When the lock comes back into range by itself, or never.
  private var returnTime = Instant.never
  /// Whether the driver is told of every advertisement, so that none may be passed over.
  private var isToldEverything = false

  init(_ peripheral: ProgramPeripheral, _ settings: RadioSettings, seed: UInt64) {
    self.peripheral = peripheral
    channel = settings
    self.seed = seed
    radio = Self.radio(settings, seed)
  }

  private static func radio(_ settings: RadioSettings, _ seed: UInt64) -> Radio {
    var radio = Radio(settings, seed: seed)
    for _ in 0..<2 { _ = radio.addController() }
    return radio
  }

  /// Where the lock advertises.
  var address: PeerAddress { peripheral.peerAddress }

  /// The settings of the driver's host.
  static let host = HostSettings(address: .staticRandom(0x0C11_E470_0002))
}

extension ProgramRadio: StandaloneTransport {
  var now: Instant { time + past }

  func send(_ packet: HCIPacket) { radio.send(packet, to: Place.driver, at: time) }

  /// As any transport, but that time stops once at each moment at which the lock's program shows something or fails: `nil`
  /// is returned then before the limit has come.
  func receive(until limit: Instant) -> HCIPacket? {
    let limit = limit == .never ? limit : limit - past
    while true {
      while let (controller, packet) = radio.nextPacket() {
        if loss != nil { count(packet) }
        guard controller == Place.lock else { return packet }
        toLock(peripheral.receive(packet, at: time))
        if peripheral.takeNews() { return nil }
      }
      if peripheral.takeNews() { return nil }
      let others = min(peripheral.deadline ?? .never, returnTime)
      if !isToldEverything { radio.skipRepetitions(until: min(limit, others)) }
      let next = min(radio.deadline ?? .never, others)
      guard next <= limit, next != .never else {
        // For ever is as long as nothing happens.
        if limit != .never { time = max(time, limit) }
        return nil
      }
      time = max(time, next)
      radio.advance(to: time)
      if returnTime <= time { setReachable(true) }
      if let due = peripheral.deadline, due <= time { toLock(peripheral.advance(to: time)) }
    }
  }

  /// Nothing: what is in memory does not fail.
  func reopen() {}

  /// Nothing.
  func close() {}

  private func toLock(_ packets: [HCIPacket]) {
    for packet in packets { radio.send(packet, to: Place.lock, at: time) }
  }
}

extension ProgramRadio: DriverEnvironment {
  var stimuli: [String] { peripheral.program.introduction?.stimuli ?? [] }
  var arguments: [ProgramIntroduction.OfferedArguments] { peripheral.program.introduction?.arguments ?? [] }
  var disturbances: [Disturbance] { Self.linkFaults + (peripheral.program.introduction?.faults ?? []) }
  var settings: [String]? { peripheral.program.introduction?.settings }
  var conditions: [String] {
    (channel.packetLoss == 0 && channel.bursts == nil ? [] : ["loss"])
      + (peripheral.program.introduction?.conditions ?? [])
  }
  var reports: [String] { peripheral.program.introduction?.reports ?? [] }
  var showsEffects: Bool { peripheral.program.introduction?.showsEffects ?? false }
  var fault: LabFault? { peripheral.fault }

  /// What is done to the air: the link is lost at both ends with reason 0x08, at once or after so many packets of what
  /// is done next; the lock is out of range, or has no power,
  /// for a while or until it is called off, and the driver notices by its supervision time-out.
  static let linkFaults = [
    Disturbance(.link, "lose-link", [.flag(true)] + (1...4).map { .integer($0) }),
    Disturbance(
      .link, "out-of-range", [.flag(true), .flag(false), .duration(.seconds(1)), .duration(.seconds(10))]),
    Disturbance(.link, "no-power", [.flag(true), .flag(false)]), Disturbance(.link, "power-cycle"),
  ]

  func adopt(_ vocabulary: Vocabulary) { peripheral.program.adopt(vocabulary) }

  func note(_ hearing: ProgramOperation.Hearing) { isToldEverything = hearing == .everything }

  func takeObservations() -> [Observation] { peripheral.takeObservations() }

  func takeDiagnostics() -> [String] { peripheral.program.takeRemarks() }

  /// Makes the radio anew, with the lock in a start condition.
  func prepare(_ start: StartCondition) throws(LabFault) {
    past = past + (time - .zero)
    (time, returnTime, loss) = (.zero, .never, nil)
    (hasLockPower, isToldEverything) = (true, false)
    radio = Self.radio(channel, seed)
    // Nobody watches it here.
    _ = peripheral.takeNotices()
    toLock(peripheral.start(at: time))
    toLock(try peripheral.prepare(start, at: time))
  }

  func perform(_ stimulus: String, _ arguments: [Argument]) throws(LabFault) -> String? {
    let (packets, refusal) = try peripheral.give(stimulus, arguments, at: time)
    toLock(packets)
    return refusal
  }

  func bring(about fault: Fault) throws(LabFault) {
    switch (fault.name, fault.value) {
    case ("lose-link", .integer(let packets)) where packets > 0: loss = (packets, time + Self.longestLoss)
    case ("lose-link", let value): if !value.isNothing { loseLink() }
    case ("out-of-range", .duration(let interval)) where interval > .zero:
      setReachable(false)
      returnTime = time + interval
    case ("out-of-range", let value): setReachable(value.isNothing)
    case ("no-power", let value): setPower(value.isNothing)
    case ("power-cycle", let value):
      guard !value.isNothing else { return }
      setPower(false)
      setPower(true)
    default: toLock(try peripheral.bring(about: fault, at: time))
    }
  }

  func restart() throws(LabFault) { try peripheral.program.restart() }

  func shutDown() { peripheral.program.shutDown() }

  /// How long the link may still be lost by a count of packets: it is about what is under way.
  private static var longestLoss: Interval { .milliseconds(500) }

  /// Counts a packet that one of both ends has received.
  private func count(_ packet: HCIPacket) {
    guard case .acl = packet, let pending = loss else { return }
    loss = time > pending.until ? nil : (pending.packets - 1, pending.until)
    if loss?.packets == 0 { loseLink() }
  }

  private func loseLink() {
    loss = nil
    radio.loseLinks(of: Place.lock, at: time)
  }

  private func setReachable(_ isReachable: Bool) {
    returnTime = .never
    radio.setReachable(Place.lock, isReachable, at: time)
  }

  /// Takes the power from the lock's radio and gives it back. What its program makes of that is that its links are gone.
  private func setPower(_ isOn: Bool) {
    guard isOn != hasLockPower else { return }
    hasLockPower = isOn
    if !isOn { peripheral.losePower(at: time) }
    radio.setPower(Place.lock, isOn, at: time)
    if isOn { toLock(peripheral.start(at: time)) }
  }
}
