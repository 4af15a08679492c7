public import Basics

/// The commands on their way to a controller (Core 5.4, Vol 4 Part E §4.4).
///
///             next(): a credit is there               answered
///     idle ────────────────────────────▶ unanswered ─────────────▶ idle
///       │  ▲                                  │ deadline passed
///       │  └── credits                        ▼
///       └────▶ stalled ──────────────────▶ given up
///        no credit    deadline passed
///
/// A controller says with each answer how many commands it takes. Whatever it says, one is unanswered at a time:
/// controllers carry out commands one after another anyhow, an answer then has one possible meaning, and what a
/// controller does with several at once is where they differ most.
struct CommandQueue: Sendable {
  /// Whom the answer to a command concerns.
  enum Asker: Sendable {
    /// Nobody: it is enough that it comes, or the link is gone.
    case nobody
    case setUp
    case scanner
    case advertiser
    case initiator
    /// LE Create Connection Cancel.
    case cancellation
    case disconnection(ConnectionHandle)
    case update(ConnectionHandle)
    /// A request of ours for a link, that may be refused.
    case request(String, ConnectionHandle)
  }

  /// A command, and who sends it.
  struct Entry: Sendable {
    var command: HCICommand
    var asker: Asker
  }

  /// The command that has no answer yet.
  struct Unanswered: Sendable {
    var entry: Entry
    var deadline: Instant

    var opcode: UInt16 { entry.command.opcode }
  }

  private enum State: Sendable {
    case idle
    case unanswered(Unanswered)
    /// Something waits, and the controller takes nothing.
    case stalled(until: Instant)
  }

  private var state = State.idle
  private var waiting = FIFO<Entry>()
  /// How many commands the controller takes; one after a reset.
  private var credits = 1

  /// When the controller has been silent for too long, and the command that shows it.
  var deadline: (time: Instant, opcode: UInt16)? {
    switch state {
    case .idle: nil
    case .unanswered(let unanswered): (unanswered.deadline, unanswered.opcode)
    case .stalled(let limit): waiting.first.map { (limit, $0.command.opcode) }
    }
  }

  /// The command that has no answer yet.
  var unanswered: Unanswered? {
    if case .unanswered(let unanswered) = state { unanswered } else { nil }
  }

  /// Whether the queue has room for another command that a peer causes, which limits a peer that requests too often.
  var hasRoom: Bool { waiting.count < 64 }

  mutating func append(_ command: HCICommand, for asker: Asker) {
    waiting.append(Entry(command: command, asker: asker))
  }

  /// Takes the command that may be sent now, if there is one.
  mutating func next(deadline: Instant) -> HCICommand? {
    guard !waiting.isEmpty else { return nil }
    switch state {
    case .unanswered:
      return nil
    case .idle where credits == 0:
      state = .stalled(until: deadline)
      return nil
    case .stalled where credits == 0:
      return nil
    case .idle, .stalled:
      let entry = waiting.removeFirst()
      credits -= 1
      state = .unanswered(Unanswered(entry: entry, deadline: deadline))
      return entry.command
    }
  }

  /// Sets how many commands the controller accepts from now on.
  mutating func grant(_ credits: UInt8) {
    self.credits = Int(credits)
  }

  /// Takes the unanswered command if it has this opcode, because its answer is there.
  mutating func take(_ opcode: UInt16) -> Unanswered? {
    guard case .unanswered(let unanswered) = state, unanswered.opcode == opcode else { return nil }
    state = .idle
    return unanswered
  }

  /// Forgets the commands for a link that is gone: its handle may be another's soon.
  mutating func forget(_ handle: ConnectionHandle) {
    waiting.removeAll { $0.command.link == handle }
    switch state {
    case .unanswered(var unanswered) where unanswered.entry.command.link == handle:
      unanswered.entry.asker = .nobody
      state = .unanswered(unanswered)
    case .stalled where waiting.isEmpty:
      state = .idle
    case .idle, .unanswered, .stalled:
      break
    }
  }
}

