public import Automata

extension MachineDefinition {
  /// The app launcher: which screen an app begins with.
  ///
  /// The eight mappings are the documentation's own. An input that an effect sends by itself happens at once;
  /// one that waits for a callback is the tester's: the upgrade that ends (`indexDatabase`), the user who
  /// logs in or out. Whether an upgrade is pending and whether there are credentials are conditions of the
  /// start.
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
