public import Basics
public import Conformance

/// A fault of the link or of a lock's power, whatever the lock's protocol.
///
/// | fault | value |
/// |---|---|
/// | `lose-link` | `yes`: the link is lost at both ends, with reason 0x08; a number: once so many more packets of data have arrived |
/// | `out-of-range` | `yes` or `no`, or for how long; a link is lost after its supervision time-out |
/// | `no-power` | `yes` or `no` |
/// | `power-cycle` | `yes`: the power goes and comes back at once |
public enum LinkFault: Equatable, Sendable {
  case lose(afterPackets: Int)
  case outOfRange(Bool)
  case away(Interval)
  case noPower(Bool)
  case powerCycle
  /// A fault of no duration: it is cancelled.
  case nothing

  /// The faults, with the values that generated tests use.
  public static let offered = [
    Disturbance(.link, "lose-link", [.flag(true)] + (1...4).map { .integer($0) }),
    Disturbance(
      .link, "out-of-range", [.flag(true), .flag(false), .duration(.seconds(1)), .duration(.seconds(10))]),
    Disturbance(.link, "no-power", [.flag(true), .flag(false)]), Disturbance(.link, "power-cycle"),
  ]

  /// The names of the faults.
  public static let names = offered.map(\.fault)

  /// Reads a fault with one of the ``names``.
  public init(_ fault: Fault) throws(LabFault) {
    switch (fault.name, fault.value) {
    case ("lose-link", .integer(let packets)) where packets > 0: self = .lose(afterPackets: packets)
    case ("lose-link", _): self = try fault.flag() ? .lose(afterPackets: 0) : .nothing
    case ("out-of-range", .duration(let interval)) where interval > .zero: self = .away(interval)
    case ("out-of-range", let value):
      guard value.isYesOrNo else { throw fault.problem(expecting: "yes, no or a time such as 5 s") }
      self = .outOfRange(!value.isNothing)
    case ("no-power", _): self = .noPower(try fault.flag())
    case ("power-cycle", _): self = try fault.flag() ? .powerCycle : .nothing
    default: throw LabFault(.notPossible, "there is no fault '\(fault.name)' of a link")
    }
  }
}
