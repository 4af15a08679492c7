public import Basics
public import Reporting

/// The systems that start runs automatically.
public enum ScheduleKind: String, CaseIterable, Sendable {
  case gitlab, github, jenkins, systemd, slurm, kubernetes
}

/// A time of the day: `02:00`.
public struct TimeOfDay: Equatable, Sendable {
  public var hour: Int
  public var minute: Int

  public init?(argument: String) {
    let parts = argument.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2,
      parts.allSatisfy({ $0.utf8.count == 2 && $0.utf8.allSatisfy { (48...57).contains($0) } }),
      let hour = Int(parts[0]), let minute = Int(parts[1]), hour < 24, minute < 60
    else { return nil }
    (self.hour, self.minute) = (hour, minute)
  }

  /// The text form.
  public var text: String { hour.padded(to: 2) + ":" + minute.padded(to: 2) }
}

/// The settings of a recipe.
public struct RecipeSettings: Sendable {
  public var kinds: [String] = []
  public var scenarios: [String] = []
  public var plan: String?
  public var bench: String?
  public var device: String?
  public var transport: String?
  public var shards: Int?
  public var time = TimeOfDay(argument: "02:00")!
  public var limit = Interval.seconds(3600)
  public var command: String?
  public var out = "Reports"
  public var name = "lockstep"
  public var user: String?
  public var folder: String?
  public var history = HistorySettings()
  public var image: String?
  public var claim: String?

  /// Makes the default settings.
  public init() {}
}
