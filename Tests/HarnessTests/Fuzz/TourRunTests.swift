import Emulator
import Basics
import Conformance
import Harness
import Testing
import TestSupport

@Suite("Tours with trouble in the lab")
struct TourRunTests {
  private static let noAnswer = LabFault(.noAnswer, "silence")

  /// A tour on a healthy lock with trouble at some stimuli, by their number; with its verdicts other than agreement.
  private func tour(
    _ trouble: @escaping (RiggedLock, Int) -> LabFault?
  ) throws -> (lock: RiggedLock, verdicts: [String]) {
    let lock = RiggedLock(.deafUnlock)
    lock.rig.isSick = { _ in false }
    lock.rig.trouble = { trouble(lock, $0) }
    let journal = JournalList()
    _ = TourRun(try lock.target(), provider: RiggedProvider(lock), listener: journal).perform()
    let verdicts = journal.lines.filter { $0.hasPrefix(#"{"verdict""#) && !$0.contains(#""agree""#) }
    return (lock, verdicts)
  }

  @Test("trouble that does not come again is the lab's, and costs one test")
  func once() throws {
    let (lock, verdicts) = try tour { _, count in count == 40 ? Self.noAnswer : nil }
    expect(verdicts.count, 1)
    #expect(
      verdicts.allSatisfy { $0.hasPrefix(#"{"verdict":"lab-fault""#) && $0.contains("no answer: silence") })
    expect(lock.rig.restarts, 1)
  }

  @Test("the same trouble in every fresh start is the device's")
  func stopsAnswering() throws {
    var count = 0
    let (_, verdicts) = try tour { lock, _ in
      let disconnects = lock.rig.given[11] ?? 0
      defer { count = disconnects }
      return disconnects > count ? Self.noAnswer : nil
    }
    #expect(!verdicts.isEmpty)
    let words = "stopped answering: no answer: silence, and again in two fresh starts"
    #expect(
      verdicts.allSatisfy { $0.hasPrefix(#"{"verdict":"divergence""#) && $0.contains(words) }, "\(verdicts)")
  }
}
