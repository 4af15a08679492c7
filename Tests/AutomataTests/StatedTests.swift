import Automata
import Synchronization
import TestSupport
import Testing

private typealias StateMachine = Stated.StateMachine
private typealias StateMappingWithEffect = Stated.StateMappingWithEffect

/// What the services were asked to do, in order, and the callbacks that they keep.
private final class Diary: Sendable {
  private let entries = Mutex<[String]>([])
  private let callbacks = Mutex<[@Sendable () -> Void]>([])

  var lines: [String] { entries.withLock { $0 } }
  func write(_ line: String) { entries.withLock { $0.append(line) } }
  func keep(_ callback: @escaping @Sendable () -> Void) { callbacks.withLock { $0.append(callback) } }
  func callBack() { callbacks.withLock { $0.removeFirst() }() }
}

private struct Upgrade: Sendable {
  var isPending: Bool
  func isUpgradePending() -> Bool { isPending }
}

private struct APIService: Sendable {
  struct Account: Sendable {
    var username: String
    func hasPassword() -> Bool { !username.isEmpty }
  }
  let diary: Diary
  var account: Account
  func clearAuthentication() { diary.write("clearAuthentication") }
}

private struct SharedNote {}

private struct PersistenceService: Sendable {
  let diary: Diary
  func createSecondaryIndices<Model>(on model: Model.Type) { diary.write("createSecondaryIndices") }
}

private struct RootViewController: Sendable {
  let diary: Diary
  func showUpgradeController(upgradeService: Upgrade, _ done: @escaping @Sendable () -> Void) {
    diary.write("showUpgradeController")
    diary.keep(done)
  }
  func showTourListViewController(_ logOut: @escaping @Sendable () -> Void) {
    diary.write("showTourListViewController")
    diary.keep(logOut)
  }
  func showLoginViewController(_ logIn: @escaping @Sendable () -> Void) {
    diary.write("showLoginViewController")
    diary.keep(logIn)
  }
}

// swift-format-ignore
private class AppLauncher {

    // MARK: States

    enum State {
        case uninitialized
        case initialized
        case upgrading
        case indexing
        case loggedOut
        case loggedIn
    }

    // MARK: Inputs

    enum Input {
        case initialize
        case upgrade
        case indexDatabase
        case logIn
        case logOut
    }

    // MARK: Private properties

    fileprivate var machine: StateMachine<State, Input>!

    // MARK: Lifecycle

    init(upgradeService: Upgrade, apiService: APIService, db: PersistenceService, rootViewController: RootViewController) {

        func canLogIn() -> Bool {
            return !apiService.account.username.isEmpty && apiService.account.hasPassword()
        }

        func initialize(send: @escaping @Sendable (Input) -> Void) {
            if upgradeService.isUpgradePending() {
                send(.upgrade)
            } else {
                send(.indexDatabase)
            }
        }

        func upgrade(send: @escaping @Sendable (Input) -> Void) {
            rootViewController.showUpgradeController(upgradeService: upgradeService) {
                // Upgrade successful callback
                send(.indexDatabase)
            }
        }

        func indexDatabase(send: @escaping @Sendable (Input) -> Void) {
            db.createSecondaryIndices(on: SharedNote.self)

            if canLogIn() {
                send(.logIn)
            } else {
                send(.logOut)
            }
        }

        func logIn(send: @escaping @Sendable (Input) -> Void) {
            rootViewController.showTourListViewController {
                // Log out callback
                send(.logOut)
            }
        }

        func logOut(send: @escaping @Sendable (Input) -> Void) {
            apiService.clearAuthentication()
            rootViewController.showLoginViewController {
                // Login successful callback
                send(.logIn)
            }
        }

        let mappings: [StateMappingWithEffect<State, Input>] = [
            /* Input        |      from             to       |   effect    */
            .initialize     | .uninitialized => .initialized | initialize,

            .upgrade        | .initialized   => .upgrading   | upgrade,

            .indexDatabase  | .initialized   =>  .indexing   | indexDatabase,
            .indexDatabase  | .upgrading     =>  .indexing   | indexDatabase,

            .logIn          | .indexing      => .loggedIn    | logIn,
            .logIn          | .loggedOut     => .loggedIn    | logIn,

            .logOut         | .indexing      => .loggedOut   | logOut,
            .logOut         | .loggedIn      => .loggedOut   | logOut
        ]

        machine = StateMachine<State, Input>(initialState: .uninitialized, mappings: mappings)
    }

    // MARK: Internal methods

    func initialize() {
        machine.send(input: .initialize)
    }
}

@Suite("Stated: mappings with effects")
struct StatedTests {
  private func launcher(upgradePending: Bool, username: String, _ diary: Diary) -> AppLauncher {
    AppLauncher(
      upgradeService: Upgrade(isPending: upgradePending),
      apiService: APIService(diary: diary, account: APIService.Account(username: username)),
      db: PersistenceService(diary: diary), rootViewController: RootViewController(diary: diary))
  }

