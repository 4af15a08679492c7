/// Converts the voltage of a battery to a percentage, by one of the tables in use.
///
/// The percentage is linear between the points of a table, and truncated to a whole number. The vendor's apps
/// of 2026 query a server instead.
public struct BatteryTable: Sendable {
  private let points: [(volts: Double, percent: Double)]

  init(_ points: [(volts: Double, percent: Double)]) {
    self.points = points
  }

  /// The table of the vendor's apps from 2023 to 2025, gomalock and libsesame3bt.
  public static let current = BatteryTable([
    (5.85, 100), (5.82, 95), (5.79, 90), (5.76, 85), (5.73, 80), (5.70, 70), (5.65, 60), (5.60, 50),
    (5.55, 40), (5.50, 32), (5.40, 21), (5.20, 13), (5.10, 10), (5.0, 7), (4.8, 3), (4.6, 0),
  ])

  /// The percentage of a voltage, on the scale of a lock's two cells or four.
  public func percent(volts: Double) -> Int {
    guard var above = points.first, volts < above.volts else { return 100 }
    for point in points.dropFirst() {
      if volts >= point.volts {
        let share = (volts - point.volts) / (above.volts - point.volts)
        return Int(point.percent + share * (above.percent - point.percent))
      }
      above = point
    }
    return 0
  }
}

extension MechStatus {
  /// The battery's raw value; `nil` if the layout is unknown.
  public var battery: UInt16? {
    switch self {
    case .sesame3(let status): status.battery
    case .bot1(let status): status.battery
    case .sesame5(let status): status.battery
    case .bike2(let status): status.battery
    case .touch(let status): status.battery
    case .face(let status): status.battery
    case .other: nil
    }
  }

  /// The battery's voltage on the scale of the percent tables, as the vendor's apps compute it.
  public var batteryVolts: Double? {
    battery.map { raw in
      switch self {
      // An analogue converter over 7.2 V.
      case .sesame3, .bot1: Double(raw) * 7.2 / 1023
      // Millivolts of one of two cells.
      case .sesame5, .bike2, .touch, .face, .other: Double(raw) * 2 / 1000
      }
    }
  }
}
