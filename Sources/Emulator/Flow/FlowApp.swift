public import Basics
import Automata
public import Conformance
import Synchronization

/// An app that guides its user through steps, with a block before and a block after each.
public typealias FlowDevice = AppDevice<FlowApp>

/// The events of the app.
private enum AppEvent: String, CaseIterable {
  case noSession, authenticationCompleted, createPasswordCompleted, verifyTFACompleted, tfaVerificationPending
  case tfaNotVerified, didCompleteTFA, initialSyncCompleted, initialSyncPending, didCompleteInitialSync
  case launchSyncCompleted, appTourCompleted, appTourPending, didCompletedAppTour, hasSession, invalidToken
  case tokenValidationCompleted, didCompleteRefreshToken, migration, resync, appMigrationCompleted
  case didCompleteAppMigration, logout
}

/// The states of the app.
private enum AppState: String {
  case idle, login, verifyCreateNewPassword, verifyTokenValidation, refreshToken, verifyTFA, initiateTFA
  case verifyAppMigration, resync, verifyAppTour, appTour, verifyInitialSync, initialSync, launchSync, home
}

/// The app behind a ``FlowDevice``.
public final class FlowApp: EmulatedApp {
  /// The defects that the flow can have.
  public enum Defect: String, CaseIterable, Sendable {
    /// After data was synchronised again, the block before a logout runs after it.
    case lateBlock = "late-block"
    /// A user who logs in again after a logout skips the validation of the token.
    case unvalidatedLogin = "unvalidated-login"
  }

  /// The 23 events.
  public static let stimuli = AppEvent.allCases.map(\.rawValue)

  private let defect: Defect?
  private var hasLoggedOut = false
  private let machine: Flow.StateMachine<AppState, AppEvent>

  /// Starts the app, idle.
  public init(_ start: StartCondition, defect: Defect?, display: Display) {
    self.defect = defect
    let hasSynchronisedAgain = Atomic(false)
    func step(_ from: AppState, _ to: AppState, _ event: AppEvent) -> Flow.Transition<AppState, AppEvent> {
      let name = event.rawValue
      let isLate = { @Sendable in
        defect == .lateBlock && event == .logout && hasSynchronisedAgain.load(ordering: .relaxed)
      }
      return Flow.Transition(
        with: event, from: from, to: to,
        preBlock: {
          if !isLate() { display.show(effect: "preBlock(\(name))") }
        },
        postBlock: {
          display.show(status: to.rawValue)
          if isLate() { display.show(effect: "preBlock(\(name))") }
          display.show(effect: "postBlock(\(name))")
          if event == .resync { hasSynchronisedAgain.store(true, ordering: .relaxed) }
        })
    }
    do {
      machine = try Flow.StateMachine(
        name: "app", initialState: .idle,
        transitions: [
          step(.idle, .login, .noSession),
          step(.idle, .verifyTokenValidation, .hasSession),
          step(.login, .verifyCreateNewPassword, .authenticationCompleted),
          step(.verifyCreateNewPassword, .verifyTokenValidation, .createPasswordCompleted),
          step(.verifyTokenValidation, .verifyTFA, .tokenValidationCompleted),
          step(.verifyTokenValidation, .refreshToken, .invalidToken),
          step(.refreshToken, .verifyTokenValidation, .didCompleteRefreshToken),
          step(.verifyTFA, .verifyAppMigration, .verifyTFACompleted),
          step(.verifyTFA, .initiateTFA, .tfaVerificationPending),
          step(.initiateTFA, .verifyAppMigration, .didCompleteTFA),
          step(.initiateTFA, .login, .tfaNotVerified),
          step(.verifyAppMigration, .verifyAppTour, .appMigrationCompleted),
          step(.verifyAppMigration, .resync, .migration),
          step(.resync, .verifyAppTour, .didCompleteAppMigration),
          step(.verifyAppTour, .verifyInitialSync, .appTourCompleted),
          step(.verifyAppTour, .appTour, .appTourPending),
          step(.appTour, .verifyInitialSync, .didCompletedAppTour),
          step(.verifyInitialSync, .launchSync, .initialSyncCompleted),
          step(.verifyInitialSync, .initialSync, .initialSyncPending),
          step(.initialSync, .launchSync, .didCompleteInitialSync),
          step(.launchSync, .home, .launchSyncCompleted),
          step(.home, .resync, .resync),
          step(.home, .login, .logout),
        ])
    } catch {
      preconditionFailure("the flow is well defined: \(error)")
    }
  }

  /// Processes the event.
  public func perform(_ stimulus: String, at now: Instant) -> String? {
    guard let event = AppEvent(rawValue: stimulus) else { return "there is no event '\(stimulus)'" }
    guard case .success = machine.process(event: event) else {
      return "'\(stimulus)' does not lead on from \(machine.currentState.rawValue)"
    }
    if event == .logout { hasLoggedOut = true }
    if defect == .unvalidatedLogin, hasLoggedOut, event == .createPasswordCompleted {
      machine.process(event: .tokenValidationCompleted)
    }
    return nil
  }
}
