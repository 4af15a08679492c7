public import Bluetooth
public import Basics

/// Any number of Bluetooth LE controllers that share the air, in virtual time.
///
/// Each controller has a host, which exchanges HCI packets with it: ``send(_:to:at:)`` takes a packet from a host,
/// and ``next(_:)`` or ``nextPacket()`` returns one for it. Below HCI is a link layer that simulates whole packets:
/// a controller that listens on a channel receives the advertisements there, links run in connection events, and
/// lost packets are retransmitted. <doc:Radio> describes what is modelled and what is not.
///
/// A controller is strict: it supports only what it reports as supported, refuses what the specification refuses,
/// and records the violations of its host in ``protocolViolations``.
///
/// The radio does no I/O and reads no clock. Call ``advance(to:)`` when ``deadline`` has come; one seed gives one
/// trace, regardless of how often it is called in between. Idle time costs nothing: an idle link is woken only if
/// packets can be lost, and an advertiser only while a controller listens.
public struct Radio: Sendable {
  /// The properties of the air.
  public let settings: RadioSettings
  /// The HCI rules that hosts broke; at most the first 256.
  public internal(set) var protocolViolations: [HostProtocolViolation] = []

  var ports = HostPorts()
  var controllers: [Controller] = []
  var advertisers: [Advertiser] = []
  var listeners: [Listener] = []
  /// The number of listeners so far.
  var listenerCount = 0
  var links: [Link] = []
  /// The unused indices in ``links``.
  var freeLinks: [Int] = []
  var identities: [PeerAddress: Int] = [:]
  /// A packet is lost if a 64-bit draw is below this value.
  private(set) var loss: UInt64
  /// The same, outside bursts.
  private var usualLoss: UInt64
  private var isBurst = false
  /// The source of the bursts, which other draws do not affect.
  private var burstGenerator: SeededGenerator
  private var wakes = WakeQueue()
  private var owners: [Owner] = []
  private var advertiserSlots: [Int] = []
  private var linkSlots: [Int] = []
  private var burstSlot = -1
  private var generator: SeededGenerator
  private var now = Int64.min

  private enum Owner: Sendable {
    case advertiser(Int)
    case link(Int)
    /// A burst of loss begins or ends.
    case burst
  }

  /// Creates a radio without controllers.
  public init(_ settings: RadioSettings = RadioSettings(), seed: UInt64) {
    self.settings = settings
    loss = threshold(settings.packetLoss)
    usualLoss = loss
    generator = SeededGenerator(seed: seed, for: "radio")
    burstGenerator = SeededGenerator(seed: seed, for: "bursts")
    if let bursts = settings.bursts {
      burstSlot = addSlot(.burst)
      wakes.set(burstSlot, burstGenerator.waiting(average: bursts.gap).nanoseconds)
    }
  }

  /// Adds a controller, which is switched on and has not been reset.
  public mutating func addController(_ settings: ControllerSettings = ControllerSettings()) -> ControllerID {
    let number = controllers.count
    controllers.append(Controller(settings, number: number, generator: drawGenerator()))
    advertisers.append(
      Advertiser(controller: number, schedule: AdvertisingSchedule(generator: drawGenerator())))
    ports.ports.append(HostPort(settings))
    advertiserSlots.append(addSlot(.advertiser(number)))
    return ControllerID(rawValue: number)
  }

  /// Returns an independent generator for a new controller, link or advertiser.
  mutating func drawGenerator() -> SeededGenerator { SeededGenerator(seed: generator.next()) }

  private mutating func addSlot(_ owner: Owner) -> Int {
    owners.append(owner)
    return wakes.addSlot()
  }
}

// MARK: - Packets and time

extension Radio {
  /// Takes a packet from a controller's host.
  public mutating func send(_ packet: HCIPacket, to controller: ControllerID, at now: Instant) {
    advance(to: now)
    let index = controller.rawValue
    guard controllers[index].isOn else { return }
    guard ports.ports[index].hook.isActive else { return accept(packet, from: index) }
    acceptHooked(packet, from: index)
  }

  /// When ``advance(to:)`` must next be called, or `nil` while nothing is due. A burst of loss alone does not
  /// count.
  ///
  /// The getter changes nothing. It is mutating so that it runs in place: a nonmutating getter would run on a copy.
  public var deadline: Instant? {
    mutating get {
      let wake = wakes.nextTime
      if let held = ports.held.nextTime { return min(held, Instant(nanoseconds: wake)) }
      guard wake != .max, wakes.first != burstSlot || wakes.secondTime != .max else { return nil }
      return Instant(nanoseconds: wake)
    }
  }

  /// Processes everything due up to a moment, in order.
  public mutating func advance(to limit: Instant) {
    while true {
      let wake = wakes.nextTime
      if let held = ports.held.nextTime, held.nanoseconds <= wake {
        guard let (time, packet) = ports.held.next(until: limit) else { break }
        now = time.nanoseconds
        release(packet)
      } else {
        guard wake <= limit.nanoseconds, wake != .max else { break }
        now = wake
        run(owners[wakes.removeFirst()])
      }
    }
    now = max(now, limit.nanoseconds)
  }

