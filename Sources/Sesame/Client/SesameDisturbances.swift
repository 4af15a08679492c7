public import Conformance
import Simulation

/// What generated tests may do to a Sesame lock and to the way there, beside the stimuli of the model.
public enum SesameDisturbances {
  /// The disturbances among the faults that a device can be given.
  public static func offered(with faults: [String]) -> [Disturbance] {
    all.filter { faults.contains($0.fault) }
  }

  /// Arguments worth trying, the simplest first.
  public static let arguments: [(stimulus: String, values: [[Argument]])] = [
    (
      "setAutolock",
      [.zero, .seconds(1), .seconds(3), .seconds(10)].map { [Argument("delay", .duration($0))] }
    ),
    ("lock", [[], [Argument("tag", .text("Alice"))]]),
    ("unlock", [[], [Argument("tag", .text("Alice"))]]),
    ("toggle", [[], [Argument("tag", .text("Alice"))]]),
  ]

  private static let all: [Disturbance] = surroundings + link

  /// What happens around the lock.
  private static let surroundings = [
    Disturbance(.events, "jam", [.flag(true), .flag(false)]),
    Disturbance(.events, "battery", [.number(6), .number(5.2), .number(4.5), .number(3)]),
    Disturbance(
      .events, "clock", [.seconds(60), .seconds(-60), .seconds(86_400 * 366)].map { Value.duration($0) }),
    Disturbance(.events, "power-cycle"),
    Disturbance(.events, "no-power", [.flag(true), .flag(false)]),
    Disturbance(.events, "wrong-key", [.flag(true), .flag(false)]),
    Disturbance(.events, "replay-login", [.flag(true), .flag(false)]),
  ]

  /// What happens on the way.
  private static let link = [
    Disturbance(.link, "drop", frames),
    Disturbance(.link, "corrupt", frames),
    Disturbance(.link, "duplicate", frames),
    Disturbance(
      .link, "delay", [.milliseconds(20), .milliseconds(300), .seconds(3)].map { Value.duration($0) }),
    Disturbance(.link, "lose-link"),
    Disturbance(.link, "out-of-range", [.flag(true), .flag(false)]),
  ]

  private static let frames: [Value] = [.text("next-write"), .text("next-notification"), .integer(3)]
}
