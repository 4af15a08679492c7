import Controllers
import Basics
import Bluetooth

extension LockPeripheral {
  /// A client that is connected, and what is on its way between it and the lock.
  ///
  ///     open ──everything before the end has gone out──▶ draining ──▶ ending ──▶ (gone)
  ///     │  ▲                                                             ▲
  ///     ▼  │ room again                                                  │
  ///     blocked ─────────────────────────────────────────────────────────┘ the link is to end at once
  struct Link: Sendable {
    /// What goes to the client.
    enum Outgoing: Sendable {
      case frame([UInt8])
      /// The link is to end, once everything before has gone out.
      case end(HCIErrorCode)
    }

    /// What comes from the client.
    enum Incoming: Sendable {
      case frame([UInt8])
      case subscription
    }

    private enum State: Sendable {
      case open
      /// The host has no room for more.
      case blocked
      /// The link is to end once the controller has sent what it has.
      case draining
      /// The controller was asked to end it: nothing more goes over it.
      case ending
    }

    let id: LinkID
    /// How many bytes a notification carries.
    var capacity = 20
    /// It belongs to an earlier test: the lock, being a new one, has never heard of it.
    var isForgotten = false
    private var state = State.open
    var toClient = FrameQueue<Outgoing>()
    var toLock = FrameQueue<Incoming>()

    init(id: LinkID) {
      self.id = id
    }

    /// Whether anything goes over it.
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

    /// What is due to go to the client, if there is room for it.
    func nextOutgoing(at now: Instant) -> Outgoing? {
      switch state {
      case .open, .draining: toClient.first(at: now)
      case .blocked, .ending: nil
      }
    }

    /// Notes that the host has no room for more, or has room again.
    mutating func setBlocked(_ isBlocked: Bool) {
      switch state {
      case .open, .blocked: state = isBlocked ? .blocked : .open
      case .draining, .ending: break
      }
    }

    mutating func drain() { state = .draining }

    /// Loses what waits: the link ends.
    mutating func end() {
      state = .ending
      toClient.removeAll()
      toLock.removeAll()
    }
  }
}
