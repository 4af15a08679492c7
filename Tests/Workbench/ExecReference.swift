import Glibc
import Journal
import Automata
import System
import Conformance
import Emulator
import Models
import Basics

/// Serves the reference lock line by line. What is asked of it is known, and so are its answers: nothing is taken apart
/// but what begins a test.
struct ExecReference {
  private var lock = ReferenceLock()

  /// Serves a new one.
  init() {}

  /// Answers until its input ends.
  mutating func serve(_ vocabulary: Vocabulary) {
    lock.adopt(vocabulary)
    let requests = vocabulary.stimuli.map { Self.line(["stimulus": .text($0)]).dropLast() }
    let answers = vocabulary.statuses.map { Self.line(["status": .text($0)]) }
    let settled = Self.line(["settled": true])
    answerLines { line, output in
      if let stimulus = requests.firstIndex(where: { $0.elementsEqual(line) }) {
        try? lock.perform(Stimulus(stimulus))
      } else {
        reset(line)
      }
      while let shown = try? lock.observe(until: lock.now) {
        if case .status(let number) = shown { output += answers[number] }
      }
      output += settled
    }
  }

  private mutating func reset(_ line: ArraySlice<UInt8>) {
    var start = StartCondition()
    if let request = try? JSON(parsing: Array(line)), case .mapping(let members)? = request["reset"] {
      start.settings = members.map { Argument($0.name, .flag($0.value == true)) }
    }
    try? lock.reset(to: start)
  }

  private static func line(_ json: JSON) -> [UInt8] { Array(json.line.utf8) + [UInt8(ascii: "\n")] }
}

/// Answers the lines of standard input, until it ends, with as few reads and writes as there can be.
///
/// - Parameter answer: appends the answer to a line, with its own ends of lines.
private func answerLines(_ answer: (_ line: ArraySlice<UInt8>, _ output: inout [UInt8]) -> Void) {
  var room = [UInt8](repeating: 0, count: 64 << 10)
  var (begun, output): ([UInt8], [UInt8]) = ([], [])
  while true {
    let count = unsafe Kernel.receive(STDIN_FILENO, &room, room.count)
    guard count > 0 else { return }
    var rest = room[..<count]
    output.removeAll(keepingCapacity: true)
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      if begun.isEmpty {
        answer(rest[..<end], &output)
      } else {
        begun += rest[..<end]
        answer(begun[...], &output)
        begun.removeAll()
      }
      rest = rest[(end + 1)...]
    }
    begun += rest
    if output.isEmpty { continue }
    guard unsafe Kernel.send(STDOUT_FILENO, output, output.count) == output.count else { return }
  }
}
