import Files
import Conformance
import Harness
import Bench
import System

/// Recipes for the user's own hosts.
extension Recipe {
  /// A script that installs a service and its timer.
  ///
  /// The service is stopped gently: it finishes its step, parks the lock, and writes the report.
  var systemd: String {
    EmbeddedFile.recipeSystemd.text([
      "origin": origin, "name": name, "service": service, "resumption": resumption,
      "time": arguments.time.text,
      "setUpLine": StateFolder.setUpLine(for: shellWord(user)),
      "enableResumption": nightly == nil ? "" : "systemctl enable \(name)-resume.service",
    ])
  }

  /// The service that resumes a night after a restart of the host.
  private var resumption: String {
    guard let nightly else { return "" }
    return """
      cat > "$units/\(name)-resume.service" <<'UNIT'
      \(nightService(nightly, resumes: true))UNIT


      """
  }

  private var service: String { nightly.map { nightService($0, resumes: false) } ?? runService }

  /// The service of the night, which reports its status to systemd; if it is silent, systemd kills and restarts it,
  /// and it resumes the night.
  private func nightService(_ nightly: [String], resumes: Bool) -> String {
    let words = [command ?? "lockstep"] + nightWords(nightly, resumes: resumes)
    return EmbeddedFile.recipeNightService.text([
      "what": resumes ? "what is left of a night on this bench" : "a night on this bench", "user": user,
      "folder": folder.replacing("%", with: "%%"),
      "start": words.map(Self.unitWord).joined(separator: " "),
      "install": resumes ? "\n[Install]\nWantedBy=multi-user.target\n" : "",
    ])
  }

  private var runService: String {
    let words = [
      "/usr/bin/flock", "--no-fork", "--nonblock", "--conflict-exit-code=75",
      "\(folder)/.lockstep-bench.lock",
      command ?? "lockstep",
    ]
    let start = (words + self.words(out: out)).map(Self.unitWord).joined(separator: " ")
    return EmbeddedFile.recipeRunService.text([
      "user": user, "folder": folder.replacing("%", with: "%%"), "start": start, "seconds": "\(seconds)",
      "capabilities": needsAdapter ? "AmbientCapabilities=CAP_NET_ADMIN CAP_NET_RAW" : "",
      "noNewPrivileges": needsAdapter ? "no" : "yes",
    ])
  }

  /// A word of `ExecStart=`, where systemd interprets escapes, specifiers and variables.
  private static func unitWord(_ word: String) -> String {
    let text = word.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("%", with: "%%")
      .replacing("$", with: "$$")
    return text == word && shellWord(word) == word ? word : "\"\(text)\""
  }

  /// A script that submits an array of jobs, and one that merges their results.
  var slurm: String {
    let minutes = (seconds + 59) / 60 + 6
    return EmbeddedFile.recipeSlurm.text([
      "origin": origin, "name": name, "out": out, "folder": shellWord(folder), "minutes": "\(minutes)",
      "jobs": "\(shards) job\(shards == 1 ? "" : "s")", "shards": "\(shards)\(isBench ? "%1" : "")",
      "again": slurmAgain, "license": slurmLicense,
      "runLine": program + " " + runWords(out: "\(out)/$SLURM_ARRAY_JOB_ID/shard-$SLURM_ARRAY_TASK_ID"),
      "reportLine": reportLine("\(out)/\"$LOCKSTEP_ARRAY\"/shard-*/runs/*", out: out),
    ])
  }

  private var slurmAgain: String {
    isBench
      ? """
      # Slurm does not requeue the job, since each run wears the motor of the lock. --resume runs the missing cases.
      #SBATCH --no-requeue
      """
      : """
      # A task may be started again: of several runs of a part, only one counts when the parts are merged.
      #SBATCH --requeue
      #SBATCH --open-mode=append
      """
  }

  private var slurmLicense: String {
    isBench
      ? """
      # The lock is driven by one job at a time, wherever it runs: Licenses=\(name):1 in slurm.conf. A dongle that is
      # at certain machines is a resource of these: --gres=dongle:1 with Gres=dongle:1 at their NodeName.
      #SBATCH --licenses=\(name):1
      """
      : "# A real lock wants '#SBATCH --licenses=NAME:1' with Licenses=NAME:1 in slurm.conf; a dongle --gres=dongle:1."
  }
}
