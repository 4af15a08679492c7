import Links
public import Sesame
import Basics
public import Conformance

/// What generated tests may do to a Sesame lock and to the way there, beside the stimuli of the model.
public enum SesameDisturbances {
  /// The disturbances among the faults that a device can be given.
  ///
  /// What could harm a lock that nobody stands around is offered only where a lock is emulated.
  public static func offered(with faults: [String]) -> [Disturbance] {
    let isEmulated = faults.contains("inject")
    return all.filter { faults.contains($0.fault) && (isEmulated || $0.fault != "reflect") }
  }

  /// Arguments worth trying, the simplest first.
  public static let arguments: [(stimulus: String, values: [[Argument]])] = [
    (
      "setAutolock",
      [.zero, .seconds(2), .seconds(8), .seconds(15)].map { [Argument("delay", .duration($0))] }
    ),
    ("lock", tags), ("unlock", tags), ("toggle", tags),
  ]

  /// Positions that generated tests may set on a real lock: the usual ones, and others between them. The motor is then
  /// driven no further than usual, and a bolt that rests in a usual position is in neither of the others.
  ///
  /// The ranges that are set on an OS2 lock reach further than that: it is given the usual ones alone.
  public static func positionsWithoutAHand(of model: ProductModel) -> [[Argument]] {
    let between = [Argument("lock", .integer(30)), Argument("unlock", .integer(60))]
    return model.generation == .os3 ? [[], between] : [[]]
  }

  /// None, the usual one, and tags of no bytes, of bytes that are no text, and of as many as fit; the last with a
  /// type, as newer apps send them, alone and with as much behind it as a record of the history holds.
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

  /// What happens around the lock.
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

  /// What the client's Bluetooth sends that makes no sense.
  private static let att = [
    Disturbance(.att, "att", MalformedBluetooth.allCases.map { .text($0.rawValue) }),
    Disturbance(.att, "unsubscribe"),
  ]

  /// What happens on the way.
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
