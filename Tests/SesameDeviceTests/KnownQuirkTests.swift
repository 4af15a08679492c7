import Sesame
import Foundation
@testable import SesameDevice
import Testing

@Suite("What locks are known to do")
struct KnownQuirkTests {
  @Test("the page of the rules says why each is no reproach")
  func documentation() throws {
    let page = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Sources/Sesame/Sesame.docc/Violations.md")
    let text = try String(contentsOf: page, encoding: .utf8)
    for quirk in KnownQuirk.all {
      #expect(text.contains("| \(quirk.reason) |"), "\(quirk.violation.rawValue)")
    }
  }
}
