package import Basics
package import Bluetooth
package import Conformance
import Controllers
package import Emulator
import Links

/// A lock that a program emulates behind Lockstep's GATT server, as a peripheral on a controller.
///
/// The program declares its services and advertising data in its greeting, receives the actions of its client, and
/// sends notifications. It has no clock: each message contains the time, and the program replies when it must be
/// called again.
///
/// Feed it the controller's packets and the time, and pass the packets that it returns to the controller, in order. A
/// failure of the program is stored in ``fault``, after which it sends nothing.
package final class ProgramPeripheral: EmulatedPeripheral {
  package let program: ProgramConversation
  package let address: PeerAddress
  private var session: PeripheralSession
  /// The characteristics of the server, with their handles and initial values.
  private let characteristics: [(uuid: BluetoothUUID, handle: AttributeHandle, value: [UInt8])]
  private var link: LinkID?
  /// The advertisement while the lock is not connected.
  private var advertisement: ProgramAdvertisement?
  /// The notifications that wait for space in the host.
  private var outgoing: [(AttributeHandle, [UInt8])] = []
  /// The start of the program's own time, and the time at which it must be called next.
  private var origin = Instant.zero
  private var nextCall = Instant.never
  private var isHandling = false
  private(set) var notices: [LockNotice] = []
  /// The observations that were not yet taken.
  private var shown: [Observation] = []
  /// Whether the program has shown something or failed since that was last reported.
  private var hasNews = false
  /// The failure of the program, if any.
  package private(set) var fault: LabFault?
  /// The seed of the program's random choices.
  var seed: UInt64 = 0
  /// The number of calls at the program's own request since a moment of its time.
  private var calls = (count: 0, since: Instant.zero)
  /// The maximum number of calls within one second of its time, which is more than any lock needs.
  var maximumCalls = 100_000

  /// Creates a peripheral from a program that has been greeted.
  package init(_ program: ProgramConversation, seed: UInt64) {
    self.program = program
    self.seed = seed
    var generator = SeededGenerator(seed: seed, for: "peripheral")
    let address = BluetoothAddress.staticRandom(generator.next())
    self.address = PeerAddress(.randomDevice, address)
    let introduction = program.introduction ?? ProgramIntroduction()
    var settings = HostSettings(
      address: address,
      name: String((introduction.advertisement?.name ?? introduction.name ?? "Peripheral").prefix(40)))
    settings.holdsWrites = true
    let session = PeripheralSession(settings, services: introduction.services)
    characteristics = introduction.services.flatMap { service in
      service.characteristics.compactMap { characteristic in
        session.handle(of: characteristic.uuid, in: service.uuid).map {
          (characteristic.uuid, $0, characteristic.value)
        }
      }
    }
    self.session = session
  }

  /// The abilities of its program, in addition to the faults of its link.
  package var abilities: Abilities {
    let introduction = program.introduction ?? ProgramIntroduction()
    var abilities = introduction.abilities
    abilities.stimuli = introduction.stimuli ?? []
    abilities.disturbances = LinkFault.offered + introduction.faults
    return abilities
  }

  /// The name of its program, or its command.
  package var name: String { program.introduction?.name ?? program.command }

  package var readings: [String] { program.introduction?.readings ?? [] }

  /// Why the controller failed; it stays stopped until it is started again.
  package var failure: HostFailure? { session.failure }

  /// When ``advance(to:)`` must next be called, or `nil` if no time limit applies.
  package var deadline: Instant? {
    let next = min(session.deadline ?? .never, nextCall == .never ? nextCall : origin + (nextCall - .zero))
    return next == .never ? nil : next
  }
}

extension ProgramPeripheral {
  /// Resets the controller and sets it up.
  package func start(at now: Instant) -> [HCIPacket] {
    (link, outgoing) = (nil, [])
    session.start(at: now)
    return take(at: now)
  }

