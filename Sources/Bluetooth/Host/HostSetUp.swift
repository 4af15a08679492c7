import Basics

/// The sequence of commands from a reset to a host that is ready.
///
///     Reset ▶ Read Local Version ▶ Supported Commands° ▶ Supported Features° ▶ BD_ADDR ▶ LE Read Buffer Size°
///       ▶ Read Buffer Size (only when LE has no buffers of its own) ▶ LE Features° ▶ Set Event Mask
///       ▶ LE Set Event Mask (again without newer events when refused) ▶ LE Set Random Address ▶ ready
///
/// Commands marked ° may be refused: their results are not needed, or obtained in another way.
struct HostSetUp: Sendable {
  /// The last command.
  private enum State: Sendable {
    case reset, version, supportedCommands, supportedFeatures, address, leBufferSize, bufferSize, leFeatures
    case eventMask, leEventMask, firstLEEventMask, randomAddress
  }

  private var state = State.reset
  /// The ignored reserved fields of the responses.
  private(set) var ignored = Reserved()
  /// The controller's properties so far.
  private(set) var description: ControllerDescription

  init(_ address: BluetoothAddress) {
    description = ControllerDescription(
      publicAddress: BluetoothAddress(0), randomAddress: address,
      hciVersion: VersionInformation(version: 0, company: 0, subversion: 0), leFeatures: 0, aclLength: 0,
      aclCount: 0)
  }

  /// The next command.
  var command: HCICommand {
    switch state {
    case .reset: .reset()
    case .version: .readLocalVersionInformation()
    case .supportedCommands: .readLocalSupportedCommands()
    case .supportedFeatures: .readLocalSupportedFeatures()
    case .address: .readBDADDR()
    case .leBufferSize: .leReadBufferSize()
    case .bufferSize: .readBufferSize()
    case .leFeatures: .leReadLocalSupportedFeatures()
    case .eventMask: .setEventMask(Self.eventMask)
    case .leEventMask: .leSetEventMask(Self.leEventMask)
    case .firstLEEventMask: .leSetEventMask(Self.firstLEEventMask)
    case .randomAddress: .leSetRandomAddress(description.randomAddress)
    }
  }

  /// Disconnection Complete, Encryption Change, Read Remote Version Complete, Hardware Error, Data Buffer Overflow
  /// and LE Meta, as bits of Set Event Mask (§7.3.1).
  static var eventMask: UInt64 { 1 << 4 | 1 << 7 | 1 << 11 | 1 << 15 | 1 << 25 | 1 << 61 }

  /// The first five LE events, which version 4.0 has.
  static var firstLEEventMask: UInt64 { 0x1F }

  /// The same, with the remote's request for connection parameters, the data length change and extended
  /// advertising reports, as bits of LE Set Event Mask (§7.8.1).
  static var leEventMask: UInt64 { firstLEEventMask | 1 << 5 | 1 << 6 | 1 << 12 }

  /// Receives the response to ``command``, and returns whether there is another: false at the end of the setup.
  mutating func take(_ status: HCIErrorCode, _ returned: [UInt8]) throws(HostFailure) -> Bool {
    guard let next = try next(after: status, returned) else { return false }
    state = next
    return true
  }

  private mutating func next(after status: HCIErrorCode, _ returned: [UInt8]) throws(HostFailure) -> State? {
    switch (state, status) {
    case (.reset, .success): return .version
    case (.version, .success):
      let version = try read(HCICommand.readLocalVersionInformation, returned)
      description.hciVersion = VersionInformation(
        version: version.hciVersion, company: version.company, subversion: version.hciSubversion)
      return .supportedCommands
    case (.supportedCommands, _): return .supportedFeatures
    case (.supportedFeatures, _): return .address
    case (.address, .success):
      description.publicAddress = try read(HCICommand.readBDADDR, returned)
      return .leBufferSize
    case (.leBufferSize, .success):
      let size = try read(HCICommand.leReadBufferSize, returned)
      guard size.aclLength > 0, size.aclCount > 0 else { return .bufferSize }
      return try leFeatures(size.aclLength, UInt16(size.aclCount))
    case (.leBufferSize, _): return .bufferSize
    case (.bufferSize, .success):
      let size = try read(HCICommand.readBufferSize, returned)
      return try leFeatures(size.aclLength, size.aclCount)
    case (.leFeatures, .success):
      description.leFeatures = try read(HCICommand.leReadLocalSupportedFeatures, returned)
      return .eventMask
    case (.leFeatures, _): return .eventMask
    case (.eventMask, .success): return .leEventMask
    // Bits that a controller does not know are to be ignored, and some refuse them.
    case (.leEventMask, _) where status != .success: return .firstLEEventMask
    case (.leEventMask, _), (.firstLEEventMask, .success): return .randomAddress
    case (.randomAddress, .success): return nil
    case (.reset, _), (.version, _), (.address, _), (.bufferSize, _), (.eventMask, _), (.firstLEEventMask, _),
      (.randomAddress, _):
      throw .refused(opcode: command.opcode, status)
    }
  }

  private mutating func leFeatures(_ length: UInt16, _ count: UInt16) throws(HostFailure) -> State {
    guard length >= 27, count > 0 else {
      throw .broken("the controller takes \(count) fragments of \(length) bytes; LE needs 27")
    }
    (description.aclLength, description.aclCount) = (Int(length), Int(count))
    return .leFeatures
  }

  private mutating func read<Return>(
    _ kind: HCICommand.Kind<Return, Void>, _ returned: [UInt8]
  ) throws(HostFailure) -> Return {
    do { return try kind.returned(returned, ignoring: &ignored) } catch {
      throw .undecodable("the answer to 0x\(kind.opcode.hex)", error)
    }
  }
}

extension BluetoothHost {
  /// Receives the response to a setup command, and sends the next.
  mutating func continueSetUp(_ status: HCIErrorCode, _ returned: [UInt8], at now: Instant) {
    var setUp: HostSetUp
    switch phase {
    case .resetting: setUp = HostSetUp(settings.address)
    case .settingUp(let soFar): setUp = soFar
    case .off, .ready, .failed: return
    }
    do {
      if try setUp.take(status, returned) {
        phase = .settingUp(setUp)
        commands.append(setUp.command, for: .setUp)
      } else {
        let description = setUp.description
        phase = .ready
        reportIgnored(setUp.ignored)
        features = description.leFeatures
        buffers = ControllerBuffers(length: description.aclLength, count: description.aclCount)
        report(.ready(description))
      }
    } catch {
      fail(error)
    }
  }
}
