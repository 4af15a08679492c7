import Journal
import Conformance
import Documents
import Harness
import Basics
import TestSupport
import Testing

@Suite("A broken rule in the journal")
struct ViolationJournalTests {
  private let vocabulary = Vocabulary(stimuli: [], statuses: [])

  private func line(_ violation: Violation) -> String {
    Record.event(Record.Event(.violation(violation), vocabulary, at: .zero + .milliseconds(7))).line()
  }

  @Test("name, subject and packet are fields of their own, and what is not there is left out")
  func fields() {
    expect(
      line(Violation("no-token", "no token within 30 s")),
      #"{"t":"0.007","violation":"no-token","detail":"no token within 30 s"}"#)
    expect(
      line(
        Violation(
          "no-answer", of: "lock", "no answer", packet: .init([0x52, 0], from: .tester), quirk: "they do")),
      #"{"t":"0.007","violation":"no-answer","of":"lock","detail":"no answer","packet":"5200","from":"tester","quirk":"they do"}"#
    )
  }

  @Test("people read the first bytes of a long packet, and data has all of them")
  func longPackets() {
    let violation = Violation(
      "message-too-long", "a message", packet: .init([UInt8](repeating: 0xAB, count: 200)))
    #expect(line(violation).contains(String(repeating: "ab", count: 200)))
    let text = vocabulary.text(of: .violation(violation))
    expect(
      text,
      "broke message-too-long: a message (200 bytes of the device, " + String(repeating: "ab", count: 48)
        + "…)")
  }

  @Test("a divergence has one signature, whatever was done before, and says the rule and the packet")
  func divergences() {
    let violation = Violation("clear-text", of: "lock", "lock in clear", packet: .init([7, 82, 0]))
    for stimulus in ["lock", "toggle"] {
      let divergence = Divergence(
        .violation(violation), at: .zero, lastStimulus: stimulus, lastStatus: "locked")
      expect(divergence.signature, "broke clear-text of lock")
      expect(divergence.summary, "the device broke a rule: clear-text: lock in clear")
      expect(
        Outcome(.divergence(divergence)).details,
        [
          "after   \(stimulus)", "packet  3 bytes of the device, 075200",
          "device  clear-text: lock in clear",
        ])
    }
  }

  @Test(
    "what the tester sent and the device obeyed is the cause, and what it may only have to do with stands behind"
  )
  func injected() {
    let action = InjectedAction(
      .forgedCommand, "an unlock in clear", reaction: "ignores", at: .zero + .seconds(3),
      signs: [.status("unlocked"), .violation("clear-text", of: "unlock"), .violation("answer-to-nothing")])
    let other = InjectedAction(.other, "a frame of no bytes", reaction: "ignores", at: .zero + .seconds(4))
    let cause =
      "the device obeyed a forged command: an unlock in clear, sent at 3 s, which a correct device ignores; "
    let circumstance = "; 1 s before, the tester had sent a frame of no bytes"
    func violation(_ name: String, of subject: String?) -> Divergence.Kind {
      .violation(Violation(name, of: subject, "it is wrong"))
    }
    let table: [(kind: Divergence.Kind, status: String?, isObeyed: Bool)] = [
      (.unexpected("unlocked"), "locked", true), (.unexpected("locked"), "unlocked", false),
      (.invariant("a bolt turned by itself"), "unlocked", true),
      (.invariant("a bolt turned by itself"), "locked", false),
      (violation("clear-text", of: "unlock"), nil, true), (violation("clear-text", of: "lock"), nil, false),
      (violation("answer-to-nothing", of: "version"), nil, true), (.overdue, "unlocked", false),
    ]
    for (kind, status, isObeyed) in table {
      let bare = Divergence(kind, at: .zero + .seconds(5), lastStatus: status)
      // The latest that fits is the cause, whatever was sent behind it.
      let told = Divergence(kind, at: .zero + .seconds(5), lastStatus: status, injected: [action, other])
      expect(told.injection?.isObeyed, isObeyed)
      expect(told.summary, isObeyed ? cause + bare.summary : bare.summary + circumstance)
      expect(told.signature, bare.signature)
    }
    let told = Divergence(
      .unexpected("unlocked"), at: .zero + .seconds(5), lastStimulus: "connect", injected: [action])
    expect(
      Outcome(.divergence(told)).details,
      [
        "after   connect", "sent    an unlock in clear, at 3 s: a correct device ignores it",
        "device  unlocked",
      ])
  }

  @Test("what a state shows one after the other is named in that order, and a divergence keeps its signature")
  func following() {
    let divergence = Divergence(
      .overdue, at: .zero, lastStimulus: "knock", lastStatus: "idle",
      allowed: [
        .init(state: "alarm", cause: "", shows: "alarm", following: ["siren"], isDue: true, isRequired: true)
      ])
    expect(
      Outcome(.divergence(divergence)).details,
      ["after   knock", "model   alarm ──▶ alarm, then siren", "device  idle"])
    expect(divergence.signature, "overdue: alarm")
  }

  @Test("what is known of the cause stands behind what was seen, and tells no two findings apart")
  func explanations() {
    let bare = Divergence(.unexpected("noSignal"), at: .zero, lastStimulus: "lock")
    let told = Divergence(
      .unexpected("noSignal"), at: .zero, lastStimulus: "lock",
      explanation: Explanation("hung-up", "the lock ended the link"))
    expect(told.summary, bare.summary + "; hung-up: the lock ended the link")
    expect(told.signature, bare.signature)
    #expect(told.isLike(bare))
  }
}
