public import Automata

extension MachineDefinition {
  /// The flow of an app from its start to its home screen, with 23 events and 15 states.
  ///
  /// The documentation specifies transitions for nine of the events. The other events have one row each here, so that
  /// every event and every state is used. Each transition runs a block before the change of state and a block after
  /// it.
  public static let flow: MachineDefinition = {
    var machine = MachineDefinition(
      name: "flow", summary: "An app's way through login, validation, migration, tour and synchronisation.",
      states: [
        "idle", "login", "verifyCreateNewPassword", "verifyTokenValidation", "refreshToken", "verifyTFA",
        "initiateTFA", "verifyAppMigration", "resync", "verifyAppTour", "appTour", "verifyInitialSync",
        "initialSync", "launchSync", "home",
      ].map { State($0) },
      events: [
        "noSession", "authenticationCompleted", "createPasswordCompleted", "verifyTFACompleted",
        "tfaVerificationPending", "tfaNotVerified", "didCompleteTFA", "initialSyncCompleted",
        "initialSyncPending", "didCompleteInitialSync", "launchSyncCompleted", "appTourCompleted",
        "appTourPending", "didCompletedAppTour", "hasSession", "invalidToken", "tokenValidationCompleted",
        "didCompleteRefreshToken", "migration", "resync", "appMigrationCompleted", "didCompleteAppMigration",
        "logout",
      ].map { Event($0) },
      starts: [Start("idle")])
    // swift-format-ignore
    machine.add(diagram: """
      idle                    --> login                   : noSession
      idle                    --> verifyTokenValidation   : hasSession
      login                   --> verifyCreateNewPassword : authenticationCompleted
      verifyCreateNewPassword --> verifyTokenValidation   : createPasswordCompleted
      verifyTokenValidation   --> verifyTFA               : tokenValidationCompleted
      verifyTFA               --> verifyAppMigration      : verifyTFACompleted
      verifyAppMigration      --> verifyAppTour           : appMigrationCompleted
      verifyAppTour           --> verifyInitialSync       : appTourCompleted
      verifyInitialSync       --> launchSync              : initialSyncCompleted
      """)
    // swift-format-ignore
    machine.add(diagram: """
      verifyTokenValidation   --> refreshToken            : invalidToken
      refreshToken            --> verifyTokenValidation   : didCompleteRefreshToken
      verifyTFA               --> initiateTFA             : tfaVerificationPending
      initiateTFA             --> verifyAppMigration      : didCompleteTFA
      initiateTFA             --> login                   : tfaNotVerified
      verifyAppMigration      --> resync                  : migration
      resync                  --> verifyAppTour           : didCompleteAppMigration
      verifyAppTour           --> appTour                 : appTourPending
      appTour                 --> verifyInitialSync       : didCompletedAppTour
      verifyInitialSync       --> initialSync             : initialSyncPending
      initialSync             --> launchSync              : didCompleteInitialSync
      launchSync              --> home                    : launchSyncCompleted
      home                    --> resync                  : resync
      home                    --> login                   : logout
      """, origin: .ours)
    for row in machine.transitions.indices {
      guard case .event(let event) = machine.transitions[row].trigger else { continue }
      machine.transitions[row].before = ["preBlock(\(event))"]
      machine.transitions[row].after = ["postBlock(\(event))"]
    }
    return machine
  }()
}
