import Conformance
import Emulator
import Models
import Basics
import TestSupport
import Testing

@Suite("Traces of the launcher, beside its model")
struct LauncherTraceTests {
  private func launcher(
    _ steps: String, upgradePending: Bool = false, credentials: Bool = false,
    defect: LauncherApp.Defect? = nil
  ) throws -> Playback {
    try play(
      steps, on: LauncherDevice(defect: defect), against: .launcher,
      settings: [
        Argument("upgradePending", .flag(upgradePending)), Argument("credentials", .flag(credentials)),
      ])
  }

  @Test("with nothing to upgrade and nobody known, the login comes first: the whole trace")
  func loggedOut() throws {
    let playback = try launcher("initialize, wait 5 s, logIn, wait 1 min, logOut")
    expect(playback.divergence, nil)
    expect(
      playback.trace,
      [
        "0.000 s > initialize",
        "0.000 s   initialized",
        "0.000 s   indexing",
        "0.000 s   createSecondaryIndices",
        "0.000 s   loggedOut",
        "0.000 s   clearAuthentication",
        "0.000 s   showLoginViewController",
        "5.000 s > logIn",
        "5.000 s   loggedIn",
        "5.000 s   showTourListViewController",
        "65.000 s > logOut",
        "65.000 s   loggedOut",
        "65.000 s   clearAuthentication",
        "65.000 s   showLoginViewController",
      ])
  }

  @Test("with an upgrade pending and a user known, the tours come when the upgrade is through")
  func upgrade() throws {
    let playback = try launcher(
      "initialize, wait 90 s, indexDatabase", upgradePending: true, credentials: true)
    expect(playback.divergence, nil)
    expect(
      playback.trace,
      [
        "0.000 s > initialize",
        "0.000 s   initialized",
        "0.000 s   upgrading",
        "0.000 s   showUpgradeController",
        "90.000 s > indexDatabase",
        "90.000 s   indexing",
        "90.000 s   createSecondaryIndices",
        "90.000 s   loggedIn",
        "90.000 s   showTourListViewController",
      ])
  }

  @Test("credentials that an upgrade loses are missed when it is through, and only then")
  func forgottenCredentials() throws {
    let steps = "initialize, wait 1 s, indexDatabase"
    let defect = LauncherApp.Defect.forgottenCredentials
    expect(try launcher(steps, upgradePending: true, credentials: true).divergence, nil)
    expect(try launcher("initialize", credentials: true, defect: defect).divergence, nil)
    let divergence = try #require(
      try launcher(steps, upgradePending: true, credentials: true, defect: defect).divergence)
    expect(divergence.kind, .unexpected("loggedOut"))
    expect(divergence.time, .zero + .seconds(1))
    expect(divergence.step, 3)
    expect(
      divergence.allowed,
      [
        .init(
          state: "indexing", cause: "logIn after 0 s", shows: "loggedIn", isDue: true, isRequired: true)
      ])
  }

  @Test("an authentication that outlives the second log-out is missed at once")
  func lingeringSession() throws {
    let steps = "initialize, wait 1 s, logOut, logIn, wait 1 s, logOut"
    let defect = LauncherApp.Defect.lingeringSession
    expect(try launcher(steps, credentials: true).divergence, nil)
    let divergence = try #require(try launcher(steps, credentials: true, defect: defect).divergence)
    expect(divergence.kind, .unexpected("showLoginViewController"))
    expect(divergence.time, .zero + .seconds(2))
    expect(divergence.step, 6)
    expect(
      divergence.allowed,
      [
        .init(
          state: "loggedOut", cause: "", shows: "clearAuthentication",
          following: ["showLoginViewController"], isDue: true, isRequired: true)
      ])
    expect(
      divergence.sentence(after: StepSummary()),
      "At the start: clearAuthentication was due, the device showed showLoginViewController.")
  }
}
