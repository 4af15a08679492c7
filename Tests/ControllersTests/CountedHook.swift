@testable import Controllers
import Basics
import Bluetooth
import Synchronization

/// A hook that is declared: what happens to the n-th packet of a kind.
///
/// Several act one after the other, in their order, on what the one before left.
struct CountedHook: Hashable, Sendable {
  /// The packets that a hook counts.
  enum Subject: Hashable, Sendable {
    /// Commands of this opcode.
    case command(UInt16)
    /// Commands of any opcode.
    case anyCommand
    /// Command Complete and Command Status for this opcode.
    case answer(UInt16)
    /// Events of this code.
    case event(UInt8)
    /// LE Meta events of this subevent code.
    case leEvent(UInt8)
    /// Data on its way to the controller.
    case dataFromHost
    /// Data on its way to the host.
    case dataToHost
    /// Whatever the controller sends.
    case anythingToHost
  }

  /// What happens to a packet.
  enum Effect: Hashable, Sendable {
    /// It is lost.
    case drop
    /// It arrives twice.
    case duplicate
    /// It arrives later; those behind it overtake it.
    case delay(Interval)
    /// Something else arrives in its place.
    case replace(HCIPacket)
    /// A byte of its parameters or data is another; nothing happens if it has none there.
    case setByte(at: Int, to: UInt8)
    /// Its parameters or data end after so many bytes.
    case truncate(to: Int)
    /// A command is not carried out, but answered with this error. On anything else it does nothing.
    case refuse(HCIErrorCode)
    /// It is lost, and everything after it, either way, until the power was off.
    case silence
  }

  /// The packets it counts.
  var subject: Subject
  /// What happens to those it means.
  var effect: Effect
  /// Which of them is the first that it means, from 1.
  var first: Int
  /// How many in a row it means; `nil` for all.
  var count: Int?

  /// Makes a hook; without more it means the next packet of its subject and no other.
  init(_ subject: Subject, _ effect: Effect, first: Int = 1, count: Int? = 1) {
    precondition(first >= 1 && count ?? 1 >= 1, "a hook means at least one packet, and counts from 1")
    self.subject = subject
    self.effect = effect
    self.first = first
    self.count = count
  }
}

extension CountedHook {
  /// How many packets of their subjects hooks have seen.
  private final class Counts: Sendable {
    let seen: Mutex<[Int]>

    init(_ count: Int) { seen = Mutex([Int](repeating: 0, count: count)) }

    /// Counts a packet, and says its number, from 1.
    func next(_ index: Int) -> Int {
      seen.withLock { seen in
        seen[index] += 1
        return seen[index]
      }
    }
  }

  /// Hooks as one closure, which counts from here.
  static func closure(_ hooks: [CountedHook]) -> ControllerHook {
    let counts = Counts(hooks.count)
    return { packet, direction, _ in
      var verdict = HookVerdict.pass
      for (index, hook) in hooks.enumerated() where hook.subject.covers(packet, direction) {
        let number = counts.next(index)
        guard number >= hook.first, hook.count.map({ number - hook.first < $0 }) ?? true else { continue }
        switch hook.effect.apply(to: &packet) {
        case .pass: break
        case let other: verdict = other
        }
      }
      return verdict
    }
  }
}

extension Radio {
  /// Sets the faults of a controller, in place of those it had; they count from here.
  mutating func setHooks(_ hooks: [CountedHook], of controller: ControllerID) {
    setHook(of: controller, CountedHook.closure(hooks))
  }
}

extension CountedHook.Subject {
  fileprivate func covers(_ packet: HCIPacket, _ direction: HCIDirection) -> Bool {
    switch (self, packet, direction) {
    case (.command(let wanted), .command(let opcode, _), .fromHost): wanted == opcode
    case (.anyCommand, .command, .fromHost): true
    case (.answer(let wanted), .event(0x0E, let parameters), .toHost): wanted == opcode(parameters, at: 1)
    case (.answer(let wanted), .event(0x0F, let parameters), .toHost): wanted == opcode(parameters, at: 2)
    case (.event(let wanted), .event(let code, _), .toHost): wanted == code
    case (.leEvent(let wanted), .event(0x3E, let parameters), .toHost): wanted == parameters.first
    case (.dataFromHost, .acl, .fromHost), (.dataToHost, .acl, .toHost), (.anythingToHost, _, .toHost): true
    case (.command, _, _), (.anyCommand, _, _), (.answer, _, _), (.event, _, _), (.leEvent, _, _),
      (.dataFromHost, _, _), (.dataToHost, _, _), (.anythingToHost, _, _):
      false
    }
  }

  private func opcode(_ parameters: [UInt8], at offset: Int) -> UInt16? {
    guard parameters.count >= offset + 2 else { return nil }
    return UInt16(parameters[offset]) | UInt16(parameters[offset + 1]) << 8
  }
}

extension CountedHook.Effect {
  fileprivate func apply(to packet: inout HCIPacket) -> HookVerdict {
    switch self {
    case .drop: return .drop
    case .duplicate: return .duplicate
    case .delay(let time): return .delay(time)
    case .refuse(let code): return .refuse(code)
    case .silence: return .silence
    case .replace(let other): packet = other
    case .setByte(let offset, let byte):
      packet.changeBytes { if $0.indices.contains(offset) { $0[offset] = byte } }
    case .truncate(let length):
      packet.changeBytes { $0.removeLast(max(0, $0.count - max(0, length))) }
    }
    return .pass
  }
}

extension HCIPacket {
  /// Changes the parameters or the data.
  fileprivate mutating func changeBytes(_ change: (inout [UInt8]) -> Void) {
    switch self {
    case .command(let opcode, var parameters):
      change(&parameters)
      self = .command(opcode: opcode, parameters: parameters)
    case .acl(var packet):
      change(&packet.data)
      self = .acl(packet)
    case .synchronous(var bytes):
      change(&bytes)
      self = .synchronous(bytes)
    case .event(let code, var parameters):
      change(&parameters)
      self = .event(code: code, parameters: parameters)
    case .isochronous(var bytes):
      change(&bytes)
      self = .isochronous(bytes)
    }
  }
}
