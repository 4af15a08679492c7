@testable import Controllers
import SesameDevice
import Bluetooth
import Conformance
import Emulator
import Sesame
import Basics

/// A client at the level of the link, which says when it heard what.
struct LinkProbe<Link: LockLink> {
  var link: Link
  var key: LockKey?
  var token: Token?
  var cipher: SessionCipher?
  private var reassembler = Reassembler()
  /// How often the link said that it was tampered with.
  private(set) var tamperings = 0

  init(_ link: Link, start: [Argument] = []) throws {
    self.link = link
    key = try self.link.prepare(StartCondition(start))
  }

  /// What is heard up to a moment.
  mutating func heard(until limit: Instant) throws -> [String] {
    var log: [String] = []
    while let event = try link.next(until: limit) {
      if let words = note(event) { log.append("\(link.now.secondsText) " + words) }
    }
    return log
  }

  /// What is heard in some time.
  mutating func pass(_ interval: Interval) throws -> [String] { try heard(until: link.now + interval) }

  /// Listens for a moment, connects and waits until the token came.
  mutating func connect(
    listening: Interval = .zero, connecting: Interval = .milliseconds(200)
  ) throws -> [String] {
    try link.listen()
    var log = try pass(listening)
    try link.connect()
    try link.stopListening()
    log += try pass(connecting)
    return log
  }

  mutating func login() throws -> [String] {
    let key = OS3Keys.sessionKey(deviceSecret: key!.secret, token!)
    cipher = SessionCipher(key: key, token: .os3(token!), end: .app)
    try send(.login(.os3(key.proof)), inClear: true)
    return try pass(.milliseconds(50))
  }

  mutating func open() throws { _ = try connect() + login() }

  mutating func send(_ command: LockCommand, inClear: Bool = false) throws {
    let bytes = command.encoded(for: .os3)
    let message = inClear ? bytes : cipher!.encrypt(bytes)
    for frame in Segmenter().frames(of: message, inClear ? .plaintext : .ciphertext) { try link.send(frame) }
  }

  /// What is written down of an event; of tampering, only that it happened.
  private mutating func note(_ event: LinkEvent) -> String? {
    switch event {
    case .advertisement(let data):
      guard let structures = try? AdvertisingData(decoding: data), let known = try? Advertisement(structures)
      else { return "advertisement \(data.hex)" }
      return "advertisement of \(known.model)" + (known.isRegistered ? "" : ", not registered")
    case .connected: return "connected"
    case .ready: return "ready"
    case .provoked, .spoofed, .reflected: return nil
    case .tampered:
      tamperings += 1
      return nil
    case .disconnected(let reason, _): return "disconnected 0x\([reason].hex)"
    case .frame(let frame):
      guard case .message(let message) = reassembler.receive(frame) else { return "frame" }
      return text(of: message)
    }
  }

  private mutating func text(of message: SegmentedMessage) -> String {
    let bytes = message.kind == .plaintext ? message.bytes : try? cipher?.decrypt(message.bytes)
    guard let bytes, let decoded = try? LockMessage(decoding: bytes, for: .os3) else {
      return "undecipherable"
    }
    switch decoded {
    case .response(let response): return "\(response.item): \(response.result)"
    case .publish(let publish) where publish.item == .initial:
      token = try? publish.token()
      return "token"
    case .publish(let publish) where publish.item == .mechStatus:
      let status = try? MechStatus(decoding: publish.data, model: .sesame5)
      return "status \(status?.boltState.rawValue ?? "?")" + (status?.isIdle == true ? "" : " moving")
    case .publish(let publish): return "\(publish.item)"
    }
  }
}

extension LinkProbe where Link == DirectLink {
  init(
    _ model: ProductModel = .sesame5, channel: ChannelConditions = ChannelConditions(),
    defects: LockDefects = [],
    seed: UInt64 = 1, start: [Argument] = []
  ) throws {
    try self.init(
      DirectLink(EmulatedLockSpecification(model, defects: defects, channel: channel), seed: seed),
      start: start)
  }
}

extension LinkProbe where Link == AirLink<RadioWorld<LockPeripheral>> {
  /// A client over the air.
  init(air specification: EmulatedLockSpecification, seed: UInt64 = 1, start: [Argument] = []) throws {
    try self.init(RadioWorld(specification, seed: seed).link(), start: start)
  }
}
