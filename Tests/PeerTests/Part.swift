import Foundation
import Testing

/// Something that other people made and that the tests here meet Lockstep with.
enum Part: CaseIterable {
  /// Bumble, a Bluetooth stack in Python, in the virtual environment that Tests/Peers/setup.sh makes.
  case bumble
  /// Android's emulated controllers, in the same environment; and the compiler for what is preloaded into them.
  case rootcanal
  /// BlueZ's emulated controllers; its sockets in /tmp want a mount namespace.
  case btvirt
  /// A test bed for devices, in which a USB dongle is pretended.
  case umockdev
  /// Wireshark's dissectors.
  case tshark
  /// labgrid's coordinator, exporter and client, in the same environment as Bumble.
  case labgrid
  /// Slurm's controller, node and client programs.
  case slurm

  /// What the machine lacks for it, or `nil` when it is there.
  var missing: String? {
    switch self {
    case .bumble: Self.lacks("Bumble", ["\(Place.venv)/bin/bumble-scan"])
    case .rootcanal:
      Place.rootcanal == nil ? "rootcanal" : Self.lacks("gcc", ["/usr/bin/gcc"])
    case .btvirt:
      Self.lacks("btvirt and gcc", ["/usr/bin/btvirt", "/usr/bin/gcc"])
        ?? (getuid() == 0 ? nil : "root, for btvirt's own /tmp")
    case .umockdev:
      Self.lacks(
        "umockdev and gcc", ["/usr/bin/umockdev-wrapper", "/usr/bin/gcc", "/usr/include/umockdev-1.0"])
    case .tshark: Self.lacks("tshark", ["/usr/bin/tshark"])
    case .slurm:
      Self.lacks(
        "Slurm", ["/usr/sbin/slurmctld", "/usr/sbin/slurmd", "/usr/bin/sbatch", "/usr/sbin/munged"])
        ?? (getuid() == 0 ? nil : "root, for Slurm's node")
    case .labgrid:
      Self.lacks("labgrid", ["client", "coordinator", "exporter"].map { "\(Place.venv)/bin/labgrid-\($0)" })
    }
  }

  /// Whether a part that is not there is a failure, as it is in CI.
  static let areRequired = ProcessInfo.processInfo.environment["LOCKSTEP_REQUIRE_PEERS"] == "1"

  /// The name of what is not there unless all of its files are.
  private static func lacks(_ name: String, _ paths: [String]) -> String? {
    paths.allSatisfy { FileManager.default.fileExists(atPath: $0) } ? nil : name
  }
}

extension Trait where Self == ConditionTrait {
  /// Leaves a test out, visibly, where the machine lacks something for it; never where all parts are required.
  static func needs(_ parts: Part...) -> Self {
    let missing = parts.compactMap(\.missing)
    return .enabled(
      if: missing.isEmpty || Part.areRequired,
      "needs \(missing.joined(separator: ", ")), which `make dependencies-peers` installs")
  }
}

/// Where things are.
enum Place {
  /// The folder of the repository.
  static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().path

  /// The scripts and stand-ins.
  static let peers = root + "/Tests/Peers"

  /// The virtual environment with Bumble and rootcanal.
  static let venv = root + "/.build/peers/venv"

  /// Its Python.
  static let python = venv + "/bin/python"

  /// The command beside the tests.
  static let lockstep = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    .appending(path: "lockstep").path

  /// The program rootcanal, whatever Python's version is called.
  static let rootcanal: String? = {
    let library = venv + "/lib"
    let versions = (try? FileManager.default.contentsOfDirectory(atPath: library)) ?? []
    return versions.map { "\(library)/\($0)/site-packages/rootcanal/bin/linux-x86_64/rootcanal" }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
  }()
}
