import SesameDevice
import Conformance
import Basics
import TestSupport
import Testing

/// What goes with stimuli and faults, read before a lock is given them.
@Suite("Particulars")
struct ParticularsTests {
  private let abilities: [Abilities]

  init() throws {
    abilities = [
      try SesameBench("sesame5").lockstep.device.abilities,
      try SesameBench(air: "sesame5").lockstep.device.abilities,
    ]
  }

  @Test("what generated tests give is right")
  func offered() {
    for abilities in abilities {
      for (stimulus, values) in abilities.arguments {
        for arguments in values { expect(abilities.particulars.problem(with: stimulus, arguments), nil) }
      }
      for disturbance in abilities.disturbances {
        for value in disturbance.values {
          expect(abilities.particulars.problem(with: Fault(disturbance.fault, value)), nil)
        }
      }
    }
  }

  @Test(
    "the arguments of a stimulus",
    arguments: [
      ("unlock", [Argument("tag", .integer(7))], nil),
      ("unlock", [Argument("tga", .text("Alice"))], "it takes tag, bytes, typed, and not 'tga'"),
      ("lock", [Argument("value", .text("Alice"))], "it takes tag, bytes, typed, and not 'Alice'"),
      (
        "toggle", [Argument("tag", .text("a")), Argument("bytes", .text("00"))],
        "it takes one of tag, bytes and typed, and not several"
      ),
      (
        "lock", [Argument("bytes", .text("0"))],
        "`bytes` is bytes in hexadecimal, two digits each, and not '0'"
      ),
      (
        "lock", [Argument("typed", .text("000f"))],
        "`typed` is a type of two bytes, the sixteen of a UUID and what follows them, in hexadecimal, and not '000f'"
      ),
      ("setAutolock", [Argument("value", .integer(32_767))], nil),
      ("setAutolock", [Argument("delay", .duration(.seconds(20)))], nil),
      (
        "setAutolock", [Argument("delay", .duration(.milliseconds(500)))],
        "`delay` is a delay in whole seconds, up to 32767 s, and not '500 ms'"
      ),
      (
        "setAutolock", [Argument("value", .integer(-1))],
        "it takes a delay in whole seconds, up to 32767 s, and not '-1'"
      ),
      (
        "setAutolock", [Argument("value", .duration(.seconds(32_768)))],
        "it takes a delay in whole seconds, up to 32767 s, and not '32768 s'"
      ),
      ("setAutolock", [Argument("dleay", .integer(5))], "it takes delay, and not 'dleay'"),
      (
        "setAutolock", [Argument("delay", .integer(5)), Argument("delay", .integer(6))],
        "it takes delay, and not 'delay' twice"
      ),
      ("configure", [Argument("from", .text("bolt")), Argument("lock", .integer(-70))], nil),
      (
        "configure", [Argument("from", .text("wall"))],
        "`from` is bolt, so that angles count from where that is, and not 'wall'"
      ),
      ("configure", [Argument("lock", .number(1.5))], "`lock` is an angle in whole degrees, and not '1.5'"),
      (
        "configure", [Argument("unlock", .integer(40_000))],
        "`unlock` is an angle in whole degrees, and not '40000'"
      ),
      ("register", [Argument("login", .flag(true))], nil),
      ("register", [Argument("login", .text("yes"))], nil),
      ("register", [Argument("login", .text("maybe"))], "`login` is yes or no, and not 'maybe'"),
      ("connect", [Argument("value", .integer(3))], "it takes nothing, and not '3'"),
      ("handToLocked", [Argument("slowly", .flag(true))], "it takes nothing, and not 'slowly'"),
    ] as [(String, [Argument], String?)])
  func stimuli(stimulus: String, arguments: [Argument], problem: String?) {
    for abilities in abilities { expect(abilities.particulars.problem(with: stimulus, arguments), problem) }
  }

