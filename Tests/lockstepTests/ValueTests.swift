import Foundation
import Journal
import TestSupport
import Testing

/// Values of every type between a machine and a program: given as arguments, kept by both, and shown as readings.
@Suite("Values of programs", .timeLimit(.minutes(10)))
struct ValueTests {
  private static let machine = """
    machine: values
    states: [on]
    variables:
      keptText: { form: text, first: "''" }
      keptBytes: { form: hex, first: "bytes('')" }
      keptFlag: { form: flag, first: "false" }
      keptCount: { form: { integer: [0, 9] }, first: 0 }
      keptShare: { form: { number: [0, 1] }, first: "0.0" }
      keptDelay: { form: { duration: [0 s, 5 min] }, first: "duration('0s')" }
      keptMoment: { form: { instant: 1 ms } }
      keptSide: { form: [left, right], first: "'left'" }
      keptList: { form: &list { list: integer, size: 3 }, first: "[]" }
      keptMap: { form: &map { map: [integer, text], size: 2 }, first: "{}" }
      keptRecord: { form: &record { record: { user: text, tries: integer } }, first: "{'user': '', 'tries': 0}" }
    readings:
      text: text
      bytes: hex
      flag: flag
      count: integer
      share: number
      delay: duration
      moment: { instant: 1 ms }
      side: [left, right]
      list: *list
      map: *map
      record: *record
    events:
      - keep:
          arguments:
            text: text
            data: hex
            isOn: flag
            count: { integer: [0, 9] }
            share: { number: [0, 1] }
            delay: { duration: [0 s, 5 min] }
            moment: { instant: 1 ms }
            side: [left, right]
            numbers: *list
            names: *map
            entry: *record
      - show
    starts: [{ state: on }]
    transitions:
      - event: keep
        from: on
        to: "="
        set:
          keptText: text
          keptBytes: data
          keptFlag: isOn
          keptCount: count
          keptShare: share
          keptDelay: delay
          keptMoment: moment
          keptSide: side
          keptList: numbers
          keptMap: names
          keptRecord: entry
      - event: show
        from: on
        to: "="
        then:
          - { reading: text, is: keptText }
          - { reading: bytes, is: keptBytes }
          - { reading: flag, is: keptFlag }
          - { reading: count, is: keptCount }
          - { reading: share, is: keptShare }
          - { reading: delay, is: keptDelay }
          - { reading: moment, is: keptMoment }
          - { reading: side, is: keptSide }
          - { reading: list, is: keptList }
          - { reading: map, is: keptMap }
          - { reading: record, is: keptRecord }
    """

  private static let program = """
    import datetime

    import lockstep_device

    NAMES = ["text", "bytes", "flag", "count", "share", "delay", "moment", "side", "list", "map", "record"]
    device = lockstep_device.Device("values", readings=NAMES)


    @device.reset
    def reset():
        device.kept = ["", b"", False, 0, 0.0, datetime.timedelta(), 0, "left", [], {}, {"user": "", "tries": 0}]
        device.show("on")


    @device.stimulus
    def keep(text, data: bytes, isOn, count, share, delay: datetime.timedelta, moment, side, numbers, names, entry):
        values = [text, data, isOn, count, share, delay, moment, side, numbers, names, entry]
        kinds = [str, bytes, bool, int, (int, float), datetime.timedelta, (int, float), str, list, dict, dict]
        wrong = [value for value, kind in zip(values, kinds) if not isinstance(value, kind)]
        if wrong:
            device.refuse("these have another type: %r" % wrong)
        device.kept = values


    @device.stimulus
    def show():
        for name, value in zip(NAMES, device.kept):
            device.reading(name, value)


    device.run()
    """

  private static let scenario = """
    scenario: Each kind of value comes back as it was given
    machine: values.yaml
    device: "exec:python3 values.py"
    steps:
      - keep:
          text: "12"
          data: 00ff
          isOn: yes
          count: 7
          share: 0.25
          delay: 1.5 s
          moment: 2.5
          side: right
          numbers: [3, 1, 2]
          names: { 7: anna, 8: bob }
          entry: { user: anna, tries: 2 }
      - show
    """

  /// A folder with the machine, the scenario and a program.
  private func folder(
    _ name: String = "values.py", _ program: String = Self.program
  ) throws
    -> Command.Folder
  {
    let folder = try Command.Folder()
    for (language, file) in [("python", "lockstep_device.py"), ("c", "lockstep_device.h")] {
      try folder.write(file, try Command.call("bindings", language).output)
    }
    try folder.write("values.yaml", Self.machine)
    try folder.write("all.yaml", Self.scenario)
    try folder.write(name, program)
    return folder
  }

