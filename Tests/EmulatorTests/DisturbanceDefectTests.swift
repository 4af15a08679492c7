@testable import Controllers
import SesameDevice
import Automata
import Conformance
import Emulator
import Models
import Sesame
import Basics
import TestSupport
import Testing

/// A disturbance that a defect does not survive.
private struct Revelation: Sendable, CustomTestStringConvertible {
  var defect: LockDefect
  var names = ["sesame3", "sesame5"]
  /// As in a scenario: stimuli, `!fault=value`, `~status`, `+wait`.
  var steps: String
  /// What the defect is told by, or a part of it.
  var verdict: String
  /// What is said before it, up to the time: what the tester sent and the lock obeyed; or after it, where it may only have
  /// to do with it.
  var cause: String

  var testDescription: String { "\(defect.name): \(steps)" }
}

@Suite("What disturbances reveal of a lock")
struct DisturbanceDefectTests {
  @Test("a defect is revealed, and a healthy lock stands the same", arguments: revelations)
  private func revelation(of revelation: Revelation) throws {
    for name in revelation.names {
      expect(try verdict(on: name, [], revelation.steps), "agrees")
      let verdict = try verdict(on: name, [(name: "defect", value: revelation.defect.name)], revelation.steps)
      #expect(verdict.contains(revelation.verdict), "\(name): \(verdict)")
      #expect(
        verdict.hasPrefix(revelation.cause + ", sent at ") || verdict.hasSuffix(revelation.cause),
        "\(name): \(verdict)")
    }
  }

  @Test("each way to send what no client sends is in the table, or shows in no defect")
  func complete() {
    let words = revelations.map(\.steps).joined(separator: " ")
    // A lock that takes what was altered, or its own message back, does what a lock may.
    let shownByNone = ["mutate", "reflect", "spoof"]
    for name in Interference.names + ["wrong-key", "replay-login", "third-party"] {
      expect(words.contains("!\(name)"), !shownByNone.contains(name))
    }
  }

  private func verdict(
    on name: String, _ settings: [(name: String, value: String)], _ steps: String
  ) throws -> String {
    let lock = try EmulatedLockSpecification(parsing: name, settings: settings)
    var direct = try DisturbedPlay(DirectLink(lock, seed: 1))
    var air = try DisturbedPlay(RadioWorld(lock, seed: 1).link())
    let verdicts = [try direct.verdict(of: steps), try air.verdict(of: steps)]
    return verdicts[0] == verdicts[1] ? verdicts[0] : "\(verdicts[0]), and over the air \(verdicts[1])"
  }
}

/// A lock in lockstep with its model, watched by the invariants of a bolt.
struct DisturbedPlay<Link: LockLink> {
  var lockstep: Lockstep<ClientDevice<Link>, TraceList>

  init(_ link: Link) throws {
    lockstep = try Lockstep(
      Specification(Machine(.sesame), showsEffects: false),
      // What follows from a token that comes again is of interest here, and not that it does.
      ClientDevice(link, quirks: [.tokenRepeated]) {
        SeededGenerator(seed: 1, for: "client")
      },
      invariants: [NoViolation(unless: ["wrong-key", "replay-login"])]
        + MachineDefinition.sesame.rules.monitors(), recorder: TraceList())
  }

  mutating func verdict(of steps: String, from start: StartCondition = StartCondition()) throws -> String {
    _ = try lockstep.reset(to: start)
    return try lockstep.take(steps)?.summary ?? "agrees"
  }
}

private let enter = "closeTo; ~receivedBle; connect;"
private let open = enter + "~locked;"
private let leave = "disconnect; +1 s;"
private let clear = "the device broke a rule: clear-text: unlock in clear"

private let reset = open + "reset; ~noSignal; +2 s;"
private let version = "readVersion; +1 s;"

