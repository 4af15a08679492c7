import System
public import CommandLine
import Nightly
import Reporting
import Journal
import Conformance
import Basics

extension ScheduleKind: WordChoice {}

extension TimeOfDay: ArgumentValue {
  static let form = "a time of the day such as 02:00"
}

extension RecipeSettings {
  /// The number of shards, as an option value.
  private var shardCount: Count? {
    get { shards.map { Count($0) } }
    set { shards = newValue?.value }
  }
}

extension Command {
  static var schedule: Command {
    Command(
      "schedule", "Prints a configuration with which CI, systemd or a cluster starts runs.",
      discussion: """
        KIND is gitlab (.gitlab-ci.yml), github (.github/workflows/lockstep.yml), jenkins (Jenkinsfile), systemd (a service
        and a timer for a bench), slurm (a job array, and a job that merges its reports) or kubernetes (an Indexed Job, and a
        job that merges).

        In your own project, give the path of lockstep with --command: without it, a configuration for gitlab, github or
        jenkins builds lockstep from the checkout, which then must be that of Lockstep itself. Each configuration runs the
        scenarios, keeps journals and reports whatever the result, and publishes JUnit. Shards take their number from the
        environment, and 'lockstep report' merges them: a shard that was restarted, or started twice, counts once. The history
        of runs is kept from job to job, or on a server with --history. A divergence (1) fails the job; a lab fault (3) is
        reported separately, so that an unplugged dongle does not look like a broken lock.

        """,
      examples: [
        Example("lockstep schedule gitlab --shards 4 > .gitlab-ci.yml", "Every push, in four jobs."),
        Example(
          "lockstep schedule systemd --device lock:/etc/lockstep/front-door.yaml --transport usb:0 --time 01:30",
          "Every night on a bench with a real lock."),
        Example(
          "lockstep schedule systemd --plan nights/third-floor.yaml --time 01:30",
          "Every night all locks of a bench, with a watchdog; a night that a reboot interrupted is resumed."),
        Example(
          "lockstep schedule slurm --shards 20 > nightly.sh",
          "A script that hands a night to a cluster: bash nightly.sh."),
        Example(
          "lockstep schedule kubernetes --shards 20 --image registry/lockstep:1 --history postgres://db/lockstep > nightly.yaml",
          "The same for pods, whose results go into a database."),
      ],
      options: RecipeSettings.options,
      operands: .init(
        placeholder: "KIND", summary: "gitlab, github, jenkins, systemd, slurm or kubernetes.",
        count: 1...1,
        as: .choice(ScheduleKind.allCases.map(\.rawValue)), path: \.kinds), defaults: RecipeSettings()
    ) { arguments, console throws(UsageError) in
      guard let kind = ScheduleKind(rawValue: arguments.kinds[0]) else {
        throw UsageError("KIND expects \(ScheduleKind.form), not '\(arguments.kinds[0])'")
      }
      let recipe = try Recipe(arguments, kind)
      if let caution = recipe.caution(in: ".") { console.say("lockstep: \(caution)") }
      console.print(recipe.text)
      return .agree
    }
  }
}

extension RecipeSettings {
  static var options: [Option<RecipeSettings>] {
    [
      .list(
        "scenarios", \.scenarios, "PATH",
        "A scenario to run, or a folder of scenarios. May be given several times. Default: Scenarios, "
          + "or else scenarios.",
        example: "Scenarios/sesame5", as: .scenario),
      .value(
        "plan", \.plan, "PLAN",
        "For systemd: the plan of 'lockstep nightly', instead of scenarios.",
        example: "nights/third-floor.yaml", as: .file),
      .value(
        "bench", \.bench, "FILE", "With --plan: the bench file, instead of the one that the plan names.",
        example: "bench.yaml", as: .file),
      .value(
        "device", \.device, "SPEC", "The device, as for run. By default those of the scenarios.",
        example: "emulator:sesame5", as: .device),
      .value(
        "transport", \.transport, "SPEC", "The transport to a real lock, as for run.", example: "usb:0",
        as: .transport),
      .value(
        "shards", \.shardCount, "N", "The number of shards. Default: 1.", example: "4"),
      .value(
        "time", \.time, "HH:MM",
        "The daily start time: for systemd in the time zone of the computer, for github and jenkins in "
          + "that of the service. Default: 02:00.",
        example: "01:30"),
      .value(
        "limit", \.limit, "TIME", "The time limit of a run. Default: 1h.",
        example: "8h"),
      .value(
        "command", \.command, "PATH",
        "The path of lockstep on the computer that runs it. By default, configurations for gitlab, "
          + "github and jenkins build lockstep, which works only in a checkout of Lockstep itself; for "
          + "systemd and slurm it is the lockstep that prints the configuration.",
        example: "/usr/local/bin/lockstep", as: .file),
      .out(\.out, "The folder for reports. Default: Reports."),
      .value("name", \.name, "NAME", "The name of the job. Default: lockstep.", example: "front-door"),
      .value(
        "user", \.user, "NAME", "The user of the systemd service. Default: the current user.",
        example: "bench"),
      .value(
        "folder", \.folder, "DIR",
        "For systemd, slurm and kubernetes: the working folder. Default: the current folder; for "
          + "kubernetes that of the image.",
        example: "/srv/locks",
        as: .folder),
      .value(
        "image", \.image, "IMAGE", "For kubernetes: the container image with lockstep and the scenarios.",
        example: "registry/lockstep:1"),
      .value(
        "claim", \.claim, "NAME",
        "For kubernetes: the volume claim for reports, to which many pods can write. Default: "
          + "lockstep-reports.", example: "reports"),
      HistorySettings.option.lifted(to: \.history),
    ]
  }
}
