public import Basics
import Conformance
public import Journal

/// Reports the progress of a campaign to the user.
public protocol CampaignReport: AnyObject {
  /// It begins.
  func begin(_ head: CampaignHead)
  /// How far it is; called often.
  func progress(_ progress: CampaignProgress)
  /// It came upon something.
  func found(_ finding: FindingNotice)
  /// Something is worth a line.
  func say(_ text: String)
  /// Reports a detail, for verbose output.
  func note(_ text: String)
  /// Something went wrong with the campaign itself.
  func warn(_ text: String)
  /// It is over.
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
  /// The report for people, or what replaces it; then all reports, the journal last.
  public var page = ""
  public var reports: [String] = []
  /// What it found, in all its sessions, each finding once.
  public var found = EndingCount.Found()
  /// What the command ends with.
  public var exit = CommandStatus.agree
}

/// The subject of a campaign, for its reports.
public struct CampaignHead: Sendable {
  public var machine: String
  public var device: String
  public var twin: String?
  public var seed: UInt64
  public var shard: (part: Int, count: Int) = (1, 1)
  /// The processes that explore.
  public var workers = 1
  /// The events that it is to have; `nil` for no end.
  public var steps: Int?
  /// How long it is to go on; `nil` for no end.
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

  /// What is fuzzed, in one line.
  public var title: String {
    "fuzz \(machine) on \(device)" + (twin.map { ", with its twin \($0)" } ?? "") + ", seed \(seed)"
      + (shard.count > 1 ? ", shard \(shard.part)/\(shard.count)" : "")
      + (workers > 1 ? ", \(workers) workers" : "")
  }
}

/// How far a campaign is.
public struct CampaignProgress: Sendable {
  public var status = CampaignStatus()
  /// How long it has been explored, in all its sessions.
  public var took = Interval.zero
  /// How much of the machine's table was tried.
  public var coverage: Coverage?

  /// Says how far a campaign is.
  public init(
    status: CampaignStatus = CampaignStatus(), took: Interval = Interval.zero, coverage: Coverage? = nil
  ) {
    self.status = status
    self.took = took
    self.coverage = coverage
  }
}