private let revelations: [Revelation] = [
  Revelation(
    defect: .oldKeyAcceptedAfterReset,
    steps: reset + enter + "~readytoRegister; register; ~nosetting;" + leave + "!wrong-key=old-key;" + enter
      + "~logining; +5 s",
    verdict: "the device showed nosetting, which the model does not allow",
    cause: "the device accepted the key of a former owner: a login with the key from before the last reset"),
  Revelation(
    defect: .ownerReplaced, steps: "!wrong-key=registration;" + enter + "~logining; +5 s",
    verdict: "the device broke a rule: owner-replaced: ",
    cause: "the device accepted another owner: a registration of a lock that has an owner"),
  Revelation(
    defect: .shortProofAccepted, steps: "!wrong-key=empty;" + enter + "~logining; +5 s",
    verdict: "the device showed locked, which the model does not allow",
    cause: "the device accepted a false proof: a login without a proof"),
  Revelation(
    defect: .secondLoginRestartsSession, steps: open + version + "!forge=login again; +3 s",
    verdict: "the device broke a rule: ",
    cause: "the device accepted a replayed login: the login of the session once more, in the session"),
  Revelation(
    defect: .olderMessageReplayed, steps: open + version + "unlock; ~unlocked; +1 s; !replay=message 1; +3 s",
    verdict: "the device broke a rule: answer-to-nothing: an answer to nothing: version",
    cause: "the device obeyed a replayed message: message 1 once more"),
  Revelation(
    defect: .earlierSessionReplayed,
    steps: open + "unlock; ~unlocked; lock; ~locked; +1 s;" + leave + open + version + leave + open
      + "!replay=message 1 of session -2; +3 s",
    verdict: "the device broke a rule: answer-to-nothing: an answer to nothing: unlock",
    cause: "the device obeyed a replayed message: message 1 of session -2 once more"),
  Revelation(
    defect: .longMessageLost, steps: open + "!request=three-frames; +1 s; readVersion; +6 s",
    verdict: "the device broke a rule: no-answer: no answer to",
    cause: "; 6 s before, the tester had sent the request three-frames"),
  Revelation(
    defect: .answerNamesAnotherRequest, steps: open + version,
    verdict: "the device broke a rule: answer-to-another: an answer to login, where version was asked for",
    cause: ""),
  Revelation(
    defect: .plaintextCommandObeyed, steps: open + "!forge=unlock in-clear; +3 s",
    verdict: "the device broke a rule: clear-text: unlock in clear",
    cause: "the device obeyed a forged command: an unlock in clear"),
  Revelation(
    defect: .plaintextCommandObeyed, steps: open + "!forge=unlock kind-5; +3 s", verdict: clear,
    cause: "the device obeyed a forged command: an unlock in clear, in a frame of kind 5"),
  Revelation(
    defect: .plaintextCommandObeyed, steps: open + "!shadow=in-clear; unlock; +3 s", verdict: clear,
    cause: "the device obeyed a forged command: a copy of the client's message in clear"),
  // Nobody sees it, but for the bolt that has turned.
  Revelation(
    defect: .plaintextCommandObeyed,
    steps: open + leave + "!third-party=unlock; +5 s;" + enter + "~logining; +5 s",
    verdict: "unlocked after locked, with no unlock, toggle or hand",
    cause: "the device obeyed a forged command: an unlock in clear from another central"),
  Revelation(
    defect: .replayedCommandObeyed, steps: open + "unlock; ~unlocked; +1 s; !forge=command again; +3 s",
    verdict: "the device broke a rule: answer-to-nothing: an answer to nothing: unlock",
    cause: "the device obeyed a replayed message: the last command once more"),
  Revelation(
    defect: .replayedCommandObeyed, steps: open + "readVersion; +1 s; !forge=unlock counter-1; +3 s",
    verdict: "the device broke a rule: answer-to-nothing: an answer to nothing: unlock",
    cause: "the device obeyed a forged command: an unlock sealed with the counter of the message before it"),
  Revelation(
    defect: .tokenRepeated, names: ["sesame5"],
    steps: open + "unlock; ~unlocked; lock; ~locked;" + leave + open + "!forge=session again; +3 s",
    verdict: "the device broke a rule: answer-to-nothing: an answer to nothing: unlock",
    cause: "the device obeyed a replayed message: all commands of the session before"),
  // The owner's own unlock, said again by somebody else while he was away.
  Revelation(
    defect: .tokenRepeated, names: ["sesame5"],
    steps: open + "unlock; ~unlocked; +10 s;" + leave + enter + "~unlocked; handToLocked; ~locked;" + leave
      + "!third-party=replay; +5 s;" + enter + "~logining; +5 s",
    verdict: "unlocked after locked, with no unlock, toggle or hand",
    cause: "the device obeyed a replayed message: all that the owner sent in a session, from another central"),
  Revelation(
    defect: .loginProofUnchecked, steps: "!wrong-key; closeTo; ~receivedBle; connect; ~logining; +5 s",
    verdict: "the device showed locked, which the model does not allow",
    cause: "the device accepted a false proof: a login with the proof of another secret"),
  Revelation(
    defect: .loginProofReplayed, steps: open + leave + "!replay-login;" + enter + "~logining; +5 s",
    verdict: "the device showed locked, which the model does not allow",
    cause: "the device accepted a replayed login: the login of an earlier session"),
]
