import Basics
import Bluetooth
import Conformance
import Controllers
import Emulator
import Links

/// A lock that a program plays behind our GATT server, as a peripheral on a controller.
///
/// The program says in its greeting what it offers and advertises, is told what its client does, and says what is
/// notified. It has no clock: time comes with each message, and it says when it wants to be called again.
///
/// Feed it the controller's packets and the time, and hand the controller the packets that it returns, in order. What is
/// wrong with the program is kept in ``fault``, after which nothing comes from it any more.
final class ProgramPeripheral {
  private enum State {
    case off, starting, ready
    case failed(HostFailure)
  }

  let program: ProgramConversation
  private let address: BluetoothAddress
  private var host: BluetoothHost
  /// Its characteristics, where they stand in the server, with their first values.
  private let places: [(uuid: BluetoothUUID, handle: AttributeHandle, value: [UInt8])]
  private var state = State.off
  private var link: LinkID?
  /// What it wants to advertise, and what the controller was asked to; nothing while it is connected.
  private var wanted: ProgramAdvertisement?
  private var advertised: ProgramAdvertisement?
  /// When the controller, having refused to advertise, is asked again.
  private var retryTime = Instant.never
  /// What waits for room in the host.
  private var outgoing: [(AttributeHandle, [UInt8])] = []
  /// When the program's own time began, and when it wants to be called.
  private var origin = Instant.zero
  private var due = Instant.never
  private var packets: [HCIPacket] = []
  private var events = FIFO<HostEvent>()
  private var isHandling = false
  private(set) var notices: [LockNotice] = []
  /// What the program has shown that was not taken yet.
  private var shown: [Observation] = []
  /// Whether the program has shown something or failed since that was last reported.
  private var hasNews = false
  /// What is wrong with the program.
  private(set) var fault: LabFault?
  /// What it draws its chances from.
  var seed: UInt64 = 0

  /// Makes a peripheral of a program that was greeted.
  init(_ program: ProgramConversation, seed: UInt64) {
    self.program = program
    self.seed = seed
    var generator = SeededGenerator(seed: seed, for: "peripheral")
    address = .staticRandom(generator.next())
    let host = Self.host(program, address)
    places = (program.introduction?.services ?? []).flatMap { service in
      service.characteristics.compactMap { characteristic in
        host.handle(of: characteristic.uuid, in: service.uuid).map {
          (characteristic.uuid, $0, characteristic.value)
        }
      }
    }
    self.host = host
  }

  private static func host(_ program: ProgramConversation, _ address: BluetoothAddress) -> BluetoothHost {
    let introduction = program.introduction ?? ProgramIntroduction()
    var settings = HostSettings(
      address: address,
      name: String((introduction.advertisement?.name ?? introduction.name ?? "Peripheral").prefix(40)))
    settings.holdsWrites = true
    return BluetoothHost(settings, services: introduction.services)
  }

  /// Where it advertises.
  var peerAddress: PeerAddress { PeerAddress(.randomDevice, address) }

  /// Why its controller failed; nothing goes on until it is started again.
  var failure: HostFailure? { if case .failed(let failure) = state { failure } else { nil } }

  /// When ``advance(to:)`` must next be called, or `nil` while nothing is awaited.
  var deadline: Instant? {
    let next = min(host.deadline ?? .never, due == .never ? due : origin + (due - .zero), retryTime)
    return next == .never ? nil : next
  }
}

extension ProgramPeripheral {
  /// Resets the controller and sets it up.
  func start(at now: Instant) -> [HCIPacket] {
    (link, advertised, retryTime, outgoing) = (nil, nil, .never, [])
    state = .starting
    note(host.start(at: now), at: now)
    return take()
  }

  /// Starts the program in a condition, at its time zero, out of any link.
  func prepare(_ start: StartCondition, at now: Instant) throws(LabFault) -> [HCIPacket] {
    (fault, shown, hasNews) = (nil, [], false)
    if let misunderstanding = program.misunderstanding { throw misunderstanding }
    if !program.isRunning { try program.restart() }
    try program.passOver()
    origin = now
    due = .never
    wanted = program.introduction?.advertisement
    if let link { note(host.disconnect(link, reason: .remoteUserTerminated, at: now), at: now) }
    (link, outgoing) = (nil, [])
    for place in places { host.setValue(place.value, of: place.handle) }
    let refusal = try ask(program.request(ofReset: start.settings, seed: seed), at: now)
    if let refusal { throw LabFault(.notPossible, "the peripheral cannot start so: \(refusal)") }
    advertise(at: now)
    return take()
  }

  /// Takes in a packet of the controller.
  func receive(_ packet: HCIPacket, at now: Instant) -> [HCIPacket] {
    note(host.receive(packet, at: now), at: now)
    return take()
  }

  /// Lets time pass.
  func advance(to now: Instant) -> [HCIPacket] {
    if let limit = host.deadline, limit <= now { note(host.advance(to: now), at: now) }
    if due <= time(at: now) { guarded { () throws(LabFault) in try passTime(at: now) } }
    if retryTime <= now { retryTime = .never }
    advertise(at: now)
    return take()
  }

