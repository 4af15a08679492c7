import Bluetooth
import Simulation

/// Numbers for Hardware Error, which the specification leaves to the maker (Core 5.4, Vol 4 Part E §7.7.16).
enum HardwareErrorCode {
  static let tooManyCommands: UInt8 = 0x01
  static let fragmentTooLong: UInt8 = 0x02
  static let wrongBoundary: UInt8 = 0x03
  static let wrongPacket: UInt8 = 0x04
}

// MARK: - Commands

extension Radio {
  /// Takes in what the hooks let pass.
  mutating func accept(_ packet: HCIPacket, from controller: Int) {
    switch packet {
    case .acl(let packet): accept(packet, from: controller)
    case .command(let opcode, _): acceptCommand(packet, opcode, from: controller)
    case .event, .synchronous, .isochronous:
      fail(controller, HardwareErrorCode.wrongPacket, "sent a packet that is not for a controller")
    }
  }

  private mutating func acceptCommand(_ packet: HCIPacket, _ opcode: UInt16, from controller: Int) {
    // A host that gave up on its controller may always reset it.
    guard opcode == HCIOpcode.reset || ports.ports[controller].commandsAllowed > 0 else {
      let name = "command 0x" + [UInt8(opcode >> 8), UInt8(truncatingIfNeeded: opcode)].hex
      return fail(
        controller, HardwareErrorCode.tooManyCommands, "sent \(name) before it had leave to send another")
    }
    ports.ports[controller].commandsAllowed = max(0, ports.ports[controller].commandsAllowed - 1)
    ports.ports[controller].commandsHeld += 1
    let duration = controllers[controller].settings.commandTime
    guard duration > .zero else { return carryOut(packet, from: controller) }
    ports.held.schedule(
      HostPorts.Held(controller: controller, direction: .fromHost, packet: packet),
      at: Instant(nanoseconds: time) + duration)
  }

  /// Does what the host asked for, after the time that it takes.
  mutating func carryOut(_ packet: HCIPacket, from controller: Int) {
    guard case .command(let opcode, let parameters) = packet else { return accept(packet, from: controller) }
    ports.ports[controller].commandsHeld = max(0, ports.ports[controller].commandsHeld - 1)
    guard let known = SupportedCommand.find(opcode, features: controllers[controller].settings.features)
    else {
      return sendStatus(.unknownCommand, opcode, controller)
    }
    do throws(Refusal) {
      let outcome = try perform(opcode, parameters, controller)
      switch known.answer {
      case .status: sendStatus(.success, opcode, controller)
      case .complete, .completeOfLink: sendComplete([0] + outcome.returned, opcode, controller)
      }
      if let event = outcome.event { ports.emit(event, to: controller, at: time) }
    } catch {
      refuse(opcode, parameters, with: error.code, controller)
    }
  }

  private mutating func perform(
    _ opcode: UInt16, _ parameters: [UInt8], _ controller: Int
  ) throws(Refusal) -> Outcome {
    let command: HCICommand
    do { command = try HCICommand(opcode: opcode, parameters: parameters) } catch {
      throw Refusal(.invalidParameters)
    }
    return try perform(command, controller)
  }

  /// Answers a command with an error, in the way that it is answered.
  mutating func refuse(_ opcode: UInt16, _ parameters: [UInt8], with code: HCIErrorCode, _ controller: Int) {
    let features = controllers[controller].settings.features
    switch SupportedCommand.find(opcode, features: features)?.answer ?? .status {
    case .status: sendStatus(code, opcode, controller)
    case .complete: sendComplete([code.rawValue], opcode, controller)
    case .completeOfLink:
      sendComplete([code.rawValue] + (parameters + [0, 0]).prefix(2), opcode, controller)
    }
  }

  private mutating func sendComplete(_ returned: [UInt8], _ opcode: UInt16, _ controller: Int) {
    ports.emit(
      .commandComplete(credits: credits(controller), opcode: opcode, returnParameters: returned),
      to: controller,
      at: time)
  }

