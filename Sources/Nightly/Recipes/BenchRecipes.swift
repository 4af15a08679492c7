import Conformance
import Harness
import Bench
import System

/// Recipes for machines of one's own.
extension Recipe {
  /// A script that installs a service and its timer.
  ///
  /// The service is stopped gently: its step is ended, the lock brought to its park position, the report written.
  var systemd: String {
    """
    #!/bin/sh
    # Made by: \(origin)
    # Run it as root: it installs \(name).service and \(name).timer. 'systemctl start \(name)' starts a run at once,
    # 'systemctl list-timers' says when the next one is, 'journalctl -u \(name)' what the last one said.
    set -eu
    units=${UNITS:-/etc/systemd/system}

    cat > "$units/\(name).service" <<'UNIT'
    \(service)UNIT

    \(resumption)cat > "$units/\(name).timer" <<'UNIT'
    [Unit]
    Description=Lockstep, every day at \(arguments.time.text)

    [Timer]
    OnCalendar=*-*-* \(arguments.time.text):00
    AccuracySec=1min
    # A night on which the machine was off is made up for.
    Persistent=true

    [Install]
    WantedBy=timers.target
    UNIT

    if [ -d /run/systemd/system ] && [ -z "${UNITS:-}" ]; then
      \(StateFolder.setUpLine(for: shellWord(user)))
      systemctl daemon-reload
      systemctl enable --now \(name).timer\(nightly == nil ? "" : "\n      systemctl enable \(name)-resume.service")
    fi

    """
  }

  /// The service that goes on with a night that a start of the machine cut off.
  private var resumption: String {
    guard let nightly else { return "" }
    return """
      cat > "$units/\(name)-resume.service" <<'UNIT'
      \(nightService(nightly, resumes: true))UNIT


      """
  }

  private var service: String { nightly.map { nightService($0, resumes: false) } ?? runService }

  /// A night is told how it is by the night itself, and is killed and taken up again where it says nothing.
  private func nightService(_ nightly: [String], resumes: Bool) -> String {
    let words = [command ?? "lockstep"] + nightWords(nightly, resumes: resumes)
    return """
      [Unit]
      Description=Lockstep, \(resumes ? "what is left of a night on this bench" : "a night on this bench")

      [Service]
      Type=notify
      User=\(user)
      WorkingDirectory=\(folder.replacing("%", with: "%%"))
      # Cycle counters, leases and health are in /var/lib/lockstep, which all users of this machine share.
      AmbientCapabilities=CAP_NET_ADMIN CAP_NET_RAW
      ExecStart=\(words.map(Self.unitWord).joined(separator: " "))
      WatchdogSec=2min
      # What was killed is taken up again, with exactly the cases that are missing. What ended is not begun again.
      Restart=on-failure
      RestartSec=10
      RestartPreventExitStatus=1 2 3 4 5 6
      # Only the night is told, which has its children park the locks.
      KillSignal=SIGTERM
      KillMode=mixed
      TimeoutStopSec=5min
      ProtectSystem=full
      \(resumes ? "\n[Install]\nWantedBy=multi-user.target\n" : "")
      """
  }

  private var runService: String {
    let words = [
      "/usr/bin/flock", "--no-fork", "--nonblock", "--conflict-exit-code=75",
      "\(folder)/.lockstep-bench.lock",
      command ?? "lockstep",
    ]
    let start = (words + self.words(out: out)).map(Self.unitWord).joined(separator: " ")
    return """
      [Unit]
      Description=Lockstep on this bench

      [Service]
      Type=exec
      User=\(user)
      WorkingDirectory=\(folder.replacing("%", with: "%%"))
      # The cycle counters of real locks are in /var/lib/lockstep, which all users of this machine share.
      \(needsAdapter ? "AmbientCapabilities=CAP_NET_ADMIN CAP_NET_RAW\n" : "")# One run at a time on this bench; 75 when another one goes on.
      ExecStart=\(start)
      # Neither a divergence (1) nor trouble of the lab (3) is better the second time: a lock has a motor that wears.
      Restart=no
      RuntimeMaxSec=\(seconds)
      # Only lockstep is told, which finishes its step and brings the lock to its park position.
      KillSignal=SIGTERM
      KillMode=mixed
      TimeoutStopSec=5min
      NoNewPrivileges=\(needsAdapter ? "no" : "yes")
      ProtectSystem=full

      """
  }

  /// A word of `ExecStart=`: systemd knows escapes, specifiers and variables there.
  private static func unitWord(_ word: String) -> String {
    let text = word.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("%", with: "%%")
      .replacing("$", with: "$$")
    return text == word && shellWord(word) == word ? word : "\"\(text)\""
  }

  /// A script that submits an array of jobs, and one that merges what they left.
  var slurm: String {
    let minutes = (seconds + 59) / 60 + 6
    return """
      #!/bin/bash
      # Made by: \(origin)
      # It submits \(shards) job\(shards == 1 ? "" : "s") and one that merges their reports, waits for that, and ends with its status.
      # Options for both, such as a partition, follow: \(name).sh --partition=bench
      set -eu
      cd -- \(shellWord(folder))
      mkdir -p \(out)

      array=$(sbatch --parsable "$@" <<'TASK'
      #!/bin/bash
      #SBATCH --job-name=\(name)
      #SBATCH --array=1-\(shards)\(isBench ? "%1" : "")
      #SBATCH --ntasks=1
      #SBATCH --output=\(out)/slurm-%A_%a.out
      #SBATCH --time=\(minutes)
      # Five minutes before that it is asked to end: it finishes its step, leaves the lock safe and writes its report.
      #SBATCH --signal=B:TERM@300
      \(slurmAgain)
      \(slurmLicense)
      # In place of the shell, so that the signal reaches it. Its part is in SLURM_ARRAY_TASK_ID and SLURM_ARRAY_TASK_COUNT.
      exec \(program) \(runWords(out: "\(out)/$SLURM_ARRAY_JOB_ID/shard-$SLURM_ARRAY_TASK_ID"))
      TASK
      )
      # With several clusters its name follows the number.
      array=${array%%;*}

      status=0
      LOCKSTEP_ARRAY=$array sbatch --wait --dependency=afterany:"$array" --export=ALL "$@" <<'REPORT' || status=$?
      #!/bin/bash
      #SBATCH --job-name=\(name)-report
      #SBATCH --ntasks=1
      #SBATCH --output=\(out)/slurm-%j.out
      #SBATCH --time=30

      \(reportLine("\(out)/\"$LOCKSTEP_ARRAY\"/shard-*/runs/*", out: out))
      REPORT

      # 1 is a divergence, 3 trouble of the lab, which says nothing of the lock.
      echo "\(name): array $array ended with status $status; the report is \(out)/junit.xml" >&2
      exit "$status"

      """
  }

  private var slurmAgain: String {
    isBench
      ? """
      # What has ended is not run again by itself: a lock has a motor that wears. --resume runs what is missing.
      #SBATCH --no-requeue
      """
      : """
      # A task that is started again, or twice, changes nothing: of all goes at a part one counts when they are merged.
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
