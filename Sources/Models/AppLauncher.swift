public import Automata

extension MachineDefinition {
  /// The app launcher, which decides on the first screen of an app.
  ///
  /// The eight mappings are the documentation's own. An input that an effect sends by itself happens at once. The
  /// tester gives an input that waits for a callback: the end of an upgrade (`indexDatabase`), or the user's login or
  /// logout. A pending upgrade and stored credentials are conditions of the start.
  public static let launcher: MachineDefinition = {
    var machine = MachineDefinition(
      name: "launcher", summary: "An app that upgrades, indexes its data and shows the first screen.",
      events: [
        Event("initialize"), Event("upgrade", .spontaneous), Event("indexDatabase", .both),
        Event("logIn", .both),
        Event("logOut", .both),
      ],
      conditions: [Condition("upgradePending"), Condition("credentials")],
      starts: [Start("uninitialized")])
    // swift-format-ignore
    machine.add(mappings: """
    /* Input                             |      from             to       |   effect */
    initialize                           | uninitialized => initialized

    upgrade given upgradePending after 0 s | initialized => upgrading     | showUpgradeController

    indexDatabase unless upgradePending after 0 s | initialized => indexing | createSecondaryIndices
    indexDatabase                        | upgrading     => indexing      | createSecondaryIndices

    logIn given credentials after 0 s    | indexing      => loggedIn      | showTourListViewController
    logIn                                | loggedOut     => loggedIn      | showTourListViewController

    logOut unless credentials after 0 s | indexing => loggedOut | clearAuthentication, showLoginViewController
    logOut                              | loggedIn => loggedOut | clearAuthentication, showLoginViewController
    """)
    return machine
  }()
}
