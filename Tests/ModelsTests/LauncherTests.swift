import Automata
import Models
import Basics
import TestSupport
import Testing

@Suite("The cells of the launcher machine")
struct LauncherCellTests {
  @Test(
    "each state does what the table says, and refuses everything else",
    arguments: [
      ("uninitialized", ["initialize --> initialized"]),
      (
        "initialized",
        [
          "upgrade after 0 s given upgradePending --> upgrading ; showUpgradeController",
          "indexDatabase after 0 s unless upgradePending --> indexing ; createSecondaryIndices",
        ]
      ),
      ("upgrading", ["indexDatabase --> indexing ; createSecondaryIndices"]),
      (
        "indexing",
        [
          "logIn after 0 s given credentials --> loggedIn ; showTourListViewController",
          "logOut after 0 s unless credentials --> loggedOut ; clearAuthentication, showLoginViewController",
        ]
      ),
      ("loggedOut", ["logIn --> loggedIn ; showTourListViewController"]),
      ("loggedIn", ["logOut --> loggedOut ; clearAuthentication, showLoginViewController"]),
    ])
  func state(name: String, lines: [String]) throws {
    expect(try cells(of: name, in: .launcher), lines)
  }

  @Test("every row is the documentation's, and there is one start")
  func documented() {
    expect(MachineDefinition.launcher.transitions.filter { $0.origin != .seed }, [])
    expect(MachineDefinition.launcher.states.count, 6)
    expect(MachineDefinition.launcher.starts, [Start("uninitialized")])
  }

  @Test("whatever the conditions, a state that an effect leaves has one way on, and it is taken at once")
  func atOnce() throws {
    let machine = try Machine(.launcher)
    for name in ["initialized", "indexing"] {
      let state = try #require(machine.state(named: name))
      for conditions in 0..<4 as Range<UInt64> {
        let ways = machine.spontaneous[state].filter { $0.guard.holds(under: conditions) }
        expect(ways.map(\.latest), [.zero])
      }
    }
  }
}
