import Benchmarks
import Journal
import Basics
import System

extension Figure {
  /// Whether leases keep processes apart.
  static var leases: [Figure] {
    let contest =
      "32 processes take 8 leases 10,000 times, and who has one is killed with SIGKILL at random moments."
    return [
      Figure(
        name: "lab.leases", unit: "overlaps", better: .lower,
        method: contest
          + " How often two had one at a time, by memory that they share and by what they wrote down.",
        measure: { LeaseTrial.contest.map { Double($0.overlaps) } }),
      Figure(
        name: "lab.lease-freed", unit: "s", better: .lower,
        method: contest + " The longest time from such a signal until somebody else has the lease.",
        measure: { LeaseTrial.contest?.freed.seconds }),
    ]
  }
}

/// The contest of which there are several figures.
private enum LeaseTrial {
  static let contest: LeaseContest? = {
    let folder = scratch("/leases-\(Host.processNumber)")
    guard let program = Host.program else { return nil }
    defer { LeaseContest.clear(folder) }
    return LeaseContest.hold(
      LeaseContest.Rules(acquisitions: 10_000, processes: 32, leases: 8), program: program, in: folder,
      seed: 1)
  }()
}
