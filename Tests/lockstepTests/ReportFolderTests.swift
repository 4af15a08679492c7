import TestSupport
import Testing

@Suite("Folders of reports", .timeLimit(.minutes(10)))
struct ReportFolderTests {
  @Test(
    "stand for all runs in them, by the folder, by its runs, or from within, and a run is found where runs usually are"
  )
  func runs() throws {
    let folder = try Command.Folder()
    let script = """
      cp -r "$ROOT/Scenarios/door" door
      for number in 1 2; do
        "$LOCKSTEP" run door/open-and-close.yaml --seed $number --quiet --out "out $number"
        "$LOCKSTEP" run door/again-and-again.yaml --seed $number --quiet --out "out $number"
      done
      "$LOCKSTEP" run door/open-and-close.yaml --quiet
      for runs in '"out 1"' '"out 1/"' '"out 1/runs"' '"out 1/runs/" --out more' '"out 1" "out 2"' 'Reports/runs/*'; do
        eval "\"$LOCKSTEP\" report $runs --quiet --format json" | sed 's/,"agree.*//'
      done
      (cd 'out 2' && "$LOCKSTEP" report . --format json | sed 's/,"agree.*//')
      "$LOCKSTEP" report "$(ls Reports/runs)" --out elsewhere --format json | sed 's/,"agree.*//'
      "$LOCKSTEP" history add 'out 1' 'out 2' --out both
      mkdir -p empty/runs; "$LOCKSTEP" report empty; echo $?
      "$LOCKSTEP" report nowhere; echo $?
      """
    let result = try Command.shell("ROOT='\(Command.root)'\n" + script, in: folder.path)
    let two = #"{"runs":2,"cases":2"#
    let one = #"{"runs":1,"cases":1"#
    expect(
      result.output.split(separator: "\n").map(String.init),
      [
        two, two, two, two, #"{"runs":4,"cases":4"#, one, two, one, "4 runs taken into both/history.sqlite",
        "2", "2",
      ])
    expect(
      result.errors,
      """
      lockstep: there is no run below empty/runs
      See 'lockstep report --help'.
      lockstep: there is no run nowhere: neither nowhere/journal.jsonl nor Reports/runs/nowhere/journal.jsonl is there
      See 'lockstep report --help'.

      """)
  }

  @Test(
    "that cannot be written are named with the option that names another",
    arguments: [
      "run Scenarios/door", "fuzz door --steps 10", "cover door", "report $RUN",
    ])
  func unwritable(line: String) throws {
    let folder = try Command.Folder()
    try folder.write("file", "")
    let run = try Command.line("run Scenarios/door --quiet --out '\(folder.path)/out'")
    expect(run.status, 0)
    let result = try Command.shell(
      "RUN=$(ls -d '\(folder.path)'/out/runs/*); $LOCKSTEP \(line) --out '\(folder.path)/file/out'")
    expect(result.status, 2)
    #expect(
      result.errors.contains(": Not a directory; --out DIR puts reports into another folder\n")
        && result.errors.hasPrefix("lockstep: cannot write \(folder.path)/file/out"), "\(result.errors)")
  }
}