  @Test(
    "the value of a fault",
    arguments: [
      ("jam", .text("banana"), "the fault 'jam' takes yes or no, and not 'banana'"),
      ("jam", .text("yes"), nil), ("no-power", .text("on"), nil), ("power-cycle", .flag(true), nil),
      ("out-of-range", .text("no"), nil), ("reflect", .text("yes"), nil),
      ("no-power", .integer(1), "the fault 'no-power' takes yes or no, and not '1'"),
      (
        "out-of-range", .duration(.seconds(-1)),
        "the fault 'out-of-range' takes yes, no or a time such as 5 s, and not '-1 s'"
      ),
      ("lose-link", .text("yes"), nil), ("lose-link", .text("no"), nil), ("drop", .text("on"), nil),
      ("battery", .number(-0.1), "the fault 'battery' takes a number of volts from 0 to 7.2, and not '-0.1'"),
      ("battery", .integer(100), "the fault 'battery' takes a number of volts from 0 to 7.2, and not '100'"),
      ("battery", .number(7.2), nil), ("battery", .integer(0), nil),
      ("delay", .text("long"), "the fault 'delay' takes a time such as 300 ms, and not 'long'"),
      ("delay", .integer(5), "the fault 'delay' takes a time such as 300 ms, and not '5'"),
      ("clock", .text("late"), "the fault 'clock' takes a time such as 1 h, or seconds, and not 'late'"),
      ("inject", .integer(7), "the fault 'inject' takes bytes in hexadecimal, and not '7'"),
      (
        "drop", .number(3.5),
        "the fault 'drop' takes next-notification, next-write or a number of frames, and not '3.5'"
      ),
      (
        "lose-link", .text("after 0 frames"),
        "the fault 'lose-link' takes yes, no or a count such as 'after 2 frames', and not 'after 0 frames'"
      ),
      (
        "third-party", .text("nobody"),
        "a third-party central does one of: busy, unlock, lock, wrong-key, replay; and not 'nobody'"
      ),
      ("reflect", .text("twice"), "the fault 'reflect' takes yes or no, and not 'twice'"),
      ("replay", .text("message 1 of session -2"), nil),
      (
        "replay-login", .text("message 1"),
        "the fault 'replay-login' takes yes, or a session such as 'session -2', and not 'message 1'"
      ),
    ] as [(String, Value, String?)])
  func faults(fault: String, value: Value, problem: String?) {
    for abilities in abilities { expect(abilities.particulars.problem(with: Fault(fault, value)), problem) }
  }

  @Test(
    "the settings of a start",
    arguments: [
      ("bolt", .text("moved"), nil),
      ("bolt", .text("sideways"), "`bolt` is one of locked, unlocked, moved, and not 'sideways'"),
      ("bolt", .flag(true), "`bolt` is one of locked, unlocked, moved, and not 'yes'"),
      ("history", .text("empty"), nil), ("history", .text("full"), "`history` is empty, and not 'full'"),
      ("jam", .flag(false), nil), ("jam", .text("banana"), "`jam` is yes or no, and not 'banana'"),
      ("registered", .integer(1), "`registered` is yes or no, and not '1'"),
      ("battery", .number(4.7), nil),
      ("battery", .integer(-1), "`battery` is a number of volts from 0 to 7.2, and not '-1'"),
    ] as [(String, Value, String?)])
  func settings(setting: String, value: Value, problem: String?) {
    for abilities in abilities {
      expect(abilities.particulars.problem(with: Argument(setting, value)), problem)
    }
  }

  @Test("the client's Bluetooth is told nonsense that it knows")
  func att() {
    expect(abilities[1].particulars.problem(with: Fault("att", .text("mtu-0"))), nil)
    expect(
      abilities[1].particulars.problem(with: Fault("att", .text("mtu-1")))?.hasPrefix(
        "the fault 'att' takes one of: "), true)
    expect(
      abilities[1].particulars.problem(with: Fault("unsubscribe", .text("soon"))),
      "the fault 'unsubscribe' takes yes or no, and not 'soon'")
  }
}
