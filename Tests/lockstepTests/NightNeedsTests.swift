import Foundation
import TestSupport
import Testing

@Suite("What a night says in the morning", .timeLimit(.minutes(10)))
struct NightNeedsTests {
  private static let night =
    "LOCKSTEP_STATE=$PWD/state/lockstep TERM=dumb $LOCKSTEP nightly plan.yaml --seed 1"

  @Test(
    "names every lock that needs a person, with what to paste, and agrees with devices on what is out of use")
  func needs() throws {
    let folder = try Command.Folder()
    try folder.write(
      "bench.yaml",
      """
      bench: floor-\(UUID().uuidString)
      locks:
        - { name: front, device: "emulator:sesame5" }
        - { name: back, device: "emulator:sesame5?defect=jam-reported-as-locked" }
        - { name: gone, device: "exec:sh -c 'exit 3'" }

      """)
    try folder.write(
      "plan.yaml",
      """
      nightly: Test floor
      duration: 30 min
      suites: [{ name: new, scenarios: \(Command.root)/Scenarios/sesame5/jam.yaml }]

      """)
    let result = try Command.shell(Self.night, in: folder.path)
    expect(result.status, 1)
    let head = "2 of 3 locks need you: back diverged, gone was not found"
    #expect(result.output.hasPrefix("Test floor   \(head)   "), "\(result.output)")
    let lines = result.output.split(separator: "\n").map(String.init)
    let restore = "      lockstep devices restore gone"
    #expect(lines.contains { $0.hasPrefix("      lockstep replay Reports/runs/") } && lines.contains(restore))
    let page = try folder.read("Reports/nightly.html")
    #expect(page.contains("<title>\(head)") && page.contains("<code>lockstep devices restore gone</code>"))
    let devices = "LOCKSTEP_STATE=$PWD/state/lockstep $LOCKSTEP devices"
    let shown = try Command.shell(devices, in: folder.path).output
    #expect(
      shown.contains("  back    available   ") && shown.contains("  gone    out of use   since "), "\(shown)")
    for (name, use) in [("back", "available"), ("gone", "out of use")] {
      #expect(lines.contains { $0.hasPrefix("  \(name) ") && $0.hasSuffix(use) }, "\(result.output)")
    }
    expect(try Command.shell("\(devices) restore gone", in: folder.path).output, "gone is back in use\n")
  }

  @Test("says what was planned and did not happen")
  func notDone() throws {
    let folder = try Command.Folder()
    try folder.write(
      "bench.yaml",
      "bench: floor-\(UUID().uuidString)\nlocks: [{ name: front, device: \"emulator:sesame5\" }]\n")
    try folder.write(
      "plan.yaml",
      """
      nightly: Test floor
      duration: 9 s
      suites: [{ name: new, scenarios: \(Command.root)/Scenarios/sesame5/jam.yaml, tags: [new] }]
      fuzz: { machine: sesame }

      """)
    let result = try Command.shell(Self.night, in: folder.path)
    let words = "1 case (no lock has the tags new); fuzzing of front (no time was left)"
    #expect(result.output.contains("\n  not done: \(words)\n"), "\(result.output)")
    #expect(try folder.read("Reports/nightly.html").contains("Not done: \(words)"))
  }
}