  private mutating func sendStatus(_ status: HCIErrorCode, _ opcode: UInt16, _ controller: Int) {
    ports.emit(
      .commandStatus(status: status, credits: credits(controller), opcode: opcode), to: controller, at: time)
  }

  private mutating func credits(_ controller: Int) -> UInt8 {
    let held = ports.ports[controller].commandsHeld
    return UInt8(max(0, Int(controllers[controller].settings.commandCredits) - held))
  }

  /// Notes a breach of the rules and reports a hardware error; what the host sent is lost.
  private mutating func fail(_ controller: Int, _ code: UInt8, _ sentence: String) {
    complain(controller, sentence)
    ports.emit(.hardwareError(code: code), to: controller, at: time)
  }
}

/// Why a command is not carried out.
struct Refusal: Error {
  var code: HCIErrorCode

  init(_ code: HCIErrorCode) {
    self.code = code
  }
}

/// What a command that succeeded returns behind its status, and an event that follows its answer.
struct Outcome {
  var returned: [UInt8] = []
  var event: HCIEvent?

  static let done = Outcome()

  static func returning(_ value: some BinaryCodable) -> Outcome { Outcome(returned: value.encoded) }

  static func followed(by event: HCIEvent) -> Outcome { Outcome(event: event) }
}

// MARK: - Data

extension Radio {
  /// Takes data for a link (Core 5.4, Vol 4 Part E §4.1, §5.4.2).
  private mutating func accept(_ packet: ACLPacket, from controller: Int) {
    // A link may have ended while its data was on the way: such data is dropped without a word.
    guard let index = controllers[controller].link(packet.handle) else {
      if Int(packet.handle.rawValue) - Controller.firstHandle >= controllers[controller].settings.linkLimit
        || Int(packet.handle.rawValue) < Controller.firstHandle
      {
        complain(controller, "sent data for \(packet.handle), which never was a link")
      }
      return
    }
    guard packet.data.count <= controllers[controller].settings.aclLength else {
      return fail(
        controller, HardwareErrorCode.fragmentTooLong,
        "sent \(packet.data.count) bytes in one fragment to a controller that takes no more than "
          + "\(controllers[controller].settings.aclLength)")
    }
    guard ports.ports[controller].fragmentsHeld < controllers[controller].settings.aclCount else {
      complain(controller, "sent data though all buffers were in use")
      return ports.emit(.dataBufferOverflow(linkType: 0x01), to: controller, at: time)
    }
    let isCentral = links[index].central.controller == controller
    let fault =
      isCentral ? links[index].central.check(packet) : links[index].peripheral.check(packet)
    if let fault { return fail(controller, HardwareErrorCode.wrongBoundary, fault) }
    if packet.data.isEmpty {
      // Nothing to send, and so it is sent.
      return ports.emit(
        .numberOfCompletedPackets([CompletedPackets(packet.handle, 1)]), to: controller, at: time)
    }
    ports.ports[controller].fragmentsHeld += 1
    links[index].send(packet, fromCentral: isCentral, at: time)
    linkMoved(index)
  }
}

extension LinkEnd {
  /// Whether the host may send a fragment after those before; the length of a frame stands at its beginning
  /// (Core 5.4, Vol 3 Part A §3.1). Returns what is wrong.
  fileprivate mutating func check(_ packet: ACLPacket) -> String? {
    guard packet.broadcast == 0 else { return "sent a broadcast on LE" }
    let count = packet.data.count
    switch packet.boundary {
    case .firstFlushable, .complete: return "sent data with a boundary flag that LE does not have"
    case .first:
      guard frameRest <= 0 else { return "began a frame before the last was complete" }
      guard count >= 2 else {
        frameRest = -1
        return nil
      }
      let length = 4 + Int(packet.data[0]) + Int(packet.data[1]) << 8
      guard count <= length else { return "sent more in a fragment than its frame has" }
      frameRest = length - count
    case .continuing:
      guard frameRest >= 0 else { return nil }
      guard frameRest > 0 else { return "went on with a frame that it never began, or that was complete" }
      guard count <= frameRest else { return "sent more in a fragment than its frame has" }
      frameRest -= count
    }
    return nil
  }
}
