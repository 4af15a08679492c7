import CallFaults
import CommandLine
import Journal
import System
import lockstep

extension Command {
  /// Runs another command while some of its calls fail; for tests of what it does then. With the word `kinds` alone it
  /// lists what may happen to which call.
  static var faulty: Command {
    Command(
      "faulty", "Runs a command some of whose system calls fail, for tests.",
      operands: .init(
        placeholder: "WORD",
        summary:
          "A file that the calls are added to; what happens to calls of this process, with commas between, or "
          + "'-'; the same for those of processes that it starts; and the command.", count: 1...Int.max,
        as: .words, path: \.self), defaults: [String]()
    ) { words, console throws(UsageError) in
      if words == ["kinds"] {
        for call in SystemCall.allCases {
          console.print(([call.rawValue] + CallFault.names(for: call)).joined(separator: " "))
        }
        return .agree
      }
      guard words.count > 3 else { throw UsageError("this command is for tests alone") }
      let (record, own, children) = (words[0], words[1], words[2])
      FaultGate.install(
        try faults(own), record: record, words: [faultyName, record, children, children, "--"])
      SQLiteCalls.interpose()
      Invocation.words = Array(words.dropFirst(3))
      return CommandSet.lockstep.run(Invocation.words, console)
    }
  }

  private static let faultyName = "faulty"

  private static func faults(_ text: String) throws(UsageError) -> [CallFault] {
    guard text != "-" else { return [] }
    var faults: [CallFault] = []
    for part in text.split(separator: ",") {
      guard let fault = CallFault(String(part)) else {
        throw UsageError("a fault is CALL@PLACE#NUMBER=KIND, and not '\(part)'")
      }
      faults.append(fault)
    }
    return faults
  }
}
