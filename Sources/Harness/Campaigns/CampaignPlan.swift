public import Basics
public import Conformance
public import Journal

/// The subject and settings of a campaign, checked before anything begins or is written.
public struct CampaignPlan {
  /// The machine and device that are fuzzed.
  public var target: FuzzTarget
  /// The reference device that is explored concurrently with the target or before it, if there is one.
  public var twin: FuzzTarget?
  /// The settings of fuzzing.
  public var settings: FuzzSettings
  /// The state in which the last session ended; the initial one for a new campaign.
  public var state: CampaignState
  /// How long the campaign continues from now; `nil` for no limit.
  public var duration: Interval?
  /// Makes the devices.
  public var provider: any DeviceProvider
  /// Reads the tests of the corpus.
  public var reader: ScenarioReader
  /// Where the corpus is stored.
  public var corpus: Corpus.Place
  /// The job that this campaign is a part of, if any.
  public var job: String?
  /// The folder where counterexamples are saved.
  public var failures: String
  /// The command that replays a saved test on a device.
  public var replayLine: (_ path: String, _ device: DeviceSpec) -> String

  /// Makes a plan.
  public init(
    target: FuzzTarget, twin: FuzzTarget? = nil, settings: FuzzSettings, state: CampaignState,
    duration: Interval? = nil, provider: any DeviceProvider, reader: ScenarioReader, corpus: Corpus.Place,
    job: String? = nil, failures: String,
    replayLine: @escaping (_ path: String, _ device: DeviceSpec) -> String
  ) {
    self.target = target
    self.twin = twin
    self.settings = settings
    self.state = state
    self.duration = duration
    self.provider = provider
    self.reader = reader
    self.corpus = corpus
    self.job = job
    self.failures = failures
    self.replayLine = replayLine
  }
}

extension CampaignState {
  /// The starting point of a campaign that resumes from here.
  public func earlier<Device: DeviceUnderTest>() -> Campaign<Device>.Earlier {
    var earlier = Campaign<Device>.Earlier()
    earlier.status = status
    earlier.findings = findings.map { ($0.signature, $0.count) }
    return earlier
  }
}

/// The receiver of a campaign's output: the reports of this process, or the process that started it.
public protocol CampaignOutput: AnyObject {
  /// Reports progress to the user.
  var report: any CampaignReport { get }
  /// Receives the journal.
  var listener: any JournalListener { get }
  /// The number of cases of earlier sessions, by how they ended.
  var earlier: EndingCount { get }
  /// Whether the campaign writes the first and last records of the journal.
  var keepsJournal: Bool { get }
  /// Whether a stop was requested.
  var isStopped: Bool { get }
  /// The time of a monotonic clock.
  var now: Interval { get }
  /// Stores the state from which the campaign can resume.
  func keep(_ state: CampaignState)
  /// Reports a message on the whole campaign, to the user and in the journal, at most once.
  func reportOnce(_ text: String)
  /// Repeats the test of a finding, and stores its artifacts.
  func record(_ test: Case, _ body: () -> Outcome) -> Outcome
  /// Records the packets of the link to the device while a finding is confirmed, if its test cannot be
  /// repeated.
  var link: (any LinkWatch)? { get }
}

extension CampaignOutput {
  /// Stores nothing.
  public func record(_ test: Case, _ body: () -> Outcome) -> Outcome { body() }
  /// Records no packets.
  public var link: (any LinkWatch)? { nil }
}
