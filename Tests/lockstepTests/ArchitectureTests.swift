import Foundation
import TestSupport
import Testing

@Suite("The page on the architecture", .timeLimit(.minutes(2)))
struct ArchitectureTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// The ways that the page lists: of each its title, and the types in order, with the target where each is said to live.
  private func ways() throws -> [(title: String, stops: [(type: String, target: String)])] {
    let page = Self.root.appending(path: "Sources/lockstep/lockstep.docc/Architecture.md")
    var ways: [(title: String, stops: [(type: String, target: String)])] = []
    for line in try String(contentsOf: page, encoding: .utf8).split(separator: "\n") {
      if line.hasPrefix("## ") { ways.append((String(line.dropFirst(3)), [])) }
      guard let stop = line.firstMatch(of: /^\d+\. `(\w+)` \((\w+)\)/) else { continue }
      ways[ways.count - 1].stops.append((String(stop.1), String(stop.2)))
    }
    return ways
  }

  @Test("each of the five ways passes types that there are, where they are said to live, none twice")
  func passed() throws {
    let ways = try ways()
    expect(ways.count, 5)
    for way in ways {
      #expect(way.stops.count > 4, "\(way.title)")
      expect(Set(way.stops.map(\.type)).count, way.stops.count)
      for stop in way.stops {
        let text = try sources(of: stop.target)
        let declaration = try Regex(
          "(?m)^ *((public|package|final|indirect) )*(struct|class|enum|protocol) \(stop.type)\\b")
        #expect(text.contains(declaration), "\(stop.type) in \(stop.target)")
      }
    }
  }

  private func sources(of target: String) throws -> String {
    let folder = Self.root.appending(path: "Sources/\(target)")
    let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
    var text = ""
    while let file = files?.nextObject() as? URL {
      if file.pathExtension == "swift" { text += try String(contentsOf: file, encoding: .utf8) + "\n" }
    }
    return text
  }
}
