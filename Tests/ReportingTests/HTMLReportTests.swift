import Journal
import Foundation
@testable import Reporting
import TestSupport
import Testing

/// A run with every outcome, two tries of one case, packets, a machine and what was visited of it.
enum SampleRun {
  static let machine =
    #"{"machine":{"name":"door","hash":"8f31","states":["Closed","Opened"],"stimuli":["Open","Close"],"cells":[[0,0,[1]],[1,1,[0]]],"spontaneous":[[1,"after 3 s",[0]]]}}"#
  static let coverage =
    #"{"coverage":{"machine":"door","legal":[1,2],"empty":[1,2],"visited":["8","4","8"]}}"#

  static let divergence = [
    #"{"case":{"id":"Scenarios/s5/drop","name":"A drop & a <loss>","file":"Scenarios/s5/drop.yaml","line":2,"tags":["link"],"machine":"door","device":"emulator:sesame5","firmware":"3.0","seed":42}}"#,
    #"{"t":"0.000","model":["Closed"]}"#,
    #"{"t":"0.000","step":1,"line":7,"stimulus":"Open","arguments":{"tag":"a"}}"#,
    #"{"t":"0.000","model":["Closed","Opened"]}"#,
    #"{"t":"0.007","status":"Closed"}"#,
    #"{"t":"0.010","step":2,"line":8,"fault":"drop","value":"next"}"#,
    #"{"t":"0.010","reading":"battery","value":5.9}"#,
    #"{"t":"5.000","model":["Opened"]}"#,
    #"{"verdict":"divergence","case":"Scenarios/s5/drop","t":"5.000","step":2,"line":8,"message":"nothing was shown","expected":"Opened","observed":"Closed","details":["model   Closed ──▶ Opened"],"allowed":[{"state":"Closed","cause":"Open within 5 s","shows":"Opened"}],"signature":"s1","attachments":[{"kind":"capture","path":"packets/a b.btsnoop"},{"kind":"packets","path":"packets.jsonl"}],"replay":"lockstep replay Reports/failures/drop.yaml"}"#,
  ]
  static let packets = #"""
    {"t":"0.0075","from":"client","bytes":"02400048","layers":[{"layer":"ATT","text":"Write <Command>"},{"layer":"Sesame","text":"frame 1 of 1"}]}
    {"t":"0.0150","event":"disconnected: connection timeout (0x08)"}

