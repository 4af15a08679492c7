import Conformance
import Emulator
import Models
import Basics
import TestSupport
import Testing

@Suite("The launcher device")
struct LauncherDeviceTests {
  private let walk = AppWalk<LauncherApp>(machine: .launcher)

  @Test(
    "the first screen depends on the upgrade and the credentials",
    arguments: [
      (
        false, false,
        [
          "initialized", "indexing", "createSecondaryIndices", "loggedOut", "clearAuthentication",
          "showLoginViewController",
        ]
      ),
      (
        false, true,
        ["initialized", "indexing", "createSecondaryIndices", "loggedIn", "showTourListViewController"]
      ),
      (true, true, ["initialized", "upgrading", "showUpgradeController"]),
    ])
  func start(upgrade: Bool, credentials: Bool, lines: [String]) throws {
    var device = LauncherDevice()
    try device.reset(
      to: StartCondition([
        Argument("upgradePending", .flag(upgrade)), Argument("credentials", .flag(credentials)),
      ]))
    expect(try shown(by: &device, of: .launcher, on: ["initialize"]), lines)
  }

  @Test("screens call back: the upgrade ends, the user logs in and out, and nothing else is obeyed")
  func callbacks() throws {
    var device = LauncherDevice()
    try device.reset(to: StartCondition([Argument("upgradePending", .flag(true))]))
    expect(
      try shown(
        by: &device, of: .launcher,
        on: ["initialize", "logIn", "indexDatabase", "logIn", "initialize", "logOut"]),
      [
        "initialized", "upgrading", "showUpgradeController", "refused: nobody is asked to log in", "indexing",
        "createSecondaryIndices", "loggedOut", "clearAuthentication", "showLoginViewController", "loggedIn",
        "showTourListViewController",
        "refused: the app is initialized already", "loggedOut", "clearAuthentication",
        "showLoginViewController",
      ])
  }

  @Test("it agrees with its model on random walks, from every start", arguments: [1, 2, 3] as [UInt64])
  func agrees(seed: UInt64) throws {
    let found = try walk.run(nil, seed: seed, tests: 100, steps: 20)
    #expect(found == nil, "\(found.map { "\($0.0.summary) after \($0.1)" } ?? "")")
  }

  @Test("each defect is found by random walks", arguments: LauncherApp.Defect.allCases)
  func defects(defect: LauncherApp.Defect) throws {
    #expect(try walk.run(defect, seed: 1, tests: 200, steps: 20) != nil)
  }

  @Test("an app that is done with leaves nothing behind, though a screen still waits for its user")
  func released() {
    weak var display: Display?
    do {
      let shown = Display()
      let app = LauncherApp(StartCondition(), defect: nil, display: shown)
      expect(app.perform("initialize", at: .zero), nil)
      display = shown
    }
    #expect(display == nil)
  }
}
