import Automata
import Models
import TestSupport
import Testing

@Suite("The Sesame machines")
struct SesameMachineTests {
  @Test("the table has 31 legal cells and refuses the other 177")
  func cells() throws {
    let machine = try Machine(.sesameTable)
    let stimuli = (0..<machine.eventCount).filter { machine.isStimulus($0) }
    let legal = (0..<machine.stateCount).reduce(0) { sum, state in
      sum + stimuli.count { !machine.edges(from: state, on: $0).isEmpty }
    }
    expect(legal, 31)
    expect(machine.stateCount * stimuli.count - legal, 177)
  }

  @Test(
    "each row of the printed tables leads where the documentation says, read the natural way",
    arguments: [
      ("noSignal (unregistered)", "closeTo", ["receivedBle"]),
      ("waitingGatt (unregistered)", "gattReady", ["readytoRegister"]),
      ("registering (unregistered)", "registered", ["nosetting"]),
      ("waitingGatt (registered)", "gattReady", ["logining"]),
      ("logining (registered)", "loginDone", ["locked", "unlocked", "moved", "nosetting"]),
      ("nosetting (registered)", "configure", ["locked", "unlocked", "moved"]),
      ("unlocked (registered)", "lock", ["locked"]),
      ("locked (registered)", "unlock", ["unlocked"]),
      ("moved (registered)", "toggle", ["locked", "unlocked"]),
      ("reset (registered)", "disconnect", ["noSignal"]),
      ("connecting (registered)", "disconnect", []),
    ])
  func rows(state: String, event: String, statuses: [String]) throws {
    let machine = try Machine(.sesameTable)
    let from = try #require(machine.state(named: state))
    let on = try #require(machine.event(named: event))
    expect(machine.edges(from: from, on: on).map { machine.definition.states[$0.target].status }, statuses)
  }

  @Test("the living lock's machine has no fault, and every state of it can be reached")
  func sesame() throws {
    let machine = try Machine(.sesame)
    var reached = Set(machine.definition.starts.compactMap { machine.state(named: $0.state) })
    var open = reached.sorted()
    while let state = open.popLast() {
      let edges =
        machine.spontaneous[state] + (0..<machine.eventCount).flatMap { machine.edges(from: state, on: $0) }
      for edge in edges where reached.insert(edge.target).inserted { open.append(edge.target) }
    }
    let missed = (0..<machine.stateCount).filter { !reached.contains($0) }
    expect(missed.map { machine.definition.states[$0].name }, [])
  }

  @Test(
    "every legal stimulus of the printed tables is legal in the living lock's machine, from the same status")
  func agrees() throws {
    let table = try Machine(.sesameTable)
    let sesame = try Machine(.sesame)
    let spontaneous = ["linkUp", "gattReady", "registered", "loginDone"]
    for state in 0..<table.stateCount {
      for event in 0..<table.eventCount where !table.edges(from: state, on: event).isEmpty {
        let name = table.definition.events[event].name
        let status = table.definition.states[state].status
        let known = try #require(sesame.event(named: name))
        let found = (0..<sesame.stateCount).contains { other in
          sesame.definition.states[other].status == status
            && (spontaneous.contains(name)
              ? sesame.spontaneous[other].contains { $0.event == known }
              : !sesame.edges(from: other, on: known).isEmpty)
        }
        #expect(found, "\(name) in \(status)")
      }
    }
  }
}
