import Conformance
import TestSupport
import Testing

@Suite("What is said of a program that failed")
struct ProgramTroubleTests {
  @Test(
    "names the program, what it did, and its last words",
    arguments: [
      (
        ProgramTrouble("program", .notStarted, lastWords: "exit status 3"),
        "has a program that does not start (exit status 3)"
      ),
      (ProgramTrouble("peripheral", .silent), "has a peripheral that never answers"),
      (
        ProgramTrouble("peripheral", .ended, lastWords: "out of memory"),
        "has a peripheral that ended (out of memory)"
      ),
      (ProgramTrouble("driver", .stopped), "has a driver that stopped answering"),
      (ProgramTrouble("driver", .malformed), "has a driver that gave an answer of no known form"),
    ])
  func told(trouble: ProgramTrouble, expected: String) {
    expect(trouble.description, expected)
  }
}