  @Test(
    "an app that has nothing to upgrade and nobody logged in shows the login, then the tours, then the login")
  func launchLoggedOut() {
    let diary = Diary()
    let launcher = launcher(upgradePending: false, username: "", diary)
    launcher.initialize()
    expect(launcher.machine.currentState, .loggedOut)
    diary.callBack()
    expect(launcher.machine.currentState, .loggedIn)
    diary.callBack()
    expect(launcher.machine.currentState, .loggedOut)
    expect(
      diary.lines,
      [
        "createSecondaryIndices", "clearAuthentication", "showLoginViewController",
        "showTourListViewController", "clearAuthentication", "showLoginViewController",
      ])
  }

  @Test("a pending upgrade comes first, and its callback may be called later, from another thread")
  func launchWithUpgrade() async {
    let diary = Diary()
    let launcher = launcher(upgradePending: true, username: "ada", diary)
    launcher.initialize()
    expect(launcher.machine.currentState, .upgrading)
    await Task.detached { diary.callBack() }.value
    expect(launcher.machine.currentState, .loggedIn)
    expect(diary.lines, ["showUpgradeController", "createSecondaryIndices", "showTourListViewController"])
  }

  private enum Light: Sendable { case red, green, yellow, off }
  private enum Signal: Hashable, Sendable { case next, power, dim(Int) }

  @Test(
    "success and failure are both reported, to the sender and to the observer, and failure changes nothing")
  func results() throws {
    let seen = Mutex<[TransitionResult<Light, Signal>]>([])
    let mappings: [StateMappingWithEffect<Light, Signal>] = [
      .next | .red => .green | { send in },
      .next | .green => .yellow | { send in send(.next) },
      .next | .yellow => .red | { send in },
    ]
    let machine = try StateMachine<Light, Signal>(
      name: "light", initialState: .red, mappings: mappings, onTransition: { seen.store($0) })
    expect(machine.send(input: .power), .failure(currentState: .red, input: .power))
    expect(machine.send(input: .next), .success(old: .red, new: .green, input: .next))
    expect(machine.send(input: .next), .success(old: .green, new: .yellow, input: .next))
    expect(machine.currentState, .red)
    expect(
      seen.withLock { $0 },
      [
        .failure(currentState: .red, input: .power), .success(old: .red, new: .green, input: .next),
        .success(old: .green, new: .yellow, input: .next), .success(old: .yellow, new: .red, input: .next),
      ])
  }

  @Test("a condition stands in for an input or a state, and the first mapping that fits counts")
  func conditions() throws {
    let heard = Mutex<[Signal]>([])
    func isBright(_ signal: Signal) -> Bool { if case .dim(let level) = signal { level > 50 } else { false } }
    func isLit(_ light: Light) -> Bool { light != .off }
    func note(_ input: Signal, send: @escaping @Sendable (Signal) -> Void) { heard.store(input) }
    let mappings: [StateMappingWithEffect<Light, Signal>] = [
      .next | .red => .green | note,
      .power | isLit => .off | note,
      isBright | .off => .red | note,
      Stated.any | .green => .yellow | note,
    ]
    let machine = try StateMachine<Light, Signal>(name: "light", initialState: .red, mappings: mappings)
    let walk: [(Signal, Light)] = [
      (.dim(80), .red), (.power, .off), (.power, .off), (.dim(20), .off), (.dim(80), .red), (.next, .green),
      (.power, .off), (.dim(51), .red), (.next, .green), (.dim(1), .yellow), (.power, .off),
    ]
    for (input, state) in walk {
      machine.send(input: input)
      expect(machine.currentState, state)
    }
    expect(
      heard.withLock { $0 }, [.power, .dim(80), .next, .power, .dim(51), .next, .dim(1), .power])
    expect(machine.machine.definition.states.map(\.name), ["red", "green", "off", "yellow"])
    expect(
      machine.machine.definition.events.map(\.name), ["next", "power", "condition 1", "condition 2"])
  }

  @Test("inputs from many threads are taken one after another, and none is lost")
  func threads() async throws {
    let count = Mutex(0)
    let mappings: [StateMappingWithEffect<Light, Signal>] = [
      .next | .red => .green | { send in count.withLock { $0 += 1 } },
      .next | .green => .red | { send in count.withLock { $0 += 1 } },
    ]
    let machine = try StateMachine<Light, Signal>(name: "light", initialState: .red, mappings: mappings)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 { group.addTask { for _ in 0..<250 { machine.send(input: .next) } } }
    }
    expect(count.withLock { $0 }, 2000)
    expect(machine.currentState, .red)
  }

  @Test("mappings that contradict each other are refused with everything that is wrong")
  func faults() {
    #expect(throws: DefinitionError([.emptyMachineName, .duplicateFrom(event: "next", state: "red")])) {
      let mappings: [StateMappingWithEffect<Light, Signal>] = [
        .next | .red => .green | { send in },
        .next | .red => .yellow | { send in },
      ]
      _ = try StateMachine<Light, Signal>(name: "", initialState: .red, mappings: mappings)
    }
  }
}

extension Mutex {
  fileprivate borrowing func store<Element: Sendable>(_ element: Element) where Value == [Element] {
    withLock { $0.append(element) }
  }
}
