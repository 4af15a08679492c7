import Bluetooth
import Basics

/// The host interface of one controller: queued packets, event masks, command and data credits, and the hook.
struct HostPort: Sendable {
  struct Waiting: Sendable {
    /// The packet's position in the order over all controllers.
    var number: UInt64
    var packet: HCIPacket
  }

  var waiting = FIFO<Waiting>()
  var hook = HookState()
  var isOn = true
  var eventMask = defaultEventMask
  var leEventMask = defaultLEEventMask
  /// The number of commands that the host may send before the next response.
  var commandsAllowed = 1
  /// The number of commands that wait for execution.
  var commandsHeld = 0
  /// The event to send after the response to the current command.
  var following: HCIEvent?
  /// The number of fragments on all links that wait for transmission or acknowledgement.
  var fragmentsHeld = 0

  /// Without the LE Meta event, as specified (Core 5.4, Vol 4 Part E §7.3.1, §7.8.1).
  static let defaultEventMask: UInt64 = 0x0000_1FFF_FFFF_FFFF
  static let defaultLEEventMask: UInt64 = 0x1F

  private let ignoresMasks: Bool

  init(_ settings: ControllerSettings) {
    ignoresMasks = settings.quirks.contains(.ignoredMasks)
  }

  /// Returns whether the host has enabled an event; Command Complete, Command Status and Number Of Completed
  /// Packets are always enabled.
  func wants(_ code: UInt8) -> Bool {
    guard !ignoresMasks else { return true }
    return switch code {
    case 0x0E, 0x0F, 0x13: true
    case 1...64: eventMask >> (UInt64(code) - 1) & 1 == 1
    default: true
    }
  }

  func wantsLE(_ subevent: UInt8) -> Bool {
    ignoresMasks
      || wants(0x3E) && (1...64).contains(subevent) && leEventMask >> (UInt64(subevent) - 1) & 1 == 1
  }

  /// Resets everything but the packets queued for the host.
  mutating func reset() {
    eventMask = HostPort.defaultEventMask
    leEventMask = HostPort.defaultLEEventMask
    fragmentsHeld = 0
  }
}

/// The host interfaces of all controllers, and the order of the packets queued there.
struct HostPorts: Sendable {
  /// A packet that a hook or a slow controller delays.
  struct Held: Sendable {
    var controller: Int
    var direction: HCIDirection
    var packet: HCIPacket
  }

  var ports: [HostPort] = []
  /// The delayed packets, with their release times.
  var held = EventQueue<Held>()
  private var order = FIFO<(number: UInt64, controller: Int32)>()
  private var number: UInt64 = 0
  private var count = 0

  // MARK: To the host

  /// Sends an event to the host, unless the host has masked it.
  mutating func emit(_ event: HCIEvent, to controller: Int, at now: Int64) {
    let packet = event.packet
    guard case .event(let code, let parameters) = packet else { return }
    if code == 0x3E {
      guard let subevent = parameters.first, ports[controller].wantsLE(subevent) else { return }
    } else {
      guard ports[controller].wants(code) else { return }
    }
    send(packet, to: controller, at: now)
  }

  /// Sends a packet to the host, through the hook.
  mutating func send(_ packet: HCIPacket, to controller: Int, at now: Int64) {
    guard ports[controller].isOn else { return }
    if ports[controller].hook.isActive {
      sendHooked(packet, to: controller, at: now)
    } else {
      put(packet, to: controller)
    }
  }

  /// Queues a packet for the host, without the hook.
  mutating func put(_ packet: HCIPacket, to controller: Int) {
    number &+= 1
    ports[controller].waiting.append(HostPort.Waiting(number: number, packet: packet))
    order.append((number, Int32(truncatingIfNeeded: controller)))
    count += 1
  }

  private mutating func sendHooked(_ packet: HCIPacket, to controller: Int, at now: Int64) {
    var judged = packet
    let verdict = ports[controller].hook.judge(&judged, .toHost)
    if verdict == .drop || verdict == .silence || judged != packet {
      // A host cannot wait for a response that was dropped: its next command is no violation.
      ports[controller].commandsAllowed = max(1, ports[controller].commandsAllowed)
    }
    switch verdict {
    case .pass, .refuse: put(judged, to: controller)
    case .drop, .silence: return
    case .duplicate:
      put(judged, to: controller)
      put(judged, to: controller)
    case .delay(let time):
      held.schedule(
        Held(controller: controller, direction: .toHost, packet: judged),
        at: Instant(nanoseconds: now) + time)
    }
  }

  // MARK: Taking

  /// Removes and returns the packet that has waited longest for any host.
  mutating func nextOfAny() -> (controller: Int, packet: HCIPacket)? {
    while !order.isEmpty {
      let (number, controller) = order.removeFirst()
      let index = Int(controller)
      // Skip events that a controller reset has discarded.
      guard !ports[index].waiting.isEmpty, ports[index].waiting[0].number == number else { continue }
      let packet = ports[index].waiting.removeFirst().packet
      count -= 1
      grantCredits(packet, index)
      return (index, packet)
    }
    return nil
  }

  /// Discards the packets queued for a host, and the delayed packets in both directions.
  mutating func discard(_ controller: Int) {
    count -= ports[controller].waiting.count
    ports[controller].waiting.removeAll()
    ports[controller].commandsHeld = 0
    ports[controller].commandsAllowed = 1
    held.removeAll { $0.controller == controller }
  }

  /// Updates the number of commands that the host may send, from the credits in a response.
  private mutating func grantCredits(_ packet: HCIPacket, _ controller: Int) {
    guard case .event(let code, let parameters) = packet else { return }
    if code == 0x0E, let credits = parameters.first {
      ports[controller].commandsAllowed = Int(credits)
    } else if code == 0x0F, parameters.count >= 2 {
      ports[controller].commandsAllowed = Int(parameters[1])
    }
  }
}
