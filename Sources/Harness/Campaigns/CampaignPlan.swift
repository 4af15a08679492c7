public import Basics
public import Conformance
public import Journal

/// What a campaign is about, and all that it is given: checked before anything is begun or written.
public struct CampaignPlan {
  /// What is fuzzed.
  public var target: FuzzTarget
  /// What is explored beside the target or before it, where it has a twin.
  public var twin: FuzzTarget?
  /// How it is fuzzed.
  public var settings: FuzzSettings
  /// How far the campaign is: not at all, or where its last session ended.
  public var state: CampaignState
  /// How long the campaign continues from now; `nil` for no limit.
  public var duration: Interval?
  /// Makes the devices.
  public var provider: any DeviceProvider
  /// Reads the tests that are kept.
  public var reader: ScenarioReader
  /// Where rare tests are kept.
  public var corpus: Corpus.Place
  /// The job of which this is a part, if it is one.
  public var job: String?
  /// The folder where counterexamples are saved.
  public var failures: String
  /// The line to paste that does a saved test again on a device.
  public var replayLine: (_ path: String, _ device: DeviceSpec) -> String

  /// Gathers what a campaign is given.
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

/// Where everything goes that a campaign says: to the reports of this process, or to the process that started it.
public protocol CampaignOutput: AnyObject {
  /// Reports progress to the user.
  var report: any CampaignReport { get }
  /// Receives the journal.
  var listener: any JournalListener { get }
  /// What the cases of earlier sessions came to.
  var earlier: EndingCount { get }
  /// Whether the journal has a beginning and an end here.
  var keepsJournal: Bool { get }
  /// Whether the campaign is to be stopped.
  var isStopped: Bool { get }
  /// The time, on a clock that only counts on.
  var now: Interval { get }
  /// Stores the state from which the campaign can resume.
  func keep(_ state: CampaignState)
  /// Reports something that concerns the whole campaign, to the user and in the journal, once even if it is found
  /// repeatedly.
  func sayOnce(_ text: String)
  /// Repeats the test of a finding, and stores its artifacts.
  func record(_ test: Case, _ body: () -> Outcome) -> Outcome
  /// Keeps what goes over the link to the device while a finding is confirmed, of which no other does the test once more.
  var link: (any LinkWatch)? { get }
}

extension CampaignOutput {
  /// Keeps nothing.
  public func record(_ test: Case, _ body: () -> Outcome) -> Outcome { body() }
  /// Watches no link.
  public var link: (any LinkWatch)? { nil }
}
