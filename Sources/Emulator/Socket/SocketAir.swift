import Controllers
import Sesame
import Bluetooth
import Links
import Conformance
import Basics

/// The system below the socket's peripheral manager: its host on a controller, and two centrals in range, each with
/// its own host and controller, on one emulated radio.
///
/// The tester's stimuli decide when the manager's requests are carried out and answered:
///
/// | the tester's stimulus | what happens |
/// |---|---|
/// | `powerOn`, `powerOff` | the controller gets power and is initialised; or loses it, and stops answering |
/// | `serviceAdded` | the service is added to the server; `serviceFailed`: it has no room for it |
/// | `advertisingStarted` | the controller advertises, and both centrals connect; `advertisingFailed`: it refuses |
/// | `subscribe`, `unsubscribe`, `write`, `writeElsewhere` | a central looks for the service, if it has to, and writes |
/// | `readyToUpdate` | reports room in the transmit queue to the manager, if such a report is pending |
///
/// If a request is pending, a central's action first lets it be carried out; its response is still to come.
/// The transmit queue is full while another application's notifications fill it as soon as there is room.
///
/// The radio's own time advances only while a stimulus is carried out; the socket's clock stops meanwhile.
final class SocketAir: PeripheralSystem {
  /// The state of the manager's last request of one kind.
  enum Request {
    case none
    /// It was not carried out yet.
    case waiting
    /// It was carried out; the manager has no response yet.
    case done
  }

  private let manager: PeripheralManager
  var radio = Radio(seed: 1)
  private var session = SocketAir.session
  var centrals: [SocketCentral]
  private var now = Instant.zero
  private var isUp = false
  private var services = SocketGATT.others
  private var service = Request.none
  private var advertising = Request.none
  private var isAdvertisingWanted = false
  /// The links, by the number of their central.
  private var links: [(central: CentralID, link: LinkID, isSubscribed: Bool)] = []
  private var isFull = false
  /// Whether the manager found no room, and whether it awaits the report of room.
  private var wasQueueFull = false
  private var isReadyReportPending = false
  /// The controller's last refusal to advertise, and the last written value.
  private var refusal: HCIErrorCode?
  private var writes = 0

  /// Makes the air below a manager; a controller with power is set up.
  init(_ manager: PeripheralManager, hasPower: Bool) {
    self.manager = manager
    for _ in 0..<3 { _ = radio.addController() }
    centrals = (1...2).map { SocketCentral(CentralID(number: $0)) }
    manager.system = self
    for index in centrals.indices { send(centrals[index].start(at: now), index + 1) }
    if hasPower {
      session.start(at: now)
    } else {
      radio.setPower(Self.hostController, false, at: now)
    }
    run { self.isUp == hasPower }
  }

  private static let hostController = ControllerID(rawValue: 0)
  /// The time limit of any action.
  private static let longestTime = Interval.seconds(5)
  /// The socket's host before its start.
  private static var session: PeripheralSession {
    PeripheralSession(SocketGATT.settings, services: SocketGATT.others, maximumLinks: 8)
  }
}

// MARK: - Requests of the manager

extension SocketAir {
  func carryOut(_ request: PeripheralManager.Request) {
    switch request {
    case .addService: service = .waiting
    case .removeService, .removeAllServices:
      service = .none
      guard services.count > SocketGATT.others.count else { return }
      offer(SocketGATT.others)
      for index in links.indices { links[index].isSubscribed = false }
    case .startAdvertising: advertising = .waiting
    case .stopAdvertising:
      advertising = .none
      guard isAdvertisingWanted else { return }
      isAdvertisingWanted = false
      session.advertise(nil, at: now)
      runPendingEvents()
    }
  }

  func updateValue() -> Bool {
    for link in links where link.isSubscribed {
      guard session.notify(SocketGATT.output, [1], on: link.link, at: now) else {
        wasQueueFull = true
        return false
      }
    }
    if !isFull { runPendingEvents() }
    return true
  }
}

// MARK: - Actions of the tester

extension SocketAir {
  func powerOn() {
    guard !isUp else { return }
    radio.setPower(Self.hostController, true, at: now)
    session = Self.session
    services = SocketGATT.others
    session.start(at: now)
    run { self.isUp }
  }

  /// The controller loses its power: the system's next command has no response, and the centrals lose their
  /// links.
  func powerOff() {
    guard isUp else { return manager.update(.poweredOff) }
    radio.setPower(Self.hostController, false, at: now)
    session.checkController(at: now)
    run { !self.isUp && !self.centrals.contains { $0.isConnected } }
  }

