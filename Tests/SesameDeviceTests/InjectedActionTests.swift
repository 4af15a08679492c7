import Basics
import Bluetooth
import Conformance
import Sesame
import TestSupport
import Testing

@testable import SesameDevice

@Suite("What a tester sent that no client sends")
struct InjectedActionTests {
  /// All that can be sent.
  private static let injections: [Injection] =
    FalseProof.allCases.map { .falseProof($0) } + [.replayedLogin, .reflection]
    + Forgery.allCases.map { .forgery($0) } + Replay.allCases.map { .replay($0) }
    + MessageFlaw.allCases.flatMap { [.shadow($0), .mutation($0)] }
    + UndefinedRequest.allCases.map { .request($0) }

  @Test("each has words of its own, and what a lock shows that obeys it, where that can be told")
  func words() {
    let actions = Self.injections.map { InjectedAction($0, at: .zero) }
    expect(Set(actions.map(\.sent)).count, actions.count)
    for action in actions {
      #expect(!action.sent.contains("-") || action.kind != .forgedCommand, "\(action.sent)")
      let isSilent = [.alteredMessage, .other].contains(action.kind)
      expect(action.signs.isEmpty, isSilent)
    }
  }

  @Test("a fault of the surroundings is one where it sends the lock something")
  func faults() {
    let table: [(Fault, InjectedAction.Kind?)] = [
      (Fault("third-party", .text("unlock")), .forgedCommand),
      (Fault("third-party", .text("replay")), .replayedMessage),
      (Fault("third-party", .text("wrong-key")), .falseProof), (Fault("third-party", .text("busy")), nil),
      (Fault("third-party", .flag(false)), nil), (Fault("att", .text("write-request")), .forgedCommand),
      (Fault("att", .text("pairing")), .other), (Fault("write", .text("0353")), .forgedCommand),
      (Fault("jam"), nil), (Fault("drop", .text("next-write")), nil),
    ]
    for (fault, kind) in table { expect(InjectedAction(fault, at: .zero)?.kind, kind) }
  }

  @Test("an action is pending for as long as a lock may react, and for longer where it is not observed")
  func pending() {
    func at(_ seconds: Int64) -> Instant { .zero + .seconds(seconds) }
    var pending = PendingInjections()
    pending.note(.forgery(.request(.unlock, .inClear)), at: at(1))
    expect(pending.actions(at: at(7)).map(\.time), [at(1)])
    expect(pending.actions(at: at(8)), [])
    // The link ends before it can have shown: it shows first when the lock is seen again.
    pending.note(.forgery(.request(.lock, .inClear)), at: at(10))
    pending.take(.noSignal, at: at(11))
    expect(pending.actions(at: at(1000)).map(\.time), [at(10)])
    pending.take(.logining, at: at(1001))
    pending.take(.unlocked, at: at(1002))
    expect(pending.actions(at: at(1008)).map(\.time), [at(10)])
    expect(pending.actions(at: at(1009)), [])
    // A false login is over with its connection.
    pending.note(.falseProof(.zeros), at: at(2000))
    expect(pending.actions(at: at(2030)).map(\.kind), [.falseProof])
    pending.take(.noSignal, at: at(2031))
    expect(pending.actions(at: at(2031)), [])
    // Another client is at the lock while the client is away.
    pending.note(Fault("third-party", .text("unlock")), isObserving: false, at: at(3000))
    expect(pending.actions(at: at(3100)).count, 1)
  }
}
