import Automata
import Conformance
import Testing

@Suite("The conditions in which tests may start")
struct StartConditionTests {
  private func conditions(_ conditions: Int) throws -> [[String]] {
    var definition = MachineDefinition(name: "door")
    definition.states = [State("closed")]
    definition.events = [Event("knock")]
    definition.conditions = (0..<conditions).map { Condition("c\($0)") }
    definition.starts = [Start("closed")]
    definition.transitions = [Transition(.event("knock"), from: .states(["closed"]), to: .stay)]
    let machine = try Machine(definition)
    let starts = machine.startConditions(of: MachineDevice(machine).abilities)
    return starts.map { $0.settings.map(\.name) }
  }

  @Test(
    "each condition that only a start can bring about holds or does not, with all others; the usual start is last"
  )
  func combined() throws {
    let three = try conditions(3)
    #expect(three.count == 8 && Set(three.map { $0.sorted() }).count == 8 && three.last == [])
  }

  @Test("where that would be more than a test could go through, the others hold by themselves only")
  func bounded() throws {
    let all = try conditions(64)
    #expect(all.count == 1024 + 54)
    #expect(Set(all.joined()).count == 64, "each holds in some start")
    #expect(all.last == [])
  }
}