  /// Does to the lock what its program calls a stimulus: a hand on its bolt, a key on its pad.
  ///
  /// - Returns: the packets for the controller, and why the program refuses it, if it does.
  func give(
    _ stimulus: String, _ arguments: [Argument], at now: Instant
  ) throws(LabFault) -> (packets: [HCIPacket], refusal: String?) {
    let refusal = try ask(program.request(of: stimulus, arguments), at: now)
    return (take(), refusal)
  }

  func perform(_ stimulus: String, _ arguments: [Argument], at now: Instant) throws(LabFault) -> [HCIPacket] {
    let (packets, refusal) = try give(stimulus, arguments, at: now)
    if let refusal { throw LabFault(.notPossible, "the peripheral refuses '\(stimulus)': \(refusal)") }
    return packets
  }

  func bring(about fault: Fault, at now: Instant) throws(LabFault) -> [HCIPacket] {
    let refusal = try ask(program.request(of: fault), at: now)
    if let refusal {
      throw LabFault(.notPossible, "the peripheral refuses the fault '\(fault.name)': \(refusal)")
    }
    return take()
  }

  /// Forgets a controller whose power is gone, and the link with it.
  func losePower(at now: Instant) {
    state = .off
    host = Self.host(program, address)
    (advertised, outgoing) = (nil, [])
    if link != nil { ended(HCIErrorCode.connectionTimeout, at: now) }
  }

  func takeNotices() -> [LockNotice] {
    defer { notices = [] }
    return notices
  }

  /// Takes what the program has shown, in its order; all of it at the time that it is now.
  func takeObservations() -> [Observation] {
    if shown.isEmpty { return [] }
    defer { (shown, hasNews) = ([], false) }
    return shown
  }

  /// Whether the program has shown something, or failed, that was not reported yet.
  func takeNews() -> Bool {
    defer { hasNews = false }
    return hasNews
  }
}

extension ProgramPeripheral {
  /// The program's own time.
  private func time(at now: Instant) -> Instant { .zero + (now - origin) }

  private func take() -> [HCIPacket] {
    defer { packets = [] }
    return packets
  }

  /// Keeps what is wrong with the program.
  private func guarded(_ body: () throws(LabFault) -> Void) {
    guard fault == nil else { return }
    do {
      try body()
    } catch {
      (fault, hasNews) = (error, true)
      due = .never
    }
  }

  /// Sorts what the host wants done, and looks at what it reported, in its order.
  private func note(_ actions: [HostAction], at now: Instant) {
    for action in actions {
      switch action {
      case .transmit(let packet): packets.append(packet)
      case .report(let event): events.append(event)
      }
    }
    guard !isHandling else { return }
    isHandling = true
    defer { isHandling = false }
    while let event = events.popFirst() { handle(event, at: now) }
  }

  private func handle(_ event: HostEvent, at now: Instant) {
    switch event {
    case .ready(let description):
      state = .ready
      notices.append(.ready(description))
      advertise(at: now)
    case .failed(let failure):
      state = .failed(failure)
      notices.append(.failed(failure))
      if link != nil { ended(.hardwareFailure, at: now) }
    case .advertising(_, let status):
      guard status != .success else { return }
      advertised = nil
      retryTime = now + .seconds(1)
      notices.append(.notAdvertising(status))
    case .connected(let id, let complete):
      // The controller has ended advertising by itself.
      advertised = nil
      guard link == nil, complete.role == .peripheral else {
        return note(host.disconnect(id, reason: .remoteUserTerminated, at: now), at: now)
      }
      link = id
      notices.append(.connected(complete.peer))
      tell(.connected(complete.peer), at: now)
    case .disconnected(let id, let reason, _):
      guard id == link else { return }
      ended(reason, at: now)
      advertise(at: now)
    case .gatt(let id, let event):
      if id == link { handle(event, at: now) }
    case .readyToSend(let id):
      if id == link { sendWaiting(at: now) }
    case .protocolViolation(nil, let what): notices.append(.undefinedRequest(what))
    case .protocolViolation(_, let rule): notices.append(.protocolViolation(rule))
    case .advertisement, .scanning, .connectionFailed, .timing, .dataLength: break
    }
  }

  private func ended(_ reason: HCIErrorCode, at now: Instant) {
    link = nil
    outgoing = []
    notices.append(.disconnected(reason))
    tell(.disconnected(reason), at: now)
  }

  private func handle(_ event: GATTEvent, at now: Instant) {
    switch event {
    case .written(let handle, let value): tell(.written(place(of: handle), value), at: now)
    case .subscribed(let handle, let subscription):
      notices.append(.subscribed(!subscription.isEmpty))
      tell(.subscription(place(of: handle), subscription), at: now)
    case .confirmed(let handle): tell(.confirmed(place(of: handle)), at: now)
    case .mtu(let mtu): tell(.mtu(Int(mtu)), at: now)
    case .finished, .notification: break
    }
  }

