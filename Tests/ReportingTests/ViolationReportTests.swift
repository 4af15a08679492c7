import Foundation
import TestSupport
import Testing

@Suite("A broken rule in reports")
struct ViolationReportTests {
  private static let broken = [
    #"{"case":{"id":"login","file":"Scenarios/s5/login.yaml","line":2,"machine":"sesame"}}"#,
    #"{"t":"0.000","step":1,"line":7,"stimulus":"connect"}"#,
    #"{"t":"0.165","violation":"clear-text","of":"mech <status>","detail":"mech status in clear","packet":"0851b8","from":"device"}"#,
    #"{"verdict":"divergence","case":"login","t":"0.165","step":1,"line":7,"message":"the device broke a rule","expected":"never: clear-text","observed":"clear-text: mech status in clear","violation":"clear-text","of":"mech <status>","detail":"mech status in clear","packet":"0851b8","from":"device"}"#,
  ]
  private static let known = [
    #"{"case":{"id":"token","file":"Scenarios/s5/token.yaml","line":2,"machine":"sesame"}}"#,
    #"{"t":"0.000","step":1,"line":7,"stimulus":"connect"}"#,
    #"{"t":"0.100","violation":"token-again","detail":"a token once more","packet":"080e01020304","from":"device","quirk":"locks do"}"#,
    #"{"verdict":"agree","case":"token","t":"0.200"}"#,
  ]

  @Test("JUnit has name and packet as properties, and a known habit of a case that agreed in its output")
  func junit() throws {
    let (xml, _) = try TestFolder().report(
      [#"{"run":{"format":1,"seed":1}}"#] + Self.broken + Self.known, manifest: "{}")
    for property in [
      #"name="lockstep.violation" value="clear-text""#,
      #"name="lockstep.violation.of" value="mech &lt;status&gt;""#,
      #"name="lockstep.violation.packet" value="0851b8""#, #"name="lockstep.violation.from" value="device""#,
    ] {
      #expect(xml.components(separatedBy: property).count == 2, "\(property) in \(xml)")
    }
    #expect(xml.contains("violation token-again  detail a token once more"), "\(xml)")
    #expect(xml.contains("quirk locks do"), "\(xml)")
  }

  /// What the tester sent, as a verdict has it.
  private static let obeyed = [
    #"{"case":{"id":"forged","file":"Scenarios/s5/forged.yaml","line":2,"machine":"sesame"}}"#,
    #"{"t":"0.000","step":1,"line":7,"stimulus":"forgeUnlock"}"#,
    #"{"verdict":"divergence","case":"forged","t":"0.165","step":1,"line":7,"message":"the device obeyed a forged command: an unlock in clear","expected":"locked","observed":"unlocked","injected":{"kind":"forged-command","sent":"an unlock in clear","t":"0.000","reaction":"ignores","obeyed":true},"details":["sent    an unlock in clear, at 0 s: a correct device ignores it"]}"#,
  ]

  @Test("each report says what was obeyed, and has what was sent as data")
  func injected() throws {
    let scratch = try TestFolder()
    let (xml, _) = try scratch.report([#"{"run":{"format":1,"seed":1}}"#] + Self.obeyed, manifest: "{}")
    let message = "the device obeyed a forged command: an unlock in clear"
    for part in [
      message, "sent    an unlock in clear, at 0 s: a correct device ignores it",
      #"name="lockstep.injected" value="forged-command""#,
      #"name="lockstep.injected.sent" value="an unlock in clear""#,
      #"name="lockstep.injected.obeyed" value="yes""#,
    ] {
      #expect(xml.contains(part), "\(part) in \(xml)")
    }
    let (page, _) = try TestFolder().page([#"{"run":{"format":1,"seed":1}}"#] + Self.obeyed)
    for part in [message, "<code>forged-command</code>: an unlock in clear. A correct device ignores it."] {
      #expect(page.contains(part), "\(part) in \(page)")
    }
  }

  @Test("the page has the rule and the packet")
  func html() throws {
    let scratch = try TestFolder()
    let (page, _) = try scratch.page([#"{"run":{"format":1,"seed":1}}"#] + Self.broken + Self.known)
    #expect(
      page.contains(
        "Rule <code>clear-text</code> of mech &lt;status&gt;, packet of the device <code>0851b8</code>"),
      "\(page)")
  }
}
