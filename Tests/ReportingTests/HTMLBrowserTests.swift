import Foundation
import Testing

/// The browser, and what drives it: Debian's Chromium, and the Python packages that `Tests/Peers/setup.sh` installs.
private enum Browser {
  static let chromium = "/usr/bin/chromium"
  static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().path
  static let python = root + "/.build/peers/venv/bin/python"

  /// What the machine lacks, or `nil`.
  static var missing: String? {
    let packages = ["playwright", "axe_playwright_python"].map { name in
      (name, (try? run(python, ["-c", "import \(name)"]).status) == 0)
    }
    if !FileManager.default.isExecutableFile(atPath: chromium) { return "Chromium" }
    return packages.first { !$0.1 }?.0
  }

  static let isRequired = ProcessInfo.processInfo.environment["LOCKSTEP_REQUIRE_PEERS"] == "1"
}

@Suite("The HTML report in a browser")
struct HTMLBrowserTests {
  @Test(
    "opens in time, in light and dark, at four widths, with keys and without a script, and nothing foreign runs",
    .enabled(
      if: Browser.isRequired || Browser.missing == nil,
      "needs \(Browser.missing ?? ""), which `make dependencies-peers` installs"), .timeLimit(.minutes(10)))
  func browser() throws {
    let (sample, hostile, large) = (try TestFolder(), try TestFolder(), try TestFolder())
    _ = try sample.page(
      journal(SampleRun.divergence + SampleRun.others, cases: 5, status: 1), manifest: SampleRun.manifest,
      packets: SampleRun.packets)
    var journal = HostileJournal(seed: 9)
    _ = try hostile.page(journal.lines(cases: 60), manifest: journal.manifest(), packets: journal.packets())
    _ = try large.page(Self.thousand)
    let result = try run(
      Browser.python,
      [
        Browser.root + "/Tests/Browser/check.py", "--large", large.path("report.html"), "--opens-within", "1",
        "--hostile", hostile.path("report.html"), sample.path("report.html"),
      ])
    let said = String(decoding: result.output, as: UTF8.self) + result.errors
    #expect(result.status == 0, "\(said)")
  }

  /// A thousand cases of fifteen lines, of which ten diverge.
  private static var thousand: [String] {
    let cases = (1...1000).flatMap { number in
      let events = (1...6).flatMap { step in
        [
          #"{"t":"\#(step).000","step":\#(step),"line":\#(step + 6),"stimulus":"lock"}"#,
          #"{"t":"\#(step).000","model":["locked","moved"]}"#,
          #"{"t":"\#(step).100","status":"locked"}"#, #"{"t":"\#(step).100","model":["locked"]}"#,
        ]
      }
      let end = number % 100 == 0 ? #""divergence","expected":"locked","observed":"moved""# : #""agree""#
      return [
        #"{"case":{"id":"s/\#(number)","name":"A lock keeps its word, case \#(number)","file":"Scenarios/s\#(number % 40).yaml","line":2,"machine":"sesame"}}"#
      ] + events + [#"{"verdict":\#(end),"case":"s/\#(number)","t":"6.100"}"#]
    }
    return journal(cases + [SampleRun.machine, SampleRun.coverage], cases: 1000, status: 1)
  }
}
