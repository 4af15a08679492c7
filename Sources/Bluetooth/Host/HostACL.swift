import Basics

/// The buffers of a controller for data to be sent (Core 5.4, Vol 4 Part E §4.1).
struct ControllerBuffers: Sendable {
  /// The maximum length of a fragment.
  let length: Int
  /// The number of buffers.
  let count: Int
  /// The number of free buffers.
  var free: Int
  /// The index of the link that may send next.
  var nextIndex = 0

  init(length: Int = 27, count: Int = 0) {
    self.length = length
    self.count = count
    free = count
  }
}

/// Fragments of unknown or closed links.
///
/// On USB, events and data use different endpoints and may overtake each other: data of a new link can arrive before
/// the link is reported, and data of an old one after its end. The former is kept for a moment, the latter dropped.
struct EarlyPackets: Sendable {
  /// How much later than its data a link may be reported.
  private static var keepingTime: Interval { .milliseconds(100) }
  /// How much later than the end of its link data may arrive.
  private static var lateDataTime: Interval { .milliseconds(20) }
  private static var limit: Int { 16 }

  private var kept: [ACLPacket] = []
  private var ended: [(handle: ConnectionHandle, until: Instant)] = []
  /// When the kept fragments are discarded, or never.
  private(set) var deadline = Instant.never

  /// Keeps a fragment; false if there is no room.
  mutating func keep(_ fragment: ACLPacket, at now: Instant) -> Bool {
    guard !isEnded(fragment.handle, at: now) else { return true }
    guard kept.count < Self.limit else { return false }
    if kept.isEmpty { deadline = now + Self.keepingTime }
    kept.append(fragment)
    return true
  }

  /// Removes and returns the fragments kept for a new link.
  mutating func take(_ handle: ConnectionHandle) -> [ACLPacket] {
    ended.removeAll { $0.handle == handle }
    guard !kept.isEmpty else { return [] }
    let taken = kept.filter { $0.handle == handle }
    kept.removeAll { $0.handle == handle }
    if kept.isEmpty { deadline = .never }
    return taken
  }

  /// Removes and returns all fragments, because their links were not reported in time.
  mutating func takeAll() -> [ACLPacket] {
    defer {
      kept = []
      deadline = .never
    }
    return kept
  }

  /// Records that a link ended.
  mutating func forget(_ handle: ConnectionHandle, at now: Instant) {
    ended.removeAll { $0.until < now || $0.handle == handle }
    ended.append((handle, now + Self.lateDataTime))
  }

  /// Whether a link with this handle has just ended.
  func isEnded(_ handle: ConnectionHandle, at now: Instant) -> Bool {
    ended.contains { $0.handle == handle && now <= $0.until }
  }
}

extension BluetoothHost {
  /// Whether the other end has received all data sent on a link, or the link is gone.
  ///
  /// Ending a link earlier may lose the last data.
  public func hasSentEverything(on link: LinkID) -> Bool {
    guard let index = links.indices.first(where: { links[$0].id == link }) else { return true }
    return links[index].unsent == 0 && links[index].outgoing.isEmpty
  }

  /// Sends a frame: at once and without a copy if a buffer is free and long enough, else in turn.
  mutating func sendFrame(_ frame: [UInt8], _ index: Int) {
    guard links[index].isOpen else { return }
    // With free buffers, no frame is waiting.
    if buffers.free > 0, frame.count <= buffers.length {
      buffers.free -= 1
      links[index].unsent += 1
      actions.append(
        .transmit(.acl(ACLPacket(handle: links[index].handle, boundary: .first, data: frame))))
    } else {
      links[index].outgoing.append(frame)
      sendFrames()
    }
  }

  /// Sends waiting frames as long as buffers are free, one fragment of each link in turn.
  mutating func sendFrames() {
    var skipped = 0
    while buffers.free > 0, skipped < links.count {
      if buffers.nextIndex >= links.count { buffers.nextIndex = 0 }
      let index = buffers.nextIndex
      buffers.nextIndex += 1
      guard let fragment = links[index].outgoing.next(upTo: buffers.length, on: links[index].handle) else {
        skipped += 1
        continue
      }
      skipped = 0
      buffers.free -= 1
      links[index].unsent += 1
      actions.append(.transmit(.acl(fragment)))
      if links[index].isRoomAwaited, links[index].outgoing.count * 2 <= settings.queueLimit {
        links[index].isRoomAwaited = false
        report(.readyToSend(links[index].id))
      }
    }
  }

  /// Receives the numbers of fragments that the controller has sent.
  mutating func packetsCompleted(_ completed: [CompletedPackets], at now: Instant) {
    for packets in completed {
      guard let index = index(of: packets.handle) else {
        if !earlyPackets.isEnded(packets.handle, at: now) {
          reportViolation(nil, "\(packets.count) packets sent of an unknown link \(packets.handle)")
        }
        continue
      }
      let count = min(Int(packets.count), links[index].unsent)
      if count < packets.count {
        reportViolation(
          links[index].reportedID,
          "the controller says that it sent \(packets.count) packets and had \(count)")
      }
      links[index].unsent -= count
      buffers.free += count
    }
    sendFrames()
  }
}

extension BluetoothHost {
  /// Receives a fragment.
  mutating func receive(_ fragment: ACLPacket, at now: Instant) {
    guard let index = index(of: fragment.handle) else {
      if !earlyPackets.keep(fragment, at: now) {
        reportViolation(nil, "data of an unknown link \(fragment.handle)")
      }
      return
    }
    guard links[index].isReported else { return }
    guard fragment.broadcast == 0 else {
      return reportViolation(links[index].id, "data that was broadcast")
    }
    if let sentence = links[index].assembly.breakOff(before: fragment) {
      reportViolation(links[index].id, sentence)
    }
    switch links[index].assembly.take(fragment) {
    case .partial: break
    case .whole(let frame): receiveFrame(frame, index, at: now)
    case .dropped(let sentence): reportViolation(links[index].id, sentence)
    }
  }

  /// Discards the data of links that were not reported in time.
  mutating func giveUpEarlyPackets() {
    for fragment in earlyPackets.takeAll() {
      reportViolation(nil, "data of an unknown link \(fragment.handle)")
    }
  }
}
