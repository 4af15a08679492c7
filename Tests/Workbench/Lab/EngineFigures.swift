import Benchmarks
import System

extension Figure {
  /// Whether other people's engines change what comes out.
  static var engine: Figure {
    Figure(
      name: "lab.slurm", unit: "reports", better: .lower,
      method:
        "How many of the merged reports of a Slurm array of 16 shards of Scenarios/ on one node, one task of it killed "
        + "and started again and two started twice, differ in a byte from those of the same shards run in a row. Not "
        + "where Slurm is not installed.",
      measure: slurm)
  }

  private static func slurm() -> Double? {
    let scripts = Host.folder + "/Tests/Peers/slurm"
    let programs = ["/usr/sbin/slurmctld", "/usr/sbin/slurmd", "/usr/bin/sbatch", scripts + "/shards.sh"]
    guard programs.allSatisfy(Host.isFile), let program = Host.program else { return nil }
    let folder = scratch("-slurm-\(Host.processNumber)")
    defer { clear(folder) }
    let words = [scripts + "/cluster.sh", scripts + "/shards.sh", program, Host.folder + "/Scenarios", "16"]
    let line = "mkdir \"$0\" && cd \"$0\" && exec timeout 300 \"$@\""
    switch Measurement.run("/bin/sh", ["-c", line, folder] + words)?.status {
    case 0: return 0
    case 4: return 1
    default: return nil
    }
  }
}
