import SesameDevice
import Automata
import Conformance
import Emulator
import Models
import Basics
import TestSupport
import Testing

/// A sequence that a user could go through, in which a defect makes the lock disagree with its model.
///
/// A step is a stimulus (`unlock`, `setAutolock=5`), a wait (`+2 s`), a status that must come (`~locked`), a
/// reading that must have come (`?history … “Lockstep”`) or a fault (`!jam`, `!lose-link=no`).
private struct Exposure: Sendable, CustomTestStringConvertible {
  var defect: LockDefect
  var settings: [String] = []
  var start: [Argument] = []
  var steps: String
  /// The verdict on the lock with the defect, or a part of it, in the words of a report.
  var verdict: String

  var testDescription: String { defect.name }
}

@Suite("The lock's defects, as a client and the model see them")
struct LockExposureTests {
  @Test("the sequence shows the defect, and a healthy lock goes through it", arguments: exposures)
  private func exposure(of exposure: Exposure) throws {
    for name in ["sesame3", "sesame5"] {
      expect(try verdict(on: name, exposure, defective: false), "agrees")
      let verdict = try verdict(on: name, exposure, defective: true)
      #expect(verdict.contains(exposure.verdict), "\(name): \(verdict)")
    }
  }

  @Test("there is a sequence for each defect")
  func complete() {
    expect(exposures.map(\.defect), LockDefect.allCases)
  }

  private func verdict(on name: String, _ exposure: Exposure, defective: Bool) throws -> String {
    var settings = exposure.settings.map { setting in
      let parts = setting.split(separator: "=")
      return (name: String(parts[0]), value: String(parts[1]))
    }
    if defective { settings.append((name: "defect", value: exposure.defect.name)) }
    let lock = try EmulatedLockSpecification(parsing: name, settings: settings)
    let device = ClientDevice(DirectLink(lock, seed: 1)) { SeededGenerator(seed: 1, for: "client") }
    var lockstep = try Lockstep(
      #require(sesame), device,
      invariants: [NoViolation(unless: ["wrong-key"])] + MachineDefinition.sesame.rules.monitors(),
      recorder: TraceList())
    _ = try lockstep.reset(to: StartCondition(exposure.start))
    return try lockstep.take(exposure.steps)?.summary ?? "agrees"
  }
}

/// The model, prepared once: that costs more than a test.
private let sesame = (try? Machine(.sesame)).map { Specification($0, showsEffects: false) }

private let open = "closeTo; ~receivedBle; connect; ~locked;"
private let register =
  "closeTo; ~receivedBle; connect; ~readytoRegister; register; ~nosetting; configure; ~locked;"
private let abort = "closeTo; ~receivedBle; connect; ~logining; disconnect; +1 s;"

private let unlocked = [Argument("bolt", .text("unlocked"))]
private let openUnlocked = "closeTo; ~receivedBle; connect; ~unlocked;"

