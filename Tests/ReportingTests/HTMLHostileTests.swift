import Foundation
import Basics
import TestSupport
import Testing

/// Journals in which everything that can be a text is one that an attacker would write.
struct HostileJournal {
  private var random: SeededGenerator
  /// How many texts were made.
  private(set) var count = 0

  /// As they stand in JSON.
  private static let pieces: [String] =
    (0..<0x20).map { #"\u00"# + (($0 < 16 ? "0" : "") + String($0, radix: 16)) } + [
      #"<script>window.__pwned=1</script>"#, #"</script>"#, #"</style>"#, #"</title>"#, #"<!--"#,
      #"--><img src=x onerror=window.__pwned=1>"#,
      #"]]>"#, #"<svg onload=window.__pwned=1>"#, #"\" onmouseover=\"window.__pwned=1"#,
      #"' onfocus='window.__pwned=1' autofocus='"#,
      #"javascript:window.__pwned=1"#, #"<iframe srcdoc='<script>parent.__pwned=1</script>'>"#,
      #"<base href=//evil>"#, #"<style>*{display:none}"#,
      #"<meta http-equiv=refresh content=0;url=//evil>"#, #"&lt;script&gt;"#, #"&#x3c;script&#x3e;"#, #"&"#,
      #"</textarea>"#, #"</details></article></main>"#,
      #"\ud83d"#, #"\udc00"#, #"\ufffe"#, #"\uffff"#, #"\u202e"#, #"\u2066"#, #"\u061c"#, #"\u200b"#,
      #"\ufeff"#, #"\u0085"#, #"\u009b31m"#,
      #"\u2028"#, #"\ufdd0"#, #"\udb40\udc41"#, #"\ud83d\ude00"#, "é", #"\u0338"#, "漢字", #"\\"#, #"\/"#,
      "\u{7F}", "//evil/x", "../../../etc/passwd", "%22%3E",
    ]

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  /// A text in quotes.
  private mutating func text() -> String { "\"" + bare() + "\"" }

  private mutating func bare() -> String {
    count += 1
    return (0...Int.random(in: 0...4, using: &random)).map { _ in Self.pieces.randomElement(using: &random)! }
      .joined()
  }

  private mutating func list(_ range: ClosedRange<Int>) -> String {
    "[" + range.map { _ in text() }.joined(separator: ",") + "]"
  }

