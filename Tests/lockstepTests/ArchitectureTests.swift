import Foundation
import TestSupport
import Testing

@Suite("The page on the architecture")
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
    return ways.filter { !$0.stops.isEmpty }
  }

  @Test("each of the five ways passes types that there are, where they are said to live, none twice")
  func passed() throws {
    let ways = try ways()
    expect(ways.count, 5)
    var declared: [String: Set<String>] = [:]
    for way in ways {
      #expect(way.stops.count > 4, "\(way.title)")
      expect(Set(way.stops.map(\.type)).count, way.stops.count)
      for stop in way.stops {
        if declared[stop.target] == nil { declared[stop.target] = try types(of: stop.target) }
        #expect(declared[stop.target]?.contains(stop.type) ?? false, "\(stop.type) in \(stop.target)")
      }
    }
  }

  @Test("each place that the page names is there")
  func places() throws {
    let page = Self.root.appending(path: "Sources/lockstep/lockstep.docc/Architecture.md")
    let places = try String(contentsOf: page, encoding: .utf8).matches(of: /`(Sources\/[\w\/.]+)`/).map {
      String($0.1)
    }
    #expect(places.count >= 9)
    for place in places {
      #expect(FileManager.default.fileExists(atPath: Self.root.appending(path: place).path), "\(place)")
    }
  }

  /// The names of the types that the files of a target declare.
  private func types(of target: String) throws -> Set<String> {
    let folder = Self.root.appending(path: "Sources/\(target)")
    let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
    let (marks, kinds) = (
      ["public", "package", "final", "indirect"], ["struct", "class", "enum", "protocol"]
    )
    var names = Set<String>()
    while let file = files?.nextObject() as? URL {
      guard file.pathExtension == "swift" else { continue }
      for line in try String(contentsOf: file, encoding: .utf8).utf8.split(separator: UInt8(ascii: "\n")) {
        let words = line.split(separator: UInt8(ascii: " "), maxSplits: 5).lazy.map { String(Substring($0)) }
          .drop { marks.contains($0) }
        guard let kind = words.first, kinds.contains(kind), let name = words.dropFirst().first else {
          continue
        }
        names.insert(String(name.prefix { $0.isLetter || $0.isNumber }))
      }
    }
    return names
  }
}
