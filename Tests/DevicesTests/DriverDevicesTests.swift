import Conformance
import Harness
import Programs
import TestSupport
import Testing

@testable import Devices

@Suite("What `driver:` names", .timeLimit(.minutes(10)))
struct DriverDevicesTests {
  @Test("what a driver is told it may not have, and what its lock lacks, is said before anything is tried")
  func descriptions() throws {
    let folder = TestFolder()
    let programs = ProgramPool(answerTimeout: timeLimit)
    func program(_ name: String, _ members: String = "") -> String {
      folder.write(
        name,
        """
        import sys
        for line in sys.stdin:
          if "hello" in line: print('{"hello":{"protocol":2\(members)}}')
          print('{"settled":true}', flush=True)
        """)
    }
    let lock = program("empty.py")
    func problem(_ text: String) -> String? {
      do throws(DeviceProblem) {
        _ = try programs.describe(try DeviceSpec(text: text))
        return nil
      } catch {
        return error.description
      }
    }
    expect(problem("driver:python3 \(lock)?peripheral=python3 \(lock)"), nil)
    expect(
      problem("driver:python3 \(lock)?peripheral=python3 \(lock)&loss=0.7"),
      "`0.7` is not a value of `loss`: expected a number from 0 to 0.5: where more than half of the packets is lost, no link is "
        + "kept for sure, and no lock can be judged")
    expect(problem("driver:python3 \(lock)?peripheral=python3 \(lock)&loss=0.5"), nil)
    #expect(problem("driver:python3 \(lock)")?.hasPrefix("a driver needs a lock, and none is named") == true)
    expect(problem("driver:?peripheral=x"), "nothing follows `driver:`")
    expect(problem("driver:x?peripheral=y&loss=0&loss=1"), "`loss` is given twice")
    let jamming = program("jamming.py", #","faults":{"att":[true]}"#)
    expect(
      problem("driver:python3 \(jamming)?peripheral=python3 \(lock)"),
      "the driver's fault `att` has the name of one of its lock's side: give it another name")
    let flying = program("flying.py", #","requests":{"go":"fly"},"meanings":{}"#)
    let spec = try DeviceSpec(text: "driver:python3 \(flying)?peripheral=python3 \(lock)")
    let fault = #expect(throws: LabFault.self) { _ = try programs.device(spec, seed: 1) }
    expect(fault?.symptom, .noDevice)
    #expect(fault?.detail.contains("the unknown word `fly`") == true, "\(String(describing: fault))")
    let needy = program("needy.py", #","secrets":["pin"],"moves":["press"]"#)
    expect(
      problem("driver:python3 \(needy)?peripheral=python3 \(lock)"),
      "the driver needs the secret `pin`: `secrets=FILE` names a lock file with `driver` and `secrets`")
    let moved = program("moved.py", #","moves":["press"]"#)
    let text = "driver:python3 \(lock)?peripheral=python3 \(moved)"
    expect(
      try programs.describe(try DeviceSpec(text: text)).moving, ["lock", "unlock", "toggle", "press"])
    programs.shutDown()
  }

  @Test("a driver's command may have marks of its own; an option begins behind one and its name")
  func texts() throws {
    for (text, name, settings) in [
      ("driver:a?b&c?peripheral=d e?f&g", "a?b&c", [("peripheral", "d e?f&g")]),
      ("driver:a --x=?peripheral= &loss=0.1", "a --x=", [("peripheral", " "), ("loss", "0.1")]),
      ("driver:a?loss=0&peripheral=b", "a", [("loss", "0"), ("peripheral", "b")]),
    ] {
      let spec = try DeviceSpec(text: text)
      expect(spec, DeviceSpec(.driver, name, settings.map { .init($0.0, $0.1) }))
      expect(spec.description, text)
    }
  }
}
