import Links
public import Sesame
import Basics
public import Conformance

/// The disturbances that generated tests may apply to a Sesame lock and its link, in addition to the model's
/// stimuli.
public enum SesameDisturbances {
  /// Returns the disturbances among the faults of a device.
  ///
  /// Disturbances that could harm a lock without a fixture are offered only if the lock is emulated.
  public static func offered(with faults: [String]) -> [Disturbance] {
    let isEmulated = faults.contains("inject")
    return all.filter { faults.contains($0.fault) && (isEmulated || $0.fault != "reflect") }
  }

  /// The arguments worth trying, the simplest first.
  public static let arguments: [(stimulus: String, values: [[Argument]])] = [
    (
      "setAutolock",
      [.zero, .seconds(2), .seconds(8), .seconds(15)].map { [Argument("delay", .duration($0))] }
    ),
    ("lock", tags), ("unlock", tags), ("toggle", tags),
  ]

  /// Returns the positions that generated tests may set on a real lock: the usual ones, and others between them.
  ///
  /// The motor then turns no further than usual, and a bolt that rests in a usual position is in neither of the
  /// others.
  ///
  /// An OS2 lock is only given the usual positions, because the ranges set on it extend further than that.
  public static func safePositions(of model: ProductModel) -> [[Argument]] {
    let between = [Argument("lock", .integer(30)), Argument("unlock", .integer(60))]
    return model.generation == .os3 ? [[], between] : [[]]
  }

  /// No tag, the usual one, and tags of no bytes, of bytes that are not text, and of maximum length. The last two
  /// have a type, as newer apps send them: without additional data, and with as much as a history record holds.
  private static let tags: [[Argument]] = [
    [], [Argument("tag", .text("Alice"))], [Argument("bytes", .text(""))],
    [Argument("bytes", .text("fffe80"))],
    [Argument("bytes", .text(String(repeating: "00", count: HistoryTag.os2Capacity)))],
    [Argument("tag", .text("as many as OS3 locks can keep"))],
    [Argument("typed", .text("000f" + [UInt8](0x40..<0x50).hex))],
    [Argument("typed", .text("000f" + [UInt8](0x40..<0x5E).hex))],
  ]

  private static let all: [Disturbance] =
    environment + Interference.names.map { Disturbance(.messages, $0, Interference.values(of: $0)) } + att
    + link

  /// Events around the lock.
  private static let environment = [
    Disturbance(.events, "jam", [.flag(true), .flag(false)]),
    Disturbance(.events, "battery", [.number(6), .number(5.2), .number(4.5), .number(3), .number(0)]),
    Disturbance(
      .events, "clock", [.seconds(60), .seconds(-60), .seconds(86_400 * 366)].map { Value.duration($0) }),
    Disturbance(.events, "power-cycle"),
    Disturbance(.events, "no-power", [.flag(true), .flag(false)]),
    Disturbance(
      .events, "wrong-key",
      [.flag(true)] + FalseProof.allCases.dropFirst().map { .text($0.rawValue) } + [.flag(false)]),
    Disturbance(
      .events, "replay-login",
      [.flag(true)] + [-1, -2, -3].map { .text("session \($0)") } + [.flag(false)]),
    Disturbance(
      .events, "third-party",
      ["busy", "unlock", "lock", "wrong-key", "replay"].map { Value.text($0) }),
  ]

  /// Malformed packets of the client's Bluetooth.
  private static let att = [
    Disturbance(.att, "att", MalformedBluetooth.allCases.map { .text($0.rawValue) }),
    Disturbance(.att, "unsubscribe"),
  ]

  /// Events on the link.
  private static let link = [
    Disturbance(.link, "drop", frames),
    Disturbance(.link, "corrupt", frames),
    Disturbance(.link, "duplicate", frames),
    Disturbance(
      .link, "delay", [.milliseconds(20), .milliseconds(300), .seconds(3)].map { Value.duration($0) }),
    Disturbance(
      .link, "lose-link",
      [.flag(true), .text("after 1 frame")] + [2, 3, 4, 5, 6].map { Value.text("after \($0) frames") }),
    Disturbance(
      .link, "out-of-range",
      [.duration(.seconds(1)), .duration(.seconds(5)), .flag(true), .flag(false)]),
  ]

  private static let frames: [Value] = [
    .text("next-write"), .text("next-notification"), .integer(1), .integer(3),
  ]
}