  /// Removes and returns the packet that has waited longest for any host, if there is one.
  public mutating func nextPacket() -> (ControllerID, HCIPacket)? {
    guard let (controller, packet) = ports.nextOfAny() else { return nil }
    return (ControllerID(rawValue: controller), packet)
  }

  private mutating func run(_ owner: Owner) {
    switch owner {
    case .advertiser(let index): processAdvertiser(index, at: now)
    case .link(let index):
      links[index].step(at: now, &ports)
      linkMoved(index)
    case .burst: toggleBurst()
    }
  }

  /// Starts or ends a burst.
  private mutating func toggleBurst() {
    guard let bursts = settings.bursts else { return }
    isBurst.toggle()
    let time = burstGenerator.waiting(average: isBurst ? bursts.length : bursts.gap)
    wakes.set(burstSlot, now + max(1, time.nanoseconds))
    lossChanged()
  }

  /// Handles a change of the packet loss.
  private mutating func lossChanged() {
    let bursts = isBurst ? settings.bursts : nil
    loss = bursts.map { threshold($0.packetLoss) } ?? usualLoss
    airChanged()
  }

  private mutating func release(_ held: HostPorts.Held) {
    switch held.direction {
    case .toHost: ports.put(held.packet, to: held.controller)
    case .fromHost: carryOut(held.packet, from: held.controller)
    }
  }

  private mutating func acceptHooked(_ packet: HCIPacket, from controller: Int) {
    var packet = packet
    let verdict = ports.ports[controller].hook.judge(&packet, .fromHost)
    switch verdict {
    case .pass: accept(packet, from: controller)
    case .drop, .silence: return
    case .duplicate:
      accept(packet, from: controller)
      accept(packet, from: controller)
    case .delay(let time):
      ports.held.schedule(
        HostPorts.Held(controller: controller, direction: .fromHost, packet: packet),
        at: Instant(nanoseconds: now) + time)
      if case .command = packet { ports.ports[controller].commandsHeld += 1 }
    case .refuse(let code):
      guard case .command(let opcode, let parameters) = packet else {
        return accept(packet, from: controller)
      }
      refuse(opcode, parameters, with: code, controller)
    }
  }

  /// The moment being simulated.
  var time: Int64 { now }
}

// MARK: - The environment

extension Radio {
  /// Sets whether a controller is in range of the others. Out of range, packets are lost in both directions.
  public mutating func setReachable(_ controller: ControllerID, _ isReachable: Bool, at now: Instant) {
    advance(to: now)
    controllers[controller.rawValue].isReachable = isReachable
    airChanged()
  }

  /// Sets the probability of packet loss outside bursts.
  public mutating func setPacketLoss(_ probability: Double, at now: Instant) {
    precondition((0...1).contains(probability), "a probability is from 0 to 1")
    advance(to: now)
    usualLoss = threshold(probability)
    lossChanged()
  }

  /// Ends all links of a controller at both ends immediately, with reason 0x08.
  public mutating func loseLinks(of controller: ControllerID, at now: Instant) {
    advance(to: now)
    for index in controllers[controller.rawValue].links where index >= 0 {
      links[index].central.ended = .connectionTimeout
      links[index].peripheral.ended = .connectionTimeout
      linkMoved(index)
    }
  }

  /// Switches a controller on or off. A controller that is off loses its state and sends nothing, not even to its
  /// host; its peers notice by their supervision timeouts.
  public mutating func setPower(_ controller: ControllerID, _ isOn: Bool, at now: Instant) {
    advance(to: now)
    let index = controller.rawValue
    guard controllers[index].isOn != isOn else { return }
    controllers[index].isOn = isOn
    ports.ports[index].isOn = isOn
    if !isOn {
      reset(index)
      ports.discard(index)
      ports.ports[index].hook.powerOff()
    }
  }

  /// Sets the hook for every packet between a controller and its host; `nil` removes it.
  public mutating func setHook(of controller: ControllerID, _ hook: ControllerHook?) {
    ports.ports[controller.rawValue].hook.set(hook)
  }

  /// Sends a host a packet that its controller did not send, such as a spurious or malformed event.
  public mutating func inject(_ packet: HCIPacket, from controller: ControllerID, at now: Instant) {
    advance(to: now)
    ports.put(packet, to: controller.rawValue)
  }

  /// Returns the number of connection events of a controller so far, on all its links.
  public func eventCount(of controller: ControllerID, at now: Instant) -> Int {
    let controller = controllers[controller.rawValue]
    return controller.links.reduce(controller.pastEvents) { sum, index in
      index < 0 ? sum : sum + links[index].eventCount(at: now.nanoseconds)
    }
  }

