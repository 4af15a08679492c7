import Bluetooth
public import Conformance
import Sesame
import Simulation

/// Something that is to happen to the next frames.
struct Tampering: Equatable, Sendable {
  /// Which way a frame goes.
  enum Direction: Equatable, Sendable {
    case write
    case notification
  }

  /// What happens to it.
  enum Kind: Equatable, Sendable {
    case drop
    /// The lowest bit of the last byte is inverted.
    case corrupt
    case duplicate
    case delay(Interval)
  }

  var kind: Kind
  /// Which way the frames go, or `nil` for either.
  var direction: Direction?
  /// How many frames are still meant.
  var remaining: Int
}

/// A frame and what became of it.
struct Tampered: Equatable, Sendable {
  var frame: [UInt8]
  var copies = 1
  var delay = Interval.zero

  init(frame: [UInt8]) {
    self.frame = frame
  }
}

extension DirectLink {
  public var faults: [String] {
    [
      "drop", "corrupt", "duplicate", "delay", "lose-link", "out-of-range", "no-power", "power-cycle", "jam",
      "battery", "clock", "inject", "write", "advertise",
    ]
  }

  public var stimuli: [String] { ["handToLocked", "handToUnlocked", "handToMoved"] }

  public mutating func perform(_ stimulus: String, _ arguments: [Argument]) throws(LabFault) {
    switch stimulus {
    case "handToLocked": turnByHand(to: .locked)
    case "handToUnlocked": turnByHand(to: .unlocked)
    case "handToMoved": turnByHand(to: .moved)
    default: throw LabFault(.notPossible, "nothing near the lock can do '\(stimulus)'")
    }
  }

  /// Brings about a disturbance.
  ///
  /// | fault | value |
  /// |---|---|
  /// | `drop`, `corrupt`, `duplicate` | `next-notification`, `next-write`, or how many frames of either kind; `no` ends it |
  /// | `delay` | how much longer the next frame takes; those behind it wait |
  /// | `lose-link` | both ends lose the link now, with reason 0x08 |
  /// | `out-of-range` | `yes` or `no`; a link survives two seconds of it |
  /// | `no-power` | `yes` or `no` |
  /// | `power-cycle` | `yes`: the power goes and comes back at once |
  /// | `jam` | `yes` or `no` |
  /// | `battery` | the volts of a new battery |
  /// | `clock` | by how much the lock's clock is put forward, or back |
  /// | `inject` | a frame, in hexadecimal, that the client receives though the lock did not send it |
  /// | `write` | a frame, in hexadecimal, that the lock receives though the client did not send it |
  /// | `advertise` | AD structures, in hexadecimal, that a listening client hears from somebody else |
  public mutating func bring(about fault: Fault) throws(LabFault) {
    switch (fault.name, fault.value) {
    case ("drop", let value): try tamper(.drop, fault.name, value)
    case ("corrupt", let value): try tamper(.corrupt, fault.name, value)
    case ("duplicate", let value): try tamper(.duplicate, fault.name, value)
    case ("delay", .duration(let interval)) where interval >= .zero:
      tampering.append(Tampering(kind: .delay(interval), direction: nil, remaining: 1))
    case ("lose-link", let value): if !value.isNothing { loseLink() }
    case ("out-of-range", let value): setAbsent(!value.isNothing)
    case ("no-power", let value): value.isNothing ? restorePower() : cutPower()
    case ("power-cycle", let value): if !value.isNothing { cyclePower() }
    case ("jam", let value): jam(!value.isNothing)
    case ("battery", .number(let volts)): replaceBattery(volts: volts)
    case ("battery", .integer(let volts)): replaceBattery(volts: Double(volts))
    case ("clock", .duration(let shift)): shiftClock(by: shift)
    case ("clock", .integer(let seconds)): shiftClock(by: .seconds(Int64(clamping: seconds)))
    case ("inject", .text(let text)): inject(try Self.bytes(text, of: fault))
    case ("write", .text(let text)): write(try Self.bytes(text, of: fault))
    case ("advertise", .text(let text)): advertise(try Self.bytes(text, of: fault))
    case (let name, let value) where faults.contains(name):
      throw LabFault(.notPossible, "the fault '\(name)' cannot have the value '\(value)'")
    default:
      throw LabFault(.notPossible, "an emulated lock cannot be given the fault '\(fault.name)'")
    }
  }

  private static func bytes(_ text: String, of fault: Fault) throws(LabFault) -> [UInt8] {
    do {
      return try [UInt8](hex: text.filter { $0 != " " })
    } catch {
      throw LabFault(.notPossible, "the fault '\(fault.name)' takes bytes in hexadecimal: \(error)")
    }
  }
}

extension DirectLink {
  /// Sets frames aside for a disturbance, or lets them be.
  private mutating func tamper(
    _ kind: Tampering.Kind, _ name: String, _ value: Value
  ) throws(LabFault) {
    switch value {
    case .text("next-notification"):
      tampering.append(Tampering(kind: kind, direction: .notification, remaining: 1))
    case .text("next-write"):
      tampering.append(Tampering(kind: kind, direction: .write, remaining: 1))
    case .flag(true):
      tampering.append(Tampering(kind: kind, direction: nil, remaining: 1))
    case .integer(let count) where count > 0:
      tampering.append(Tampering(kind: kind, direction: nil, remaining: count))
    case _ where value.isNothing:
      tampering.removeAll { $0.kind == kind }
    default:
      throw LabFault(
        .notPossible,
        "the fault '\(name)' takes next-notification, next-write or a number of frames, and not '\(value)'")
    }
  }

  /// Does to a frame what is meant for it; the first disturbance of each kind counts.
  mutating func tamper(with frame: [UInt8], _ direction: Tampering.Direction) -> Tampered {
    var tampered = Tampered(frame: frame)
    var done: [Tampering.Kind] = []
    for index in tampering.indices {
      let item = tampering[index]
      guard item.direction == nil || item.direction == direction, !done.contains(item.kind) else { continue }
      done.append(item.kind)
      tampering[index].remaining -= 1
      switch item.kind {
      case .drop: tampered.copies = 0
      case .corrupt: if let last = tampered.frame.indices.last { tampered.frame[last] ^= 1 }
      case .duplicate: tampered.copies = min(tampered.copies * 2, 2)
      case .delay(let interval): tampered.delay = tampered.delay + interval
      }
    }
    tampering.removeAll { $0.remaining <= 0 }
    return tampered
  }
}

extension SeededGenerator {
  /// Draws a key.
  mutating func secretKey() -> SecretKey {
    SecretKey(UUID128(high: next(), low: next()))
  }
}
