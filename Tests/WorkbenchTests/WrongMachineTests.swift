import Benchmarks
import Automata
import Conformance
import Testing

@testable import Workbench

@Suite("Machines that are wrong in one place")
struct WrongMachineTests {
  @Test("a number gives one machine, and its device does otherwise than its model in one cell")
  func draws() throws {
    for number in 0..<40 {
      let (one, again) = (try WrongMachine(number: number), try WrongMachine(number: number))
      #expect(
        one.model.definition == again.model.definition && one.device.definition == again.device.definition)
      #expect(one.device.definition.states.count % one.model.definition.states.count == 0)
      #expect(one.model.definition.events == one.device.definition.events)
    }
    #expect(try WrongMachine(number: 1).model.definition != WrongMachine(number: 2).model.definition)
  }

  @Test("most are found by generated tests, and a model is never told from itself")
  func search() throws {
    var found = 0
    for number in 0..<40 {
      let machine = try WrongMachine(number: number)
      func search(_ device: Machine) throws -> Int? {
        var search = FuzzSearch(
          machine.model, MachineDevice(device, .seeded(1), showsEffects: false), seed: 1,
          recorder: NoRecorder())
        return try search.run(20_000, isShrunk: false).found
      }
      if try search(machine.device) != nil { found += 1 }
      #expect(try search(machine.model) == nil, "\(number)")
    }
    #expect(found > 30, "\(found)")
  }
}
