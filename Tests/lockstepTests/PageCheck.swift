import Conformance
import LockFiles
import Automata
import Journal
import Bench
import Documents
import Foundation
import Nightly

@testable import CommandLine
@testable import lockstep

/// Does what a page says, in a folder of its own, and tells what is not as it says.
struct PageCheck {
  let page: Page
  private let folder: Command.Folder
  private let makefile: String
  private(set) var problems: [String] = []

  init(_ page: Page) throws {
    self.page = page
    folder = try Command.Folder()
    makefile = try String(contentsOfFile: Command.root + "/Makefile", encoding: .utf8)
  }

  /// Goes through all blocks and links.
  mutating func run() throws {
    for link in page.links { check(link) }
    // Pages of the tests speak of options of other programs.
    for words in page.words where !page.path.hasPrefix("Tests/") { check(named: words) }
    if page.blocks.contains(where: { $0.words.first == "sh" || $0.words.first == "yaml" }) {
      // The tree as its user has it: scenarios, and the command as it is built and as it is installed.
      try folder.write("bin/.keep", "")
      try folder.write("tree/.build/release/.keep", "")
      let files = FileManager.default
      try files.copyItem(atPath: Command.root + "/Scenarios", toPath: folder.path + "/tree/Scenarios")
      for place in ["bin", "tree/.build/release"] {
        try files.createSymbolicLink(
          atPath: "\(folder.path)/\(place)/lockstep", withDestinationPath: Command.path)
      }
    }
    var said: String?
    for block in page.blocks {
      if let file = block.file { try folder.write("tree/" + file, block.text) }
      let (kind, marks) = (block.words.first, Array(block.words.dropFirst()))
      switch (kind, marks.first) {
      case ("sh", "no-run") where marks.count == 1:
        said = nil
        checkWords(block)
      case ("sh", nil):
        said = try execute(block, statuses: [])
      case ("sh", "exits"):
        said = try execute(block, statuses: Array(marks.dropFirst()))
      case ("text", nil):
        if let output = said { compare(block, output) }
        said = nil
      case ("yaml", nil):
        said = nil
        try checkYAML(block)
      case ("yaml", "part"), ("json", nil), ("python", nil), ("swift", nil),
        ("lua", nil), ("toml", nil), ("lisp", nil), ("xml", nil):
        said = nil
      default:
        report(block, "no block is called '\(block.words.joined(separator: " "))'")
      }
    }
  }

  private mutating func report(_ block: Page.Block, _ problem: String) {
    problems.append("\(page.path):\(block.line): \(problem)")
  }

  // MARK: - Links

  private mutating func check(_ link: String) {
    let (path, anchor) = page.place(of: link)
    guard path == page.path || FileManager.default.fileExists(atPath: Command.root + "/" + path) else {
      problems.append("\(page.path): \(link) leads nowhere")
      return
    }
    let target = path == page.path ? page : Pages.named(path)
    if let anchor, !(target?.anchors.contains(anchor) ?? false) {
      problems.append("\(page.path): \(link) names no heading")
    }
  }

  // MARK: - Commands

  /// Whether the command and the options that stand in a sentence are there: `run --shards N`, `--shards`.
  private mutating func check(named text: String) {
    let words = text.split(separator: " ")
    let commands = CommandSet.lockstep.all + CommandSet.lockstep.hidden
    var meant = commands
    if words.first == "lockstep", words.count > 1 {
      meant = commands.filter { $0.name == words[1] }
      if meant.isEmpty, !["help", "COMMAND", "--help", "--version"].contains(words[1]) {
        problems.append("\(page.path): there is no '\(text)'")
      }
    } else if !text.hasPrefix("--"), !commands.contains(where: { $0.name == words.first ?? "" }) {
      return
    }
    let names = Set(meant.flatMap(\.options).map(\.name) + ["help", "version"])
    for word in words where word.hasPrefix("--") && !meant.isEmpty {
      let name = String(word.dropFirst(2).prefix { $0 != "=" && $0 != "|" })
      if !names.contains(name) { problems.append("\(page.path): '\(text)' has no such option") }
    }
  }

