import Glibc
package import System

/// What happens to one call of ``System/Kernel``, of all that a process makes, so that a test sees what comes of it.
///
/// It is written `write@System/Descriptors.swift:12#3=ENOSPC`: the third write that stands there fails for want of room.
public struct CallFault: Hashable, Sendable {
  /// What happens.
  public enum Kind: Hashable, Sendable {
    /// The call is not made, and fails.
    case error(Int32)
    /// No call that needs room on the disk succeeds from this one on.
    case fullDisk
    /// Half of what was asked for is done.
    case short
    /// The process is killed before the call is made.
    case deathBefore
    /// The process is killed after the call was made, before anybody learns what came of it.
    case deathAfter
    /// The machine loses its power: what nobody had synchronized is gone from the disk, with the process.
    case powerLoss
    /// The call is not made and yet succeeds: what a program does that does not look at what a call gave back, or forgot
    /// to make it. The tests of tests are made of it.
    case pretence
  }

  /// Which call.
  public var call: String
  /// Which of its kind, from 1.
  public var number: Int
  /// What happens to it.
  public var kind: Kind
}

extension CallFault {
  private static let kinds: [(name: String, kind: Kind)] = [
    ("full-disk", .fullDisk), ("short", .short), ("death-before", .deathBefore), ("death-after", .deathAfter),
    ("power-loss", .powerLoss), ("pretence", .pretence),
  ]

  /// Reads one; `nil` for a text that is not a fault.
  public init?(_ text: String) {
    let parts = text.split(separator: "=", omittingEmptySubsequences: false)
    guard parts.count == 2, let mark = parts[0].lastIndex(of: "#"),
      let number = Int(parts[0][mark...].dropFirst()), number > 0
    else { return nil }
    call = String(parts[0][..<mark])
    self.number = number
    let name = String(parts[1])
    if let code = SystemCall.errorNames.first(where: { $0.name == name })?.code {
      kind = .error(code)
    } else if let kind = Self.kinds.first(where: { $0.name == name })?.kind {
      self.kind = kind
    } else {
      return nil
    }
  }

  /// Everything that may happen to a call of a kind.
  package static func names(for call: SystemCall) -> [String] {
    let errors = call.errors.compactMap { code in SystemCall.errorNames.first { $0.code == code }?.name }
    return errors + (call.needsRoom ? ["full-disk"] : []) + (call.canBeShort ? ["short"] : [])
      + ["death-before", "death-after"]
  }
}
