import Conformance
import TestSupport
import Testing

@Suite("What is said of a program that failed")
struct ProgramTroubleTests {
  @Test(
    "is told from the message on it, wherever that stands",
    arguments: [
      (
        "no device: the program did not start: exit status 3, of sh -c 'exit 3'",
        "has a program that does not start (exit status 3)"
      ),
      (
        "3 runs failed one after the other: no device: the driver did not start: exit status 1, of python3 driver.py\n"
          + "its standard error ended with:\nTraceback\nKeyError: 'hello'",
        "has a driver that does not start (KeyError: 'hello')"
      ),
      (
        "no device: the peripheral has not answered once, no answer: nothing came within 5 s, of cat",
        "has a peripheral that never answers"
      ),
      (
        "a program of the lab failed: the peripheral, the device's program ended: exit status 1, of python3 lock.py\n"
          + "its standard error ended with:\nout of memory",
        "has a peripheral that ended (out of memory)"
      ),
      (
        "a program of the lab failed: the driver, no answer: to enter within 5 s, and again in two fresh starts",
        "has a driver that stopped answering"
      ),
      ("a program of the lab failed: the driver does not run", "has a driver that failed"),
    ])
  func told(message: String, expected: String) {
    expect(ProgramTrouble(message: message).map { "\($0)" }, expected)
  }

  @Test(
    "is nothing where the trouble is another",
    arguments: ["no device: nothing was heard of it", "link lost", ""])
  func others(message: String) {
    expect(ProgramTrouble(message: message), nil)
  }
}