private let exposures: [Exposure] = [
  Exposure(
    defect: .deafUnlock, start: [Argument("registered", .flag(true))],
    steps: open + "reset; ~noSignal; +2 s;" + register + "lock; +1 s; unlock; ~unlocked",
    verdict: "the device showed nothing, although the model required something by this time"),
  Exposure(
    defect: .jamAfterAbortedLogins,
    steps: abort + abort + abort + abort + open + "toggle; ~unlocked; toggle; ~locked; lock; +5 s",
    verdict: "the device showed moved, which the model does not allow"),
  Exposure(
    defect: .jamReportedAsLocked, steps: open + "unlock; ~unlocked; !jam; lock; +5 s",
    verdict: "the device showed locked, which the model does not allow"),
  Exposure(
    defect: .plaintextCommandObeyed, steps: open + "forgeUnlock; +2 s",
    verdict: "the device broke a rule: clear-text: unlock in clear"),
  Exposure(
    defect: .loginProofUnchecked, steps: "!wrong-key; closeTo; ~receivedBle; connect; ~logining; ~noSignal",
    verdict: "the device showed locked, which the model does not allow"),
  Exposure(
    defect: .loginProofReplayed,
    steps: open + "disconnect; +1 s; !replay-login; closeTo; ~receivedBle; connect; ~logining; ~noSignal",
    verdict: "the device showed locked, which the model does not allow"),
  Exposure(
    defect: .replayedCommandObeyed,
    steps: open + "unlock; ~unlocked; handToLocked; ~locked; replayCommand; +2 s",
    verdict: "answer-to-nothing: an answer to nothing: unlock"),
  Exposure(
    defect: .tokenRepeated, steps: open + "disconnect; +1 s;" + open,
    verdict: "token-repeated: the token of an earlier connection once more"),
  Exposure(
    defect: .counterKeptAcrossSessions, steps: open + "disconnect; +1 s;" + open,
    verdict: "counter-jump: a message sealed with counter"),
  Exposure(
    defect: .staleStatusAfterHandTurn, steps: open + "handToUnlocked; ~unlocked",
    verdict: "the device showed nothing, although the model required something by this time"),
  Exposure(
    defect: .movedReportedAsUnlocked, steps: open + "handToMoved; ~moved",
    verdict: "the device showed unlocked, which the model does not allow"),
  Exposure(
    defect: .statusLagsOneBehind, steps: open + "unlock; ~unlocked",
    verdict: "the device showed nothing, although the model required something by this time"),
  Exposure(
    defect: .restUnpublishedAfterTurnabout, steps: open + "unlock; +500 ms; lock; +200 ms; unlock; ~unlocked",
    verdict: "the device showed nothing, although the model required something by this time"),
  Exposure(
    defect: .publishBeforeLogin, steps: open,
    verdict: "the device broke a rule: clear-text: mech status in clear"),
  Exposure(
    defect: .resetKeepsKey,
    steps: open + "reset; ~noSignal; +2 s; closeTo; ~receivedBle; connect; ~readytoRegister",
    verdict: "the device showed noSignal, which the model does not allow"),
  Exposure(
    defect: .registrationBusyAfterReset, steps: open + "reset; ~noSignal; +2 s;" + register,
    verdict: "registration-refused: the lock refused registration: busy"),
  Exposure(
    defect: .settingsLostOnReconnect, steps: open + "disconnect; +1 s;" + open,
    verdict: "the device showed nosetting, which the model does not allow"),
  Exposure(
    defect: .autolockChangeIgnored, steps: open + "setAutolock=5; unlock; ~unlocked; ~locked",
    verdict: "the device showed nothing, although the model required something by this time"),
  Exposure(
    defect: .autolockOutlivesOff, start: unlocked,
    steps: openUnlocked + "setAutolock=20; +2 s; setAutolock=0; +30 s",
    verdict: "the device showed locked, which the model does not allow"),
  Exposure(
    defect: .autolockForgottenOnDisconnect,
    steps: open + "setAutolock=5; unlock; ~unlocked; +1 s; disconnect; +10 s;" + open,
    verdict: "the device showed nothing, although the model required something by this time"),
  Exposure(
    defect: .autolockEarly, steps: open + "setAutolock=20; unlock; ~unlocked; +30 s",
    verdict: "the device showed locked, which the model does not allow"),
  Exposure(
    defect: .autolockLate, steps: open + "setAutolock=20; unlock; ~unlocked; +30 s",
    verdict: "the device showed nothing, although the model required something by this time"),
  Exposure(
    defect: .autolockFromLogin, steps: open + "setAutolock=20; +15 s; unlock; ~unlocked; +30 s",
    verdict: "the device showed locked, which the model does not allow"),
  Exposure(
    defect: .autolockOutlivesReset,
    steps: open + "setAutolock=20; +1 s; reset; ~noSignal; +2 s;" + register
      + "unlock; ~unlocked; +40 s",
    verdict: ", which the model does not allow"),
  Exposure(
    defect: .autolockStartVaries, start: unlocked,
    steps: openUnlocked + "setAutolock=8; +20 s; setAutolock=0; unlock; ~unlocked; setAutolock=15; +30 s",
    verdict: "the device showed nothing, although the model required something by this time"),
  Exposure(
    defect: .historyNeverEmpties, steps: open + "lock; +1 s; readHistory; +10 s; ?history empty",
    verdict: "history-repeated: history record 1 came again after it was deleted"),
  Exposure(
    defect: .historyTagMissing, steps: open + "lock; +1 s; readHistory; +10 s; ?lock “Lockstep”",
    verdict: "no lock “Lockstep” came"),
  Exposure(
    defect: .deadUntilPowerCycle, steps: open + "!lose-link; ~noSignal; !lose-link=no; +1 s;" + open,
    verdict: "the device showed nothing, although the model required something by this time"),
  Exposure(
    defect: .tokenMissingEverySecondTime, steps: open + "disconnect; +1 s;" + open,
    verdict: "no-token: no token within 30 s"),
  Exposure(
    defect: .answersStopAfterIdling, steps: open + "+11 min; unlock; ~unlocked",
    verdict: "the device broke a rule: no-answer: no answer to "),
  Exposure(
    defect: .calibrationDrifts,
    steps: open + String(repeating: "unlock; ~unlocked; lock; ~locked;", count: 10),
    verdict: "the device showed moved, which the model does not allow"),
  Exposure(
    defect: .batteryWrapsAtZero, settings: ["battery=0.01", "sag=0.02"], steps: open + "unlock; ~unlocked",
    verdict: "the battery rose by itself: value is 7.2"),
  Exposure(
    defect: .oldKeyAcceptedAfterReset,
    steps: open + "reset; ~noSignal; +2 s;" + register
      + "disconnect; +1 s; !wrong-key=old-key; closeTo; ~receivedBle; connect; ~logining; ~noSignal",
    verdict: "the device showed locked, which the model does not allow"),
  Exposure(
    defect: .ownerReplaced,
    steps: "!wrong-key=registration; closeTo; ~receivedBle; connect; ~logining; ~noSignal",
    verdict: "the device broke a rule: owner-replaced: "),
  Exposure(
    defect: .shortProofAccepted,
    steps: "!wrong-key=cut; closeTo; ~receivedBle; connect; ~logining; ~noSignal",
    verdict: "the device showed locked, which the model does not allow"),
  Exposure(
    defect: .secondLoginRestartsSession, steps: open + "readVersion; +1 s; !forge=login again; +1 s",
    verdict: "the device broke a rule: replayed: "),
  Exposure(
    defect: .olderMessageReplayed, steps: open + "readVersion; +1 s; setTime; +1 s; !replay=message 1; +1 s",
    verdict: "the device broke a rule: answer-to-nothing: an answer to nothing: version"),
  Exposure(
    defect: .earlierSessionReplayed,
    steps: open + "readVersion; +1 s; disconnect; +1 s;" + open + "!replay=session -1; +1 s",
    verdict: "the device broke a rule: answer-to-nothing: an answer to nothing: version"),
  Exposure(
    defect: .longMessageLost, steps: open + "!request=four-frames; +1 s; unlock; +6 s", verdict: "within 5 s"),
  Exposure(
    defect: .longTagCut, steps: open + "lock=twenty-one bytes long; +1 s; readHistory; +10 s; ?long”",
    verdict: "tag is twenty-one bytes; commands is ['lock twenty-one bytes long']"),
  Exposure(
    defect: .answerNamesAnotherRequest, steps: open + "readVersion; +1 s",
    verdict: "the device broke a rule: answer-to-another: an answer to login, where version was asked for"),
  Exposure(
    defect: .movingAfterRest, steps: open + "unlock; ~unlocked; +10 s",
    verdict: "the device broke a rule: no-rest: the last status says that the motor runs"),
  Exposure(
    defect: .recordNumbersRestart,
    steps: open + "lock; lock; +1 s; readHistory; +1 s; disconnect; +1 s;" + open
      + "lock; +1 s; readHistory; +1 s",
    verdict: "the numbers of records do not ascend: number is 1"),
  Exposure(
    defect: .recordTimeLost, steps: open + "+11 s; lock; +1 s; readHistory; +1 s",
    verdict:
      "a record has another time than the clock of the lock: event is lock; tag is Lockstep; time is -1700000000 s"
  ),
  Exposure(
    defect: .recordsExchanged, steps: open + "lock=Alice; lock=Bob; +1 s; readHistory; +1 s",
    verdict: "or follows a later one: event is lock; tag is Alice; commands is []"),
  Exposure(
    defect: .tagOfCommandBefore, steps: open + "lock=Alice; +1 s; lock=Bob; +1 s; readHistory; +1 s",
    verdict: "the history shows a command without its tag: event is lock"),
  Exposure(
    defect: .recordTwice, steps: open + "lock; +1 s; readHistory; +1 s",
    verdict: "was recorded before, or follows a later one: event is lock; tag is Lockstep; commands is []"),
  Exposure(
    defect: .historyOutlivesReset,
    steps: open + "lock; +1 s; reset; ~noSignal; +2 s;" + register + "readHistory; +1 s",
    verdict: "or follows a later one: event is lock; tag is Lockstep; commands is []"),
  Exposure(
    defect: .framesOfMTU, steps: open + "disconnect; +1 s;" + open + "lock; +1 s; readHistory; +1 s",
    verdict: "the device broke a rule: frame-too-long"),
  Exposure(
    defect: .clockNeverSetBack, steps: open + "+11 s; disconnect; +1 s;" + open + "+1 s",
    verdict: "the clock was set and is wrong again: value is 361"),
  Exposure(
    defect: .batteryOfFailedRequest, steps: open + "readHistory; +1 s; lock; lock; +1 s",
    verdict: "the battery rose by itself: value is "),
]
