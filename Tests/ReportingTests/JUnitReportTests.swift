import Journal
import Basics
import System
import Foundation
import Reporting
import TestSupport
import Testing

@Suite("JUnit reports")
struct JUnitReportTests {
  @Test("a run of every outcome, as it stands in the file")
  func everyOutcome() throws {
    let journal = [
      #"{"run":{"format":1,"seed":42}}"#,
      #"{"case":{"id":"sesame5/lock","name":"Locking & unlocking","file":"Scenarios/sesame5/lock.yaml","line":2,"machine":"sesame","device":"emulator:sesame5","seed":42}}"#,
      #"{"t":"0.000","step":1,"line":7,"stimulus":"connect"}"#,
      #"{"t":"0.007","status":"connecting"}"#,
      #"{"verdict":"agree","case":"sesame5/lock","t":"3.2104","observations":70001}"#,
      #"{"case":{"id":"sesame5/drop","name":"A drop","file":"Scenarios/sesame5/drop.yaml","line":2,"machine":"sesame","device":"emulator:sesame5","seed":18446744073709551615}}"#,
      #"{"t":"0.000","step":1,"line":7,"stimulus":"unlock","arguments":{"tag":"a","deep":[1,null,true]}}"#,
      #"{"t":"0.007","reading":"battery","value":5.9}"#,
      #"{"t":"0.010","step":2,"line":8,"fault":"drop","value":"next-notification"}"#,
      #"{"t":"10.113","status":"logining"}"#,
      #"{"verdict":"divergence","case":"sesame5/drop","t":"10.113","step":2,"line":8,"message":"the lock stayed <connected>","expected":"noSignal","observed":"logining","details":["model   logining ──▶ noSignal","lock    logining"],"observations":3,"replay":"lockstep replay Reports/failures/drop.yaml"}"#,
      #"{"case":{"id":"sesame5/wait","file":"./Scenarios/sesame5/lock.yaml","line":30}}"#,
      #"{"t":"1.000","step":1,"line":31,"wait":"3 s"}"#,
      #"{"t":"1.500","lab":"the dongle is gone"}"#,
      #"{"verdict":"lab-fault","case":"sesame5/wait","t":"1.500","message":"no dongle"}"#,
      #"{"case":{"id":"real/only","file":"Scenarios/v1.2/real only.yaml"}}"#,
      #"{"verdict":"skipped","case":"real/only","message":"emulator:sesame5 cannot be \"turned by hand\""}"#,
      #"{"coverage":{"machine":"sesame-table","legal":[30,31],"empty":[12,177]}}"#,
      #"{"end":{"cases":4,"agree":1,"divergences":1,"labFaults":1,"skipped":1,"incomplete":0,"status":1}}"#,
    ]
    let manifest = #"""
      {"name":"r1","host":"bench-01","start":"2026-11-20T22:38:51.123Z","version":"1.0","command":["run","Scenarios/","--quiet"],"properties":{"commit":"61f6abf"}}
      """#
    let (xml, report) = try TestFolder().report(journal, manifest: manifest)
    expect(report.tests, 4)
    expect([report.failures, report.errors, report.skipped], [1, 1, 1])
    expect(report.milliseconds, 14_823)
    expect(report.problems, [])
    let suite = { (name: String, counts: String, cases: String) in
      """
        <testsuite name="\(name)" \(counts) timestamp="2026-11-20T22:38:51Z" hostname="bench-01">
          <properties>
            <property name="lockstep.run" value="r1"/>
            <property name="lockstep.version" value="1.0"/>
            <property name="lockstep.seed" value="42"/>
            <property name="lockstep.command" value="run Scenarios/ --quiet"/>
            <property name="lockstep.observations" value="70001"/>
            <property name="lockstep.coverage.sesame-table" value="30 of 31 allowed requests tried, 12 of 177 forbidden requests tried"/>
            <property name="lockstep.commit" value="61f6abf"/>
          </properties>
      \(cases)
        </testsuite>

      """
    }
    expect(
      xml,
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <testsuites name="lockstep" tests="4" failures="1" errors="1" skipped="1" time="14.823">

      """
        + suite(
          "real", #"tests="1" failures="0" errors="0" skipped="1" time="0.000""#,
          """
              <testcase classname="real" name="only" file="Scenarios/v1.2/real only.yaml" time="0.000">
                <properties>
                  <property name="lockstep.case" value="real/only"/>
                  <property name="lockstep.device-time" value="0.000"/>
                </properties>
                <skipped message="emulator:sesame5 cannot be &quot;turned by hand&quot;">emulator:sesame5 cannot be "turned by hand"</skipped>
              </testcase>
          """)
        + suite(
          "sesame5", #"tests="3" failures="1" errors="1" skipped="0" time="14.823""#,
          """
              <testcase classname="sesame5" name="lock" file="Scenarios/sesame5/lock.yaml" line="2" time="3.210">
                <properties>
                  <property name="lockstep.case" value="sesame5/lock"/>
                  <property name="lockstep.title" value="Locking &amp; unlocking"/>
                  <property name="lockstep.device-time" value="3.210"/>
                  <property name="lockstep.machine" value="sesame"/>
                  <property name="lockstep.device" value="emulator:sesame5"/>
                  <property name="lockstep.seed" value="42"/>
                  <property name="lockstep.observations" value="70001"/>
                </properties>
              </testcase>
              <testcase classname="sesame5" name="drop" file="Scenarios/sesame5/drop.yaml" line="8" time="10.113">
                <properties>
                  <property name="lockstep.case" value="sesame5/drop"/>
                  <property name="lockstep.title" value="A drop"/>
                  <property name="lockstep.device-time" value="10.113"/>
                  <property name="lockstep.machine" value="sesame"/>
                  <property name="lockstep.device" value="emulator:sesame5"/>
                  <property name="lockstep.seed" value="18446744073709551615"/>
                  <property name="lockstep.observations" value="3"/>
                </properties>
                <failure type="divergence" message="the lock stayed &lt;connected&gt;">step 2, t = 10.113 s, Scenarios/sesame5/drop.yaml:8
          scenario: A drop
          expected: noSignal
          observed: logining
          seed: 18446744073709551615
          replay: lockstep replay Reports/failures/drop.yaml

          the lock stayed &lt;connected&gt;
          model   logining ──▶ noSignal
          lock    logining</failure>
                <system-out>     0.000  step 1 (line 7)  stimulus unlock  arguments {"tag": "a", "deep": [1, null, true]}
               0.007  reading battery  = 5.9
               0.010  step 2 (line 8)  fault drop  = next-notification
              10.113  status logining
          </system-out>
              </testcase>
              <testcase classname="sesame5" name="wait" file="./Scenarios/sesame5/lock.yaml" line="31" time="1.500">
                <properties>
                  <property name="lockstep.case" value="sesame5/wait"/>
                  <property name="lockstep.device-time" value="1.500"/>
                </properties>
                <error type="lab-fault" message="no dongle">step 1, t = 1.500 s, ./Scenarios/sesame5/lock.yaml:31

          no dongle</error>
                <system-out>     1.000  step 1 (line 31)  wait 3 s
               1.500  lab the dongle is gone
          </system-out>
              </testcase>
          """) + "</testsuites>\n")
  }

  @Test(
    "the time of a case is that of whoever waited, over all its tries; the time of the device is a property")
  func waitedTime() throws {
    let scratch = try TestFolder()
    let lines = [
      #"{"run":{"format":1,"cases":3}}"#, #"{"case":{"id":"d/a"}}"#, #"{"t":"5.000","status":"x"}"#,
      #"{"verdict":"divergence","case":"d/a","t":"5.000","again":true,"message":"m"}"#,
      #"{"case":{"id":"d/a","attempt":2}}"#, #"{"verdict":"agree","case":"d/a","t":"6.000"}"#,
      #"{"case":{"id":"d/b"}}"#, #"{"verdict":"agree","case":"d/b","t":"7.000"}"#,
      #"{"case":{"id":"d/c"}}"#, #"{"verdict":"agree","case":"d/c","t":"8.000"}"#,
      #"{"end":{"cases":3,"agree":3,"status":0}}"#,
    ]
    // What is damaged is passed over; a case that nothing is said of has the time of the device.
    let times = [
      #"{"line":2,"start":"2026-11-20T22:38:51.100Z","seconds":0.25}"#, "damaged", #"{"line":3}"#,
      #"{"line":5,"start":"2026-11-20T22:38:52.000Z","seconds":0.5}"#,
      #"{"line":9,"start":"2026-11-20T22:38:53.000Z","seconds":0.0625}"#, #"{"li"#,
    ]
    let journal = try scratch.file("journal.jsonl", Array(lines.map { $0 + "\n" }.joined().utf8))
    _ = try scratch.file("times.jsonl", Array(times.joined(separator: "\n").utf8))
    let report = try JUnitReport.write(journals: [journal], to: scratch.path("junit.xml"))
    expect(report.milliseconds, 750 + 7000 + 63)
    let xml = try scratch.text("junit.xml")
    for (name, waited, device) in [("a", "0.750", "6.000"), ("b", "7.000", "7.000"), ("c", "0.063", "8.000")]
    {
      let head = #"<testcase classname="d" name="\#(name)" time="\#(waited)">"#
      let rest = try #require(xml.components(separatedBy: head).dropFirst().first, "\(head) in \(xml)")
      #expect(rest.prefix { $0 != "\r" }.contains(#"name="lockstep.device-time" value="\#(device)""#))
    }
  }

  @Test("what the lab says is shown with its case, even one that passed, and at the end with the run")
  func diagnostics() throws {
    let lines = [
      #"{"case":{"id":"a"}}"#, #"{"t":"0.100","status":"locked"}"#,
      #"{"t":"0.200","diagnostic":"the dongle was reset"}"#,
      #"{"verdict":"agree","case":"a","t":"1.000"}"#,
    ]
    let left = #"{"t":"0.000","diagnostic":"the lock is open"}"#
    let passed = try TestFolder().report(journal(lines + [left], cases: 1))
    #expect(
      passed.xml.contains("<system-out>     0.200  diagnostic the dongle was reset\n</system-out>"),
      "\(passed.xml)")
    #expect(!passed.xml.contains("status locked"))
    #expect(
      passed.xml.contains(#"<property name="lockstep.diagnostics" value="the lock is open"/>"#),
      "\(passed.xml)")
    expect(passed.report.errors, 0)
    // A status that no case accounts for says why.
    let red = try TestFolder().report(journal(lines + [left], cases: 1, status: 3))
    expect(red.report.errors, 1)
    #expect(red.xml.contains("the run ended with status 3; the lock is open"), "\(red.xml)")
    // What is only a remark is no reason.
    let remark = #"{"t":"0.000","diagnostic":"close is never requested"}"#
    let end = #"{"end":{"cases":1,"status":3,"reasons":["the lock is open"]}}"#
    let said = try TestFolder().report(journal(lines + [remark, left], cases: 1).dropLast() + [end])
    expect(said.report.problems.map(\.description), ["the run ended with status 3; the lock is open"])
  }

  @Test("a run without a case still has a report", arguments: [0, 4])
  func nothing(status: Int) throws {
    let (xml, report) = try TestFolder().report(journal([], cases: 0, status: status))
    expect([report.tests, report.errors, report.problems.count], [0, 0, 0])
    expect(
      xml,
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <testsuites name="lockstep" tests="0" failures="0" errors="0" skipped="0" time="0.000">
      </testsuites>

      """)
  }

  /// Lines, then the problems of the journal and the numbers of tests and errors.
  static let damaged: [(lines: [String], problems: [String], tests: Int, errors: Int)] = [
    ([], ["incomplete: the run did not end, its journal just stops"], 1, 1),
    (
      Array(journal(caseLines("a"), cases: 1).dropLast()),
      ["incomplete: the run did not end, its journal just stops"], 2,
      1
    ),
    (Array(journal(caseLines("a") + [#"{"case":{"id":"b"}}"#], cases: 2).dropLast()), [], 2, 1),
    (journal([#"{"case":{"id":"b"}}"#] + caseLines("a"), cases: 2, status: 5), [], 2, 1),
    (
      journal(caseLines("a") + ["{\"t\":"], cases: 1),
      ["line 4: not JSON at column 6: expected a JSON value"], 2, 1
    ),
    (
      journal(caseLines("a") + ["[]"], cases: 1), ["line 4: a line is one JSON object"], 2, 1
    ),
    (journal(caseLines("a") + ["{}"], cases: 1), ["line 4: no record is known by its keys"], 2, 1),
    (
      journal(caseLines("a") + [#"{"t":"1.2.3","status":"x"}"#], cases: 1), ["line 4: an event has no t"],
      2, 1
    ),
    (journal(caseLines("a", "passed"), cases: 1), ["line 3: no verdict is called passed"], 2, 2),
    (journal([#"{"case":{}}"#], cases: 0), ["line 2: a case has no id"], 1, 1),
    (
      journal([#"{"verdict":"agree","case":"a"}"#], cases: 0),
      ["line 2: a verdict on a, and no case is running"], 1, 1
    ),
    (
      journal([#"{"case":{"id":"a"}}"#, #"{"verdict":"agree","case":"b"}"#], cases: 1),
      ["line 3: a verdict on b, while a is running"], 2, 2
    ),
    (journal(caseLines("a"), cases: 2), ["the run ended with 2 cases, and the journal holds 1"], 2, 1),
    (journal(caseLines("a"), cases: 1, status: 5), ["the run ended with status 5"], 2, 1),
    (
      journal(caseLines("a") + [#"{"case":{"id":"b"}}"#], cases: 2),
      ["the run ended with status 0, and 1 case has no verdict in the journal"], 3, 2
    ),
    (journal(caseLines("a", "lab-fault"), cases: 1, status: 3), [], 1, 1),
    (journal(caseLines("a", "incomplete"), cases: 1, status: 5), [], 1, 1),
    (
      [#"{"run":{"format":2}}"#, #"{"end":{"cases":0,"status":0}}"#],
      ["line 1: the journal's format is 2, and 1 is understood"], 1, 1
    ),
    (
      journal(caseLines("a"), cases: 1) + [#"{"run":{"format":1}}"#] + caseLines("b"),
      ["incomplete: the run did not end, its journal just stops"], 3, 1
    ),
    (journal(caseLines("a"), cases: 1) + journal(caseLines("b"), cases: 2), [], 2, 0),
    (
      [#"{"run":{"format":1,"cases":5}}"#] + caseLines("a") + caseLines("b"),
      ["incomplete: the run did not end, 3 of its 5 cases were not begun"], 3, 1
    ),
    (
      [#"{"run":{"format":1,"cases":5}}"#] + caseLines("a") + [#"{"case":{"id":"b"}}"#],
      ["incomplete: the run did not end, 3 of its 5 cases were not begun"], 3, 2
    ),
    ([#"{"run":{"format":1,"cases":2}}"#] + caseLines("a") + [#"{"case":{"id":"b"}}"#], [], 2, 1),
    (
      // Taken up again, and killed again: what was begun twice is one case.
      [#"{"run":{"format":1,"cases":3}}"#] + caseLines("a") + [#"{"case":{"id":"b"}}"#]
        + [#"{"run":{"format":1,"cases":3,"resumed":true}}"#] + caseLines("b"),
      ["incomplete: the run did not end, 1 of its 3 cases were not begun"], 3, 1
    ),
    (
      [#"{"run":{"format":1,"cases":2}}"#] + caseLines("a") + [#"{"case":{"id":"b"}}"#]
        + [#"{"run":{"format":1,"cases":2,"resumed":true}}"#] + caseLines("b")
        + [#"{"end":{"cases":2,"status":0}}"#], [], 2, 0
    ),
    (["", journal([], cases: 0)[0], "", journal([], cases: 0)[1]], [], 0, 0),
  ]

  @Test("no report is greener than its run: damage and early ends are errors", arguments: damaged)
  func damage(lines: [String], problems: [String], tests: Int, errors: Int) throws {
    let (xml, report) = try TestFolder().report(lines)
    expect(report.problems.map(\.description), problems)
    expect([report.tests, report.errors], [tests, errors])
    #expect(xml.contains(#"<testsuites name="lockstep" tests="\#(tests)" failures="0" errors="\#(errors)""#))
    for problem in problems { #expect(xml.contains(problem)) }
    expect(xml.contains(#"<testcase classname="lockstep/journal" name="journal""#), !problems.isEmpty)
  }

  @Test("a last line torn off in the middle is passed over, wherever it was torn")
  func tornLine() throws {
    let whole = journal(
      [#"{"case":{"id":"a"}}"#, #"{"t":"0.500","status":"x é"}"#] + caseLines("b"), cases: 2, status: 0)
    let text = Array(whole.dropLast(3).map { $0 + "\n" }.joined().utf8)
    let last = text.count - whole[2].utf8.count - 1
    for end in last..<text.count - 1 {
      let (xml, report) = try TestFolder().report(Array(text[..<end]))
      expect([report.tests, report.errors, report.problems.count], [1, 1, 0])
      #expect(
        xml.contains(
          #"<error type="incomplete" message="the run ended before this case had a verdict">before the first step"#
        ))
    }
    // A whole last line counts, with or without its line feed.
    for end in [text.count - 1, text.count] {
      let (xml, _) = try TestFolder().report(Array(text[..<end]))
      #expect(xml.contains(#"name="a" time="0.500""#) && xml.contains("status x é"))
    }
  }

  @Test("a journal that cannot be read gives a report that says so")
  func noJournal() throws {
    let scratch = try TestFolder()
    for (path, reason) in [
      (scratch.path("none.jsonl"), "there is no such file or folder"),
      (scratch.directory.path, "Is a directory"),
    ] {
      let report = try JUnitReport.write(journal: path, to: scratch.path("junit.xml"))
      expect([report.tests, report.errors], [1, 1])
      let message = "cannot read \(path): \(reason)"
      expect(report.problems.first?.message, message)
      #expect(try scratch.text("junit.xml").contains(#"message="\#(message)""#))
    }
  }

  @Test("what a manifest does not say is left out, and one that cannot be read says nothing")
  func manifests() throws {
    for manifest in [
      "", "{", "[]", "{}", #"{"start":"yesterday","host":"","name":1.5}"#,
      #"{"start":"2026-11-20T22:38:51"}"#,
    ] {
      let (xml, _) = try TestFolder().report(journal(caseLines("a"), cases: 1), manifest: manifest)
      #expect(!xml.contains("timestamp") && !xml.contains("hostname"))
    }
    let report = try JUnitReport.write(
      journal: "/dev/null", manifest: "/nowhere/manifest.json", to: "/dev/null")
    expect(report.tests, 1)
  }
}

@Suite("Names of cases in a report")
struct CaseNameTests {
  static let names: [(id: String, settings: String, className: String, name: String)] = [
    ("Scenarios/sesame5/drop", "", "Scenarios.sesame5", "drop"), ("./a//b/../c", "", "a.b", "c"),
    ("/tmp/a.b/c.d", "", "tmp.a_b", "c.d"), ("Scenarios/drop#3", "", "Scenarios", "drop#3"),
    ("fuzz/sesame/17", "", "fuzz.sesame", "17"), ("alone", "", "alone", "alone"),
    ("alone#2", "", "alone", "alone#2"),
    ("../x", "", "lockstep", "x"),
    ("/", "", "lockstep", "case"), ("a/ ", "", "a", "case"),
    ("a/drop", "defect=deaf-unlock&amp;loss=0.1", "a", "drop [defect=deaf-unlock&amp;loss=0.1]"),
  ]

  @Test(
    "a case is known by its folder, its file and what its device was given, however its title is spelled",
    arguments: names)
  func name(id: String, settings: String, className: String, name: String) throws {
    for title in ["x", "A title / of it"] {
      let more =
        settings.isEmpty ? "" : #","settings":"\#(settings.replacingOccurrences(of: "&amp;", with: "&"))""#
      let lines = [
        #"{"case":{"id":"\#(id)","name":"\#(title)","file":"elsewhere.yaml"\#(more)}}"#,
        #"{"verdict":"agree","case":"\#(id)"}"#,
      ]
      let (xml, _) = try TestFolder().report(journal(lines, cases: 1))
      #expect(xml.contains(#"<testcase classname="\#(className)" name="\#(name)" file="#), "\(xml)")
    }
  }

  @Test("names are unique: copies are numbered, around names that look like numbered copies")
  func copies() throws {
    let names = ["A (2)", "A", "A", "A", "A (2)", "B", "A"]
    let lines = names.flatMap { name in
      [#"{"case":{"id":"a/\#(name)"}}"#, #"{"verdict":"agree","case":"a/\#(name)"}"#]
    }
    let (xml, _) = try TestFolder().report(journal(lines, cases: names.count))
    let found = xml.split(separator: "\n").filter { $0.contains("<testcase") }.map { line in
      String(line.split(separator: "name=\"")[2].prefix { $0 != "\"" })
    }
    expect(found, ["A (2)", "A", "A (3)", "A (4)", "A (2) (2)", "B", "A (5)"])
    // The same name in another folder is another name.
    let (two, _) = try TestFolder().report(journal(caseLines("a/x") + caseLines("b/x"), cases: 2))
    #expect(!two.contains("(2)"))
  }

  @Test("cases of one folder form one suite, even when others ran in between")
  func interleaved() throws {
    let lines = ["a", "b", "a", "c", "b"].enumerated().flatMap { index, folder in
      caseLines("\(folder)/\(index)", time: "\(index).000")
    }
    let (xml, report) = try TestFolder().report(journal(lines, cases: 5))
    let suites = xml.split(separator: "\n").filter { $0.contains("<testsuite ") }.map {
      $0.dropFirst(2).prefix(60)
    }
    expect(
      suites.map(String.init),
      [
        #"<testsuite name="a" tests="2" failures="0" errors="0" skipped="0" time="2.000">"#,
        #"<testsuite name="b" tests="2" failures="0" errors="0" skipped="0" time="5.000">"#,
        #"<testsuite name="c" tests="1" failures="0" errors="0" skipped="0" time="3.000">"#,
      ].map { String($0.prefix(60)) })
    expect(report.milliseconds, 10_000)
  }

  static let times: [(String, String)] = [
    (#""0.000""#, "0.000"), (#""10.113""#, "10.113"), (#""10.1134999""#, "10.113"), (#""10.1135""#, "10.114"),
    (#""0.9996""#, "1.000"), (#""3""#, "3.000"), (#""3.5""#, "3.500"), ("2.25", "2.250"), ("7", "7.000"),
    (#""-1.500""#, "0.000"), (#""1234567.001""#, "1234567.001"),
    (#""99999999999999999999999.5""#, "31557600000000.500"), (#""soon""#, "0.000"), ("1e3", "0.000"),
    ("null", "0.000"),
  ]

  @Test("times have three decimals and no grouping", arguments: times)
  func time(text: String, expected: String) throws {
    let lines = [#"{"case":{"id":"a"}}"#, #"{"verdict":"agree","case":"a","t":\#(text)}"#]
    let (xml, _) = try TestFolder().report(journal(lines, cases: 1))
    #expect(xml.contains(#"<testcase classname="a" name="a" time="\#(expected)">"#), "\(xml)")
  }

  @Test("no sum of times is too much")
  func hugeTimes() throws {
    let lines = (0..<400).flatMap { caseLines("\($0)", file: "a.yaml", time: "99999999999999999") }
    let (_, report) = try TestFolder().report(journal(lines, cases: 400))
    expect(report.milliseconds, .max)
  }
}

@Suite("Size and place of a report")
struct ReportFileTests {
  /// A case that diverged after very many events, with a character of three bytes at every place.
  static func longCase(events: Int, details: Int) -> [String] {
    [#"{"case":{"id":"a"}}"#]
      + (0..<events).map { #"{"t":"0.\#(100 + $0 % 900)","status":"鍵 number \#($0)"}"# } + [
        #"{"verdict":"divergence","case":"a","message":"\#(String(repeating: "鍵", count: 3000))","details":["#
          + (0..<details).map { #""錠 line \#($0)""# }.joined(separator: ",") + "]}"
      ]
  }

  @Test("long output keeps its head and its tail, within 64 KiB and without cutting a character")
  func cap() throws {
    let (xml, _) = try TestFolder().report(
      journal(Self.longCase(events: 6000, details: 6000), cases: 1, status: 1))
    for (name, first, last) in [
      ("failure", "before the first step, t = ", "錠 line 5999"),
      ("system-out", "鍵 number 0\n", "鍵 number 5999\n"),
    ] {
      let start = try #require(xml.range(of: "<\(name)"))
      let end = try #require(xml.range(of: "</\(name)>"))
      let content = xml[start.upperBound..<end.lowerBound].drop { $0 != ">" }.dropFirst()
      let size = content.utf8.count
      #expect((65_000...65_620).contains(size), "\(name) has \(size) bytes")
      #expect(content.prefix(100).contains(first) && content.hasSuffix(last))
      #expect(content.contains(" bytes left out …\n") && !content.contains("\u{FFFD}"))
    }
    let message = try #require(xml.range(of: "message=\""))
    let attribute = xml[message.upperBound...].prefix { $0 != "\"" }
    expect(attribute.utf8.count, 4095 + 3)
    #expect(attribute.hasSuffix("鍵…"))
  }

  @Test("what fits is kept whole")
  func noCap() throws {
    let (xml, _) = try TestFolder().report(
      journal(Self.longCase(events: 1000, details: 1000), cases: 1, status: 1))
    #expect(!xml.contains("left out") && xml.contains("錠 line 500\n") && xml.contains("鍵 number 500\n"))
  }

  @Test("passing cases have no output")
  func passing() throws {
    let lines = [#"{"case":{"id":"a"}}"#, #"{"t":"0.1","status":"x"}"#, #"{"verdict":"agree","case":"a"}"#]
    let (xml, _) = try TestFolder().report(journal(lines, cases: 1))
    #expect(!xml.contains("system-out"))
  }

  @Test("lines longer than a chunk are read, and one beyond reason is a problem")
  func longLines() throws {
    let long = String(repeating: "x", count: 1_000_000)
    let lines = [
      #"{"case":{"id":"a"}}"#, #"{"t":"0.1","lab":"\#(long)"}"#, #"{"verdict":"agree","case":"a","t":"0.2"}"#,
    ]
    expect(try TestFolder().report(journal(lines, cases: 1)).report.problems, [])
    // Put together by Foundation, which is quick in a debug build too.
    let ends = journal([], cases: 0)
    var beyond = Data(ends[0].utf8)
    beyond.append(Data("\n{\"t\":\"0.1\",\"lab\":\"".utf8))
    beyond.append(Data(count: 17 << 20))
    beyond.append(Data("\"}\n\(ends[1])\n".utf8))
    let scratch = try TestFolder()
    try beyond.write(to: scratch.directory.appendingPathComponent("journal.jsonl"))
    let report = try JUnitReport.write(
      journal: scratch.path("journal.jsonl"), to: scratch.path("junit.xml"))
    expect(report.problems.map(\.description), ["line 2: the line is too long"])
  }

  @Test("a report replaces the old one in one step, leaves nothing beside it and makes its directory")
  func replacement() throws {
    let scratch = try TestFolder()
    let journalPath = try scratch.file(
      "journal.jsonl", Array(journal([], cases: 0).map { $0 + "\n" }.joined().utf8))
    for _ in 0..<2 {
      _ = try JUnitReport.write(journal: journalPath, to: scratch.path("new/deep/junit.xml"))
      expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path("new/deep")), ["junit.xml"])
    }
    #expect(try scratch.text("new/deep/junit.xml").hasSuffix("</testsuites>\n"))
  }

  @Test("a report that cannot be written is an error with its path and reason, and leaves nothing")
  func unwritable() throws {
    let scratch = try TestFolder()
    let blocked = try scratch.file("file", [])
    for (path, reason) in [
      (scratch.directory.path, "Is a directory"), (blocked + "/junit.xml", "Not a directory"),
      ("/dev/full", "No space left on device"),
    ] {
      expect(
        #expect(throws: FileFault.self) { try JUnitReport.write(journal: "/dev/null", to: path) }?
          .description,
        "cannot write \(path): \(reason)")
    }
    expect(try FileManager.default.contentsOfDirectory(atPath: scratch.directory.path), ["file"])
  }
}
