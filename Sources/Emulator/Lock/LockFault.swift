import SesameDevice
import Bluetooth
import Conformance
import Sesame
import Basics

/// A fault of a lock or of its radio environment, parsed from its name and value.
///
/// | fault | value |
/// |---|---|
/// | `drop`, `corrupt`, `duplicate` | `next-notification`, `next-write`, or how many frames of either kind; `no` ends it |
/// | `delay` | the additional latency of the next frame; later frames wait for it |
/// | `lose-link` | the link is lost now; `after 2 frames` loses it when two more have arrived, `no` ends that |
/// | `out-of-range` | `yes` or `no`, or for how long; a link survives two seconds of it |
/// | `no-power` | `yes` or `no` |
/// | `power-cycle` | `yes`: the power goes and comes back at once |
/// | `jam` | `yes` or `no` |
/// | `battery` | the volts of a new battery |
/// | `clock` | by how much the lock's clock is set forward, or back |
/// | `inject` | a frame, in hexadecimal, that the client receives although the lock did not send it |
/// | `write` | a frame, in hexadecimal, that the lock receives although the client did not send it |
/// | `advertise` | AD structures, in hexadecimal, that a listening client receives from a third party |
enum LockFault: Equatable, Sendable {
  case tamper(Tampering)
  case cancel(Tampering.Kind)
  case link(LinkFault)
  case jam(Bool)
  case battery(volts: Double)
  case clock(Interval)
  case inject([UInt8])
  case write([UInt8])
  case advertise([UInt8])
  /// A fault of no duration: it is cancelled.
  case nothing

  /// The names.
  static let names = [
    "drop", "corrupt", "duplicate", "delay", "lose-link", "out-of-range", "no-power", "power-cycle", "jam",
    "battery", "clock", "inject", "write", "advertise",
  ]

  /// Reads a fault, or throws why it is not possible.
  init(_ fault: Fault) throws(LabFault) {
    switch (fault.name, fault.value) {
    case ("drop", _): self = try Self.tampering(.drop, fault)
    case ("corrupt", _): self = try Self.tampering(.corrupt, fault)
    case ("duplicate", _): self = try Self.tampering(.duplicate, fault)
    case ("delay", .duration(let interval)) where interval >= .zero:
      self = .tamper(Tampering(kind: .delay(interval), direction: nil, remaining: 1))
    case ("lose-link", let value) where value.isYesOrNo:
      self = value.isNothing ? .cancel(.loseLink) : .link(.lose(afterPackets: 0))
    case ("lose-link", .text(let text)):
      self = .tamper(
        Tampering(kind: .loseLink, direction: nil, remaining: try Self.frameCount(text, of: fault)))
    case ("out-of-range", _), ("no-power", _), ("power-cycle", _): self = .link(try LinkFault(fault))
    case ("jam", _): self = .jam(try fault.flag())
    case ("battery", let value):
      guard let volts = value.volts else { throw fault.problem(expecting: Value.voltsExpected) }
      self = .battery(volts: volts)
    case ("clock", .duration(let shift)): self = .clock(shift)
    case ("clock", .integer(let seconds)): self = .clock(.seconds(Int64(clamping: seconds)))
    case ("inject", .text(let text)): self = .inject(try Self.bytes(text, of: fault))
    case ("write", .text(let text)): self = .write(try Self.bytes(text, of: fault))
    case ("advertise", .text(let text)): self = .advertise(try Self.bytes(text, of: fault))
    case ("delay", _): throw fault.problem(expecting: "a time such as 300 ms")
    case ("lose-link", _): throw fault.problem(expecting: "yes, no or a count such as 'after 2 frames'")
    case ("clock", _): throw fault.problem(expecting: "a time such as 1 h, or seconds")
    case ("inject", _), ("write", _), ("advertise", _): throw fault.problem(expecting: "bytes in hexadecimal")
    default:
      throw LabFault(.notPossible, "an emulated lock cannot be given the fault '\(fault.name)'")
    }
  }

  private static func tampering(_ kind: Tampering.Kind, _ fault: Fault) throws(LabFault) -> LockFault {
    switch fault.value {
    case .text("next-notification"):
      return .tamper(Tampering(kind: kind, direction: .notification, remaining: 1))
    case .text("next-write"):
      return .tamper(Tampering(kind: kind, direction: .write, remaining: 1))
    case .integer(let count) where count > 0:
      return .tamper(Tampering(kind: kind, direction: nil, remaining: count))
    case let value where value.isYesOrNo:
      return value.isNothing
        ? .cancel(kind) : .tamper(Tampering(kind: kind, direction: nil, remaining: 1))
    default:
      throw fault.problem(expecting: "next-notification, next-write or a number of frames")
    }
  }

  /// The number in `after 2 frames`.
  private static func frameCount(_ text: String, of fault: Fault) throws(LabFault) -> Int {
    let words = text.split(separator: " ")
    guard words.count == 3, words[0] == "after", let count = Int(words[1]), count > 0,
      words[2] == (count == 1 ? "frame" : "frames")
    else {
      throw fault.problem(expecting: "yes, no or a count such as 'after 2 frames'")
    }
    return count
  }

  private static func bytes(_ text: String, of fault: Fault) throws(LabFault) -> [UInt8] {
    do {
      return try [UInt8](hex: text.filter { $0 != " " })
    } catch {
      throw LabFault(.notPossible, "the fault '\(fault.name)' takes bytes in hexadecimal: \(error)")
    }
  }
}

extension LockFault {
  /// The stimuli and faults of an emulated lock beside its client's requests; `third-party` is one of the
  /// faults.
  static let abilities: Abilities = {
    var abilities = Abilities(
      stimuli: BoltState.stimuli, faults: names + [Intrusion.fault], settings: LockFactory.settings)
    abilities.particulars.fault = { fault throws(LabFault) in
      if fault.name == Intrusion.fault { _ = try Intrusion(fault) } else { _ = try LockFault(fault) }
    }
    return abilities
  }()
}

extension BoltState {
  /// The state into which a hand turns the bolt, by the name of the stimulus.
  init(ofStimulus name: String) throws(LabFault) {
    switch name {
    case "handToLocked": self = .locked
    case "handToUnlocked": self = .unlocked
    case "handToMoved": self = .moved
    default: throw LabFault(.notPossible, "nothing near the lock can do '\(name)'")
    }
  }

  /// The stimuli of a hand on the thumbturn.
  static let stimuli = ["handToLocked", "handToUnlocked", "handToMoved"]
}
