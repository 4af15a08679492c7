import Bluetooth
import Basics

/// A link between two controllers, in connection events (Core 5.4, Vol 6 Part B §4.5).
///
///                 anchor                                                next anchor
///     central      ██ packet          ██ packet
///     peripheral           ██ packet           ██ packet
///                    150 µs  150 µs     150 µs            … no more data
///
///     waiting ──▶ centralSends ──▶ peripheralTurn ──▶ peripheralSends ──▶ centralTurn ──▶ centralSends …
///        ▲              │ not heard                          │ no more, not heard, or no room
///        └──────────────┴────────────────────────────────────┘
///
/// Connection events without data in either direction are counted, not simulated: all in one step, even with packet
/// loss, unless the peripheral may skip events. The link is therefore woken only for events that matter, and for its
/// supervision timeout.
///
/// The acknowledgement bits are not modelled, but their effect is: a packet is delivered once and in order, and its
/// sender knows that when it receives the next packet of the other end. An empty packet needs no acknowledgement.
struct Link: Sendable {
  enum Phase: Sendable {
    case waiting
    case centralSends
    case peripheralTurn
    case peripheralSends
    case centralTurn
  }

  /// New timing that takes effect at a given connection event (§5.1.1).
  struct Update: Equatable, Sendable {
    var parameters: ConnectionParameters
    var instant: Int
    /// Whether the peripheral has received the update.
    var isShared = false
  }

  var central: LinkEnd
  var peripheral: LinkEnd
  var phase = Phase.waiting
  /// When to call ``step(at:_:)``; `.max` for never.
  var next = Int64.max

  /// The start of the next event that is not counted yet, and its number.
  var anchor: Int64
  var counter = 0
  var interval: Int64
  var parameters: ConnectionParameters
  /// The first event at which the peripheral must listen.
  var listens = 0
  var update: Update?
  /// Whether the ends use different timings.
  var isOutOfStep = false
  /// Whether both devices are on the air and in range.
  private var isInReach: Bool
  /// A packet is lost if a draw is below this value.
  private(set) var loss: UInt64
  private var generator: SeededGenerator
  private let created: Int64

  init(
    central: LinkEnd, peripheral: LinkEnd, parameters: ConnectionParameters, isInReach: Bool, loss: UInt64,
    generator: SeededGenerator, at now: Int64
  ) {
    self.central = central
    self.peripheral = peripheral
    self.parameters = parameters
    self.isInReach = isInReach
    self.loss = loss
    self.generator = generator
    created = now
    interval = Int64(parameters.minimumInterval) * AirTime.unit
    anchor = now + AirTime.transmitWindow
    plan(from: now)
  }

  /// Whether the ends can receive each other.
  var isHeard: Bool { isInReach && central.isUp && peripheral.isUp && !isOutOfStep }

  /// Whether an end has not received a packet yet: then even empty packets matter.
  var isNew: Bool { !central.hasHeard || !peripheral.hasHeard }

  /// The timing as reported to the hosts.
  var timing: ConnectionTiming {
    ConnectionTiming(
      interval: parameters.minimumInterval, latency: parameters.latency,
      supervisionTimeout: parameters.supervisionTimeout)
  }

  /// Returns the number of connection events that have begun.
  func eventCount(at now: Int64) -> Int {
    phase == .waiting ? max(counter, firstEvent(from: now + 1)) : counter + 1
  }
}

// MARK: - Inputs

extension Link {
  /// The end that is the central, or the other one.
  subscript(central isCentral: Bool) -> LinkEnd {
    _read { if isCentral { yield central } else { yield peripheral } }
    _modify { if isCentral { yield &central } else { yield &peripheral } }
  }

  /// Queues the host's data at one end.
  mutating func send(_ packet: ACLPacket, fromCentral: Bool, at now: Int64) {
    self[central: fromCentral].fragments.append(packet)
    replan(from: now)
  }

  /// Queues a control packet at one end, behind waiting control packets and before all data.
  mutating func send(_ control: LinkControl, fromCentral: Bool, at now: Int64) {
    self[central: fromCentral].controls.append(control)
    replan(from: now)
  }

