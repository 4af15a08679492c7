public import Bluetooth
public import Basics

/// Any number of Bluetooth LE controllers on one air, in virtual time.
///
/// Each controller has a host, which exchanges HCI packets with it: ``send(_:to:at:)`` takes a packet from a host,
/// and ``next(_:)`` or ``nextPacket()`` returns one for it. Below that is a link layer of whole packets: a controller
/// that listens on a channel receives the advertisements there, links run in connection events, and lost packets are
/// sent again. <doc:Radio> describes what is modelled and what is not.
///
/// A controller is strict: it supports only what it reports as supported, refuses what the specification refuses, and
/// records in ``protocolViolations`` where its host broke a rule.
///
/// The radio does no I/O and reads no clock. Call ``advance(to:)`` when ``deadline`` has come; one seed gives one
/// trace, regardless of how often it is called in between. Idle time costs nothing: an idle link is woken only if
/// packets can be lost, an advertiser only while a controller listens.
public struct Radio: Sendable {
  /// What the air is like.
  public let settings: RadioSettings
  /// What hosts did that HCI does not allow; no more than the first 256.
  public internal(set) var protocolViolations: [HostProtocolViolation] = []

  var ports = HostPorts()
  var controllers: [Controller] = []
  var advertisers: [Advertiser] = []
  var listeners: [Listener] = []
  /// How many listeners there ever were.
  var listenerCount = 0
  var links: [Link] = []
  /// Places among the links that are free again.
  var freeLinks: [Int] = []
  var identities: [PeerAddress: Int] = [:]
  /// Below this, a draw of 64 bits means that a packet is lost.
  private(set) var loss: UInt64
  /// The same while there is no burst.
  private var usualLoss: UInt64
  private var isBurst = false
  /// Where bursts come from: what is drawn elsewhere moves none.
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

  /// Makes a radio without controllers.
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

  /// Puts a controller on the air; its power is on and it was never reset.
  public mutating func addController(_ settings: ControllerSettings = ControllerSettings()) -> ControllerID {
    let number = controllers.count
    controllers.append(Controller(settings, number: number, generator: drawGenerator()))
    advertisers.append(Advertiser(controller: number, course: AdvertisingCourse(generator: drawGenerator())))
    ports.ports.append(HostPort(settings))
    advertiserSlots.append(addSlot(.advertiser(number)))
    return ControllerID(rawValue: number)
  }

  /// A stream of its own for something new.
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

  /// When ``advance(to:)`` must next be called, or `nil` while nothing is to come. A burst of loss alone is nothing.
  ///
  /// It changes nothing, but a getter that might is called in place, and any other on a copy.
  public var deadline: Instant? {
    mutating get {
      let wake = wakes.nextTime
      if let held = ports.held.nextTime { return min(held, Instant(nanoseconds: wake)) }
      guard wake != .max, wakes.first != burstSlot || wakes.secondTime != .max else { return nil }
      return Instant(nanoseconds: wake)
    }
  }

  /// Lets everything happen that is due up to a moment, in order.
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

  /// Takes what has waited longest for any host, if anything has.
  public mutating func nextPacket() -> (ControllerID, HCIPacket)? {
    guard let (controller, packet) = ports.nextOfAny() else { return nil }
    return (ControllerID(rawValue: controller), packet)
  }

  private mutating func run(_ owner: Owner) {
    switch owner {
    case .advertiser(let index): playAdvertiser(index, at: now)
    case .link(let index):
      links[index].step(at: now, &ports)
      linkMoved(index)
    case .burst: turnBurst()
    }
  }

  /// A burst begins, or is over.
  private mutating func turnBurst() {
    guard let bursts = settings.bursts else { return }
    isBurst.toggle()
    let time = burstGenerator.waiting(average: isBurst ? bursts.length : bursts.gap)
    wakes.set(burstSlot, now + max(1, time.nanoseconds))
    lossChanged()
  }

