import Bluetooth
import Basics

/// Codes of Hardware Error, which are vendor-specific (Core 5.4, Vol 4 Part E §7.7.16).
enum HardwareErrorCode {
  static let tooManyCommands: UInt8 = 0x01
  static let fragmentTooLong: UInt8 = 0x02
  static let wrongBoundary: UInt8 = 0x03
  static let wrongPacket: UInt8 = 0x04
}

// MARK: - Commands

extension Radio {
  /// Processes a packet that the hook has passed.
  mutating func accept(_ packet: HCIPacket, from controller: Int) {
    switch packet {
    case .acl(let packet): accept(packet, from: controller)
    case .command(let opcode, _): acceptCommand(packet, opcode, from: controller)
    case .event, .synchronous, .isochronous:
      fail(controller, HardwareErrorCode.wrongPacket, "sent a packet that is not for a controller")
    }
  }

  private mutating func acceptCommand(_ packet: HCIPacket, _ opcode: UInt16, from controller: Int) {
    // A host may always reset a controller that it considers lost.
    guard opcode == HCICommand.reset.opcode || ports.ports[controller].commandsAllowed > 0 else {
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

  /// Executes a command after its processing time.
  mutating func carryOut(_ packet: HCIPacket, from controller: Int) {
    guard case .command(let opcode, let parameters) = packet else { return accept(packet, from: controller) }
    ports.ports[controller].commandsHeld = max(0, ports.ports[controller].commandsHeld - 1)
    let features = controllers[controller].settings.features
    guard let command = Self.commands.find(opcode, features: features) else {
      return sendStatus(.unknownCommand, opcode, controller)
    }
    do throws(Refusal) {
      let returned = try command.perform(&self, controller, parameters)
      switch command.declaration.answer {
      case .status: sendStatus(.success, opcode, controller)
      case .complete: sendComplete(returned, opcode, controller)
      }
      if let event = ports.ports[controller].following.take() { ports.emit(event, to: controller, at: time) }
    } catch {
      refuse(opcode, parameters, with: error.code, controller)
    }
  }

  /// Answers a command with an error, as Command Status or Command Complete.
  mutating func refuse(_ opcode: UInt16, _ parameters: [UInt8], with code: HCIErrorCode, _ controller: Int) {
    let command = Self.commands.find(opcode, features: controllers[controller].settings.features)?.declaration
    switch command?.answer ?? .status {
    case .status: sendStatus(code, opcode, controller)
    case .complete:
      let link = command?.isOfLink == true ? (parameters + [0, 0]).prefix(2) : []
      sendComplete([code.rawValue] + link, opcode, controller)
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

  /// Records a violation and reports a hardware error; the caller discards the packet.
  private mutating func fail(_ controller: Int, _ code: UInt8, _ sentence: String) {
    reportViolation(controller, sentence)
    ports.emit(.hardwareError(code: code), to: controller, at: time)
  }
}

/// Why a command was refused.
struct Refusal: Error {
  var code: HCIErrorCode

  init(_ code: HCIErrorCode) {
    self.code = code
  }
}

// MARK: - Data

extension Radio {
  /// Accepts data for a link (Core 5.4, Vol 4 Part E §4.1, §5.4.2).
  private mutating func accept(_ packet: ACLPacket, from controller: Int) {
    // A link may have ended while its data was in transit: such data is dropped silently.
    guard let index = controllers[controller].link(packet.handle) else {
      if Int(packet.handle.rawValue) - Controller.firstHandle >= controllers[controller].settings.linkLimit
        || Int(packet.handle.rawValue) < Controller.firstHandle
      {
        reportViolation(controller, "sent data for \(packet.handle), which never was a link")
      }
      return
    }
    guard packet.data.count <= controllers[controller].settings.aclLength else {
      fail(
        controller, HardwareErrorCode.fragmentTooLong,
        "sent \(packet.data.count) bytes in one fragment to a controller that takes no more than "
          + "\(controllers[controller].settings.aclLength)")
      return complete(packet, controller)
    }
    guard ports.ports[controller].fragmentsHeld < controllers[controller].settings.aclCount else {
      reportViolation(controller, "sent data though all buffers were in use")
      return ports.emit(.dataBufferOverflow(linkType: 0x01), to: controller, at: time)
    }
    let isCentral = links[index].central.controller == controller
    if let fault = packet.fault {
      fail(controller, HardwareErrorCode.wrongBoundary, fault)
      return complete(packet, controller)
    }
    // The peer's host judges what lies above HCI: the data is transmitted in any case.
    let diagnostic = links[index][central: isCentral].read(packet)
    if let diagnostic { reportViolation(controller, diagnostic) }
    // An empty fragment needs no transmission.
    if packet.data.isEmpty { return complete(packet, controller) }
    ports.ports[controller].fragmentsHeld += 1
    links[index].send(packet, fromCentral: isCentral, at: time)
    linkMoved(index)
  }

  /// Returns the buffer of a sent or dropped fragment to the host (Core 5.4, Vol 4 Part E §7.7.19).
  private mutating func complete(_ packet: ACLPacket, _ controller: Int) {
    ports.emit(.numberOfCompletedPackets([CompletedPackets(packet.handle, 1)]), to: controller, at: time)
  }
}

extension ACLPacket {
  /// The defect of the packet as LE data from a host (Core 5.4, Vol 4 Part E §5.4.2).
  fileprivate var fault: String? {
    guard broadcast == 0 else { return "sent a broadcast on LE" }
    switch boundary {
    case .firstFlushable, .complete: return "sent data with a boundary flag that LE does not have"
    case .first, .continuing: return nil
    }
  }
}

extension LinkEnd {
  /// Tracks the L2CAP frames that the host sends, by the length in their header (Core 5.4, Vol 3 Part A §3.1).
  ///
  /// - Returns: the fragment's defect in relation to the previous ones.
  fileprivate mutating func read(_ packet: ACLPacket) -> String? {
    let count = packet.data.count
    guard packet.boundary == .first else {
      guard frameRest >= 0 else { return nil }
      guard frameRest > 0 else { return "went on with a frame that it never began, or that was complete" }
      return read(count, of: frameRest)
    }
    let isInterrupted = frameRest > 0
    guard count >= 2 else {
      frameRest = -1
      return isInterrupted ? Self.interruption : nil
    }
    let fault = read(count, of: 4 + Int(packet.data[0]) + Int(packet.data[1]) << 8)
    return isInterrupted ? Self.interruption : fault
  }

  private mutating func read(_ count: Int, of rest: Int) -> String? {
    frameRest = max(0, rest - count)
    return count > rest ? "sent more in a fragment than its frame has" : nil
  }

  private static let interruption = "began a frame before the last was complete"
}