  func answerService(failing: Bool) throws(LabFault) {
    guard service != .none else { return }
    if failing {
      guard service == .waiting else { throw LabFault(.notPossible, "the service was added already") }
      // Other services fill the server.
      offer(SocketGATT.others + SocketGATT.fillers)
    }
    let isAdded = addWaitingService()
    if failing { offer(SocketGATT.others) }
    service = .none
    manager.delegate?.peripheralManagerDidAddService(manager, error: isAdded ? nil : .serviceNotAdded)
  }

  func answerAdvertising(failing: Bool) throws(LabFault) {
    guard advertising != .none else { return }
    if failing {
      guard advertising == .waiting else { throw LabFault(.notPossible, "the controller advertises already") }
      radio.setHook(of: Self.hostController) { packet, _, _ in
        guard case .command(HCICommand.leSetAdvertisingEnable.opcode, _) = packet else { return .pass }
        return .refuse(.commandDisallowed)
      }
    }
    beginWaitingAdvertising()
    radio.setHook(of: Self.hostController, nil)
    advertising = .none
    let error: SocketError? = refusal == nil ? nil : .notAdvertising
    manager.delegate?.peripheralManagerDidStartAdvertising(manager, error: error)
  }

  /// Reports room to the manager, if such a report is pending; the room may be used up again.
  func reportReady() {
    runPendingEvents()
    guard isReadyReportPending else { return }
    isReadyReportPending = false
    wasQueueFull = false
    manager.delegate?.peripheralManagerIsReadyToUpdateSubscribers(manager)
  }

  func setFull(_ isFull: Bool) throws(LabFault) {
    self.isFull = isFull
    guard isFull else { return runPendingEvents() }
    guard links.contains(where: { $0.isSubscribed }) else {
      throw LabFault(.notPossible, "there is no transmit queue before a central has subscribed")
    }
    fill()
  }
}

// MARK: - Actions of centrals

extension SocketAir {
  /// Lets a central enable or disable notifications. Without a service it has no effect.
  func subscribe(_ central: CentralID, _ isOn: Bool) throws(LabFault) {
    guard try reach(central) else { return }
    let index = central.number - 1
    if isOn { try write([1, 0], to: SocketGATT.otherConfiguration, by: index) }
    try write(isOn ? [1, 0] : [0, 0], to: SocketGATT.outputConfiguration, by: index)
    if isFull { fill() }
  }

  /// Lets a central write a value, to the socket's characteristic or to another service's.
  func write(_ central: CentralID, isUnexpected: Bool) throws(LabFault) {
    guard try reach(central) else { return }
    let before = writes
    try write([7], to: isUnexpected ? SocketGATT.other : SocketGATT.input, by: central.number - 1)
    guard writes > before else { throw LabFault(.notPossible, "what the central wrote did not arrive") }
  }

  /// Connects a central if there is a service for it; returns whether there is.
  private func reach(_ central: CentralID) throws(LabFault) -> Bool {
    _ = addWaitingService()
    beginWaitingAdvertising()
    guard services.count > SocketGATT.others.count else { return false }
    guard centrals[central.number - 1].isConnected else {
      throw LabFault(.notPossible, "no central has found the socket, which was not advertised yet")
    }
    return true
  }

  private func write(_ value: [UInt8], to handle: AttributeHandle, by index: Int) throws(LabFault) {
    send(centrals[index].write(value, to: handle, at: now), index + 1)
    run { self.centrals[index].isWritten != nil }
    guard centrals[index].isWritten == true else {
      throw LabFault(.notPossible, "the central cannot write to \(handle)")
    }
  }
}

// MARK: - Requests

extension SocketAir {
  /// Adds the service, if the manager has requested it and there is room; returns whether the service exists.
  private func addWaitingService() -> Bool {
    if service == .waiting {
      let offered = services + [SocketGATT.socket]
      guard SocketGATT.attributes(of: offered) <= SocketGATT.capacity else { return false }
      offer(offered)
      service = .done
    }
    return services.count > SocketGATT.others.count
  }

  /// Advertises, if the manager has requested it; the centrals in range connect as soon as they can.
  private func beginWaitingAdvertising() {
    guard advertising == .waiting else { return }
    advertising = .done
    refusal = nil
    isAdvertisingWanted = true
    beginAdvertising()
    runPendingEvents()
    guard refusal == nil else {
      isAdvertisingWanted = false
      return session.advertise(nil, at: now)
    }
    for index in centrals.indices where !centrals[index].isConnected {
      send(centrals[index].connect(to: SocketGATT.address, at: now), index + 1)
      run {
        self.centrals[index].isConnected && self.links.contains { $0.central == self.centrals[index].central }
      }
    }
  }