  /// Starts the program in a condition, at its time zero, without any link.
  package func prepare(_ start: StartCondition, at now: Instant) throws(LabFault) -> [HCIPacket] {
    (fault, shown, hasNews) = (nil, [], false)
    if let misunderstanding = program.misunderstanding { throw misunderstanding }
    if !program.isRunning { try program.restart() }
    try program.skipOutput()
    origin = now
    calls = (0, .zero)
    nextCall = .never
    advertisement = program.introduction?.advertisement
    if let link { session.disconnect(link, reason: .remoteUserTerminated, at: now) }
    (link, outgoing) = (nil, [])
    for characteristic in characteristics {
      session.setValue(characteristic.value, of: characteristic.handle)
    }
    let refusal = try ask(program.request(ofReset: start.settings, seed: seed), at: now)
    if let refusal { throw LabFault(.notPossible, "the peripheral refuses this start: \(refusal)") }
    advertise(at: now)
    return take(at: now)
  }

  /// Receives a packet of the controller.
  package func receive(_ packet: HCIPacket, at now: Instant) -> [HCIPacket] {
    session.receive(packet, at: now)
    return take(at: now)
  }

  /// Lets time pass.
  package func advance(to now: Instant) -> [HCIPacket] {
    session.advance(to: now)
    handleEvents(at: now)
    if nextCall <= time(at: now) { guarded { () throws(LabFault) in try passTime(at: now) } }
    advertise(at: now)
    return take(at: now)
  }

  package func perform(
    _ stimulus: String, _ arguments: [Argument], at now: Instant
  ) throws(LabFault) -> (packets: [HCIPacket], refusal: String?) {
    let refusal = try ask(program.request(of: stimulus, arguments), at: now)
    return (take(at: now), refusal)
  }

  package func bring(about fault: Fault, at now: Instant) throws(LabFault) -> [HCIPacket] {
    let refusal = try ask(program.request(of: fault), at: now)
    if let refusal {
      throw LabFault(.notPossible, "the peripheral refuses the fault '\(fault.name)': \(refusal)")
    }
    return take(at: now)
  }

  /// Returns the radio's part of a link or power fault. The program notices a power loss only as a lost link.
  package func radioFault(_ fault: Fault) throws(LabFault) -> RadioFault? {
    LinkFault.names.contains(fault.name) ? .link(try LinkFault(fault)) : nil
  }

  package func gainPower(at now: Instant) -> [HCIPacket] { start(at: now) }

  package static var needsThirdParty: Bool { false }
  package func takeLinkLoss() -> Bool { false }
  package func takeTampering() -> Bool { false }
  package func takeDiagnostics() -> [String] { program.takeRemarks() }
  package func adopt(_ vocabulary: Vocabulary) { program.adopt(vocabulary) }
  package func restart() throws(LabFault) { try program.restart() }

  package func losePower(at now: Instant) {
    session.loseController()
    outgoing = []
    if link != nil { ended(HCIErrorCode.connectionTimeout, at: now) }
  }

  package func takeNotices() -> [LockNotice] {
    defer { notices = [] }
    return notices
  }

  /// Returns the program's observations in order, all of them for the current time.
  package func takeObservations() -> [Observation] {
    if shown.isEmpty { return [] }
    defer { (shown, hasNews) = ([], false) }
    return shown
  }

  /// Returns whether the program has shown something or failed since the last report.
  package func takeNews() -> Bool {
    defer { hasNews = false }
    return hasNews
  }
}

extension ProgramPeripheral {
  /// Returns the time of the program.
  private func time(at now: Instant) -> Instant { .zero + (now - origin) }

  /// Returns the packets for the controller after all events are handled.
  private func take(at now: Instant) -> [HCIPacket] {
    handleEvents(at: now)
    return session.takePackets()
  }

  /// Stores the failure of the program, if the body throws one.
  private func guarded(_ body: () throws(LabFault) -> Void) {
    guard fault == nil else { return }
    do {
      try body()
    } catch {
      (fault, hasNews) = (error, true)
      nextCall = .never
    }
  }

