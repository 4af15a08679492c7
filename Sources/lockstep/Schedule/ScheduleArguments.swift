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
  /// The number of shards as an option has it.
  private var shardCount: Count? {
    get { shards.map { Count($0) } }
    set { shards = newValue?.value }
  }
}

extension Command {
  static var schedule: Command {
    Command(
      "schedule", "Prints the recipe by which another system starts runs.",
      discussion: """
        KIND is gitlab (.gitlab-ci.yml), github (.github/workflows/lockstep.yml), jenkins (Jenkinsfile), systemd (a service \
        and a timer for a bench), slurm (a job array, and a job that merges its reports) or kubernetes (an Indexed Job, and
        one that merges).

        In a project of your own say with --command where lockstep is: without it, a recipe for gitlab, github or jenkins builds
        it from the checkout, which has to be one of Lockstep itself. Each recipe runs the scenarios, keeps journals and reports
        however that ended, and publishes JUnit. Several shards take their part from the environment and are merged by
        'lockstep report': a shard that was killed and started again, or was started twice, counts once. The history of runs is
        kept from job to job, or on a server with --history. A divergence (1) fails the job; trouble of the lab (3) is told apart, so that a dongle that was
        pulled out does not look like a broken lock.

        """,
      examples: [
        Example("lockstep schedule gitlab --shards 4 > .gitlab-ci.yml", "Every push, in four jobs."),
        Example(
          "lockstep schedule systemd --device lock:/etc/lockstep/front-door.yaml --transport usb:0 --time 01:30",
          "Every night on a bench with a real lock."),
        Example(
          "lockstep schedule systemd --plan nights/third-floor.yaml --time 01:30",
          "Every night all locks of a bench, with a watchdog; what a reboot cut off goes on after it."),
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
        "What is run: a scenario, or a folder of them. May be given several times. Scenarios, or else scenarios, unless given.",
        example: "Scenarios/sesame5", as: .scenario),
      .value(
        "plan", \.plan, "PLAN",
        "For systemd: the plan of a night, as 'lockstep nightly' takes it, in place of scenarios.",
        example: "nights/third-floor.yaml", as: .file),
      .value(
        "bench", \.bench, "FILE", "With --plan: the bench, in place of the one that the plan names.",
        example: "bench.yaml", as: .file),
      .value(
        "device", \.device, "SPEC", "The device, as for run. The scenarios' own unless given.",
        example: "emulator:sesame5", as: .device),
      .value(
        "transport", \.transport, "SPEC", "The way to a real lock, as for run.", example: "usb:0",
        as: .transport),
      .value(
        "shards", \.shardCount, "N", "In how many parts the scenarios are run. 1 unless given.", example: "4"),
      .value(
        "time", \.time, "HH:MM",
        "When it starts each day, for systemd in the machine's time; for github and jenkins in theirs. 02:00 unless given.",
        example: "01:30"),
      .value(
        "limit", \.limit, "TIME", "How long a run may take before it is stopped. 1h unless given.",
        example: "8h"),
      .value(
        "command", \.command, "PATH",
        "Where lockstep is on the machine that runs it. Without it, recipes for gitlab, github and jenkins build it, which only "
          + "a checkout of Lockstep itself can do; for systemd and slurm it is the one that prints the recipe.",
        example: "/usr/local/bin/lockstep", as: .file),
      .out(\.out, "Where reports go. Reports unless given."),
      .value("name", \.name, "NAME", "What the job is called. lockstep unless given.", example: "front-door"),
      .value(
        "user", \.user, "NAME", "Whose the systemd service is. The user who prints the recipe unless given.",
        example: "bench"),
      .value(
        "folder", \.folder, "DIR",
        "For systemd, slurm and kubernetes the folder in which it runs. For kubernetes the image's unless given, else the "
          + "current one.",
        example: "/srv/locks",
        as: .folder),
      .value(
        "image", \.image, "IMAGE", "For kubernetes: the container image that has lockstep and the scenarios.",
        example: "registry/lockstep:1"),
      .value(
        "claim", \.claim, "NAME",
        "For kubernetes: the claim of the volume that reports go to, which many pods can write to. lockstep-reports unless "
          + "given.", example: "reports"),
      HistorySettings.option.lifted(to: \.history),
    ]
  }
}