    """#
  static let others =
    [
      #"{"case":{"id":"Scenarios/s5/again","name":"Now and then","file":"Scenarios/s5/again.yaml","line":2,"machine":"door"}}"#,
      #"{"t":"0.000","step":1,"stimulus":"Open"}"#,
      #"{"t":"0.100","status":"Closed"}"#,
      #"{"verdict":"divergence","case":"Scenarios/s5/again","t":"0.100","message":"it stayed","observed":"Closed"}"#,
      #"{"case":{"id":"Scenarios/s5/again","name":"Now and then","file":"Scenarios/s5/again.yaml","line":2,"machine":"door","attempt":2}}"#,
      #"{"t":"0.000","step":1,"stimulus":"Open"}"#,
      #"{"t":"0.200","status":"Opened"}"#,
      #"{"verdict":"agree","case":"Scenarios/s5/again","t":"0.200"}"#,
      #"{"case":{"id":"Scenarios/s5/gone","file":"Scenarios/s5/gone.yaml"}}"#,
      #"{"t":"1.500","lab":"the dongle is gone","attempt":1}"#,
      #"{"verdict":"lab-fault","case":"Scenarios/s5/gone","t":"1.500","message":"no dongle"}"#,
    ] + caseLines("Scenarios/s5/good", file: "Scenarios/s5/good.yaml")
    + [
      #"{"case":{"id":"Scenarios/s5/not"}}"#,
      #"{"verdict":"skipped","case":"Scenarios/s5/not","message":"the battery is low"}"#,
      #"{"t":"0.000","diagnostic":"the lock was left locked"}"#, machine, coverage,
    ]
  static let manifest = #"""
    {"name":"r1","host":"bench-01","start":"2026-11-20T22:38:51.123Z","version":"1.0","properties":{"revision":"61f6abf"}}
    """#
}

/// Earlier runs in which the sample diverged.
private struct Past: CaseHistorySource {
  func runs(last count: Int) -> [HistoryRun] {
    func run(_ minute: Int, _ counts: [Int], flaky: Int = 0, status: Int? = 1) -> HistoryRun {
      HistoryRun(
        identity: .init(id: "\(minute)", host: "bench-01", name: "r\(minute)"),
        started: "2026-10-01T22:0\(minute):00Z", status: status, milliseconds: 0, counts: counts, flaky: flaky
      )
    }
    return [
      run(1, [5, 0, 0, 0, 0], status: 0), run(2, [3, 2, 1, 0, 0]), run(3, [3, 0, 2, 0, 0], status: 3),
      run(4, [4, 0, 0, 0, 1], status: 5), run(5, [5, 0, 0, 0, 0], flaky: 2, status: 0),
      run(6, [0, 0, 0, 5, 0], status: 4),
      run(7, [5, 0, 0, 0, 0], status: nil),
    ]
  }

  func history(className: String, name: String, signature: String?, milliseconds: Int64) -> CaseHistory? {
    guard className == "Scenarios.s5", signature == "s1" else { return nil }
    var history = CaseHistory()
    (history.judged, history.agreed, history.changes) = (50, 46, 3)
    history.firstSeen = "2026-10-01T22:00:00Z"
    history.usualMilliseconds = 2000
    history.isSlower = true
    history.sameFailure = .init(count: 3, first: "2026-10-02T22:00:00Z", last: "2026-11-19T22:00:00Z")
    history.points = [
      .init(run: "a", start: "2026-10-01T22:00:00Z", ending: .agreed, milliseconds: 2000),
      .init(run: "b", start: "2026-10-02T22:00:00Z", ending: .diverged, milliseconds: 5000),
    ]
    return history
  }
}

extension TestFolder {
  /// Makes a page of a journal and gives its text and what it counts.
  func page(
    _ lines: [String], manifest: String? = nil, packets: String? = nil,
    history: (any CaseHistorySource)? = nil
  ) throws -> (html: String, report: HTMLReport) {
    let manifest = try manifest.map { try file("manifest.json", Array($0.utf8)) }
    if let packets { _ = try file("packets.jsonl", Array(packets.utf8)) }
    let journal = try file("journal.jsonl", Array(lines.map { $0 + "\n" }.joined().utf8))
    let report = try HTMLReport.write(
      journals: [journal], manifests: manifest.map { [$0] } ?? [], to: path("report.html"), history: history)
    return (try text("report.html"), report)
  }
}

@Suite("The HTML report")
struct HTMLReportTests {
  private static let whole = Result {
    try TestFolder().page(
      journal(SampleRun.divergence + SampleRun.others, cases: 5, status: 1), manifest: SampleRun.manifest,
      packets: SampleRun.packets, history: Past())
  }

  @Test("what happens many times in a row has one row, in the table and in the drawing, with how often")
  func repetitions() throws {
    let head = #"{"case":{"id":"a/b","file":"a/b.yaml","line":2,"machine":"door"}}"#
    let query = #"{"t":"0.000","step":2,"line":9,"stimulus":"Query"}"#
    let turn = [#"{"t":"1.000","step":4,"line":12,"stimulus":"Open"}"#, #"{"t":"1.000","status":"Opened"}"#]
    let verdict =
      #"{"verdict":"divergence","case":"a/b","t":"1.000","step":4,"message":"it stayed","observed":"Closed"}"#
    let lines =
      [head] + Array(repeating: query, count: 2_000) + (0..<7).flatMap { _ in turn } + [verdict]
    let page = try TestFolder().page(journal(lines, cases: 1, status: 1)).html
    let stimulus = #"<span class="kind">stimulus</span>"#
    for text in [
      "\(stimulus) Query <span class=\"line\">line 9</span> <strong>600 times</strong></td>",
      "⋮ 600 events are only in the journal",
      "\(stimulus) Query <span class=\"line\">line 9</span> <strong>800 times</strong></td>",
      "⋮ these 2 events 5 times more", "▸ Query, 800 times</text>", "⋮ 5 times more</text>",
    ] { #expect(page.contains(text), "the page lacks \(text)") }
    expect(page.split(separator: "\(stimulus) Query").count, 3)
  }

  @Test("counts every outcome once, and a case of two tries as flaky")
  func counts() throws {
    let report = try Self.whole.get().report
    expect(
      [report.cases, report.divergences, report.labFaults, report.incomplete, report.flaky, report.skipped],
      [5, 1, 1, 0, 1, 1])
    expect(report.agreed, 1)
    expect(report.problems, [])
  }

  @Test(
    "says of a run what an engineer asks first",
    arguments: [
      "<h1>1 of 5 cases diverged, the lab failed 1, 1 flaky</h1>",
      "<dt>host</dt><dd>bench-01</dd>", "<dt>start</dt><dd>2026-11-20 22:38:51 UTC</dd>",
      "<dt>seed</dt><dd>42</dd>", "<dt>revision</dt><dd>61f6abf</dd>", "<dt>exit status</dt><dd>1</dd>",
      "<li>the lock was left locked</li>",
      // The failure: where, why, what was allowed, how to get it back.
      "A drop &amp; a &lt;loss&gt;</h3>", "<code>Scenarios/s5/drop.yaml:8</code>",
      #"<p class="message">nothing was shown</p>"#,
      #"<tr><td>Closed</td><td>Open within 5 s</td><td><span class="chip want">Opened</span></td></tr>"#,
      #"<span class="chip bad">✘ Closed</span>"#, "<code>lockstep replay Reports/failures/drop.yaml</code>",
      // Both lanes, and where they part.
      ##"<tr class="tester" id="case-1-r1" data-tie="1"><td><a class="tie" href="#case-1-p0-0" title="To the packets">0.000</a></td><td><span class="chip">Closed</span> <span class="chip">Opened</span></td><td>1</td><td><span class="kind">stimulus</span> Open tag: a <span class="line">line 7</span></td><td></td></tr>"##,
      ##"<tr class="device" id="case-1-r4" data-tie="4"><td><a class="tie" href="#case-1-p0-1" title="To the packets">0.010</a></td><td><span class="same">│</span></td><td></td><td></td><td><span class="kind">reading</span> battery = 5.9</td></tr>"##,
      "<strong>✘ first divergence</strong>", #"<rect class="mbox want""#, #"<rect class="dbox bad""#,
      #"class="badtext""#,
      // Packets, layer by layer, and files.
      #"<dt>ATT</dt><dd>Write &lt;Command&gt;</dd>"#, "0000  02 40 00 48",
      "⚡ disconnected: connection timeout (0x08)",
      #"<a href="./packets/a%20b.btsnoop">packets/a b.btsnoop</a>"#,
      // What was before.
      "The same failure 3 times before", "Agreed in 46 of 50 runs (92 %)",
      "<strong>Slower than usual</strong>: 5.000 s, usually 2.000 s.", #"<svg class="spark""#,
      // Tries, lab, skipped.
      "<h4>2 tries</h4>", "Timeline of try 2", "the dongle is gone",
      #"<span class="count">1</span> the battery is low"#,
      // The machine and the timings.
      #"<td class="v"><span aria-hidden="true">●</span><span class="sr">tried</span></td>"#,
      #"<td class="m"><span aria-hidden="true">○</span><span class="sr">allowed, not tried</span></td>"#,
      #"<td class="r"><span aria-hidden="true">×</span><span class="sr">refused</span></td>"#,
      #"<td class="u"><span aria-hidden="true">·</span><span class="sr">forbidden, not tried</span></td>"#,
      #"<tr><th scope="row">Opened</th><td>Close</td></tr>"#,
      #"<path class="went""#, #"<path class="not""#, "↻",
      #"<tr><th scope="row">Open</th><td class="num">3</td><td class="num">100 ms</td>"#,
      // Where it diverged, in the machine and from the case.
      ##"<a href="#machine-1">Where in the machine it diverged</a>"##,
      ##"<a href="#case-1">case 1</a> in Closed"##, #"<rect class="statebox here""#,
      // How the runs before ended, also for who sees no colour.
      "The 7 runs before this one, the oldest first",
      #"<span aria-hidden="true">✔</span><span class="sr">2026-10-01 22:01:00 UTC: 5 cases, all that were tried agreed</span>"#,
      #"<span aria-hidden="true">✘</span><span class="sr">2026-10-01 22:02:00 UTC: 2 of 6 cases diverged</span>"#,
      #"<span aria-hidden="true">⚠</span><span class="sr">2026-10-01 22:03:00 UTC: the lab failed 2 of 5 cases</span>"#,
      #"<span aria-hidden="true">◌</span><span class="sr">2026-10-01 22:04:00 UTC: incomplete</span>"#,
      #"<span aria-hidden="true">≈</span><span class="sr">2026-10-01 22:05:00 UTC: 2 of 5 cases flaky</span>"#,
      #"<span aria-hidden="true">–</span><span class="sr">2026-10-01 22:06:00 UTC: no case has a verdict</span>"#,
      #"<span aria-hidden="true">◌</span><span class="sr">2026-10-01 22:07:00 UTC: incomplete</span>"#,
      "The last 2 runs of it, the oldest first",
      #"<span aria-hidden="true">✘</span><span class="sr">2026-10-02 22:00:00 UTC: diverged</span>"#,
      // The trace of what agreed.
      #"<details class="trace"><summary><span aria-hidden="true">✔</span> good</summary>"#,
    ])
  func says(_ words: String) throws {
    let html = try Self.whole.get().html
    #expect(html.contains(words))
  }

  @Test(
    "an end that is not good is never green",
    arguments: [
      (caseLines("a") + [#"{"case":{"id":"b"}}"#], "Incomplete: No divergence in 1 of 9 cases"),
      (caseLines("a"), "Incomplete: No divergence in 1 of 9 cases"),
      (["gibberish"] + caseLines("a"), "Incomplete: No divergence in 1 of 9 cases"),
      ([], "Incomplete: No case was run"),
    ])
  func incomplete(lines: [String], headline: String) throws {
    let run = #"{"run":{"format":1,"seed":42,"cases":9}}"#
    let (html, report) = try TestFolder().page([run] + lines)
    #expect(html.contains("<h1>\(headline)</h1>"))
    #expect(html.contains(#"<header class="page bad">"#))
    #expect(html.contains("This report is not the whole story."))
    #expect(html.contains("never begun"))
    #expect(!report.problems.isEmpty || report.incomplete > 0)
  }

  @Test("the policy names the hashes of the style and the script, and there are no others")
  func policy() throws {
    let scratch = try TestFolder()
    let html = try Self.whole.get().html
    for (element, directive) in [("style", "style-src"), ("script", "script-src")] {
      let pieces = html.components(separatedBy: "<\(element)>")
      try #require(pieces.count == 2)
      let content = try #require(pieces[1].components(separatedBy: "</\(element)>").first)
      let file = try scratch.file(element, Array(content.utf8))
      let hash = try run("openssl", ["dgst", "-sha256", "-binary", file]).output.base64EncodedString()
      #expect(html.contains("\(directive) 'sha256-\(hash)'"), "the hash of the \(element) is sha256-\(hash)")
    }
    #expect(html.contains("default-src 'none'"))
    for word in [" style=\"", " onclick", "http://", "https://", "url(", "@import", "<img", "<link"] {
      let rest =
        word == "url("
        ? html.replacing("marker-end=\"url(#", with: "").replacing("marker-start=\"url(#", with: "") : html
      #expect(!rest.contains(word), "\(word)")
    }
  }

  @Test("the same journal gives the same page, byte by byte")
  func determinism() throws {
    let again = try TestFolder().page(
      journal(SampleRun.divergence + SampleRun.others, cases: 5, status: 1), manifest: SampleRun.manifest,
      packets: SampleRun.packets, history: Past())
    expect(again.html == (try Self.whole.get().html), true)
  }

  @Test("a long trace is cut around its end, and the whole is folded away")
  func longTrace() throws {
    let events = (1...5000).map { #"{"t":"\#($0).000","step":\#($0),"stimulus":"Open\#($0 % 4)"}"# }
    let lines =
      [#"{"case":{"id":"long"}}"#] + events
      + [#"{"verdict":"divergence","case":"long","t":"5000.000","message":"m","observed":"x"}"#]
    let html = try TestFolder().page(journal(lines, cases: 1, status: 1)).html
    #expect(html.contains("⋮ 4,955 events are folded away below"))
    #expect(html.contains("<summary>All 5,000 events</summary>"))
    #expect(html.contains("events are only in the journal"))
    #expect(html.utf8.count < 700_000)
  }

  @Test("many failures are told in full up to a limit, and many cases that agreed are only counted")
  func limits() throws {
    let lines = (1...3000).flatMap { number in
      [
        #"{"case":{"id":"s\#(number % 3)/c\#(number)"}}"#,
        #"{"verdict":"\#(number % 5 == 0 ? "divergence" : "agree")","case":"s\#(number % 3)/c\#(number)","t":"1.000"}"#,
      ]
    }
    let html = try TestFolder().page(journal(lines, cases: 3000, status: 1)).html
    expect(html.components(separatedBy: "<article class=\"case").count - 1, 500)
    expect(html.components(separatedBy: "<tr class=\"item diverged\"").count - 1, 100)
    expect(html.components(separatedBy: "<tr class=\"item agreed\"").count - 1, 2000)
    #expect(html.contains("and 400 more"))
  }

  @Test(
    "links lead from the page to the files of the run",
    arguments: [
      ("runs/r1/journal.jsonl", "report.html", "runs/r1/packets/a%20b.btsnoop"),
      ("runs/r1/journal.jsonl", "runs/r1/report.html", "packets/a%20b.btsnoop"),
      ("runs/r1/journal.jsonl", "pages/night/report.html", "../../runs/r1/packets/a%20b.btsnoop"),
    ])
  func links(from source: String, to page: String, link: String) throws {
    let scratch = try TestFolder()
    let path = scratch.path(source)
    try FileManager.default.createDirectory(
      at: URL(fileURLWithPath: path).deletingLastPathComponent(), withIntermediateDirectories: true)
    let lines = journal(SampleRun.divergence, cases: 1, status: 1)
    try Data(lines.map { $0 + "\n" }.joined().utf8).write(to: URL(fileURLWithPath: path))
    try HTMLReport.write(journals: [path], to: scratch.path(page))
    #expect(try scratch.text(page).contains("<a href=\"./\(link)\">".replacing("./../", with: "../")))
  }

  @Test(
    "what a verdict calls a file can lead nowhere else",
    arguments: [
      ("javascript:alert(1)", "./javascript%3Aalert%281%29"), ("//evil/x", "/evil/x"),
      ("https://evil/", "./https%3A//evil/"), ("a\"b'c<d>", "./a%22b%27c%3Cd%3E"), ("../../etc", "../../etc"),
    ])
  func references(path: String, expected: String) throws {
    let quoted = path.replacing("\"", with: "\\\"")
    let lines = [
      #"{"case":{"id":"a"}}"#,
      #"{"verdict":"divergence","case":"a","attachments":[{"kind":"packets","path":"\#(quoted)"}]}"#,
    ]
    let html = try TestFolder().page(journal(lines, cases: 1, status: 1)).html
    #expect(html.contains("<a href=\"\(expected)\">"))
  }

  @Test("what failed stands above what is said of the run, with where and how to have it again")
  func failuresFirst() throws {
    let html = try Self.whole.get().html
    let places = try [
      "<h1>", #"<section id="glance""#, ##"<a href="#case-1">"##, "Scenarios/s5/drop.yaml:8",
      "lockstep replay Reports/failures/drop.yaml", ##"<a href="#case-2">"##,
      #"<article class="case item diverged"#,
      #"<section id="run""#, #"<section id="agreed""#,
    ].map { words in
      try #require(html.range(of: words), "\(words)").lowerBound
    }
    #expect(places == places.sorted())
    // One failure is told of once.
    let one = try TestFolder().page(journal(SampleRun.divergence, cases: 1, status: 1)).html
    #expect(!one.contains("id=\"glance\""))
  }

  @Test("packets and rows lead to one another, each to one that is there")
  func ties() throws {
    let html = try Self.whole.get().html
    let ids = html.matches(of: /id="([^"]+)"/).map(\.1)
    expect(Set(ids).count, ids.count)
    let links = html.matches(of: /href="#([^"]+)"/).map(\.1)
    expect(links.filter { !ids.contains($0) }, [])
    // What the client sent belongs to the stimulus before it; what ended the link, to what was seen of the device.
    #expect(html.contains(##"<li id="case-1-p0-0" data-tie="1"><a class="tie num" href="#case-1-r1""##))
    #expect(
      html.contains(
        ##"<li class="linkevent" id="case-1-p0-1" data-tie="4"><a class="tie num" href="#case-1-r4""##))
  }

  @Test("a long trace keeps its ties: what is folded away has its id there, and what has no row no link")
  func longTies() throws {
    let events = (1...5000).map { #"{"t":"\#($0).000","step":\#($0),"stimulus":"Open\#($0 % 4)"}"# }
    let lines =
      [#"{"case":{"id":"long"}}"#] + events + [
        #"{"verdict":"divergence","case":"long","t":"5000.000","message":"m","observed":"x","attachments":[{"kind":"packets","path":"packets.jsonl"}]}"#
      ]
    let packets = (1...100).map { #"{"t":"\#($0 * 50).001","from":"client","bytes":"00"}"# + "\n" }.joined()
    let html = try TestFolder().page(journal(lines, cases: 1, status: 1), packets: packets).html
    let ids = html.matches(of: /id="([^"]+)"/).map(\.1)
    expect(Set(ids).count, ids.count)
    expect(html.matches(of: /href="#([^"]+)"/).map(\.1).filter { !ids.contains($0) }, [])
    #expect(html.contains(##"href="#case-1-r99""##) && html.contains(#"id="case-1-r4999""#))
  }

  @Test("of a machine that is too large to be drawn the neighbourhood of the divergence is")
  func neighbourhood() throws {
    let states = (0..<30).map { "\"s\($0)\"" }.joined(separator: ",")
    let lines = [
      #"{"case":{"id":"a","machine":"big"}}"#, #"{"t":"0.0","model":["locked"]}"#,
      #"{"t":"1.0","step":1,"stimulus":"go"}"#, #"{"t":"1.0","model":["locked","moved"]}"#,
      #"{"verdict":"divergence","case":"a","t":"6.0","observed":"locked","allowed":[{"state":"s1","cause":"arrived within 5 s","shows":"unlocked"},{"state":"s2","shows":"moved"}]}"#,
      #"{"machine":{"name":"big","states":[\#(states)],"stimuli":["go"],"cells":[[0,0,[1,2]]],"spontaneous":[[1,"arrived",[7]]]}}"#,
    ]
    let html = try TestFolder().page(journal(lines, cases: 1, status: 1)).html
    let start = try #require(
      html.range(of: #"<svg class="graph" role="img" aria-labelledby="case-1-graph-title"#))
    let drawing = html[start.lowerBound...].prefix { $0 != "\u{0}" }.components(separatedBy: "</svg>")[0]
    // Before, the states that were possible, where the rows out of them lead, and what was seen.
    expect(
      drawing.matches(of: /<text class="state"[^>]*>([^<]+)</).map { String($0.1) },
      ["locked", "s1", "s2", "s7", "shows moved", "✘ locked"])
    expect(
      drawing.matches(of: /<path class="(\w+)"/).map { String($0.1) }.sorted(),
      ["allowed", "allowed", "no", "no", "went", "went"])
    #expect(!html.contains("Where in the machine it diverged"))
  }

  @Test(
    "a campaign is told by what it found in how many events",
    arguments: [
      (1, 1_130_000, "1 finding in 1.1 million events"), (2, 3057, "2 findings in 3,057 events"),
      (0, 2_000_000, "Nothing found in 2 million events"), (0, 1, "Nothing found in 1 event"),
    ])
  func campaign(findings: Int, events: Int, headline: String) throws {
    let found = (0..<findings).flatMap { number in
      [
        #"{"finding":{"signature":"s\#(number)","message":"m","shortest":3,"file":"failures/f\#(number).yaml"}}"#,
        #"{"case":{"id":"failures/f\#(number)"}}"#,
        #"{"verdict":"divergence","case":"failures/f\#(number)","t":"1.0"}"#,
      ]
    }
    let lines =
      found + caseLines("fuzz/door") + [#"{"campaign":{"events":\#(events),"tests":7,"lockTime":"12.5"}}"#]
    let html = try TestFolder().page(journal(lines, cases: findings + 1, status: findings > 0 ? 1 : 0)).html
    #expect(html.contains("<h1>\(headline)</h1>"))
    #expect(html.contains("<b>7</b> <span>tests</span>"))
  }

  @Test("beside a campaign the cases are counted without its own")
  func campaignAndCases() throws {
    let lines =
      caseLines("good") + [
        #"{"case":{"id":"bad"}}"#, #"{"verdict":"divergence","case":"bad","t":"1.0"}"#,
        #"{"finding":{"signature":"s","shortest":3}}"#, #"{"case":{"id":"f"}}"#,
        #"{"verdict":"divergence","case":"f","t":"1.0"}"#,
      ] + caseLines("fuzz/door") + [#"{"campaign":{"events":10}}"#]
    let html = try TestFolder().page(journal(lines, cases: 4, status: 1)).html
    #expect(html.contains("<h1>1 of 2 cases diverged, 1 finding in 10 events</h1>"))
  }

  @Test("a history that fails is said and not fatal")
  func brokenHistory() throws {
    struct Broken: CaseHistorySource, Error, CustomStringConvertible {
      let description = "the database is <locked>"
      func runs(last count: Int) -> [HistoryRun] { [] }
      func history(
        className: String, name: String, signature: String?, milliseconds: Int64
      ) throws -> CaseHistory? {
        throw self
      }
    }
    let html = try TestFolder().page(journal(SampleRun.divergence, cases: 1, status: 1), history: Broken())
      .html
    #expect(html.contains("No history: the database is &lt;locked&gt;"))
  }
}