  /// Handles the events in order; events that result from this follow.
  private func handleEvents(at now: Instant) {
    guard !isHandling else { return }
    isHandling = true
    defer { isHandling = false }
    while let event = session.takeEvent() { handle(event, at: now) }
  }

  private func handle(_ event: PeripheralSession.Event, at now: Instant) {
    switch event {
    case .ready(let description):
      notices.append(.ready(description))
      advertise(at: now)
    case .failed(let failure):
      notices.append(.failed(failure))
      if link != nil { ended(.hardwareFailure, at: now) }
    case .notAdvertising(let status): notices.append(.notAdvertising(status))
    case .connected(let id, let peer):
      link = id
      notices.append(.connected(peer))
      tell(.connected(peer), at: now)
    case .disconnected(let id, let reason):
      guard id == link else { return }
      ended(reason, at: now)
      advertise(at: now)
    case .written(let id, let handle, let value):
      if id == link { tell(.written(place(of: handle), value), at: now) }
    case .subscribed(let id, let handle, let subscription):
      guard id == link else { return }
      notices.append(.subscribed(!subscription.isEmpty))
      tell(.subscription(place(of: handle), subscription), at: now)
    case .confirmed(let id, let handle): if id == link { tell(.confirmed(place(of: handle)), at: now) }
    case .mtu(let id, let mtu): if id == link { tell(.mtu(mtu), at: now) }
    case .readyToNotify(let id): if id == link { sendWaiting(at: now) }
    case .controllerAnomaly(let sentence): notices.append(.controllerAnomaly(sentence))
    case .peerViolation(let rule): notices.append(.protocolViolation(rule))
    }
  }

  private func ended(_ reason: HCIErrorCode, at now: Instant) {
    link = nil
    outgoing = []
    notices.append(.disconnected(reason))
    tell(.disconnected(reason), at: now)
  }

  private func place(of handle: AttributeHandle) -> ProgramEvent.Place {
    ProgramEvent.Place(uuid: characteristics.first { $0.handle == handle }?.uuid, handle: handle)
  }

  private func tell(_ event: ProgramEvent, at now: Instant) {
    guarded { () throws(LabFault) in
      var isWrite = false
      if case .written = event { isWrite = true }
      if let refusal = try ask(event.line, at: now, answeringWrite: isWrite) {
        throw program.fail(.badAnswer, "the peripheral refuses to hear what happened: \(refusal)")
      }
    }
  }

  private func passTime(at now: Instant) throws(LabFault) {
    let before = nextCall
    if let refusal = try ask(ProgramConversation.bytes(of: ["advance": 0]), at: now) {
      throw program.fail(.badAnswer, "the peripheral refuses to let time pass: \(refusal)")
    }
    // A program that requests a call hardly later, again and again, lets no time pass.
    if before - calls.since >= .seconds(1) { calls = (0, before) }
    calls.count += 1
    guard calls.count <= maximumCalls else {
      throw program.fail(
        .badAnswer, "the peripheral was called by itself \(maximumCalls) times within a second, at \(before)")
    }
    if nextCall <= before {
      throw program.fail(
        .badAnswer, "the peripheral wants to be called again at \(nextCall), and has just been called then")
    }
  }

