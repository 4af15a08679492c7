/// How the voltage of a battery becomes a percentage, by one of the tables in use.
///
/// Between the points of a table the percentage is linear, and it is cut to a whole number. The vendor's
/// apps of 2026 ask a server instead.
public struct BatteryTable: Sendable {
  private let points: [(volts: Double, percent: Double)]

  private init(_ points: [(volts: Double, percent: Double)]) {
    self.points = points
  }

  /// The vendor's apps from 2023 to 2025, gomalock and libsesame3bt.
  public static let current = BatteryTable([
    (5.85, 100), (5.82, 95), (5.79, 90), (5.76, 85), (5.73, 80), (5.70, 70), (5.65, 60), (5.60, 50),
    (5.55, 40), (5.50, 32), (5.40, 21), (5.20, 13), (5.10, 10), (5.0, 7), (4.8, 3), (4.6, 0),
  ])

  /// pysesameos2 and pysesame3.
  public static let old = BatteryTable([
    (6.0, 100), (5.8, 50), (5.7, 40), (5.6, 32), (5.4, 21), (5.2, 13), (5.1, 10), (5.0, 7), (4.8, 3),
    (4.6, 0),
  ])

  /// libsesame3bt, for the Open Sensor.
  public static let openSensor = BatteryTable([
    (5.82, 100), (5.81, 95), (5.755, 90), (5.735, 85), (5.665, 80), (5.62, 70), (5.585, 60), (5.556, 50),
    (5.55, 40), (5.53, 32), (5.45, 21), (5.40, 13), (5.32, 10), (5.28, 7), (5.225, 3), (5.15, 0),
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

/// How the number in a status becomes a voltage.
public enum BatteryScale: CaseIterable, Hashable, Sendable {
  /// Sesame 3 and 4: an analogue converter over 7.2 V. The vendor's apps use it for Bot 1 and Bike 1 too.
  case converter
  /// Bot 1 and Bike 1 as pysesameos2 and libsesame3bt have it: one cell, 3.6 V.
  case converterOfOneCell
  /// OS3 locks: millivolts of one of two cells.
  case millivoltsOfTwoCells
  /// Bot 2, Bike 2, Open Sensor and Remote: millivolts of their only cell.
  case millivolts

  /// The voltage of a raw value.
  public func volts(_ raw: UInt16) -> Double {
    switch self {
    case .converter: Double(raw) * 7.2 / 1023
    case .converterOfOneCell: Double(raw) * 3.6 / 1023
    case .millivoltsOfTwoCells: Double(raw) * 2 / 1000
    case .millivolts: Double(raw) / 1000
    }
  }
}

extension MechStatus {
  /// The battery's raw value, or `nil` if the layout is not known.
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
      case .sesame3, .bot1: BatteryScale.converter.volts(raw)
      case .sesame5, .bike2, .touch, .face, .other: BatteryScale.millivoltsOfTwoCells.volts(raw)
      }
    }
  }

  /// The battery's percentage.
  public func batteryPercent(by table: BatteryTable = .current) -> Int? {
    batteryVolts.map(table.percent(volts:))
  }
}