  @Test("a program in Python receives and shows each type, in a scenario and in generated tests")
  func python() throws {
    let folder = try folder()
    let results = try [
      "run all.yaml", "fuzz values.yaml --device 'exec:python3 values.py' --steps 3000 --seed 1",
    ].map { try Command.line($0, in: folder.path) }
    expect(results.map(\.status), [0, 0])
    #expect(results[0].output.contains("1 case: 1 agree"), "\(results[0])")
    let run = try #require(folder.names("Reports/runs").first { $0.hasSuffix("-run") })
    let readings = try folder.read("Reports/runs/\(run)/journal.jsonl").matches(
      of: /"reading":"(\w+)","value":(.*)}/
    ).map { "\($0.1) \($0.2)" }
    expect(
      readings,
      [
        #"text "12""#, #"bytes "00ff""#, "flag true", "count 7", "share 0.25", "delay 1.5",
        "moment 2.5", #"side "right""#,
        "list [3,1,2]", #"map {"7":"anna","8":"bob"}"#, #"record {"user":"anna","tries":2}"#,
      ])
  }

  /// What a program does wrong with one type, and what is said of it.
  static let faults: [(line: String, other: String, words: String)] = [
    (
      "device.kept = values", "device.kept = values[:2] + [False] + values[3:]",
      "flag is no, and yes is due"
    ),
    ("device.kept = values", "device.kept = values[:1] + [data[:1]] + values[2:]", "bytes is "),
    (
      "device.kept = values", "device.kept = values[:8] + [numbers[::-1]] + values[9:]",
      "list[0] is "
    ),
    (
      "device.kept = values", "device.kept = values[:10] + [dict(entry, tries=1)]",
      "record.tries is 1, and "
    ),
    (
      "data: bytes", "data: int",
      "the device refused what the model allows: these have another type"
    ),
  ]

  @Test("a wrong value of each type is found", arguments: faults.indices)
  func wrong(index: Int) throws {
    let (line, other, words) = Self.faults[index]
    #expect(Self.program.contains(line))
    let folder = try folder("values.py", Self.program.replacing(line, with: other))
    let result = try Command.line("run all.yaml", in: folder.path)
    expect(result.status, 1)
    #expect(result.output.contains(words), "\(result.output)\(result.errors)")
  }

  @Test("a number that JSON does not have, and a value that is none, are told")
  func strange() throws {
    let folder = try folder(
      "show.py",
      """
      import lockstep_device, sys
      device = lockstep_device.Device("show", readings=["a"])
      @device.stimulus
      def show():
          device.reading("a", [1.5, float("nan"), {"b": float("inf")}, (b"\\x01", None)])
          try:
              device.reading("a", {1, 2})
          except TypeError as reason:
              device.log(reason)
      device.run()
      """)
    let result = try Command.shell(
      #"printf '%s\n' '{"stimulus":"show","at":0}' | python3 show.py"#, in: folder.path)
    expect(
      result.output.split(separator: "\n").map(String.init),
      [
        #"{"reading":{"a":[1.5,"not a number",{"b":"not a number"},["01",null]]}}"#,
        #"{"log":"a value is a bool, int, float, str, bytes, timedelta, list, tuple or dict, and not {1, 2}"}"#,
        #"{"settled":true,"next":null}"#,
      ])
  }

  @Test("a program in C receives the JSON of lists, maps and records, and shows it")
  func c() throws {
    let program = #"""
      #define LOCKSTEP_DEVICE
      #include "lockstep_device.h"
      static char kept[3][200];
      static const char *const names[] = {"numbers", "names", "entry"}, *const shown[] = {"list", "map", "record"};
      static void reset(const lockstep_values *start) { (void)start; lockstep_show("on"); }
      static void stimulus(const char *name, const lockstep_values *arguments) {
        for (int index = 0; index < 3; index++) {
          if (!strcmp(name, "keep")) snprintf(kept[index], 200, "%s", lockstep_text(arguments, names[index], ""));
          else lockstep_read_json(shown[index], kept[index]);
        }
      }
      int main(void) {
        static const char *const stimuli[] = {"keep", "show", NULL};
        static const lockstep_device device = {.name = "values", .is_virtual = 1, .stimuli = stimuli,
          .more = "\"readings\":[\"list\",\"map\",\"record\"]", .reset = reset, .stimulus = stimulus};
        return lockstep_run(&device);
      }
      """#
    let folder = try folder("values.c", program)
    // Only these three readings are due.
    let machine = Self.machine.split(separator: "\n", omittingEmptySubsequences: false).filter {
      line in
      !line.hasPrefix("      - { reading: ")
        || ["list", "map", "record"].contains { line.contains("reading: \($0),") }
    }
    try folder.write("values.yaml", machine.joined(separator: "\n"))
    try folder.write(
      "all.yaml",
      Self.scenario.replacing("python3 values.py", with: "./values").replacing(
        "bob }", with: "'b]}\"' }"))
    let result = try Command.shell(
      "cc -Wall -Werror -std=gnu99 -o values values.c && \"$LOCKSTEP\" run all.yaml",
      in: folder.path)
    #expect(result.status == 0 && result.output.contains("1 case: 1 agree"), "\(result)")
  }
}
