import Foundation
import TestSupport
import Testing

@Suite("The page of promises")
struct PromisesTests {
  private static let page = Command.root + "/Sources/Nightly/Nightly.docc/Promises.md"

  /// The last column of each row of the page's tables.
  private func holders() throws -> [String] {
    try String(contentsOfFile: Self.page, encoding: .utf8).split(separator: "\n").compactMap { line in
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      return line.hasPrefix("|") && cells.count == 3 && cells[0] != "promise" && !cells[0].hasPrefix("--")
        ? cells[2] : nil
    }
  }

  @Test("names for each the suite that holds it, or a script that is there")
  func held() throws {
    var suites = ""
    let files = FileManager.default.enumerator(atPath: Command.root + "/Tests")
    while let name = files?.nextObject() as? String {
      guard name.hasSuffix(".swift") else { continue }
      suites += try String(contentsOfFile: Command.root + "/Tests/" + name, encoding: .utf8)
    }
    let rows = try holders()
    #expect(rows.count > 15)
    for row in rows {
      var named = 0
      for suite in row.matches(of: /\*([^*]+)\*/) {
        #expect(suites.contains("@Suite(\"\(suite.1)\""), "there is no suite '\(suite.1)'")
        named += 1
      }
      for script in row.matches(of: /`(Tests\/[^`]+)`/) {
        #expect(FileManager.default.isExecutableFile(atPath: Command.root + "/\(script.1)"), "\(script.1)")
        named += 1
      }
      #expect(named > 0, "nothing holds: \(row)")
    }
  }
}
