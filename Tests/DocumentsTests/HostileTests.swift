@testable import Documents
import Glibc
import Basics
import TestSupport
import Testing

/// Files that nobody meant to be read: whatever their bytes are, reading them ends, in a value or in an error.
@Suite("Hostile documents")
struct HostileTests {
  static let seeds = [
    "scenario: A drop\nmachine: sesame\ndevice: { lock: sesame5, registered: true }\nsteps:\n  - closeTo\n  - expect: { status: [a, b], within: 11 s }\n",
    "a: &x [1, y]\nb: *x\nc: |+\n  text\n\nd: >-\n  folded\n  more\n\"k\\u00e9\": 'it''s'\n? l\n: [m, {n: }]\n",
    "%YAML 1.1\n%TAG ! tag:a,1:\n--- !a\n'it''s': \"q\\x41\"\n<<: *y\n[k]: !!str l\n---\n...\n",
    "[[[{a: b, c: [d, {e: [f]}]}, 'g'], \"h\"], &i j, *i, ? k : l]",
    "鍵: 🔒\r\nb: e\u{301}\u{2028}c\r\n",
  ]

  /// Random bytes, or one of the seeds with some bytes replaced, removed, repeated or put in.
  static func hostileBytes(_ generator: inout SeededGenerator) -> [UInt8] {
    if generator.below(8) == 0 { return generator.bytes(generator.below(200)) }
    var bytes = Array(seeds[generator.below(seeds.count)].utf8)
    let marks = Array("[]{}:,-?&*!|>'\"%@`# \t\r\n\\abc  --  ".utf8)
    let noText: [UInt8] = [0x00, 0x1B, 0x80, 0xC3, 0xED, 0xEF, 0xFE, 0xFF]
    for _ in 0...generator.below(3) {
      let place = generator.below(bytes.count + 1)
      let mark =
        generator.below(16) == 0
        ? noText[generator.below(noText.count)] : marks[generator.below(marks.count)]
      switch generator.below(5) {
      case 0 where place < bytes.count: bytes[place] = mark
      case 1 where place < bytes.count:
        bytes.removeSubrange(place..<min(bytes.count, place + 1 + generator.below(9)))
      case 2: bytes.insert(contentsOf: [UInt8](repeating: mark, count: 1 + generator.below(80)), at: place)
      case 3:
        bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + generator.below(30))], at: place)
      default: bytes.insert(mark, at: place)
      }
    }
    return bytes
  }

  /// Reads a file in every way there is, and shows what is wrong with it.
  static func exercise(_ bytes: [UInt8]) -> (isRead: Bool, text: String) {
    do {
      let document = try Document(bytes, name: "f.yaml", limits: Limits(nodes: 5000))
      _ = try? document.read { walk($0, depth: 0) }
      return (true, document.root.yaml())
    } catch {
      return (false, error.description)
    }
  }

  static func walk(_ cursor: Cursor, depth: Int) -> Int? {
    _ = cursor.text()
    _ = cursor.integer(in: 0...5)
    _ = cursor.number()
    _ = cursor.flag()
    _ = cursor.variant("step", of: ["lock", "unlock"])
    _ = cursor.fields(["scenario", "machine"])?.required("scenario")
    return depth < 5 ? cursor.listOrOne().compactMap { walk($0, depth: depth + 1) }.count : 0
  }

  @Test("reading ends in a value or in an error that can be shown; values load back equal")
  func fuzz() throws {
    var generator = SeededGenerator(seed: 23)
    var readCount = 0
    for round in 0..<3000 {
      let bytes = Self.hostileBytes(&generator)
      let (isRead, text) = Self.exercise(bytes)
      if isRead {
        readCount += 1
        let root = try Document(bytes, name: "f.yaml").root
        if try document(text).root != root { Issue.record("round \(round) was saved as\n\(text)") }
      } else if !text.hasPrefix("f.yaml:") {
        Issue.record("round \(round) is no error to show: \(text)")
      }
    }
    // Both ends must have been reached often.
    #expect((200...2800).contains(readCount), "\(readCount) of 3000 were read")
  }

  @Test("positions of nodes and problems lie within the file and agree with its text")
  func positions() {
    var generator = SeededGenerator(seed: 29)
    for _ in 0..<1000 {
      let bytes = Self.hostileBytes(&generator)
      do {
        check(try Document(bytes, name: "f.yaml").root, in: bytes)
      } catch {
        for problem in error.problems { check(problem.position, in: bytes) }
      }
    }
  }

  private func check(_ node: Node, in bytes: [UInt8]) {
    check(node.position, in: bytes)
    check(node.end, in: bytes)
    for child in node.members ?? node.entries?.flatMap({ [$0.key, $0.value] }) ?? [] {
      check(child, in: bytes)
    }
  }

  /// Compares a position with one found the slow way.
  private func check(_ position: Position, in bytes: [UInt8]) {
    guard position.offset <= bytes.count else {
      Issue.record("\(position) is at byte \(position.offset) of \(bytes.count)")
      return
    }
    var line = 1
    var column = 1
    let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) && position.offset >= 3 ? 3 : 0
    for offset in start..<max(start, position.offset) {
      let byte = bytes[offset]
      let endsLine =
        byte == 0x0A || (byte == 0x0D && (offset + 1 == bytes.count || bytes[offset + 1] != 0x0A))
      if endsLine {
        line += 1
        column = 1
      } else if byte & 0xC0 != 0x80 {
        column += 1
      }
    }
    if (line, column) != (position.line, position.column) {
      Issue.record("\(position) should be \(line):\(column) in \(bytes)")
    }
  }

  @Test("nothing is leaked, whether reading succeeds or fails")
  func leaks() async {
    // A process of its own, so that nothing else allocates.
    await #expect(processExitsWith: .success) {
      func peakMemory() -> Int {
        var usage = rusage()
        _ = unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return usage.ru_maxrss
      }
      // Many files, for what each parser holds (64 KiB); and many events, for what each of those holds.
      let events = Array((String(repeating: "- &name some text of a length\n", count: 2000) + "[").utf8)
      func round() {
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<100 { _ = HostileTests.exercise(HostileTests.hostileBytes(&generator)) }
        for _ in 0..<5 { _ = HostileTests.exercise(events) }
      }
      for _ in 0..<2 { round() }
      let before = peakMemory()
      for _ in 0..<4 { round() }
      // In KiB: a leak of 32 bytes in each event would be 1.2 MiB more, a parser left behind 25 MiB.
      exit(peakMemory() - before < 768 ? EXIT_SUCCESS : EXIT_FAILURE)
    }
  }

  @Test("a large document is read in time that grows with its size")
  func large() throws {
    let line = "- {a: [1, 2, 3], b: \"text\", c: e\u{301}}\n"
    let text = String(repeating: line, count: 5000)
    expect(try document(text).root.members?.count, 5000)
    let oneLine = "[" + String(repeating: "{a: 1}, ", count: 20_000) + "x]"
    expect(
      try document(oneLine).root.members?.last?.position, Position(line: 1, column: 160_002, offset: 160_001))
    let keys = (0..<20_000).map { "k\($0): v\n" }.joined()
    expect(try document(keys).root.entries?.count, 20_000)
  }
}