  /// A case of which every text is hostile; its id has a number before it, so that it has one of its own.
  private mutating func test(_ number: Int) -> [String] {
    let id = "\"\(number)" + bare() + "\""
    var lines = [
      #"{"case":{"id":\#(id),"name":\#(text()),"file":\#(text()),"line":\#(number),"tags":\#(list(1...2)),"machine":\#(text()),"device":\#(text()),"firmware":\#(text()),"seed":\#(text()),"model":\#(text())}}"#
    ]
    let kinds = [
      "stimulus", "status", "effect", "reading", "refused", "violation", "fault", "wait", "expect", "note",
      "lab", "diagnostic",
    ]
    for (index, kind) in kinds.enumerated() {
      lines.append(
        #"{"t":"0.\#(index)","step":\#(index),"\#(kind)":\#(text()),"value":\#(text()),"model":\#(list(1...2))}"#
      )
    }
    lines.append(#"{"t":"1.0","\#(bare())":\#(text())}"#)
    let word = ["divergence", "lab-fault", "incomplete", "skipped", "agree"].randomElement(using: &random)!
    lines.append(
      #"{"verdict":"\#(word)","case":\#(id),"t":"1.0","message":\#(text()),"expected":\#(text()),"observed":\#(text()),"details":\#(list(1...2)),"allowed":[{"state":\#(text()),"cause":\#(text()),"shows":\#(text())}],"attachments":[{"kind":\#(text()),"path":\#(text())},{"kind":"packets","path":"packets.jsonl"}],"replay":\#(text())}"#
    )
    return lines
  }

  mutating func lines(cases: Int) -> [String] {
    var lines = [#"{"run":{"format":1,"seed":\#(text()),"cases":\#(cases),"command":\#(list(1...3))}}"#]
    for number in 1...cases { lines += test(number) }
    // A text of a megabyte.
    lines.append(#"{"case":{"id":"huge","name":"\#(String(repeating: "<b>\\u0001", count: 100_000))"}}"#)
    lines.append(
      #"{"verdict":"divergence","case":"huge","message":"\#(String(repeating: "]]>", count: 340_000))"}"#)
    lines.append(
      #"{"finding":{"signature":\#(text()),"message":\#(text()),"shortest":3,"file":\#(text()),"confirmation":{"verdict":\#(text())}}}"#
    )
    lines.append(#"{"t":"0.0","diagnostic":\#(text())}"#)
    let machine = text()
    lines.append(
      #"{"machine":{"name":\#(machine),"hash":\#(text()),"states":\#(list(1...3)),"regions":\#(list(1...3)),"stimuli":\#(list(1...2)),"cells":[[0,0,[1]],[1,1,[0,2]]],"spontaneous":[[2,\#(text()),[0]]]}}"#
    )
    lines.append(
      #"{"coverage":{"machine":\#(machine),"legal":[1,9223372036854775807],"empty":[-5,4],"visited":["8","4","8"]}}"#
    )
    return lines
  }

  mutating func packets() -> String {
    (0..<20).map { _ in
      #"{"t":\#(text()),"from":\#(text()),"bytes":\#(text()),"layers":[{"layer":\#(text()),"text":\#(text())}]}"#
        + "\n"
        + #"{"t":\#(text()),"event":\#(text())}"# + "\n"
    }.joined()
  }

  mutating func manifest() -> String {
    #"{"name":\#(text()),"host":\#(text()),"start":\#(text()),"version":\#(text()),"command":\#(list(1...2)),"properties":{\#(text()):\#(text())}}"#
  }
}

/// Reads a page as strictly as it is written: known elements and attributes, all of them closed in their order.
private struct StrictPage {
  private var rest: Substring.UTF8View
  private var open: [String] = []

  private static let elements = Set(
    """
    a article b body button code dd defs desc details div dl dt footer form h1 h2 h3 h4 head header html input kbd \
    label li main marker meta meter ol option output p path polyline pre rect script section select span strong style \
    summary svg table tbody td text tfoot th thead title tr ul circle
    """.split(separator: " ").map(String.init))
  private static let attributes = Set(
    """
    aria-hidden aria-label aria-labelledby autocomplete charset checked class colspan content cx cy d data-machine \
    data-outcome data-tags data-tie height hidden href http-equiv id lang marker-end marker-start markerHeight markerUnits \
    markerWidth max min name open orient points preserveAspectRatio r refX refY role rx scope spellcheck tabindex \
    text-anchor title type value viewBox width x y
    """.split(separator: " ").map(String.init))

  /// What is wrong with a page, or `nil`.
  static func fault(_ html: String) -> String? {
    var page = StrictPage(rest: html[...].utf8)
    return page.read()
  }

  private mutating func read() -> String? {
    guard rest.starts(with: "<!doctype html>\n".utf8) else { return "no doctype" }
    rest = rest.dropFirst(16)
    while let byte = rest.first {
      if byte == UInt8(ascii: "<") {
        if let fault = tag() { return fault }
      } else if let fault = text(until: UInt8(ascii: "<")) {
        return fault
      }
    }
    return open.isEmpty ? nil : "left open: \(open)"
  }

  private mutating func take(while isPart: (UInt8) -> Bool) -> String {
    let part = rest.prefix(while: isPart)
    rest = rest[part.endIndex...]
    return String(Substring(part))
  }

  private mutating func text(until end: UInt8) -> String? {
    let text = take { $0 != end }
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0x0A, 0x09: continue
      case 0..<0x20, 0x7F..<0xA0, 0x061C, 0x200B, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF,
        0xFDD0...0xFDEF, 0xE0000...0xE0FFF:
        return "U+\(String(scalar.value, radix: 16)) in \(text.prefix(80))"
      default:
        if scalar == ">" || scalar.value & 0xFFFE == 0xFFFE { return "\(scalar.value) in \(text.prefix(80))" }
      }
    }
    return nil
  }

  private mutating func tag() -> String? {
    rest = rest.dropFirst()
    let isEnd = rest.first == UInt8(ascii: "/")
    if isEnd { rest = rest.dropFirst() }
    let name = take { byte in
      byte != UInt8(ascii: ">") && byte != UInt8(ascii: " ") && byte != UInt8(ascii: "/")
    }
    guard Self.elements.contains(name) else { return "element <\(name.prefix(40))" }
    if isEnd {
      guard open.popLast() == name, rest.first == UInt8(ascii: ">") else {
        return "</\(name)> closes another"
      }
      rest = rest.dropFirst()
      return nil
    }
    while rest.first == UInt8(ascii: " ") {
      rest = rest.dropFirst()
      if let fault = attribute() { return "\(fault) of <\(name)>" }
    }
    if rest.starts(with: "/>".utf8) {
      rest = rest.dropFirst(2)
      return nil
    }
    guard rest.first == UInt8(ascii: ">") else { return "<\(name)> does not end" }
    rest = rest.dropFirst()
    if ["meta", "input"].contains(name) { return nil }
    open.append(name)
    // The content of both is ours, and the policy holds it to its hash.
    while ["style", "script"].contains(name), !rest.starts(with: "</\(name)>".utf8) {
      guard rest.first != nil else { return "<\(name)> does not end" }
      rest = rest.dropFirst()
    }
    return nil
  }

  private mutating func attribute() -> String? {
    let name = take { $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: ">") }
    guard Self.attributes.contains(name) else { return "attribute \(name.prefix(40))" }
    guard rest.starts(with: "=\"".utf8) else {
      return ["hidden", "open", "checked"].contains(name) ? nil : "attribute \(name) has no value"
    }
    rest = rest.dropFirst(2)
    let start = rest
    if let fault = text(until: UInt8(ascii: "\"")) { return fault }
    let value = String(Substring(start[..<rest.startIndex]))
    rest = rest.dropFirst()
    if value.contains("<") { return "\(name)=\(value.prefix(40))" }
    if name == "href", !["#", "./", "../", "/"].contains(where: value.hasPrefix) || value.hasPrefix("//") {
      return "href=\(value.prefix(40))"
    }
    return nil
  }
}

@Suite("Hostile texts in the HTML report")
struct HTMLHostileTests {
  /// How many pages are made, of more than ten thousand texts each.
  private static let pages =
    ProcessInfo.processInfo.environment["LOCKSTEP_HOSTILE_PAGES"].flatMap { UInt64($0) } ?? 2

  @Test("whatever a journal holds, the page has no element and no attribute but ours", arguments: 0..<pages)
  func hostile(seed: UInt64) throws {
    var journal = HostileJournal(seed: seed)
    let lines = journal.lines(cases: 230)
    let html = try TestFolder().page(lines, manifest: journal.manifest(), packets: journal.packets()).html
    expect(StrictPage.fault(html), nil)
    #expect(!html.contains("<script>window"))
    #expect(journal.count > 10_000)
    #expect(html.utf8.count < 20_000_000)
  }

  @Test(
    "the strict reader finds what is planted",
    arguments: [
      "<img src=x>", "<b onclick=\"x\">y</b>", "<p>a > b</p>", "<a href=\"javascript:x\">y</a>", "\u{202E}",
      "\u{1}", "<p>",
      "<p class=\"<\">x</p>", "<p class=x>y</p>", "</p>",
    ])
  func planted(piece: String) {
    #expect(StrictPage.fault("<!doctype html>\n<div>\(piece)</div>") != nil)
    #expect(StrictPage.fault("<!doctype html>\n<div>\n</div>") == nil)
  }
}
