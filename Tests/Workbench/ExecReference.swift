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
