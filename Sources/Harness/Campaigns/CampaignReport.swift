public import Basics
import Conformance
public import Journal

/// Reports the progress of a campaign to the user.
public protocol CampaignReport: AnyObject {
  /// The campaign begins.
  func begin(_ head: CampaignHead)
  /// Reports progress; called often.
  func progress(_ progress: CampaignProgress)
  /// Reports a finding.
  func found(_ finding: FindingNotice)
  /// Reports a message.
  func say(_ text: String)
  /// Reports a detail, for verbose output.
  func note(_ text: String)
  /// Reports a problem of the campaign itself.
  func warn(_ text: String)
  /// The campaign ended.
  func end(_ end: CampaignSummary)
}

extension CampaignReport {
  public func note(_ text: String) { say(text) }
}

/// How a campaign ended.
public struct CampaignSummary {
  public var cause: CampaignEnd
  public var status: CampaignStatus
  public var coverage: Coverage?
  public var seed: UInt64
  public var took: Interval
  /// The command that resumes the campaign, if it was stopped.
  public var resume: String?
  /// Whether the device was a real lock, whose motor wears.
  public var isReal = false
  /// The path of the report for people, or what replaces it; then those of all reports, the journal last.
  public var page = ""
  public var reports: [String] = []
  /// The findings of all sessions, each counted once.
  public var found = EndingCount.Found()
  /// The exit status of the command.
  public var exit = CommandStatus.agree
}

/// The subject of a campaign, for its reports.
public struct CampaignHead: Sendable {
  public var machine: String
  public var device: String
  public var twin: String?
  public var seed: UInt64
  public var shard: (part: Int, count: Int) = (1, 1)
  /// The number of processes.
  public var workers = 1
  /// The maximum number of events; `nil` for no limit.
  public var steps: Int?
  /// The maximum duration; `nil` for no limit.
  public var duration: Interval?
}

extension CampaignHead {
  public init(_ target: FuzzTarget, twin: FuzzTarget?, _ settings: FuzzSettings, duration: Interval?) {
    machine = target.machine.label
    device = target.device.description
    self.twin = twin?.device.description
    seed = settings.seed
    shard = settings.shard
    steps = settings.steps
    self.duration = duration
  }

  /// The subject in one line.
  public var title: String {
    "fuzz \(machine) on \(device)" + (twin.map { ", with its twin \($0)" } ?? "") + ", seed \(seed)"
      + (shard.count > 1 ? ", shard \(shard.part)/\(shard.count)" : "")
      + (workers > 1 ? ", \(workers) workers" : "")
  }
}

/// The progress of a campaign.
public struct CampaignProgress: Sendable {
  public var status = CampaignStatus()
  /// The time spent in all sessions.
  public var took = Interval.zero
  /// The coverage of the machine's table.
  public var coverage: Coverage?

  /// Makes a progress report.
  public init(
    status: CampaignStatus = CampaignStatus(), took: Interval = Interval.zero, coverage: Coverage? = nil
  ) {
    self.status = status
    self.took = took
    self.coverage = coverage
  }
}