  /// What is lost is another from now on.
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

// MARK: - The world

extension Radio {
  /// Sets whether a controller is in reach of the others. Out of reach nothing is heard, either way.
  public mutating func setReachable(_ controller: ControllerID, _ isReachable: Bool, at now: Instant) {
    advance(to: now)
    controllers[controller.rawValue].isReachable = isReachable
    airChanged()
  }

  /// Sets with what probability a packet is lost from now on, while there is no burst.
  public mutating func setPacketLoss(_ probability: Double, at now: Instant) {
    precondition((0...1).contains(probability), "a probability is from 0 to 1")
    advance(to: now)
    usualLoss = threshold(probability)
    lossChanged()
  }

  /// Ends all links of a controller for both ends at once, with reason 0x08.
  public mutating func loseLinks(of controller: ControllerID, at now: Instant) {
    advance(to: now)
    for index in controllers[controller.rawValue].links where index >= 0 {
      links[index].central.ended = .connectionTimeout
      links[index].peripheral.ended = .connectionTimeout
      linkMoved(index)
    }
  }

  /// Switches a controller on or off. Off it forgets everything and is silent, also towards its host; the
  /// others notice by their supervision time-outs.
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

  /// Sets what looks at every packet between a controller and its host, or ends that.
  public mutating func setHook(of controller: ControllerID, _ hook: ControllerHook?) {
    ports.ports[controller.rawValue].hook.set(hook)
  }

  /// Gives a host a packet that its controller did not send: an event that nothing caused, or a malformed one.
  public mutating func inject(_ packet: HCIPacket, from controller: ControllerID, at now: Instant) {
    advance(to: now)
    ports.put(packet, to: controller.rawValue)
  }

  /// How many connection events a controller has had so far, on all its links.
  public func eventCount(of controller: ControllerID, at now: Instant) -> Int {
    let controller = controllers[controller.rawValue]
    return controller.links.reduce(controller.pastEvents) { sum, index in
      index < 0 ? sum : sum + links[index].eventCount(at: now.nanoseconds)
    }
  }

  /// How many connection events a link has had so far, or `nil` if there is no such link.
  public func eventCount(of controller: ControllerID, _ handle: ConnectionHandle, at now: Instant) -> Int? {
    controllers[controller.rawValue].link(handle).map { links[$0].eventCount(at: now.nanoseconds) }
  }

  /// Who hears whom, or what is lost, is another from now on.
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
  /// Finds a place for a link and wakes it when it wants.
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

  /// Tells the hosts if a link is over for them, and sets when it is woken next.
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

  /// Takes a link from a controller.
  private mutating func forget(_ index: Int, _ controller: Int) {
    controllers[controller].pastEvents += links[index].eventCount(at: now)
    if let place = controllers[controller].links.firstIndex(of: index) {
      controllers[controller].links[place] = -1
    }
  }

  /// Lets the place of a link be used again if neither end has it any more.
  private mutating func free(_ index: Int) {
    if !links[index].central.isUp, !links[index].peripheral.isUp { freeLinks.append(index) }
  }
}

// MARK: - Waking

extension Radio {
  /// Sets when an advertiser is woken next.
  mutating func wakeAdvertiser(_ index: Int, at time: Int64) { wakes.set(advertiserSlots[index], time) }

  /// The advertiser whose event is next, its time, and the time of the next other event; `nil` if the next event is
  /// another one.
  var nextAdvertiser: (index: Int, wake: Int64, others: Int64)? {
    mutating get {
      let wake = wakes.nextTime
      guard wake != .max, case .advertiser(let index) = owners[wakes.first] else { return nil }
      return (index, wake, min(wakes.secondTime, ports.held.nextTime?.nanoseconds ?? .max))
    }
  }
}

/// The number that as many draws of 64 bits are below as the probability says.
private func threshold(_ probability: Double) -> UInt64 {
  probability >= 1 ? .max : UInt64(probability * 0x1p64)
}
