import Foundation
import Testing

/// An array of Slurm jobs on a cluster of one node.
@Suite("Slurm", .timeLimit(.minutes(5)))
struct SlurmTests {
  @Test(
    "sixteen shards, one killed and started again, two started twice: the report is that of the shards in a row, byte by byte",
    .needs(.slurm))
  func shards() async throws {
    // Slurm asks for the name of the machine, for which there is nobody in a network of its own.
    let rig = try await Rig(.slurm, isIsolated: false)
    let words = "cd \(rig.folder) && exec \(Place.peers)/slurm/cluster.sh \(Place.peers)/slurm/shards.sh"
    // A thread of these tests may have signals blocked by which daemons are ended.
    let unblock =
      "import os, signal, sys; signal.pthread_sigmask(signal.SIG_SETMASK, []); os.execv(sys.argv[1], sys.argv[1:])"
    let result = try await rig.run(
      "shards",
      [
        "/usr/bin/python3", "-c", unblock, "/bin/bash", "-c",
        "\(words) \(Place.lockstep) \(Place.root)/Scenarios 16",
      ])
    #expect(result.status == 0, "\(result.output)")
    #expect(!result.output.contains("times, and not twice"), "\(result.output)")
  }
}
