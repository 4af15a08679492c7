import Basics
import Conformance
import Emulator
import SesameDevice
import TestSupport
import Testing

/// What healthy locks do of which no source says that it is wrong, and what is wrong beside it.
private struct Habit: Sendable, CustomTestStringConvertible {
  var setting: String
  var names = ["sesame3", "sesame5"]
  var isRegistered = true
  /// As in ``DisturbedPlay``.
  var steps: String
  /// The diagnostics that it leaves.
  var diagnostics: [String] = []

  var testDescription: String { setting }
}

@Suite("What a healthy lock may do")
struct ToleranceTests {
  @Test("it agrees, with a remark where its protocol forbids it", arguments: habits)
  private func habit(of habit: Habit) throws {
    let parts = habit.setting.split(separator: "=").map(String.init)
    for name in habit.names {
      let lock = try EmulatedLockSpecification(parsing: name, settings: [(name: parts[0], value: parts[1])])
      var play = try DisturbedPlay(DirectLink(lock, seed: 1))
      let start = StartCondition([
        Argument("registered", .flag(habit.isRegistered)), Argument("configured", .flag(habit.isRegistered)),
      ])
      expect(try play.verdict(of: habit.steps, from: start), "agrees")
      let diagnostics = play.lockstep.recorder.entries.compactMap { entry -> String? in
        guard case .observation(.violation(let violation)) = entry.event, violation.quirk != nil else {
          return nil
        }
        return violation.name
      }
      expect(diagnostics, habit.diagnostics)
    }
  }
}

private let enter = "closeTo; ~receivedBle; connect;"
private let visit = enter + "~locked; unlock; ~unlocked; lock; ~locked; disconnect; +1 s;"
private let register = enter + "~readytoRegister; register; ~nosetting; configure;"

private let habits: [Habit] = [
  Habit(setting: "early-ciphertext=yes", steps: visit + visit, diagnostics: ["before-token"]),
  Habit(setting: "leftover-frame=yes", steps: visit + visit, diagnostics: ["unexpected-frame"]),
  Habit(
    setting: "login-after-registration=ignored", names: ["sesame3"], isRegistered: false,
    steps: enter
      + "~readytoRegister; register login; ~nosetting; configure; ~locked; unlock; ~unlocked; +6 s",
    diagnostics: ["no-answer"]),
  Habit(
    setting: "owned-identity=ignored", names: ["sesame3"],
    steps: "!wrong-key=registration;" + enter + "~logining; ~noSignal; !wrong-key=no; +1 s;" + enter
      + "~locked; +1 s"),
  Habit(
    setting: "answer-order=last", isRegistered: false,
    steps: register + "~locked; unlock; ~unlocked; lock; +200 ms; unlock; ~unlocked; +6 s"),
]
