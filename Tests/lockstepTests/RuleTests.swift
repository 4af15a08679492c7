import Foundation
import TestSupport
import Testing

/// Rules of a machine file, on a program that keeps them and on one that does not.
@Suite("Rules of programs", .timeLimit(.minutes(5)))
struct RuleTests {
  private static let machine = """
    machine: meter
    states: [on]
    readings: { total: integer }
    events: [add]
    starts: [{ state: on }]
    transitions:
      - { event: add, from: on, to: "=" }
    rules:
      - rule: total
        states: [watching, { name: the total did not grow, status: broken }]
        variables: { last: { form: integer, first: -1 } }
        transitions:
          - { event: reading total, from: watching, when: value > last, to: "=", set: { last: value } }
          - { event: reading total, from: watching, to: the total did not grow, when: value <= last }
    """

  private static let program = """
    import sys

    import lockstep_device

    device = lockstep_device.Device("meter", readings=["total"])
    STEP = int(sys.argv[1])


    @device.reset
    def reset():
        device.total = 0
        device.show("on")


    @device.stimulus
    def add():
        device.total += 1 if device.total < 3 else STEP
        device.reading("total", device.total)


    device.run()
    """

  @Test("a program that breaks a rule is a finding, with the values and what gave them")
  func meter() throws {
    let folder = try Command.Folder()
    try folder.write("lockstep_device.py", try Command.call("bindings", "python").output)
    try folder.write("meter.yaml", Self.machine)
    try folder.write("meter.py", Self.program)
    let results = try [1, 0].map { step in
      try Command.line(
        "fuzz meter.yaml --device 'exec:python3 meter.py \(step)' --steps 300 --seed 1", in: folder.path)
    }
    expect(results.map(\.status), [0, 1])
    #expect(
      results[1].output.contains("the total did not grow: value is 3; last is 3, as reading total at "),
      "\(results[1].output)")
  }
}
