import Sesame
public import Conformance

/// What the settings of a lock's start may be, whoever brings it there.
///
/// | setting | values |
/// |---|---|
/// | `registered`, `configured`, `jam` | yes, no |
/// | `bolt` | locked, unlocked, moved |
/// | `battery` | volts, as of the fault of that name |
/// | `history` | empty |
public enum StartSettings {
  /// Throws when a setting has a value that no lock can start with.
  public static func check(_ setting: Argument) throws(LabFault) {
    switch (setting.name, setting.value) {
    case ("bolt", .text(let place)) where BoltState(rawValue: place) != nil: return
    case ("bolt", _): throw problem("one of \(BoltState.allCases.map(\.rawValue).joined(separator: ", "))")
    case ("history", .text("empty")): return
    case ("history", _): throw problem("empty")
    case ("battery", let value) where value.volts != nil: return
    case ("battery", _): throw problem(Value.voltsExpected)
    case ("registered", let value), ("configured", let value), ("jam", let value):
      guard value.isYesOrNo else { throw problem("yes or no") }
    default: return
    }

    func problem(_ expected: String) -> LabFault {
      LabFault(.notPossible, "`\(setting.name)` is \(expected), and not '\(setting.value)'")
    }
  }
}

extension Value {
  /// The volts of a battery, where the value is a number that a lock can tell; `nil` otherwise.
  public var volts: Double? {
    let number: Double? =
      switch self {
      case .number(let number): number
      case .integer(let number): Double(number)
      case .flag, .duration, .text: nil
      }
    return number.flatMap { (0...Self.maximumVolts).contains($0) ? $0 : nil }
  }

  /// What is expected where a battery is given.
  public static var voltsExpected: String { "a number of volts from 0 to \(maximumVolts)" }

  /// The most that a Sesame lock can tell of its battery.
  private static var maximumVolts: Double { 7.2 }
}
