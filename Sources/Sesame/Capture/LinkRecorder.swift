public import Bluetooth
public import Basics

/// The recent frames of a client and its lock, with the keys to decode them, in memory only.
public final class LinkRecorder {
  /// The packets.
  public let packets: PacketRecorder
  /// Whether the client itself records the packets of its link, since no lower layer does.
  public var isNotedByClient = false
  private var sessions: [SessionSecret] = []
  private var keys: [LockKey] = []
  /// The lock's address in the record of a link in memory: the first one that a client connects to.
  private static let address = PeerAddress(.randomDevice, .staticRandom(0x0105_E5A3_0001))

  /// Makes a recorder.
  public init(_ packets: PacketRecorder = PacketRecorder()) {
    self.packets = packets
  }

  /// Discards everything.
  public func startOver() {
    packets.startOver(at: .zero)
    sessions = []
    keys = []
  }

  /// The recorded frames, decoded, in the order of time. Keys are not shown.
  public func decoded() -> [CaptureEntry] {
    var decoder = LockCaptureDecoder(keys: keys, sessions: sessions)
    var entries: [CaptureEntry] = []
    for record in packets.records { entries += decoder.decode(record) }
    return entries + decoder.finish()
  }

  /// Records the lock's key.
  public func note(_ key: LockKey?) {
    guard let key, !keys.contains(key) else { return }
    keys.append(key)
  }

  /// Records the key of a new session.
  public func note(session cipher: SessionCipher?) {
    guard !packets.isPaused, let cipher, sessions.last?.token != cipher.token else { return }
    sessions.append(SessionSecret(cipher))
  }
}

// MARK: - A link in memory, in the form of HCI packets

extension LinkRecorder {
  /// Records a frame that was sent over the air.
  public func note(sent frame: [UInt8], at now: Instant) {
    if isNotedByClient { packets.note(frame: frame, isReceived: false, at: now) }
  }

  /// Records an action of the client other than a frame: a frame that it sends may be altered on the air.
  public func note(_ action: ClientAction, at now: Instant) {
    if case .keep(let key) = action { note(key) }
    guard isNotedByClient else { return }
    switch action {
    case .listen: send(.leSetScanEnable(true, true), at: now)
    case .stopListening: send(.leSetScanEnable(false, true), at: now)
    case .connect: send(.leCreateConnection(ConnectionRequest(peer: Self.address)), at: now)
    case .disconnect: send(.disconnect(PacketRecorder.memoryLink, .remoteUserTerminated), at: now)
    case .send, .show, .inject, .findPositions, .report, .refuse, .reportViolation, .keep, .drop: break
    }
  }

  /// Records an event of the client's link.
  public func note(_ event: LinkEvent, at now: Instant) {
    switch event {
    case .frame(let frame): packets.note(frame: frame, isReceived: true, at: now)
    case .advertisement(let data):
      for (index, part) in Self.parts(of: data).enumerated() {
        let report = AdvertisingReport(
          index == 0 ? .connectable : .scanResponse, from: Self.address, part, rssi: nil)
        receive(.leAdvertisingReport([report]), at: now)
      }
    case .connected:
      let timing = ConnectionTiming(interval: 6, latency: 0, supervisionTimeout: 200)
      let connection = ConnectionComplete(
        status: .success, handle: PacketRecorder.memoryLink, role: .central, peer: Self.address,
        timing: timing)
      receive(.leConnectionComplete(connection), at: now)
    case .ready, .tampered, .provoked, .spoofed, .reflected: break
    case .disconnected(let reason, _):
      receive(
        .disconnectionComplete(
          status: .success, PacketRecorder.memoryLink, reason: HCIErrorCode(rawValue: reason)), at: now)
    }
  }

  private func send(_ command: HCICommand, at now: Instant) {
    packets.note(command.packet, isReceived: false, at: now)
  }

  private func receive(_ event: HCIEvent, at now: Instant) {
    packets.note(event.packet, isReceived: true, at: now)
  }

  /// AD structures in sequence, as an advertisement and its scan response contain them.
  private static func parts(of data: [UInt8]) -> [[UInt8]] {
    var parts: [[UInt8]] = [[]]
    var rest = data[...]
    while let length = rest.first.map(Int.init) {
      let structure = rest.prefix(min(length + 1, AdvertisingData.legacyCapacity))
      if parts[parts.count - 1].count + structure.count > AdvertisingData.legacyCapacity { parts.append([]) }
      parts[parts.count - 1] += structure
      rest = rest.dropFirst(structure.count)
    }
    return parts
  }
}