  /// Sends a request, and performs the operations in the answer.
  ///
  /// - Parameter answersWrite: Whether it reports a write, which is answered before anything else is sent.
  private func ask(
    _ request: [UInt8], at now: Instant, answeringWrite answersWrite: Bool = false
  ) throws(LabFault) -> String? {
    let time = time(at: now)
    var operations: [ProgramOperation] = []
    let end = try program.ask(program.timed(request, at: time)) { entry, line throws(LabFault) in
      if let stated = entry.parsed.time, stated != time {
        throw program.fail(
          .badAnswer,
          "the peripheral wrote \(program.quoted(line)): it is \(time), and time passes on the air alone")
      }
      if let observation = entry.observation {
        shown.append(observation)
        hasNews = true
        notices.append(.shown(String(decoding: line, as: UTF8.self)))
      }
      guard case .operation(let operation) = entry.parsed.answer else { return }
      if case .reject = operation, !answersWrite || operations.contains(where: \.isReject) {
        throw program.fail(
          .badAnswer,
          "the peripheral wrote \(program.quoted(line)): "
            + (answersWrite ? "it has refused that write already" : "it received no write"))
      }
      operations.append(operation)
    }
    switch end.next {
    case .unsaid: break
    case .at(let moment): nextCall = max(moment, time)
    }
    if answersWrite { answerWrite(operations, at: now) }
    for operation in operations { try carryOut(operation, at: now) }
    return end.refusal
  }

  /// Performs the write that was reported to the program, or refuses it if the program requests that.
  private func answerWrite(_ operations: [ProgramOperation], at now: Instant) {
    guard let link else { return }
    let codes = operations.lazy.compactMap { operation -> ATTErrorCode? in
      if case .reject(let code) = operation { code } else { nil }
    }
    session.answerWrite(codes.first, on: link, at: now)
  }

  private func carryOut(_ operation: ProgramOperation, at now: Instant) throws(LabFault) {
    switch operation {
    case .advertise(let advertisement):
      self.advertisement = advertisement
      advertise(at: now)
    case .set(let place, let value):
      session.setValue(try checked(value), of: try handle(of: place))
    case .notify(let place, let value):
      let handle = try handle(of: place)
      guard let link else { return }
      let room = session.mtu(of: link) - 3
      guard value.count <= room else {
        throw program.fail(
          .badAnswer, "the peripheral notifies \(value.count) bytes, and \(room) are possible on this link")
      }
      outgoing.append((handle, value))
      sendWaiting(at: now)
    case .indicate(let place, let value):
      let handle = try handle(of: place)
      if let link { session.indicate(handle, try checked(value), on: link, at: now) }
    case .disconnect:
      if let link { session.disconnect(link, reason: .remoteUserTerminated, at: now) }
    case .scan, .connect, .central, .reject, .meaning, .secret:
      break
    }
  }

  private func checked(_ value: [UInt8]) throws(LabFault) -> [UInt8] {
    guard value.count <= GATTDatabase.valueLimit else {
      throw program.fail(
        .badAnswer, "the value has \(value.count) bytes; the maximum is \(GATTDatabase.valueLimit)")
    }
    return value
  }

  private func handle(of place: ProgramOperation.Place) throws(LabFault) -> AttributeHandle {
    switch place {
    case .handle(let handle):
      guard self.place(of: handle).uuid != nil else {
        throw program.fail(.badAnswer, "the peripheral has no characteristic at the handle \(handle)")
      }
      return handle
    case .uuid(let uuid):
      if let handle = characteristics.first(where: { $0.uuid == uuid })?.handle { return handle }
      throw program.fail(.badAnswer, "the peripheral has no characteristic \(uuid)")
    }
  }

  private func sendWaiting(at now: Instant) {
    while let link, let (handle, value) = outgoing.first, session.notify(handle, value, on: link, at: now) {
      outgoing.removeFirst()
    }
  }

  /// Updates the advertising of the controller, if it differs.
  private func advertise(at now: Instant) {
    let advertised = link == nil ? advertisement : nil
    session.advertise(
      advertised.map { advertised in
        let units = UInt16(clamping: advertised.interval.nanoseconds / 625_000)
        let (data, response) = advertised.data
        return PeripheralSession.Advertisement(
          AdvertisingParameters(
            minimumInterval: units, maximumInterval: units,
            kind: advertised.isConnectable ? .connectable : .scannable),
          data: data, scanResponse: response)
      }, at: now)
  }
}
