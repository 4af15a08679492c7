import Automata
import Conformance
import Emulator
import Harness
import Journal
import TestSupport
import Testing

/// A machine of a file, of one state in which it takes some stimuli.
private func file(
  _ stimuli: [String], happens: [String] = [], faults: [String] = []
) throws
  -> MachineLibrary.Entry
{
  var machine = MachineDefinition(name: "vending")
  machine.states = [State("idle")]
  machine.events = stimuli.map { Event($0) } + happens.map { Event($0, .spontaneous) }
  machine.transitions = (stimuli + happens).map {
    Transition(.event($0), from: .states(["idle"]), to: .states(["idle"]))
  }
  machine.conditions = faults.map { Condition($0, faults: [$0]) }
  machine.starts = [Start("idle")]
  return MachineLibrary.Entry(label: "in.dot", machine: try Machine(machine), isFile: true)
}

@Suite("Devices that have nothing in common with a machine")
struct StrangerTests {
  private let device = DeviceSpec(.emulator, "rigged")

  private func description(_ change: (inout DeviceDescription) -> Void = { _ in }) -> DeviceDescription {
    var description = DeviceDescription(
      family: nil, machines: ["door"],
      abilities: Abilities(stimuli: ["open", "close"], faults: ["wind"]),
      withheld: [("tire", "it wears")])
    change(&description)
    return description
  }

  private func problem(_ machine: MachineLibrary.Entry, _ description: DeviceDescription) -> String? {
    do {
      try description.check(device, against: machine)
      return nil
    } catch {
      return "\(error.message) | \(error.hint ?? "")"
    }
  }

  @Test("a machine of which the device takes no stimulus and no fault is refused, with what each of them has")
  func refused() throws {
    expect(
      problem(try file(["coin"]), description()),
      "`rigged` takes no stimulus of the machine `in.dot`: coin | it takes open, close, tire")
    let many = (1...15).map { "coin\($0)" }
    expect(
      problem(
        try file(many),
        description {
          $0.abilities.stimuli = []; $0.withheld = []
        }),
      "`rigged` takes no stimulus of the machine `in.dot`: \(many.prefix(12).joined(separator: ", ")) and 3 more"
        + " | it takes none")
  }

  @Test("what has something in common, and what says only when asked, is not")
  func accepted() throws {
    expect(problem(try file(["coin", "open"]), description()), nil)
    expect(problem(try file(["tire"]), description()), nil)
    expect(problem(try file(["coin"], faults: ["wind"]), description()), nil)
    expect(problem(try file([], happens: ["ring"]), description()), nil)
    expect(problem(try file(["coin"]), description { $0.abilities.stimuli = nil }), nil)
  }

  @Test("what of a machine no test can give is known before a campaign begins")
  func undriven() throws {
    let lock = RiggedLock(.deafUnlock)
    func undriven(_ stimuli: [String]) throws -> [String] {
      try FuzzTarget(try file(stimuli), device, seed: 1, provider: RiggedProvider(lock)).undriven
    }
    expect(try undriven(["coin", "connect", "beep"]), ["coin", "beep"])
    expect(try undriven(["connect"]), [])
    #expect(throws: DeviceProblem.self) { try undriven(["coin"]) }
  }

  @Test("a campaign that can only inject faults has no verdict, and one that can request something has")
  func faultsAlone() throws {
    func end(_ stimuli: [String], _ cause: CampaignEnd = .done) throws -> [String] {
      let provider = ToyProvider()
      let target = try FuzzTarget(
        try file(stimuli, happens: ["ring"], faults: ["wind"]), DeviceSpec(.emulator, "oak"), seed: 1,
        provider: provider)
      let records = Verdicts()
      var status = CampaignStatus()
      status.events = 9
      let exit = CampaignJournal(target, FuzzSettings(), provider: provider, listener: records)
        .end(cause, status, nil)
      return ["\(exit.rawValue)"] + records.messages
    }
    expect(
      try end(["coin", "beep"]),
      ["4", "skipped: nothing was compared: emulator:oak takes no stimulus of the machine"])
    expect(try end(["coin"], .stopped), ["5", "incomplete: stopped before its budget was used up"])
    expect(try end(["coin", "open"]), ["0", "agree: "])
    expect(try end([]), ["0", "agree: "])
  }
}

/// The verdicts of a journal, with their messages.
private final class Verdicts: JournalListener {
  private(set) var messages: [String] = []

  func take(_ record: Record) {
    if case .verdict(let verdict) = record {
      messages.append("\(verdict.word.rawValue): \(verdict.message ?? "")")
    }
  }
}