  private func place(of handle: AttributeHandle) -> ProgramEvent.Place {
    ProgramEvent.Place(uuid: places.first { $0.handle == handle }?.uuid, handle: handle)
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
    let before = due
    if let refusal = try ask(ProgramConversation.bytes(of: ["advance": 0]), at: now) {
      throw program.fail(.badAnswer, "the peripheral refuses to let time pass: \(refusal)")
    }
    if due <= before {
      throw program.fail(
        .badAnswer, "the peripheral wants to be called again at \(due), and has just been called then")
    }
  }

  /// Sends a request and does what the answer asks for.
  ///
  /// - Parameter answersWrite: whether it tells of a write, which is answered before whatever else is sent.
  private func ask(
    _ request: [UInt8], at now: Instant, answeringWrite answersWrite: Bool = false
  ) throws(LabFault) -> String? {
    let time = time(at: now)
    var operations: [ProgramOperation] = []
    let end = try program.ask(program.timed(request, at: time)) { entry, line throws(LabFault) in
      if let said = entry.said.time, said != time {
        throw program.fail(
          .badAnswer,
          "the peripheral wrote \(program.quoted(line)): it is \(time), and time passes on the air alone")
      }
      if let observation = entry.observation {
        shown.append(observation)
        hasNews = true
        notices.append(.shown(String(decoding: line, as: UTF8.self)))
      }
      guard case .operation(let operation) = entry.said.answer else { return }
      if case .reject = operation, !answersWrite || operations.contains(where: \.isReject) {
        throw program.fail(
          .badAnswer,
          "the peripheral wrote \(program.quoted(line)): "
            + (answersWrite ? "it has refused that write already" : "it was not told of a write"))
      }
      operations.append(operation)
    }
    switch end.next {
    case .unsaid: break
    case .at(let moment): due = max(moment, time)
    }
    if answersWrite { answerWrite(operations, at: now) }
    for operation in operations { try carryOut(operation, at: now) }
    return end.refusal
  }

  /// Makes the write that the program was told of, or refuses it as the program wants.
  private func answerWrite(_ operations: [ProgramOperation], at now: Instant) {
    guard let link else { return }
    let codes = operations.lazy.compactMap { operation -> ATTErrorCode? in
      if case .reject(let code) = operation { code } else { nil }
    }
    note(host.answerWrite(codes.first, on: link, at: now), at: now)
  }

  private func carryOut(_ operation: ProgramOperation, at now: Instant) throws(LabFault) {
    switch operation {
    case .advertise(let advertisement):
      wanted = advertisement
      advertise(at: now)
    case .set(let place, let value):
      host.setValue(try checked(value), of: try handle(of: place))
    case .notify(let place, let value):
      let handle = try handle(of: place)
      guard let link else { return }
      let room = host.mtu(of: link) - 3
      guard value.count <= room else {
        throw program.fail(
          .badAnswer, "the peripheral notifies \(value.count) bytes, and \(room) are possible on this link")
      }
      outgoing.append((handle, value))
      sendWaiting(at: now)
    case .indicate(let place, let value):
      let handle = try handle(of: place)
      if let link { note(host.indicate(handle, try checked(value), on: link, at: now), at: now) }
    case .disconnect:
      if let link { note(host.disconnect(link, reason: .remoteUserTerminated, at: now), at: now) }
    case .scan, .connect, .central, .reject, .meaning, .secret:
      break
    }
  }

  private func checked(_ value: [UInt8]) throws(LabFault) -> [UInt8] {
    guard value.count <= GATTDatabase.valueLimit else {
      throw program.fail(
        .badAnswer, "a value has at most \(GATTDatabase.valueLimit) bytes, not \(value.count)")
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
      if let handle = places.first(where: { $0.uuid == uuid })?.handle { return handle }
      throw program.fail(.badAnswer, "the peripheral has no characteristic \(uuid)")
    }
  }

  private func sendWaiting(at now: Instant) {
    while let link, let (handle, value) = outgoing.first,
      let actions = host.notify(handle, value, on: link, at: now)
    {
      outgoing.removeFirst()
      note(actions, at: now)
    }
  }

  /// Lets the controller advertise what is to be advertised now, if it does not.
  private func advertise(at now: Instant) {
    guard case .ready = state, retryTime == .never else { return }
    let wanted = link == nil ? wanted : nil
    guard wanted != advertised else { return }
    advertised = wanted
    guard let wanted else { return note(host.stopAdvertising(at: now), at: now) }
    let units = UInt16(clamping: wanted.interval.nanoseconds / 625_000)
    let (data, response) = wanted.data
    note(
      host.startAdvertising(
        AdvertisingParameters(
          minimumInterval: units, maximumInterval: units,
          kind: wanted.isConnectable ? .connectable : .scannable),
        data: data, scanResponse: response, at: now), at: now)
  }
}
