import Foundation
import Testing

/// A page of the documentation: its blocks, its links, and the places that others can link to.
struct Page: CustomTestStringConvertible, Sendable {
  /// A block between fences.
  struct Block: Sendable {
    /// The line of its fence.
    var line: Int
    /// What stands behind the fence: `sh exits 1`.
    var words: [String]
    /// The file that it is put into, named by a comment on the line before.
    var file: String?
    var text = ""
  }

  /// Its path from the folder of the repository.
  let path: String
  let blocks: [Block]
  /// The targets of its links, without those that lead to the network.
  let links: [String]
  /// What stands between backticks in its text.
  let words: [String]
  /// What may stand behind `#` in a link to it.
  let anchors: Set<String>
  /// The number of its lines and of its words.
  let size: (lines: Int, words: Int)

  var testDescription: String { path }

  init(path: String, text: String) {
    self.path = path
    var blocks: [Block] = []
    var open: Block?
    var (prose, last) = ("", "")
    var anchors = Set<String>()
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() {
      if line.hasPrefix("```") {
        if let block = open {
          blocks.append(block)
          open = nil
        } else {
          let file = last.firstMatch(of: /^<!-- file: (\S+) -->$/).map { String($0.1) }
          open = Block(
            line: index + 1, words: line.dropFirst(3).split(separator: " ").map(String.init), file: file)
        }
      } else if open != nil {
        open?.text += line + "\n"
      } else {
        prose += line + "\n"
        if let heading = line.firstMatch(of: /^#+ (.*)$/) {
          anchors.insert(Self.anchor(of: String(heading.1)))
        }
      }
      last = String(line)
    }
    // A fence that is never closed shows as a block without a language.
    if let block = open { blocks.append(Block(line: block.line, words: [], file: nil)) }
    self.blocks = blocks
    self.anchors = anchors
    size = (lines.count, text.split { $0 == " " || $0 == "\n" }.count)
    words = prose.matches(of: /`([^`]+)`/).map { String($0.1).replacing("\n", with: " ") }
    prose.replace(/`[^`]*`/, with: "")
    let folder = (path as NSString).deletingLastPathComponent
    links =
      prose.matches(of: /\]\(([^)\s]+)\)/).map { String($0.1) }.filter { !$0.contains("://") }
      + prose.matches(of: /<doc:([^>]+)>/).map { "\($0.1).md" }.filter { _ in folder.hasSuffix(".docc") }
  }

  /// Where a heading is linked to.
  private static func anchor(of heading: String) -> String {
    heading.lowercased().filter { $0.isLetter || $0.isNumber || $0 == " " || $0 == "-" || $0 == "_" }
      .replacing(" ", with: "-")
  }

  /// A link's path from the folder of the repository, and its anchor.
  func place(of link: String) -> (path: String, anchor: String?) {
    let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    let folder = URL(filePath: "/" + path).deletingLastPathComponent()
    let target =
      parts[0].isEmpty ? path : String(folder.appending(path: parts[0]).standardized.path.dropFirst())
    return (target, parts.count > 1 ? parts[1] : nil)
  }
}

/// All pages that there are; what a new project gets is none of them.
enum Pages {
  /// Where all others are reached from.
  static let index = "Sources/lockstep/lockstep.docc/Index.md"

  static let all: [Page] = ["README.md", "Sources", "Tests"].flatMap(read).sorted { $0.path < $1.path }

  private static func read(_ place: String) -> [Page] {
    let files =
      FileManager.default.enumerator(atPath: Command.root + "/" + place)?.compactMap { $0 as? String } ?? []
    let paths =
      place.hasSuffix(".md")
      ? [place] : files.filter { $0.hasSuffix(".md") && !$0.hasPrefix("CFiles/") }.map { place + "/" + $0 }
    return paths.compactMap { path in
      (try? String(contentsOfFile: Command.root + "/" + path, encoding: .utf8)).map {
        Page(path: path, text: $0)
      }
    }
  }

  static func named(_ path: String) -> Page? { all.first { $0.path == path } }
}
