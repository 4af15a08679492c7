import Controllers
import Basics
import Bluetooth

extension LockPeripheral {
  /// The link to a client, with the frames that are on their way.
  ///
  ///     open ──everything before the end has gone out──▶ draining ──▶ ending ──▶ (gone)
  ///     │  ▲                                                             ▲
  ///     ▼  │ room again                                                  │
  ///     blocked ─────────────────────────────────────────────────────────┘ the link is to end at once
  struct Link: Sendable {
    /// What goes to the client.
    enum Outgoing: Sendable {
      case frame([UInt8])
      /// The link must end, after the frames before.
      case end(HCIErrorCode)
    }

    /// What comes from the client.
    enum Incoming: Sendable {
      case frame([UInt8])
      case subscription
    }

    private enum State: Sendable {
      case open
      /// The host has no room for more frames.
      case blocked
      /// The link must end once the controller has sent its packets.
      case draining
      /// The controller was asked to end the link, which carries no more frames.
      case ending
    }

    let id: LinkID
    /// The number of bytes in a notification.
    var capacity = 20
    /// Whether it belongs to an earlier test: the lock is a new one that does not know the link.
    var isForgotten = false
    private var state = State.open
    var toClient = FrameQueue<Outgoing>()
    var toLock = FrameQueue<Incoming>()

    init(id: LinkID) {
      self.id = id
    }

    /// Whether it carries frames.
    var isOpen: Bool { state != .ending }
    var isDraining: Bool { state == .draining }

    /// When the next event is due, or never.
    var deadline: Instant {
      switch state {
      case .open: min(toClient.nextTime ?? .never, toLock.nextTime ?? .never)
      case .blocked, .draining: toLock.nextTime ?? .never
      case .ending: .never
      }
    }

    /// The next item for the client, if it is due and there is room.
    func nextOutgoing(at now: Instant) -> Outgoing? {
      switch state {
      case .open, .draining: toClient.first(at: now)
      case .blocked, .ending: nil
      }
    }

    /// Records whether the host has room.
    mutating func setBlocked(_ isBlocked: Bool) {
      switch state {
      case .open, .blocked: state = isBlocked ? .blocked : .open
      case .draining, .ending: break
      }
    }

    mutating func drain() { state = .draining }

    /// Discards the waiting frames: the link ends.
    mutating func end() {
      state = .ending
      toClient.removeAll()
      toLock.removeAll()
    }
  }
}
