import TestSupport
import Testing

@Suite("A part of a run")
struct RunPartTests {
  @Test(
    "run takes its part of the scenarios, and fuzz its part of the campaign, unless they are given another")
  func run() throws {
    let folder = try Command.Folder()
    for number in 1...3 {
      try folder.write(
        "Scenarios/\(number).yaml", "scenario: A\nmachine: sesame-table\nsteps:\n  - closeTo\n")
    }
    func perform(_ line: String) throws -> Command.Result { try Command.shell(line, in: folder.path) }
    func cases(_ line: String) throws -> String {
      let result = try perform(line)
      return result.output.prefix { $0 != ":" } + "|" + result.errors
    }
    expect(
      try cases("CI_NODE_INDEX=1 CI_NODE_TOTAL=2 $LOCKSTEP run"),
      "2 cases|lockstep: part 1 of 2, as CI_NODE_INDEX says\n")
    expect(try cases("CI_NODE_INDEX=1 CI_NODE_TOTAL=2 $LOCKSTEP run --shard 2/2"), "1 case|")
    expect(try cases("CI_NODE_INDEX=1 $LOCKSTEP run --shard 1/1"), "3 cases|")
    let fuzz = try perform("CI_NODE_INDEX=2 CI_NODE_TOTAL=2 $LOCKSTEP fuzz sesame-table --seed 1 --steps 100")
    expect(fuzz.status, 0)
    #expect(fuzz.output.contains("seed 1, shard 2/2"), "\(fuzz)")
    let wrong = try perform("JOB_COMPLETION_INDEX=0 $LOCKSTEP run")
    expect(wrong.status, 2)
    #expect(wrong.errors.contains("LOCKSTEP_SHARDS"))
  }
}