  /// Returns the number of connection events of a link so far, or `nil` if there is no such link.
  public func eventCount(of controller: ControllerID, _ handle: ConnectionHandle, at now: Instant) -> Int? {
    controllers[controller.rawValue].link(handle).map { links[$0].eventCount(at: now.nanoseconds) }
  }

  /// Handles a change of reachability or packet loss.
  private mutating func airChanged() {
    for index in links.indices where links[index].central.isUp || links[index].peripheral.isUp {
      links[index].setAir(isInReach: isInReach(index), loss: loss, at: now)
      linkMoved(index)
    }
    replanAdvertisers()
  }

  private mutating func isInReach(_ link: Int) -> Bool {
    controllers[links[link].central.controller].isOnAir
      && controllers[links[link].peripheral.controller].isOnAir
  }

  /// Resets a controller: discards its host's settings, and drops its links without a packet on the air.
  mutating func reset(_ index: Int) {
    for link in controllers[index].links where link >= 0 {
      links[link].drop(
        central: links[link].central.controller == index,
        peripheral: links[link].peripheral.controller == index, at: now)
      forget(link, index)
      free(link)
      linkMoved(link)
    }
    controllers[index].reset()
    advertisers[index].reset()
    wakes.set(advertiserSlots[index], .max)
    ports.ports[index].reset()
    removeListeners { $0.controller == index }
  }

  mutating func reportViolation(_ controller: Int, _ sentence: String) {
    guard protocolViolations.count < 256 else { return }
    protocolViolations.append(
      HostProtocolViolation(
        time: Instant(nanoseconds: now), controller: ControllerID(rawValue: controller), sentence: sentence))
  }
}

// MARK: - Links

extension Radio {
  /// Stores a link and schedules it.
  ///
  /// - Returns: its index.
  mutating func add(_ link: Link) -> Int {
    let index: Int
    if let free = freeLinks.popLast() {
      index = free
      links[index] = link
    } else {
      index = links.count
      links.append(link)
      linkSlots.append(addSlot(.link(index)))
    }
    wakes.set(linkSlots[index], link.next)
    return index
  }

  /// Reports a link that is over to its hosts, and schedules the link.
  mutating func linkMoved(_ index: Int) {
    if links[index].central.ended != nil || links[index].peripheral.ended != nil { finish(index) }
    wakes.set(linkSlots[index], links[index].next)
  }

  private mutating func finish(_ index: Int) {
    let ended = (links[index].central.ended, links[index].peripheral.ended)
    links[index].central.ended = nil
    links[index].peripheral.ended = nil
    let wasUp = (links[index].central.isUp, links[index].peripheral.isUp)
    links[index].drop(central: ended.0 != nil, peripheral: ended.1 != nil, at: now)
    if let reason = ended.0, wasUp.0 { report(links[index].central, over: reason, index) }
    if let reason = ended.1, wasUp.1 { report(links[index].peripheral, over: reason, index) }
    free(index)
  }

  private mutating func report(_ end: LinkEnd, over reason: HCIErrorCode, _ index: Int) {
    ports.ports[end.controller].fragmentsHeld -= end.fragments.count
    forget(index, end.controller)
    let isMisnamed =
      reason == .localHostTerminated
      && controllers[end.controller].settings.quirks.contains(.remoteReason)
    ports.emit(
      .disconnectionComplete(
        status: .success, end.handle, reason: isMisnamed ? .remoteUserTerminated : reason),
      to: end.controller, at: now)
  }

  /// Removes a link from a controller.
  private mutating func forget(_ index: Int, _ controller: Int) {
    controllers[controller].pastEvents += links[index].eventCount(at: now)
    if let place = controllers[controller].links.firstIndex(of: index) {
      controllers[controller].links[place] = -1
    }
  }

  /// Releases the index of a link if it is over for both ends.
  private mutating func free(_ index: Int) {
    if !links[index].central.isUp, !links[index].peripheral.isUp { freeLinks.append(index) }
  }
}

// MARK: - Scheduling

extension Radio {
  /// Sets an advertiser's next wake-up time.
  mutating func wakeAdvertiser(_ index: Int, at time: Int64) { wakes.set(advertiserSlots[index], time) }

  /// The advertiser whose event is next, the time of that event, and the time of the next other event; `nil` if the
  /// next event belongs to no advertiser.
  var nextAdvertiser: (index: Int, wake: Int64, others: Int64)? {
    mutating get {
      let wake = wakes.nextTime
      guard wake != .max, case .advertiser(let index) = owners[wakes.first] else { return nil }
      return (index, wake, min(wakes.secondTime, ports.held.nextTime?.nanoseconds ?? .max))
    }
  }
}

/// Returns the threshold below which a 64-bit draw lies with this probability.
private func threshold(_ probability: Double) -> UInt64 {
  probability >= 1 ? .max : UInt64(probability * 0x1p64)
}
