public import Basics

/// The queue of commands to a controller (Core 5.4, Vol 4 Part E §4.4).
///
///             next(): a credit is there               answered
///     idle ────────────────────────────▶ unanswered ─────────────▶ idle
///       │  ▲                                  │ deadline passed
///       │  └── credits                        ▼
///       └────▶ stalled ──────────────────▶ given up
///        no credit    deadline passed
///
/// A controller reports with each response how many commands it accepts. Regardless of that, one is
/// unanswered at a time: controllers carry out commands one after another anyway, a response then has one
/// possible meaning, and controllers differ most in how they handle several commands.
struct CommandQueue: Sendable {
  /// The receiver of the response to a command.
  enum Asker: Sendable {
    /// None: the response has no consequence, or the link is gone.
    case nobody
    case setUp
    case scanner
    case advertiser
    case initiator
    /// LE Create Connection Cancel.
    case cancellation
    case disconnection(ConnectionHandle)
    case update(ConnectionHandle)
    /// A request for a link, which may be refused.
    case request(String, ConnectionHandle)
  }

  /// A command with its sender.
  struct Entry: Sendable {
    var command: HCICommand
    var asker: Asker
  }

  /// The command without a response.
  struct Unanswered: Sendable {
    var entry: Entry
    var deadline: Instant

    var opcode: UInt16 { entry.command.opcode }
  }

  private enum State: Sendable {
    case idle
    case unanswered(Unanswered)
    /// Commands are waiting, and the controller accepts none.
    case stalled(until: Instant)
  }

  private var state = State.idle
  private var waiting = FIFO<Entry>()
  /// The number of commands that the controller accepts; one after a reset.
  private var credits = 1

  /// When the controller has been silent for too long, with the command that shows it.
  var deadline: (time: Instant, opcode: UInt16)? {
    switch state {
    case .idle: nil
    case .unanswered(let unanswered): (unanswered.deadline, unanswered.opcode)
    case .stalled(let limit): waiting.first.map { (limit, $0.command.opcode) }
    }
  }

  /// The command without a response.
  var unanswered: Unanswered? {
    if case .unanswered(let unanswered) = state { unanswered } else { nil }
  }

  /// Whether the queue has room for another command caused by a peer, which limits a peer with too many
  /// requests.
  var hasRoom: Bool { waiting.count < 64 }

  mutating func append(_ command: HCICommand, for asker: Asker) {
    waiting.append(Entry(command: command, asker: asker))
  }

  /// Removes and returns the command that may be sent now, if there is one.
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

  /// Sets the number of commands that the controller accepts.
  mutating func grant(_ credits: UInt8) {
    self.credits = Int(credits)
  }

  /// Removes and returns the unanswered command if it has this opcode.
  mutating func take(_ opcode: UInt16) -> Unanswered? {
    guard case .unanswered(let unanswered) = state, unanswered.opcode == opcode else { return nil }
    state = .idle
    return unanswered
  }

  /// Discards the commands for a link that is gone: its handle may be reused.
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
  /// Sends the controller a command to check that it responds, unless a response is pending anyway;
  /// ``HostEvent/failed(_:)`` follows if it does not in time. Data on a link are acknowledged by the other
  /// end, so that their silence proves nothing about the controller.
  public mutating func checkController(at now: Instant) -> [HostAction] {
    guard case .ready = phase, commands.unanswered == nil else { return [] }
    send(.readBDADDR(), for: .nobody, at: now)
    return takeActions()
  }

  /// Sends a command, now or when the controller accepts it.
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
    // The command has begun; Command Complete is still to come.
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
      // The response to a reset before this host was started again. The controller has done both before
      // anything else.
      staleResets -= 1
    case 0xFC00...:
      // A vendor's command: another process may have sent it (§5.4.1).
      reportViolation(nil, "an answer to 0x\(opcode.hex), a command of the maker's that was not sent")
    default:
      return fail(.broken("an answer to 0x\(opcode.hex), which was not sent"))
    }
    sendCommands(at: now)
  }

  /// Passes a response to its receiver.
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