extension BluetoothHost {
  /// Asks the controller for a sign of life, unless it owes one anyway; ``HostEvent/failed(_:)`` follows where there is
  /// none in time. What is sent over a link is acknowledged by its other end: to it alone silence means nothing.
  public mutating func checkController(at now: Instant) -> [HostAction] {
    guard case .ready = phase, commands.unanswered == nil else { return [] }
    send(.readBDADDR(), for: .nobody, at: now)
    return takeActions()
  }

  /// Sends a command, now or when the controller takes it.
  mutating func send(_ command: HCICommand, for asker: CommandQueue.Asker, at now: Instant) {
    commands.append(command, for: asker)
    sendCommands(at: now)
  }

  mutating func sendCommands(at now: Instant) {
    guard let command = commands.next(deadline: now + settings.commandTimeout) else { return }
    actions.append(.transmit(command.packet))
  }

  /// Receives Command Complete.
  mutating func commandCompleted(_ opcode: UInt16, credits: UInt8, _ returned: [UInt8], at now: Instant) {
    commands.grant(credits)
    guard let unanswered = commands.take(opcode) else { return unaskedAnswer(to: opcode, at: now) }
    guard let status = returned.first.map(HCIErrorCode.init(rawValue:)) else {
      return fail(.broken("Command Complete of 0x\(opcode.hex) without a status"))
    }
    if unanswered.entry.command.answer == .status, status == .success {
      return fail(.broken("Command Complete of 0x\(opcode.hex), which has another event for that"))
    }
    answered(unanswered.entry.asker, status, returned, at: now)
    sendCommands(at: now)
  }

  /// Receives Command Status.
  mutating func commandStatus(_ opcode: UInt16, credits: UInt8, _ status: HCIErrorCode, at now: Instant) {
    commands.grant(credits)
    guard let unanswered = commands.unanswered, unanswered.opcode == opcode else {
      return unaskedAnswer(to: opcode, at: now)
    }
    // Begun is not done: Command Complete is still to come.
    guard status != .success || unanswered.entry.command.answer == .status else { return }
    _ = commands.take(opcode)
    answered(unanswered.entry.asker, status, [], at: now)
    sendCommands(at: now)
  }

  /// Receives a response to a command that is not pending.
  private mutating func unaskedAnswer(to opcode: UInt16, at now: Instant) {
    switch opcode {
    case HCICommand.noCommand:
      // Only the credits count (§4.4).
      break
    case HCICommand.reset.opcode where staleResets > 0:
      // To a reset before this host was started again. The controller has done both before anything else.
      staleResets -= 1
    case 0xFC00...:
      // One of the maker's own commands: another may have sent it (§5.4.1).
      reportViolation(nil, "an answer to 0x\(opcode.hex), a command of the maker's that was not sent")
    default:
      return fail(.broken("an answer to 0x\(opcode.hex), which was not sent"))
    }
    sendCommands(at: now)
  }

  /// Hands an answer to whom it concerns.
  private mutating func answered(
    _ asker: CommandQueue.Asker, _ status: HCIErrorCode, _ returned: [UInt8], at now: Instant
  ) {
    switch asker {
    case .nobody: break
    case .setUp: continueSetUp(status, returned, at: now)
    case .scanner: carryOut(scanner.answered(status), at: now)
    case .advertiser: carryOut(advertiser.answered(status), at: now)
    case .initiator: carryOut(initiator.answered(status), at: now)
    case .cancellation: initiator.cancelAnswered(deadline: now + settings.commandTimeout)
    case .disconnection(let handle): disconnectCommandAnswered(handle, status, at: now)
    case .update(let handle): updateCommandAnswered(handle, status, at: now)
    case .request(let purpose, let handle):
      guard status != .success, let index = index(of: handle) else { return }
      reportViolation(links[index].reportedID, "the controller refuses \(purpose): \(status)")
    }
  }
}

extension UInt16 {
  /// Four hexadecimal digits.
  var hex: String { [UInt8(truncatingIfNeeded: self >> 8), UInt8(truncatingIfNeeded: self)].hex }
}
