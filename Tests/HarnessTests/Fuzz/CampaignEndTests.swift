import Basics
import Conformance
import Journal
import TestSupport
import Testing

@testable import Harness

/// Doors that may be left as they should not be.
private final class LeftProvider: DeviceProvider {
  private let toys = ToyProvider()
  var left = ParkReport()

  var emulators: [String] { toys.emulators }
  func describe(_ spec: DeviceSpec) throws(DeviceProblem) -> DeviceDescription { try toys.describe(spec) }
  func usualDevice(of machine: String) -> DeviceSpec? { toys.usualDevice(of: machine) }
  func device(_ spec: DeviceSpec, seed: UInt64) throws(LabFault) -> any DeviceUnderTest {
    try toys.device(spec, seed: seed)
  }
  func park() -> ParkReport { left }
}

@Suite("How a campaign ends")
struct CampaignEndTests {
  /// What a campaign came to beside its own end.
  private struct Course {
    var events = 9
    /// The cases of earlier sessions.
    var earlier: [Record.Ending] = []
    /// The verdicts on the findings of other processes, each with its signature.
    var findings: [(signature: String, word: Record.Verdict.Word)] = []
    var faults: [String] = []
    var areOwn = false
    var parkFault: LabFault?
  }

  private static func end(
    _ cause: CampaignEnd, _ change: (inout Course) -> Void
  ) throws -> (CommandStatus, [Record]) {
    final class Records: JournalListener {
      var all: [Record] = []
      func take(_ record: Record) { all.append(record) }
    }
    var course = Course()
    change(&course)
    let (provider, records) = (LeftProvider(), Records())
    provider.left.fault = course.parkFault
    let target = try FuzzTarget(
      toyMachines().machine("door"), DeviceSpec(.emulator, "oak"), seed: 1, provider: provider)
    var earlier = EndingCount()
    for ending in course.earlier { earlier.count(ending) }
    let journal = CampaignJournal(
      target, FuzzSettings(), provider: provider, listener: records, earlier: earlier)
    for (signature, word) in course.findings {
      let id = "fuzz/\(signature)"
      journal.record(
        Record.Finding(signature, shortest: 2),
        [.begin(Record.Case(id: id)), .verdict(Record.Verdict(word, of: id, at: .zero))])
    }
    var status = CampaignStatus()
    status.events = course.events
    let command = journal.end(cause, status, nil, faults: course.faults, areOwn: course.areOwn)
    return (command, records.all)
  }

  private static let pulled = CampaignEnd.trouble(LabFault(.transportLost, "pulled out"))

  // swift-format-ignore
  private static let ends: [(cause: CampaignEnd, change: @Sendable (inout Course) -> Void, status: CommandStatus, word: Record.Verdict.Word)] = [
    (.done, { _ in }, .agree, .agree), (.found, { _ in }, .agree, .agree),
    // A campaign without any event proves nothing.
    (.done, { $0.events = 0 }, .nothingSelected, .skipped),
    (.stopped, { _ in }, .incomplete, .incomplete), (.stopped, { $0.events = 0 }, .incomplete, .incomplete),
    (pulled, { _ in }, .labFault, .labFault), (.limited("100 movements"), { _ in }, .safetyLimit, .incomplete),
    // What was found outranks how the campaign ended, also in another session and in another process.
    (.done, { $0.earlier = [.diverged] }, .divergence, .agree),
    (pulled, { $0.earlier = [.agreed, .diverged] }, .divergence, .labFault),
    (.limited("100 movements"), { $0.findings = [("a", .divergence)] }, .divergence, .incomplete),
    (.found, { $0.findings = [("a", .divergence)] }, .divergence, .agree),
    // A finding without a verdict is trouble of the lab, until it is confirmed.
    (.done, { $0.findings = [("a", .labFault)] }, .labFault, .agree),
    (.done, { $0.findings = [("a", .labFault), ("a", .divergence)] }, .divergence, .agree),
    // A fault beside the campaign counts, and one of ours puts all else in doubt.
    (.done, { $0.faults = ["the corpus is not kept: full"] }, .labFault, .agree),
    (.done, { $0.faults = ["worker 2: it ended too early"]; $0.areOwn = true }, .internalFault, .agree),
    (.found, { $0.findings = [("a", .divergence)]; $0.faults = ["x"]; $0.areOwn = true }, .internalFault, .agree),
    (.found, { $0.findings = [("a", .divergence)]; $0.faults = ["x"] }, .divergence, .agree),
    (.done, { $0.areOwn = true }, .agree, .agree),
    (.done, { $0.parkFault = LabFault(.noAnswer, "it is stuck") }, .labFault, .agree),
    (.done, { $0.events = 0; $0.parkFault = LabFault(.noAnswer, "it is stuck") }, .labFault, .skipped),
  ]

  @Test("a campaign ends with the most serious of what it came to", arguments: ends.indices)
  func end(index: Int) throws {
    let (cause, change, status, word) = Self.ends[index]
    let (command, records) = try Self.end(cause, change)
    expect(command, status)
    // Its own case is the last one, and the end of the journal has the same status.
    let verdicts = records.compactMap { record in
      if case .verdict(let verdict) = record { verdict } else { nil }
    }
    expect(verdicts.last?.id, "fuzz/door")
    expect(verdicts.last?.word, word)
    guard case .end(let last)? = records.last else {
      Issue.record("the journal has no end: \(records)")
      return
    }
    expect(last.status, Int(status.rawValue))
  }

  @Test("a finding that several processes made is one case")
  func repeated() throws {
    let (_, records) = try Self.end(.found) {
      $0.findings = [("a", .divergence), ("b", .labFault), ("a", .divergence), ("b", .divergence)]
    }
    expect(
      records.last?.line(),
      #"{"end":{"cases":3,"agree":1,"flaky":0,"divergences":2,"labFaults":0,"skipped":0,"incomplete":0,"observations":0,"status":1}}"#
    )
  }

  @Test("the case of a finding is known by its file, wherever the reports are")
  func ids() {
    let paths = ["Reports/failures/fuzz-door-8f31c2.yaml", "/tmp/a/failures/fuzz-door-8f31c2.yaml", "x.yaml"]
    expect(
      paths.map(CampaignJournal.id(ofSaved:)),
      ["failures/fuzz-door-8f31c2", "failures/fuzz-door-8f31c2", "x"])
  }
}
