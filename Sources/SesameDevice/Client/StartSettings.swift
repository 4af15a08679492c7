public import Basics
import Sesame
public import Conformance

/// The valid settings of a lock's start, regardless of what establishes it.
///
/// | setting | values |
/// |---|---|
/// | `registered`, `configured`, `jam` | yes, no |
/// | `bolt` | locked, unlocked, moved |
/// | `battery` | volts, as of the fault of that name |
/// | `history` | empty |
public enum StartSettings {
  /// Throws if a setting has a value with which no lock can start.
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
  /// The volts of a battery if the value is a number that a lock can report; `nil` otherwise.
  public var volts: Double? {
    let number: Double? =
      switch self {
      case .number(let number): number
      case .integer(let number): Double(number)
      default: nil
      }
    return number.flatMap { (0...Self.maximumVolts).contains($0) ? $0 : nil }
  }

  /// The expected value of a battery setting, in words.
  public static var voltsExpected: String { "a number of volts from 0 to \(maximumVolts)" }

  /// The maximum voltage that a Sesame lock can report.
  private static var maximumVolts: Double { 7.2 }
}
