import Automata
import Synchronization
import TestSupport
import Testing

private enum AppState: Sendable { case idle, login, verifyTokenValidation }
private enum AppEvent: Sendable { case noSession, hasSession, logout }

@Suite("Flow: blocks before and after each transition")
struct FlowTests {
  private typealias Transition = Flow.Transition<AppState, AppEvent>
  private typealias StateMachine = Flow.StateMachine<AppState, AppEvent>

  @Test("the pre-block still sees the old state and the post-block the new one, in that order")
  func blocks() throws {
    let seen = Mutex<[String]>([])
    let flow = Mutex<StateMachine?>(nil)
    func note(_ block: String) {
      let state = flow.withLock { $0 }?.currentState
      seen.withLock { $0.append("\(block) in \(state.map { "\($0)" } ?? "none")") }
    }
    let transitions = [
      Transition(
        with: .noSession, from: .idle, to: .login, preBlock: { note("before noSession") },
        postBlock: { note("after noSession") }),
      Transition(
        with: .hasSession, from: .login, to: .verifyTokenValidation, preBlock: { note("before hasSession") },
        postBlock: { note("after hasSession") }),
    ]
    let machine = try StateMachine(name: "flow", initialState: .idle, transitions: transitions)
    flow.withLock { $0 = machine }
    expect(machine.process(event: .hasSession), .failure(currentState: .idle, input: .hasSession))
    expect(machine.process(event: .noSession), .success(old: .idle, new: .login, input: .noSession))
    machine.process(event: .hasSession)
    expect(
      seen.withLock { $0 },
      [
        "before noSession in idle", "after noSession in login", "before hasSession in login",
        "after hasSession in verifyTokenValidation",
      ])
    flow.withLock { $0 = nil }
  }

  @Test("an event given in a block is taken when its transition is complete")
  func nested() throws {
    let seen = Mutex<[TransitionResult<AppState, AppEvent>]>([])
    let flow = Mutex<StateMachine?>(nil)
    let transitions = [
      Transition(
        with: .noSession, from: .idle, to: .login,
        preBlock: { _ = flow.withLock { $0 }?.process(event: .hasSession) }),
      Transition(with: .hasSession, from: .login, to: .verifyTokenValidation),
    ]
    let machine = try StateMachine(
      name: "flow", initialState: .idle, transitions: transitions,
      onTransition: { result in seen.withLock { $0.append(result) } })
    flow.withLock { $0 = machine }
    machine.process(event: .noSession)
    expect(
      seen.withLock { $0 },
      [
        .success(old: .idle, new: .login, input: .noSession),
        .success(old: .login, new: .verifyTokenValidation, input: .hasSession),
      ])
    expect(machine.currentState, .verifyTokenValidation)
    flow.withLock { $0 = nil }
  }
}