  /// Runs a block as it stands, and gives all that it prints.
  private mutating func execute(_ block: Page.Block, statuses: [String]) throws -> String {
    checkWords(block)
    let script = """
      exec 2>&1
      export PATH='\(folder.path)/bin':"$PATH" XDG_STATE_HOME='\(folder.path)/state' NO_COLOR=1
      trap 'echo $? >>"\(folder.path)/statuses"' ERR
      \(block.text)
      """
    try folder.write("statuses", "")
    try folder.write("block.sh", script)
    let result = try Command.shell(
      "LOCKSTEP_CONFIG= timeout 120 bash '\(folder.path)/block.sh'", in: folder.path + "/tree")
    let seen = try folder.read("statuses").split(separator: "\n").map(String.init)
    if seen != statuses {
      report(block, "ends with \(seen), not with \(statuses):\n\(result.output)")
    }
    return result.output
  }

  /// Holds the words of each line against what the command and the Makefile have.
  private mutating func checkWords(_ block: Page.Block) {
    var document: Substring?
    for line in block.text.replacing("\\\n", with: " ").split(separator: "\n") {
      if let end = document {
        if line == end { document = nil }
        continue
      }
      document = line.firstMatch(of: /<<'?(\w+)'?/)?.1
      for part in line.prefix(upTo: line.firstRange(of: /\s+#/)?.lowerBound ?? line.endIndex).split(
        separator: /&&|;/)
      {
        var words = shellWords(part.trimmingCharacters(in: .whitespaces))[...]
        words = words.drop { $0 == "sudo" || $0.contains(/^[A-Z_]+=/) }
        guard let program = words.popFirst() else { continue }
        if program == "make" {
          for word in words where !word.contains("=") && !makefile.contains("\n\(word):") {
            report(block, "make has no '\(word)'")
          }
        } else if program == "lockstep" || program == ".build/release/lockstep" {
          do throws(UsageError) {
            guard let name = words.popFirst(), name != "help" else { continue }
            try CommandSet.lockstep.named(name).check(Array(words))
          } catch {
            // A page on trouble shows what is wrong, too.
            if !block.words.contains("2") { report(block, error.message) }
          }
        }
      }
    }
  }

  // MARK: - Output

  private mutating func compare(_ block: Page.Block, _ output: String) {
    let shown = block.text.split(separator: "\n", omittingEmptySubsequences: false)[...]
    let printed = output.split(separator: "\n", omittingEmptySubsequences: false)[...]
    if !Self.matches(shown, printed) { report(block, "what is printed is:\n\(output)") }
  }

  /// Whether lines are as they are shown: `…` stands for anything in a line, and alone for any lines.
  static func matches(_ shown: ArraySlice<Substring>, _ printed: ArraySlice<Substring>) -> Bool {
    guard let first = shown.first else { return printed.isEmpty }
    if first == "…" {
      return (printed.startIndex...printed.endIndex).contains { matches(shown.dropFirst(), printed[$0...]) }
    }
    guard let line = printed.first, isLike(first, line) else { return false }
    return matches(shown.dropFirst(), printed.dropFirst())
  }

  private static func isLike(_ shown: Substring, _ line: Substring) -> Bool {
    let parts = shown.split(separator: "…", omittingEmptySubsequences: false)
    guard parts.count > 1, let first = parts.first, let last = parts.last else { return shown == line }
    guard line.hasPrefix(first) else { return false }
    var rest = line.dropFirst(first.count)
    for part in parts.dropFirst().dropLast() {
      guard let range = rest.firstRange(of: part) else { return false }
      rest = rest[range.upperBound...]
    }
    return rest.hasSuffix(last)
  }

  // MARK: - Documents

  /// Reads a scenario, a machine, a bench or the plan of a night, as the command does.
  private mutating func checkYAML(_ block: Page.Block) throws {
    let first = block.text.split(separator: "\n").first { !$0.hasPrefix("#") } ?? ""
    let bytes = Array(block.text.utf8)
    do throws(DocumentError) {
      switch first.prefix(while: { $0 != ":" }) {
      case "machine": _ = try MachineDefinition(yaml: bytes, name: "machine.yaml")
      case "bench":
        _ = try Inventory(bytes, name: "bench.yaml", checks: .init(guarded: LockFamily.allGuarded))
      case "nightly": _ = try NightPlan(bytes, name: "night.yaml")
      case "scenario": validate(block)
      default: report(block, "'\(first)' begins no document: is this 'yaml part'?")
      }
    } catch {
      report(block, error.description)
    }
  }

  private mutating func validate(_ block: Page.Block) {
    do {
      let name = "Scenarios/sesame5/of-a-page.yaml"
      let file = try folder.write("tree/" + name, block.text)
      let result = try Command.call("validate", name, in: folder.path + "/tree")
      try FileManager.default.removeItem(atPath: file)
      if result.status != 0 { report(block, result.output + result.errors) }
    } catch {
      report(block, "\(error)")
    }
  }
}
