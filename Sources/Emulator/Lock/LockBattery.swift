import Sesame

/// The battery of an emulated lock, in volts of the whole pack.
///
/// Each start of the motor takes the same small part of it; nothing else does.
struct LockBattery: Equatable, Sendable {
  /// Below this a lock says that its battery is nearly empty.
  static let lowLimit = 5_000_000
  /// The most that OS2's converter can tell, and what a counter that runs below zero wraps to.
  static let fullScale = 7_200_000

  /// The voltage in microvolts, never below 0.
  private(set) var microvolts: Int
  /// What a start of the motor costs, in microvolts.
  let sag: Int
  /// Whether a battery that would fall below 0 shows the full scale: a defect.
  let wraps: Bool

  /// Makes a battery; whatever the numbers are, it lies between 0 and a thousand volts.
  init(volts: Double, sag: Double, wraps: Bool) {
    microvolts = Self.microvolts(volts)
    self.sag = Self.microvolts(sag)
    self.wraps = wraps
  }

  /// Whether it is nearly empty.
  var isLow: Bool { microvolts < Self.lowLimit }

  /// The voltage.
  var volts: Double { Double(microvolts) / 1e6 }

  /// Puts in a battery of another voltage.
  mutating func replace(volts: Double) {
    microvolts = Self.microvolts(volts)
  }

  /// Takes what a start of the motor costs.
  mutating func actuate() {
    let rest = microvolts - sag
    microvolts = rest < 0 && wraps ? Self.fullScale : max(rest, 0)
  }

  /// What a generation's status says: a reading of the converter over 7.2 V, or millivolts of one of two cells.
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
