import Sesame

/// The battery of an emulated lock, by the voltage of the whole pack.
///
/// Each start of the motor costs the same small voltage; nothing else costs any.
struct LockBattery: Equatable, Sendable {
  /// The voltage below which a lock reports a low battery.
  static let lowLimit = 5_000_000
  /// The greatest voltage of OS2's converter, to which a value below zero wraps.
  static let fullScale = 7_200_000

  /// The voltage in microvolts, never below 0.
  private(set) var microvolts: Int
  /// The voltage drop at each start of the motor, in microvolts.
  let sag: Int
  /// Whether a battery that would fall below 0 shows the full scale: a defect.
  let wraps: Bool

  /// Makes a battery; the voltage is limited to 0 to 1000 V.
  init(volts: Double, sag: Double, wraps: Bool) {
    microvolts = Self.microvolts(volts)
    self.sag = Self.microvolts(sag)
    self.wraps = wraps
  }

  /// Whether the battery is low.
  var isLow: Bool { microvolts < Self.lowLimit }

  /// The voltage.
  var volts: Double { Double(microvolts) / 1e6 }

  /// Inserts a battery of another voltage.
  mutating func replace(volts: Double) {
    microvolts = Self.microvolts(volts)
  }

  /// Subtracts the voltage drop of a motor start.
  mutating func actuate() {
    let rest = microvolts - sag
    microvolts = rest < 0 && wraps ? Self.fullScale : max(rest, 0)
  }

  /// The value in a generation's status: a converter reading of 7.2 V full scale, or the millivolts of one of
  /// two cells.
  func raw(for generation: Generation) -> UInt16 {
    switch generation {
    case .os2: UInt16(clamping: microvolts * 1023 / Self.fullScale)
    case .os3: UInt16(clamping: microvolts / 2000)
    }
  }

  private static func microvolts(_ volts: Double) -> Int {
    volts.isNaN ? 0 : Int(min(max(volts, 0), 1000) * 1e6)
  }
}
