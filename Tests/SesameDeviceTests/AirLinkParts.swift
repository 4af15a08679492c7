@testable import SesameDevice
import Bluetooth
import Conformance
import Links
import Sesame
import Basics

/// A controller that takes every command and does nothing, in virtual time, and the way to it, with its faults.
struct ToyTransport: StandaloneTransport {
  var now = Instant.zero
  /// The commands that it got.
  var commands: [HCICommand] = []
  /// What it will say, in order.
  var events: [HCIEvent] = []
  /// What it will say by itself, and when.
  var later: [(time: Instant, event: HCIEvent)] = []
  /// Until when the program under test is held up in its first wait.
  var pauseEnd: Instant?
  /// What it says without a pause from a moment on, and how long each takes.
  var babble: (begin: Instant, event: HCIEvent, interval: Interval)?
  /// How many commands it still answers.
  var patience = Int.max
  /// What it answers to some commands.
  var refusals: [UInt16: HCIErrorCode] = [:]
  /// What the next sendings end with, the next packets, and the next attempts to open it anew.
  var sendFaults: [TransportFault] = []
  var receiveFaults: [TransportFault] = []
  var reopenFaults: [TransportFault] = []

  mutating func send(_ packet: HCIPacket) throws(TransportFault) {
    if !sendFaults.isEmpty { throw sendFaults.removeFirst() }
    guard case .command(let opcode, let parameters) = packet,
      let command = try? HCICommand(opcode: opcode, parameters: parameters)
    else { return }
    commands.append(command)
    guard patience > 0 else { return }
    patience -= 1
    let status = refusals[opcode] ?? .success
    if command.answer == .status {
      events.append(.commandStatus(status: status, credits: 1, opcode: opcode))
    } else {
      let returned = status == .success ? Self.returns(of: command) : [status.rawValue]
      events.append(.commandComplete(credits: 1, opcode: opcode, returnParameters: returned))
    }
  }

  private static func returns(of command: HCICommand) -> [UInt8] {
    switch command.opcode {
    case HCICommand.readLocalVersionInformation.opcode:
      HCICommand.readLocalVersionInformation.success(
        CommandReturn.LocalVersion(
          hciVersion: 13, hciSubversion: 0, lmpVersion: 13, company: 1, lmpSubversion: 0))
    case HCICommand.readLocalSupportedCommands.opcode: [0] + [UInt8](repeating: 0xFF, count: 64)
    case HCICommand.readLocalSupportedFeatures.opcode:
      HCICommand.readLocalSupportedFeatures.success(UInt64(1 << 38))
    case HCICommand.readBDADDR.opcode: HCICommand.readBDADDR.success(BluetoothAddress(1))
    case HCICommand.leReadBufferSize.opcode:
      HCICommand.leReadBufferSize.success(CommandReturn.LEReadBufferSize(aclLength: 27, aclCount: 4))
    case HCICommand.leReadLocalSupportedFeatures.opcode:
      HCICommand.leReadLocalSupportedFeatures.success(UInt64(0))
    default: [0]
    }
  }

  mutating func receive(until limit: Instant) throws(TransportFault) -> HCIPacket? {
    if !receiveFaults.isEmpty { throw receiveFaults.removeFirst() }
    guard events.isEmpty else { return events.removeFirst().packet }
    if let end = pauseEnd {
      now = max(now, end)
      pauseEnd = nil
    }
    if let babble, babble.begin <= max(now, limit) {
      now = max(now, babble.begin) + babble.interval
      return babble.event.packet
    }
    if let (time, event) = later.first, time <= max(now, limit) {
      later.removeFirst()
      now = max(now, time)
      return event.packet
    }
    now = max(now, limit)
    return nil
  }

  mutating func reopen() throws(TransportFault) {
    if !reopenFaults.isEmpty { throw reopenFaults.removeFirst() }
    events = []
  }

  mutating func close() {}
}

/// A fixture that can do little, and keeps the keys that it is given.
final class RecordingFixture: Fixture, OwnerKeys {
  let abilities = Abilities(stimuli: ["handToLocked"], settings: ["registered"])
  var reportsTampering = true
  var key: LockKey?
  var kept: [LockKey] = []
  var dropped: [LockKey] = []

  func prepare(_ start: StartCondition) throws(LabFault) {
    guard start.flag("registered") != true else { throw LabFault(.notPossible, "nobody knows its key") }
  }

  func perform(_ stimulus: String, _ arguments: [Argument]) -> String? { nil }
  func bring(about fault: Fault) throws(LabFault) {
    throw LabFault(.notPossible, "nobody can do '\(fault.name)'")
  }
  func keep(_ key: LockKey) { kept.append(key) }
  func drop(_ key: LockKey) { dropped.append(key) }
}

/// What these tests have in common.
enum AirFixture {
  static let deviceID = UUID128(high: 0x0123_4567_89AB_CDEF, low: 0x0123_4567_89AB_CDEF)
  static let address = PeerAddress(.randomDevice, .sesame(deviceID))
  static let other = PeerAddress(.randomDevice, .staticRandom(7))
  static let advertisement = Advertisement(model: .sesame5, isRegistered: true, deviceID: deviceID)
  static let host = HostSettings(address: .staticRandom(1))

  /// A link that was prepared, over a transport that then got other faults.
  static func link(
    _ transport: ToyTransport = ToyTransport(), fixture: RecordingFixture = RecordingFixture()
  ) -> AirLink<ToyTransport> {
    AirLink(transport, host: host, fixture: fixture, keys: fixture, target: .deviceID(deviceID))
  }
}
