import Basics
import Testing
import TestSupport

@testable import lockstep

@Suite("What reaches a terminal")
struct InertTextTests {
  /// What a terminal obeys, or a reader is misled by: none of it is let through, whoever says it.
  private static let obeyed: Set<UInt32> = Set(
    Array(0x00...0x08) + Array(0x0B...0x1F) + Array(0x7F...0x9F) + [0x061C, 0x200E, 0x200F]
      + Array(0x2028...0x202E) + Array(0x2066...0x2069))

  /// Pieces of texts with something in them.
  private static let pieces: [String] =
    obeyed.sorted().compactMap { Unicode.Scalar($0).map { String($0) } }
    + Console.Style.allCases.map { "\u{1B}[\($0.rawValue)m" }
    + [
      "\u{1B}[0m", "\u{1B}[2J", "\u{1B}]0;title\u{07}", "\u{9B}31m", "\r\n", "\n", "\t", "lock", "é",
      "e\u{301}", "鍵",
      "🔒", "[31m", "\u{1B}[", "0m", "\\", "\"", "m", "00000000000000000000",
    ]

  private static func text(_ generator: inout SeededGenerator) -> String {
    (0..<Int.random(in: 1...8, using: &generator)).map { _ in
      pieces[Int.random(in: 0..<pieces.count, using: &generator)]
    }
    .joined()
  }

  @Test("holds nothing that a terminal obeys, but lines, tabs and our own colours, in 100,000 random texts")
  func property() {
    var generator = SeededGenerator(seed: 13)
    let (on, off) = (Painter(isOn: true), Painter(isOn: false))
    for _ in 0..<100_000 {
      let text = Self.text(&generator)
      let inert = text.inert
      guard !inert.unicodeScalars.contains(where: { Self.obeyed.contains($0.value) }),
        off(.bad, text).inert == inert,
        on(.bad, text).inert == "\u{1B}[31m" + inert + "\u{1B}[0m", inert.inert == inert
      else {
        Issue.record("\(text.debugDescription) comes out as \(inert.debugDescription)")
        return
      }
      let line = JSON.text(text).line
      let json = line.inertJSON
      guard !json.unicodeScalars.contains(where: { Self.obeyed.contains($0.value) || $0 == "\n" }),
        let back = try? JSON(parsing: Array(json.utf8)), case .text(let read) = back,
        read.utf8.elementsEqual(text.utf8)
      else {
        Issue.record("\(text.debugDescription) comes out as \(json)")
        return
      }
    }
  }

  @Test("is coloured by us alone")
  func colours() {
    let paint = Painter(isOn: true)
    expect("\u{1B}[31mred\u{1B}[0m".inert, #"\u{1B}[31mred\u{1B}[0m"#)
    expect(paint(.bad, "red").inert, "\u{1B}[31mred\u{1B}[0m")
    expect(paint(.bad, "\u{1B}[32mgreen").inert, "\u{1B}[31m\\u{1B}[32mgreen\u{1B}[0m")
    // A mark is as wide as nothing, as what comes of it is.
    expect(visibleWidth(paint(.faint, "four")), 4)
  }

  @Test("has a name in one line")
  func lines() {
    expect("a\n✔ all agree\r\nb\rc".inOneLine, "a\\n✔ all agree\\r\\nb\\rc")
  }
}
