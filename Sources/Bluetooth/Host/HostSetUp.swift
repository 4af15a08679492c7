import Basics

/// The way from a reset to a host that is ready.
///
///     Reset ▶ Read Local Version ▶ Supported Commands° ▶ Supported Features° ▶ BD_ADDR ▶ LE Read Buffer Size°
///       ▶ Read Buffer Size (only when LE has no buffers of its own) ▶ LE Features° ▶ Set Event Mask
///       ▶ LE Set Event Mask (again without newer events when refused) ▶ LE Set Random Address ▶ ready
///
/// Those marked ° may be refused: what they tell is not needed, or asked for in another way.
extension BluetoothHost {
  /// Disconnection Complete, Encryption Change, Read Remote Version Complete, Hardware Error, Data Buffer Overflow
  /// and LE Meta, as bits of Set Event Mask (§7.3.1).
  static var eventMask: UInt64 { 1 << 4 | 1 << 7 | 1 << 11 | 1 << 15 | 1 << 25 | 1 << 61 }

  /// The first five LE events, which version 4.0 had.
  static var firstLEEventMask: UInt64 { 0x1F }

  /// The same, the remote's request for connection parameters, the data length's change and extended advertising
  /// reports, as bits of LE Set Event Mask (§7.8.1).
  static var leEventMask: UInt64 { firstLEEventMask | 1 << 5 | 1 << 6 | 1 << 12 }

  /// Takes in the answer to a command of the set-up, and sends the next.
  mutating func continueSetUp(
    after command: HCICommand, _ status: HCIErrorCode, _ returned: [UInt8], at now: Instant
  ) {
    var description: ControllerDescription
    switch phase {
    case .resetting: description = ControllerDescription(randomAddress: settings.address)
    case .settingUp(let soFar): description = soFar
    case .off, .ready, .failed: return
    }
    do {
      let next = try description.take(command, status, returned, settings.address)
      if let next {
        phase = .settingUp(description)
        commands.append(next)
      } else {
        phase = .ready
        features = description.leFeatures
        buffers = ControllerBuffers(length: description.aclLength, count: description.aclCount)
        report(.ready(description))
      }
    } catch {
      fail(error)
    }
  }
}

extension ControllerDescription {
  fileprivate init(randomAddress: BluetoothAddress) {
    self.init(
      publicAddress: BluetoothAddress(0), randomAddress: randomAddress,
      hciVersion: VersionInformation(version: 0, company: 0, subversion: 0), leFeatures: 0, aclLength: 0,
      aclCount: 0)
  }

  /// Takes in the answer to a command, and returns the next command or, at the end, `nil`.
  fileprivate mutating func take(
    _ command: HCICommand, _ status: HCIErrorCode, _ returned: [UInt8], _ address: BluetoothAddress
  ) throws(HostFailure) -> HCICommand? {
    let isDone = status == .success
    if !isDone, !command.mayBeRefused(status) { throw .refused(opcode: command.opcode, status) }
    do {
      switch command {
      case .reset:
        return .readLocalVersionInformation
      case .readLocalVersionInformation:
        let version = try CommandReturn.decode(CommandReturn.LocalVersion.self, from: returned)
        hciVersion = VersionInformation(
          version: version.hciVersion, company: version.company, subversion: version.hciSubversion)
        return .readLocalSupportedCommands
      case .readLocalSupportedCommands:
        return .readLocalSupportedFeatures
      case .readLocalSupportedFeatures:
        return .readBDADDR
      case .readBDADDR:
        publicAddress = try CommandReturn.decode(CommandReturn.BDADDR.self, from: returned)
        return .leReadBufferSize
      case .leReadBufferSize:
        guard isDone else { return .readBufferSize }
        let size = try CommandReturn.decode(CommandReturn.LEReadBufferSize.self, from: returned)
        guard size.aclLength > 0, size.aclCount > 0 else { return .readBufferSize }
        (aclLength, aclCount) = (Int(size.aclLength), Int(size.aclCount))
      case .readBufferSize:
        let size = try CommandReturn.decode(CommandReturn.ReadBufferSize.self, from: returned)
        (aclLength, aclCount) = (Int(size.aclLength), Int(size.aclCount))
      case .leReadLocalSupportedFeatures:
        leFeatures = isDone ? try CommandReturn.decode(CommandReturn.LEFeatures.self, from: returned) : 0
        return .setEventMask(BluetoothHost.eventMask)
      case .setEventMask:
        return .leSetEventMask(BluetoothHost.leEventMask)
      case .leSetEventMask where !isDone:
        return .leSetEventMask(BluetoothHost.firstLEEventMask)
      case .leSetEventMask:
        return .leSetRandomAddress(address)
      default:
        return nil
      }
    } catch {
      throw .undecodable("the answer to 0x\(command.opcode.hex)", error)
    }
    guard aclLength >= 27, aclCount > 0 else {
      throw .broken("the controller takes \(aclCount) fragments of \(aclLength) bytes; LE needs 27")
    }
    return .leReadLocalSupportedFeatures
  }
}

extension HCICommand {
  /// Whether the set-up goes on when the controller refuses this command.
  fileprivate func mayBeRefused(_ status: HCIErrorCode) -> Bool {
    switch self {
    case .readLocalSupportedCommands, .readLocalSupportedFeatures, .leReadBufferSize,
      .leReadLocalSupportedFeatures:
      true
    case .leSetEventMask(let mask):
      // Bits that a controller does not know are to be ignored, and some refuse them.
      mask != BluetoothHost.firstLEEventMask
    default:
      false
    }
  }
}
