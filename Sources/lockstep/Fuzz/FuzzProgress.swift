import Journal
import Harness
import Basics

/// What a campaign is about, for whoever looks on.
struct FuzzHead {
  var machine: String
  var device: String
  var twin: String?
  var seed: UInt64
  var shard: (part: Int, count: Int) = (1, 1)
  /// The processes that explore.
  var workers = 1
  /// The events that it is to have; `nil` for no end.
  var steps: Int?
  /// How long it is to go on; `nil` for no end.
  var duration: Interval?
}

extension FuzzHead {
  init(_ target: FuzzTarget, twin: FuzzTarget?, _ settings: FuzzSettings, duration: Interval?) {
    machine = target.machine.label
    device = target.device.description
    self.twin = twin?.device.description
    seed = settings.seed
    shard = settings.shard
    steps = settings.steps
    self.duration = duration
  }

  /// What is fuzzed, in one line.
  var title: String {
    "fuzz \(machine) on \(device)" + (twin.map { ", explored on its twin \($0)" } ?? "") + ", seed \(seed)"
      + (shard.count > 1 ? ", shard \(shard.part)/\(shard.count)" : "")
      + (workers > 1 ? ", \(workers) workers" : "")
  }
}

/// How far a campaign is.
struct FuzzProgress {
  var status = CampaignStatus()
  /// How long it has been explored, in all its sittings.
  var took = Interval.zero
  /// How much of the machine's table was tried.
  var coverage: Coverage?
}

/// How fast events come now: over the last seconds, and not since the beginning.
struct RateMeter {
  /// How far back it looks.
  static let span = Interval.seconds(5)

  private var samples = FIFO<(time: Interval, events: Int)>()

  /// Takes in how many events there were at a time.
  mutating func add(_ events: Int, at time: Interval) {
    samples.append((time, events))
    // One sample from before the span stays, to measure from.
    while samples.count > 2, samples[1].time <= time - Self.span { samples.removeFirst() }
  }

  /// Events in a second.
  var rate: Int {
    guard let first = samples.first, let last = samples.last, last.time > first.time else { return 0 }
    return Int(Double(last.events - first.events) / (Double((last.time - first.time).nanoseconds) / 1e9))
  }
}
