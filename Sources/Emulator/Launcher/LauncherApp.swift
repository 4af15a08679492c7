public import Basics
import Automata
public import Conformance
import Synchronization

/// An app that decides on its first screen, with mappings and effects as in Stated's documentation.
public typealias LauncherDevice = AppDevice<LauncherApp>

/// The app behind a ``LauncherDevice``.
public final class LauncherApp: EmulatedApp {
  /// The defects that the launcher can have.
  public enum Defect: String, CaseIterable, Sendable {
    /// An upgrade loses the credentials, so that the user must log in again after it.
    case forgottenCredentials = "forgotten-credentials"
    /// From the second log-out on, the authentication is not cleared.
    case lingeringSession = "lingering-session"
  }

  /// The actions of the user and of the app delegate, including the callbacks of the screens.
  public static let stimuli = ["initialize", "indexDatabase", "logIn", "logOut"]

  /// Whether an upgrade is pending, and whether a user's name and password are stored.
  public static let settings = ["upgradePending", "credentials"]

  private let root: RootViewController
  private let launcher: AppLauncher

  /// Makes the app, which does nothing before it is initialized.
  public init(_ start: StartCondition, defect: Defect?, display: Display) {
    root = RootViewController(display: display)
    let api = APIService(
      display: display, hasAccount: start.flag("credentials") ?? false,
      keepsSession: defect == .lingeringSession)
    let upgrade = UpgradeService(
      isPending: start.flag("upgradePending") ?? false,
      clears: defect == .forgottenCredentials ? api : nil)
    launcher = AppLauncher(
      upgradeService: upgrade, apiService: api, db: PersistenceService(display: display),
      rootViewController: root, display: display)
  }

  /// The screen keeps a callback that keeps the launcher, whose effects keep the screen.
  deinit { root.dismiss() }

  /// Initializes the app, or triggers the callback of its screen.
  public func perform(_ stimulus: String, at now: Instant) -> String? {
    switch stimulus {
    case "initialize": launcher.initialize() ? nil : "the app is initialized already"
    case "indexDatabase": root.callBack(from: .upgrade) ? nil : "no upgrade is under way"
    case "logIn": root.callBack(from: .login) ? nil : "nobody is asked to log in"
    case "logOut": root.callBack(from: .tourList) ? nil : "nobody is logged in"
    default: "the app does not know '\(stimulus)'"
    }
  }
}

/// The launcher itself: states, inputs, effects and their mappings.
private final class AppLauncher: Sendable {
  enum State: String {
    case uninitialized, initialized, upgrading, indexing, loggedOut, loggedIn
  }

  enum Input {
    case initialize, upgrade, indexDatabase, logIn, logOut
  }

  private let machine: Stated.StateMachine<State, Input>

  init(
    upgradeService: UpgradeService, apiService: APIService, db: PersistenceService,
    rootViewController: RootViewController, display: Display
  ) {
    func initialize(send: @escaping @Sendable (Input) -> Void) {
      send(upgradeService.isUpgradePending() ? .upgrade : .indexDatabase)
    }

    func upgrade(send: @escaping @Sendable (Input) -> Void) {
      rootViewController.show(.upgrade) {
        upgradeService.finish()
        send(.indexDatabase)
      }
    }

    func indexDatabase(send: @escaping @Sendable (Input) -> Void) {
      db.createSecondaryIndices()
      send(apiService.hasAccount ? .logIn : .logOut)
    }

    func logIn(send: @escaping @Sendable (Input) -> Void) {
      rootViewController.show(.tourList) { send(.logOut) }
    }

    func logOut(send: @escaping @Sendable (Input) -> Void) {
      apiService.clearAuthentication()
      rootViewController.show(.login) { send(.logIn) }
    }

    // swift-format-ignore
    let mappings: [Stated.StateMappingWithEffect<State, Input>] = [
      /* Input        |      from             to       |   effect    */
      .initialize     | .uninitialized => .initialized | initialize,

      .upgrade        | .initialized   => .upgrading   | upgrade,

      .indexDatabase  | .initialized   => .indexing    | indexDatabase,
      .indexDatabase  | .upgrading     => .indexing    | indexDatabase,

      .logIn          | .indexing      => .loggedIn    | logIn,
      .logIn          | .loggedOut     => .loggedIn    | logIn,

      .logOut         | .indexing      => .loggedOut   | logOut,
      .logOut         | .loggedIn      => .loggedOut   | logOut,
    ]
    machine = Stated.StateMachine<State, Input>(initialState: .uninitialized, mappings: mappings) { result in
      if case .success(_, let new, _) = result { display.show(status: new.rawValue) }
    }
  }

  func initialize() -> Bool {
    if case .success = machine.send(input: .initialize) { true } else { false }
  }
}

/// Knows whether the data needs an upgrade.
private final class UpgradeService: Sendable {
  private let isPending: Atomic<Bool>
  /// What a defective upgrade clears.
  private let clearedService: APIService?

  init(isPending: Bool, clears clearedService: APIService?) {
    self.isPending = Atomic(isPending)
    self.clearedService = clearedService
  }

  func isUpgradePending() -> Bool { isPending.load(ordering: .relaxed) }

  func finish() {
    isPending.store(false, ordering: .relaxed)
    clearedService?.forgetAccount()
  }
}

/// Keeps the account for the app's server.
private final class APIService: Sendable {
  private let display: Display
  private let account: Atomic<Bool>
  private let keepsSession: Bool
  private let clearCount = Atomic(0)

  init(display: Display, hasAccount: Bool, keepsSession: Bool) {
    self.display = display
    self.keepsSession = keepsSession
    account = Atomic(hasAccount)
  }

  var hasAccount: Bool { account.load(ordering: .relaxed) }

  func forgetAccount() { account.store(false, ordering: .relaxed) }

  func clearAuthentication() {
    let count = clearCount.add(1, ordering: .relaxed).newValue
    if keepsSession, count >= 2 { return }
    forgetAccount()
    display.show(effect: "clearAuthentication")
  }
}

/// Keeps the app's data.
private struct PersistenceService: Sendable {
  let display: Display

  func createSecondaryIndices() { display.show(effect: "createSecondaryIndices") }
}

/// Shows one screen at a time, and calls back when the user is done with it.
private final class RootViewController: Sendable {
  enum Screen: String {
    case upgrade = "showUpgradeController"
    case tourList = "showTourListViewController"
    case login = "showLoginViewController"
  }

  private let display: Display
  private let shown = Mutex<(screen: Screen, callback: @Sendable () -> Void)?>(nil)

  init(display: Display) {
    self.display = display
  }

  func show(_ screen: Screen, _ callback: @escaping @Sendable () -> Void) {
    display.show(effect: screen.rawValue)
    shown.withLock { $0 = (screen, callback) }
  }

  /// Removes the screen and its callbacks.
  func dismiss() { shown.withLock { $0 = nil } }

  /// Calls back what the screen waits for, if it is the one shown.
  func callBack(from screen: Screen) -> Bool {
    let callback = shown.withLock { shown -> (@Sendable () -> Void)? in
      guard shown?.screen == screen else { return nil }
      defer { shown = nil }
      return shown?.callback
    }
    callback?()
    return callback != nil
  }
}