  private func beginAdvertising() {
    session.advertise(
      .init(
        AdvertisingParameters(minimumInterval: 0x20, maximumInterval: 0x20), data: SocketGATT.advertisement),
      at: now)
  }

  private func offer(_ services: [ServiceDefinition]) {
    self.services = services
    session.setServices(services)
  }

  /// Fills every transmit queue with another application's values, up to its capacity.
  private func fill() {
    for link in links where link.isSubscribed {
      for _ in 0..<64 {
        guard session.notify(SocketGATT.other, [0], on: link.link, at: now) else { break }
      }
    }
  }
}

// MARK: - The radio's time

extension SocketAir {
  /// Lets time pass until pending events have happened.
  private func runPendingEvents() {
    let end = now + .milliseconds(50)
    run { self.now >= end }
  }

  /// Lets the radio's time pass until a condition holds, or for some seconds.
  private func run(until isDone: () -> Bool) {
    let end = now + Self.longestTime
    handleEvents()
    while !isDone(), now < end {
      if let (controller, packet) = radio.nextPacket() {
        receive(packet, controller.rawValue)
        continue
      }
      var next = min(radio.deadline ?? .never, session.deadline ?? .never)
      for index in centrals.indices { next = min(next, centrals[index].deadline ?? .never) }
      // Time advances in small steps, so that the condition is checked regularly.
      now = max(now, min(next, now + .milliseconds(10)))
      radio.advance(to: now)
      session.advance(to: now)
      handleEvents()
      for index in centrals.indices { send(centrals[index].advance(to: now), index + 1) }
    }
  }

  private func receive(_ packet: HCIPacket, _ controller: Int) {
    guard controller == 0 else { return send(centrals[controller - 1].receive(packet, at: now), controller) }
    session.receive(packet, at: now)
    handleEvents()
    if isFull { fill() }
  }

  private func send(_ packets: [HCIPacket], _ controller: Int) {
    for packet in packets { radio.send(packet, to: ControllerID(rawValue: controller), at: now) }
  }

  /// Sends the session's packets, and handles its events.
  private func handleEvents() { while let event = takeEvent() { handle(event) } }

  /// Removes and returns the next event, after sending the packets before it. This must not be inlined:
  /// handling an event calls this method again, and the compiler would extend one access to the session over
  /// the whole loop.
  @inline(never)
  private func takeEvent() -> PeripheralSession.Event? {
    while let packet = session.takePacket() { send([packet], 0) }
    return session.takeEvent()
  }

  private func handle(_ event: PeripheralSession.Event) {
    switch event {
    case .ready:
      isUp = true
      manager.update(.poweredOn)
    case .failed:
      isUp = false
      links = []
      service = .none
      advertising = .none
      isAdvertisingWanted = false
      wasQueueFull = false
      isReadyReportPending = false
      manager.update(.poweredOff)
    case .notAdvertising(let status): refusal = status
    case .connected(let link, let peer):
      guard let central = SocketCentral.central(at: peer) else { return }
      links.append((central, link, false))
      // A system keeps advertising after a central has connected.
      if isAdvertisingWanted { beginAdvertising() }
    case .disconnected(let link, _):
      guard let index = links.firstIndex(where: { $0.link == link }) else { return }
      let ended = links.remove(at: index)
      if ended.isSubscribed { reportSubscription(ended.central, isSubscribed: false) }
    case .subscribed(let link, SocketGATT.output, let subscription):
      guard let index = links.firstIndex(where: { $0.link == link }) else { return }
      links[index].isSubscribed = subscription.contains(.notifications)
      reportSubscription(links[index].central, isSubscribed: links[index].isSubscribed)
    case .written(let link, let handle, _):
      guard let index = links.firstIndex(where: { $0.link == link }) else { return }
      writes += 1
      manager.delegate?.peripheralManager(
        manager, central: links[index].central, didWriteTo: handle == SocketGATT.input ? .write : .other)
    case .readyToNotify: isReadyReportPending = wasQueueFull
    case .subscribed, .confirmed, .mtu, .peerViolation, .controllerAnomaly: break
    }
  }

  private func reportSubscription(_ central: CentralID, isSubscribed: Bool) {
    if isSubscribed {
      manager.delegate?.peripheralManager(manager, central: central, didSubscribeTo: .notify)
    } else {
      manager.delegate?.peripheralManager(manager, central: central, didUnsubscribeFrom: .notify)
    }
  }
}
