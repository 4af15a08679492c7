import Simulation
import Transports

/// What a recipe says, whatever it is written in.
///
/// Values from the command line reach a recipe only through the quoting of the place where they stand.
struct Recipe {
  let kind: ScheduleKind
  /// What jobs and units are called.
  let name: String
  /// The folder of reports, without anything that a shell or a pattern would read otherwise.
  let out: String
  let shards: Int
  let time: TimeOfDay
  let limit: Interval
  /// How lockstep is called; `nil` where it is built first.
  let command: String?
  let user: String
  let folder: String
  /// What is run, and on what.
  private let selection: [String]
  /// Whether a real lock is driven, which only one run may do at a time.
  let isBench: Bool
  /// Whether the carrier is an adapter of the kernel, for which a capability is needed.
  let needsAdapter: Bool
  /// How somebody gets this recipe again.
  let origin: String

  init(_ arguments: ScheduleArguments, _ kind: ScheduleKind) throws(UsageError) {
    self.kind = kind
    try arguments.check(kind)
    name = arguments.name
    out = arguments.out
    shards = arguments.shards?.value ?? 1
    time = arguments.time ?? TimeOfDay(argument: "02:00")!
    limit = arguments.limit
    isBench = arguments.device?.hasPrefix("lock:") ?? false
    needsAdapter = arguments.carrier?.hasPrefix("hci-socket:") ?? false
    user = arguments.user ?? Host.variable("USER") ?? "root"
    let isHere = kind == .systemd || kind == .slurm
    folder = arguments.folder ?? Host.folder
    command = arguments.command ?? (isHere ? Host.program ?? "lockstep" : nil)
    var words: [String] = []
    for (option, value) in [("device", arguments.device), ("carrier", arguments.carrier)] {
      if let value { words.append("--\(option)=\(value)") }
    }
    selection = words + ["--"] + (arguments.scenarios.isEmpty ? ["Scenarios"] : arguments.scenarios)
    origin = "lockstep schedule " + arguments.words.map(shellWord).joined(separator: " ")
  }

  /// The recipe.
  var text: String {
    switch kind {
    case .gitlab: gitlab
    case .github: github
    case .jenkins: jenkins
    case .systemd: systemd
    case .slurm: slurm
    }
  }

  /// The program, for a shell.
  var program: String { shellWord(command ?? ".build/release/lockstep") }

  /// The words of a run.
  func words(out: String) -> [String] { ["run", "--out=\(out)"] + selection }

  /// The run as a line of a shell; `shard` and `out` are written as they are, for the shell to read.
  ///
  /// When the time is over it is asked to end, which takes a step and the way back to a lock's rest position.
  func runLine(shard: String? = nil, out: String) -> String {
    let options = ["--out=\(out)"] + (shard.map { ["--shard=\($0)"] } ?? [])
    return "timeout --preserve-status --kill-after=5m \(seconds) \(program) "
      + runWords(options)
  }

  /// The words of a run for a shell, which reads the options as they are.
  func runWords(out: String) -> String { runWords(["--out=\(out)"]) }

  private func runWords(_ options: [String]) -> String {
    (["run"] + options + selection.map(shellWord)).joined(separator: " ")
  }

  /// The merging of what several shards left, as a line of a shell.
  func reportLine(_ runs: String, out: String) -> String { "\(program) report --out=\(out) \(runs)" }

  /// How long a run may take, in seconds.
  var seconds: Int64 { max(limit.nanoseconds / 1_000_000_000, 1) }

  /// How long the job may take: the run, its end, and building before it.
  var minutes: Int64 { (seconds + 59) / 60 + (command == nil ? 40 : 10) }

  /// Where the daily start stands in a crontab.
  var cron: String { "\(time.minute) \(time.hour) * * *" }
}

extension ScheduleArguments {
  /// The words that lead to the same recipe.
  fileprivate var words: [String] {
    let usual = ScheduleArguments()
    var words = kinds + scenarios.map { "--scenarios=\($0)" }
    let given: [(String, String?)] = [
      ("device", device), ("carrier", carrier), ("shards", shards.map { "\($0.value)" }),
      ("time", time == usual.time ? nil : time?.text),
      ("limit", limit == usual.limit ? nil : "\(limit.nanoseconds / 1_000_000_000)s"), ("command", command),
      ("out", out == usual.out ? nil : out), ("name", name == usual.name ? nil : name), ("user", user),
      ("folder", folder),
    ]
    for (name, value) in given { if let value { words.append("--\(name)=\(value)") } }
    return words
  }

  /// What no recipe can hold, and what does not go together.
  fileprivate func check(_ kind: ScheduleKind) throws(UsageError) {
    let texts = scenarios + [device, carrier, command, user, folder].compactMap(\.self)
    for text in texts where text.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) {
      throw UsageError("a recipe can hold no control characters: \(shellWord(text).debugDescription)")
    }
    try plain(name, of: "name", also: "_-.")
    // CI systems read it as a pattern, and shells as words.
    try plain(out, of: "out", also: "_-./")
    if let user { try plain(user, of: "user", also: "_-.") }
    if kind == .systemd, shards != nil { throw UsageError("--shards: a bench does all of it by itself") }
    if kind != .systemd, user != nil { throw UsageError("--user is for systemd") }
    if kind != .systemd, kind != .slurm, folder != nil {
      throw UsageError("--folder is for systemd and slurm")
    }
    var run = RunArguments()
    run.device = device
    run.lab.carrier = carrier
    _ = try run.labSettings()
    if shards.map({ $0.value > 1 }) ?? false, kind != .slurm, device?.hasPrefix("lock:") ?? false {
      throw UsageError("--shards: a lock can be driven by one job at a time")
    }
    if let shards, shards.value > 200 {
      throw UsageError("--shards: \(kind.rawValue) is not asked for more than 200 jobs")
    }
  }

  private func plain(_ text: String, of option: String, also signs: String) throws(UsageError) {
    let isPlain = text.utf8.allSatisfy { byte in
      (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
        || signs.utf8.contains(byte)
    }
    guard isPlain, let first = text.first, first != "-" else {
      throw UsageError("'--\(option)' expects letters, digits and \(signs) for a recipe, not '\(text)'")
    }
  }
}

extension Recipe {
  /// Lines moved to the right, such as those of a block in YAML.
  static func indented(_ text: String, by width: Int) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false)
      .map { $0.isEmpty ? "" : String(repeating: " ", count: width) + $0 }.joined(separator: "\n")
  }
}