  /// Sets whether the devices are in range of each other, and the packet loss.
  mutating func setAir(isInReach: Bool, loss: UInt64, at now: Int64) {
    if phase == .waiting { catchUp(to: firstEvent(from: now)) }
    self.isInReach = isInReach
    self.loss = loss
    replan(from: now)
  }

  /// Drops the link for one end or both, without a packet on the air.
  mutating func drop(central endsCentral: Bool, peripheral endsPeripheral: Bool, at now: Int64) {
    if phase == .waiting { catchUp(to: firstEvent(from: now)) }
    if endsCentral { central.isUp = false }
    if endsPeripheral { peripheral.isUp = false }
    guard central.isUp || peripheral.isUp else {
      phase = .waiting
      next = .max
      return
    }
    replan(from: now)
  }

  private mutating func replan(from now: Int64) {
    if phase == .waiting { plan(from: now) }
  }
}

// MARK: - Idle events

extension Link {
  /// Returns the number of the first event that begins at or after `now`.
  func firstEvent(from now: Int64) -> Int {
    guard now > anchor else { return counter }
    return counter + Int((now - anchor + interval - 1) / interval)
  }

  func time(of event: Int) -> Int64 { anchor + Int64(event - counter) * interval }

  /// Sets the next wake-up time.
  mutating func plan(from now: Int64) {
    phase = .waiting
    next = .max
    guard central.isUp || peripheral.isUp else { return }
    if !isHeard || loss > 0 || isNew {
      if central.isUp { next = min(next, central.deadline(establishing)) }
      if peripheral.isUp { next = min(next, peripheral.deadline(establishing)) }
    }
    if let update { next = min(next, time(of: max(counter, update.instant))) }
    guard isHeard else { return }
    if peripheral.isBusy || isNew {
      next = min(next, time(of: firstEvent(from: now)))
    } else if central.isBusy {
      next = min(next, time(of: max(firstEvent(from: now), listens)))
    }
  }

  /// The time at which an end gives up if it has never received a packet (§4.5.2).
  var establishing: Int64 { created + 6 * interval }

  /// Counts the events before `event`, in which neither end has anything to send.
  mutating func catchUp(to event: Int) {
    guard event > counter else { return }
    if !isHeard {
      listens = event
    } else if loss > 0 {
      if parameters.latency > 0 { return drawEvents(to: event) }
      drawLastHeard(before: event)
    } else if event > listens {
      let step = parameters.latency == 0 ? 1 : Int(parameters.latency) + 1
      let last = listens + (event - 1 - listens) / step * step
      hear(at: time(of: last))
      listens = last + step
    }
    anchor = time(of: event)
    counter = event
  }

  /// Draws whether a packet is lost.
  mutating func isLost() -> Bool { loss > 0 && generator.next() < loss }

  /// Draws the last of the events before `event` that each end received; both ends listen in each of these events.
  /// Only the last one matters: a link that is silent for too long is woken earlier.
  private mutating func drawLastHeard(before event: Int) {
    var candidate = event
    var isPeripheralDrawn = false
    while candidate > max(counter, listens) {
      candidate -= 1
      guard !isLost() else { continue }
      if !isPeripheralDrawn { peripheral.lastHeard = time(of: candidate) + AirTime.packet(0) }
      isPeripheralDrawn = true
      guard isLost() else {
        central.lastHeard = time(of: candidate) + 2 * AirTime.packet(0) + AirTime.pause
        break
      }
    }
    listens = max(listens, event)
  }

  /// Draws event by event: which events a peripheral skips depends on which it received.
  private mutating func drawEvents(to event: Int) {
    let latency = Int(parameters.latency)
    while counter < event {
      if counter >= listens, generator.next() >= loss {
        peripheral.lastHeard = anchor + AirTime.packet(0)
        listens = counter + 1 + latency
        if generator.next() >= loss {
          central.lastHeard = anchor + 2 * AirTime.packet(0) + AirTime.pause
        }
      }
      counter += 1
      anchor += interval
    }
  }

  private mutating func hear(at time: Int64) {
    peripheral.lastHeard = time + AirTime.packet(0)
    central.lastHeard = time + 2 * AirTime.packet(0) + AirTime.pause
  }
}
